"""A mutant's edit as a unified diff, from what the matrix carries."""

from difflib import unified_diff
from typing import Any

import pandas as pd

from suiteopt.matrix.store import Matrix
from suiteopt.matrix.tables import source_file

CONTEXT = 3
NO_LINE_END = "\\ No newline at end of file\n"


def mutant_diff(matrix: Matrix, name: str) -> str | None:
    """Return what a mutant changes in its substrate, as ``diff -u`` shows it.

    Parameters
    ----------
    matrix : Matrix
    name : str
        Id of an implementation.

    Returns
    -------
    str or None
        Empty where nothing is edited. None where the matrix does not carry the source, or where
        it is not the one that was edited: the text before the edit does not stand at its site.
    """
    rows = matrix.implementations
    row = rows[rows["implementation"] == name].iloc[0]
    if not len(row["sites"]):
        return ""
    site = row["sites"][0]
    problem, file = str(row["problem"]), str(site["file"])
    if source_file(problem, file) not in matrix.meta.files:
        return None
    before = matrix.source(problem, file)
    data = before.encode()
    start, end = int(site["start"]), int(site["end"])
    if data[start:end] != str(row["before"]).encode():
        return None
    after = (data[:start] + str(row["after"]).encode() + data[end:]).decode(errors="replace")
    return text_diff(before, after, file)


def text_diff(before: str, after: str, file: str) -> str:
    """Return the unified diff of two texts with three lines of context."""
    lines = unified_diff(
        _lines(before), _lines(after), fromfile=f"a/{file}", tofile=f"b/{file}", n=CONTEXT
    )
    return "".join(line if line.endswith("\n") else f"{line}\n{NO_LINE_END}" for line in lines)


def site_of(row: "pd.Series[Any]") -> str:
    """Return ``file:line:column`` of the first site of a mutant; empty without one."""
    sites = row["sites"]
    if not len(sites):
        return ""
    site = sites[0]
    return f"{site['file']}:{site['line']}:{site['column']}"


def _lines(text: str) -> list[str]:
    """Split at line feeds only: a form feed in a comment is no line end."""
    pieces = text.split("\n")
    return [piece + "\n" for piece in pieces[:-1]] + ([pieces[-1]] if pieces[-1] else [])
