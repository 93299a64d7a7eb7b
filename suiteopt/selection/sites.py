"""Where mutants were edited, so that the same expression is told across problems."""

from collections.abc import Hashable, Sequence

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from scipy.sparse import csr_array
from scipy.sparse.csgraph import connected_components

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


def site_groups(sites: Sequence[Sequence[Hashable]]) -> NDArray[np.intp]:
    """Number the groups of mutants that are linked by a common site.

    A merged duplicate has the sites of all it was merged from, and so links their groups. A
    mutant without a site is a group of its own.

    Parameters
    ----------
    sites : sequence of sequences, one a mutant
        Any hashable that is equal for the same expression: source identity, start, end.
    """
    numbers: dict[Hashable, int] = {}
    edges = [
        (mutant, numbers.setdefault(site, len(numbers)))
        for mutant, own in enumerate(sites)
        for site in own
    ]
    mutants, size = len(sites), len(sites) + len(numbers)
    rows = np.array([edge[0] for edge in edges], dtype=np.intp)
    columns = np.array([edge[1] for edge in edges], dtype=np.intp) + mutants
    links = csr_array((np.ones(len(edges), dtype=np.int8), (rows, columns)), shape=(size, size))
    labels = np.asarray(connected_components(links, directed=False)[1][:mutants])
    return np.asarray(np.unique(labels, return_inverse=True)[1], dtype=np.intp)


def _identity(matrix: Matrix, problem: str, substrate: str, file: str) -> str:
    """Hash of the file's text; where the matrix does not carry it, a name of its own."""
    return matrix.meta.files.get(source_file(problem, file), f"{problem}\0{substrate}\0{file}")
