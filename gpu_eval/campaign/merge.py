"""Matrices of different problems into one, or some problems of a matrix."""

from collections.abc import Collection, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pandas as pd

from gpu_eval.campaign.header import TOOL, tool_version
from suiteopt.errors import UserError
from suiteopt.matrix.files import is_taken, sha256
from suiteopt.matrix.store import Matrix
from suiteopt.matrix.tables import source_file
from suiteopt.matrix.writer import MatrixWriter

_SAME = (
    ("profile", "profile"),
    ("device", "device"),
    ("policy", "policy"),
    ("ratios", "stored ratios"),
)


def merge_matrices(
    paths: Sequence[Path],
    output: Path,
    command: str,
    *,
    problems: Collection[str] = (),
    without: Collection[str] = (),
) -> Matrix:
    """Write a matrix that holds the problems of several, or some of them; ordered by their ids.

    Parameters
    ----------
    paths : sequence of Path
        Complete matrices of one profile, device and policy; one alone where problems are chosen.
    output : Path
        A new or empty directory.
    command : str
        For the header.
    problems : collection of str
        Only these; all where empty.
    without : collection of str
        Not these. A problem that two matrices hold can be taken from one of them so: leave it out
        of the other first.

    Raises
    ------
    UserError
        If one is incomplete or damaged, two differ in what must be equal, two hold the same
        problem, or a problem is in none or nothing is left.
    """
    if len(paths) < 2 and not (problems or without):
        raise UserError("give at least two matrices to merge, or choose problems of one")
    if is_taken(output):
        raise UserError(f"{output} is not empty; choose another --output")
    matrices = [Matrix.open(path) for path in paths]
    kept = _kept(matrices, problems, without)
    _check(matrices, kept)
    writer = MatrixWriter(output, _header(matrices, command))
    for name in ("problems", "inputs", "implementations"):
        table = pd.concat([_words(getattr(m, name)) for m in matrices], ignore_index=True)
        table = table[table["problem"].isin(kept)]
        table = table.sort_values("problem", kind="stable", ignore_index=True)
        getattr(writer, f"write_{name}")(table)
    for matrix in matrices:
        for problem in filter(kept.__contains__, matrix.problem_ids):
            # Stored statistics are rounded already, and rounding up again changes nothing.
            writer.write_cells(problem, matrix.cells(problem))
            prefix = source_file(problem, "")
            for name in sorted(matrix.meta.files):
                if name.startswith(prefix):
                    file = name.removeprefix(prefix)
                    writer.write_source(problem, file, matrix.source(problem, file))
    writer.finish(True, ended=_now(), seconds=sum(m.meta.seconds for m in matrices))
    return Matrix.open(output)


def _kept(
    matrices: Sequence[Matrix], problems: Collection[str], without: Collection[str]
) -> frozenset[str]:
    """Return the problems that are asked for."""
    known = {problem for matrix in matrices for problem in matrix.problem_ids}
    for asked in (*problems, *without):
        if asked not in known:
            raise UserError(f"no matrix given holds {asked}; 'suiteopt info' lists their problems")
    kept = frozenset(problems or known) - frozenset(without)
    if not kept:
        raise UserError("no problem is left; leave out fewer")
    return kept


def _check(matrices: Sequence[Matrix], kept: Collection[str]) -> None:
    first = matrices[0]
    owner: dict[str, Path] = {}
    for matrix in matrices:
        if not matrix.meta.complete:
            raise UserError(
                f"the matrix at {matrix.path} is incomplete; finish it with 'gpu-eval resume'"
            )
        matrix.verify()
        for key, what in _SAME:
            if getattr(matrix.meta, key) != getattr(first.meta, key):
                raise UserError(
                    f"{first.path} and {matrix.path} differ in their {what}; "
                    "merge only what was measured alike"
                )
        for problem in filter(kept.__contains__, matrix.problem_ids):
            if problem in owner:
                raise UserError(
                    f"{owner[problem]} and {matrix.path} both hold {problem}; leave one of them out"
                )
            owner[problem] = matrix.path


def _header(matrices: Sequence[Matrix], command: str) -> dict[str, Any]:
    first = matrices[0].meta
    return {
        "tool": TOOL,
        "version": tool_version(),
        "profile": first.profile,
        "label": max((m.meta.label for m in matrices), key=lambda text: "shortened" in text),
        "device": dict(first.device),
        "command": command,
        "started": min(m.meta.started for m in matrices),
        "corpus_hash": _joined(m.meta.corpus_hash for m in matrices),
        "pool_hash": _joined(m.meta.pool_hash for m in matrices),
        "witness_hash": _joined(m.meta.witness_hash for m in matrices),
        "policy": dict(first.policy),
        "ratios": list(first.ratios),
        "ledger": [dict(entry) for m in matrices for entry in m.meta.ledger],
    }


def _joined(hashes: Any) -> str:
    """Return a hash that stands for several; the same whatever their order."""
    return sha256("\n".join(sorted(hashes)).encode())


def _words(frame: pd.DataFrame) -> pd.DataFrame:
    """Return a table with plain strings: categories of two matrices differ."""
    plain = {
        name: frame[name].astype(object)
        for name in frame.columns
        if isinstance(frame[name].dtype, pd.CategoricalDtype)
    }
    return frame.assign(**plain)


def _now() -> str:
    return datetime.now(UTC).isoformat(timespec="seconds")
