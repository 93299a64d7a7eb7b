"""Where mutants were edited, so that the same expression is told across problems."""

import pandas as pd

from suiteopt.matrix.store import Matrix
from suiteopt.matrix.tables import source_file

Site = tuple[str, int, int]
"""Source identity, start and end of an edited expression."""


def sites_of(matrix: Matrix, problem: str, details: pd.DataFrame) -> tuple[tuple[Site, ...], ...]:
    """Sites with their file told by its content, so that a shared header is one file for all."""
    identity: dict[tuple[str, str], str] = {}
    found = []
    for sites, substrate in zip(details["sites"], details["substrate"], strict=True):
        own = []
        for site in sites:
            key = (str(substrate), str(site["file"]))
            if key not in identity:
                identity[key] = _identity(matrix, problem, *key)
            own.append((identity[key], int(site["start"]), int(site["end"])))
        found.append(tuple(own))
    return tuple(found)


def _identity(matrix: Matrix, problem: str, substrate: str, file: str) -> str:
    """Hash of the file's text; where the matrix does not carry it, a name of its own."""
    return matrix.meta.files.get(source_file(problem, file), f"{problem}\0{substrate}\0{file}")
