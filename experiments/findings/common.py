"""What the findings share: the matrix, the printed page, the JSON file."""

import argparse
import json
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from rich.table import Table

from experiments.records import write_record
from suiteopt.audit.decomposition import Decomposition
from suiteopt.audit.detection import Audit
from suiteopt.audit.left_out import left_out_sentences
from suiteopt.console import stdout
from suiteopt.matrix.files import write_atomic
from suiteopt.matrix.jsonable import dumps
from suiteopt.matrix.store import Matrix, resolve_matrix

RESULTS = Path(__file__).resolve().parents[1] / "results"


@dataclass(frozen=True)
class Finding:
    """One answer, beside the published one.

    Attributes
    ----------
    title : str
        The question.
    published : mapping
        Figures as their authors give them; shares between 0 and 1.
    ours : mapping
        The same from the matrix.
    tables : sequence of Table
        For people.
    words : sequence of str
        What the difference means, and what ours cannot say.
    figure : bytes
        SVG, or empty.
    """

    title: str
    published: Mapping[str, Any]
    ours: Mapping[str, Any]
    tables: Sequence[Table]
    words: Sequence[str]
    figure: bytes = b""


def report(name: str, find: Callable[[Matrix], Finding], *, default: Path | None = None) -> None:
    """Make a finding from the default matrix, print it and write ``results/finding-<name>.json``.

    Parameters
    ----------
    name : str
    find : callable
        Takes the opened matrix.
    default : Path, optional
        The matrix to use unless ``--matrix`` names one; the one that ships.
    """
    parser = argparse.ArgumentParser(prog=f"python -m experiments.findings.{name}")
    parser.add_argument("--matrix", type=Path, help="by default the one that ships")
    parser.add_argument("--output", type=Path, default=RESULTS, help="directory of the results")
    arguments, _ = parser.parse_known_args()
    matrix = Matrix.open(resolve_matrix(arguments.matrix or default))
    found = find(matrix)
    document = {
        "finding": name,
        "title": found.title,
        "matrix": matrix.path.name,
        "matrix_id": matrix.id,
        "label": matrix.meta.label,
        "published": dict(found.published),
        "ours": dict(found.ours),
        "words": list(found.words),
    }
    stem = f"finding-{name.replace('_', '-')}"
    arguments.output.mkdir(parents=True, exist_ok=True)
    write_record(arguments.output / f"{stem}.json", json.loads(dumps(document)))  # keys sorted
    if found.figure:
        write_atomic(arguments.output / f"{stem}.svg", found.figure)
    console = stdout()
    console.print(f"\n{found.title}  ({matrix.path.name}: {matrix.meta.label})", style="bold")
    for table in found.tables:
        console.print(table)
    for sentence in found.words:
        console.print(sentence, soft_wrap=True)


DETAILS = frozenset({"by_rule", "by_control", "rows", "seconds"})
"""What the commands print and a finding does not need; the time a run took among it."""


def slim(answer: Mapping[str, Any]) -> dict[str, Any]:
    """Return an answer of a command without its long tables."""
    return {
        key: slim(value) if isinstance(value, Mapping) else value
        for key, value in answer.items()
        if key not in DETAILS
    }


def left_out(*found: Audit | Decomposition) -> list[str]:
    """Say which problems the shares of some checks do not rest on."""
    sentences = (
        f"{part.protocol}: {sentence}" if isinstance(part, Audit) else sentence
        for part in found
        for sentence in left_out_sentences(part.left_out)
    )
    return [f"{sentence}." for sentence in dict.fromkeys(sentences)]


def table(headings: Iterable[str], rows: Iterable[Sequence[str]]) -> Table:
    """Return a table; the first column is text, the others are figures."""
    made = Table(box=None, pad_edge=False)
    for number, heading in enumerate(headings):
        made.add_column(heading, justify="right" if number else "left", overflow="fold")
    for row in rows:
        made.add_row(*row)
    return made


def scope(matrix: Matrix) -> str:
    """Say what the figures of a matrix rest on."""
    problems = len(matrix.measured_problems)
    return (
        f"Ours rests on {problems} problems measured on {matrix.meta.device.get('name', '?')} "
        f"({matrix.meta.label}), with faults made by other rules in other kernels than the "
        "published ones: a comparison of methods, not a repetition."
    )
