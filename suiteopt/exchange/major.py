"""A check's result as kill maps in Major's form: one folder a problem."""

import csv
import io
from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np
import pandas as pd

from suiteopt.errors import UserError
from suiteopt.exchange.outcomes import Outcomes
from suiteopt.matrix.store import Matrix


def major_files(
    matrix: Matrix, found: Iterable[Outcomes], allow_incomplete: bool = False
) -> dict[str, str]:
    """Return the files ``killMap.csv``, ``covMap.csv``, ``testMap.csv`` and ``mutants.log``.

    Numbers count from 1, in the order of the matrix. Mutants that do not count are left out.

    Parameters
    ----------
    matrix : Matrix
    found : iterable of Outcomes
    allow_incomplete : bool
        Whether cells that were not run may be written as not covered.

    Returns
    -------
    dict of str to str
        Text by relative name, ``<problem>/killMap.csv`` and so on.

    Raises
    ------
    UserError
        If a cell was not run, which this form cannot say.
    """
    files: dict[str, str] = {}
    for part in found:
        missing = int((~part.ran).sum())
        if missing and not allow_incomplete:
            raise UserError(
                f"{missing} cells of {part.problem} were not run, which Major's files cannot say; "
                "give --allow-incomplete to write them as not covered"
            )
        folder = part.problem.replace("/", "-")
        table = matrix.implementations_of(part.problem)
        rows = {str(row["implementation"]): row for _, row in table.iterrows()}
        files |= {
            f"{folder}/killMap.csv": _kill_map(part),
            f"{folder}/covMap.csv": _table(
                ("TestNo", "MutantNo"),
                [(int(test) + 1, int(mutant) + 1) for mutant, test in np.argwhere(part.ran)],
            ),
            f"{folder}/testMap.csv": _table(
                ("TestNo", "TestName"),
                [(number, name) for number, name in enumerate(part.inputs, start=1)],
            ),
            f"{folder}/mutants.log": "".join(
                _log_line(number, name, rows[name])
                for number, name in enumerate(part.mutants, start=1)
            ),
        }
    return files


def _kill_map(part: Outcomes) -> str:
    rows: list[tuple[object, ...]] = []
    for mutant, test in np.argwhere(part.kills):
        word = "FAIL"
        if part.timeouts[mutant, test]:
            word = "TIME"
        elif part.crashes[mutant, test]:
            word = "EXC"
        rows.append((int(test) + 1, int(mutant) + 1, word))
    return _table(("TestNo", "MutantNo", "[FAIL | TIME | EXC]"), rows)


def _table(header: Sequence[str], rows: Iterable[Sequence[object]]) -> str:
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(header)
    writer.writerows(rows)
    return text.getvalue()


def _log_line(number: int, name: str, row: "pd.Series[Any]") -> str:
    """Number, operator, from, to, place, line, edit; colons divide, so none may be in a field."""
    site = row["sites"][0] if len(row["sites"]) else None
    file, line = ("", 1) if site is None else (str(site["file"]), int(site["line"]))
    rule = "+".join(str(rule) for rule in row["rules"])
    fields = [str(number), rule, str(row["family"]), "", f"{file}@{name}", str(line)]
    edit = f"{_one_line(str(row['before']))} |==> {_one_line(str(row['after']))}"
    return ":".join([*(_one_line(field).replace(":", ";") for field in fields), edit]) + "\n"


def _one_line(text: str) -> str:
    return " ".join(text.split())
