"""Behavioural duplicates: mutants whose cells are equal on every input of both pools."""

from collections.abc import Sequence

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from suiteopt.matrix.schema import COUNTS
from suiteopt.matrix.store import Matrix
from suiteopt.matrix.tables import comparators, maximum_column

_NOT_RUN = np.uint64(0)


def behaviours(matrix: Matrix, problem: str, implementations: Sequence[str]) -> NDArray[np.int64]:
    """Return a group number for each implementation: equal numbers, equal cells.

    Cells are equal when status, statistics and counts are; "not run" equals only "not run".
    Inputs of all roles are looked at, the witness pool included. Rows are compared by a 64-bit
    hash of each cell.

    Parameters
    ----------
    matrix : Matrix
    problem : str
    implementations : sequence of str
        Ids of implementations of the problem.

    Returns
    -------
    ndarray of int64, implementations
        Numbered from 0 in the order of first appearance.
    """
    names = [*comparators(matrix.meta.ratios), *(str(count) for count in COUNTS)]
    names += [maximum_column(name) for name in names]
    cells = matrix.cells(problem, ["implementation", "input", "status", *names])
    inputs = pd.Index(matrix.inputs_of(problem)["input"].astype(str))
    rows = pd.Index(list(implementations)).get_indexer(
        pd.Index(cells["implementation"].astype(str))
    )
    columns = inputs.get_indexer(pd.Index(cells["input"].astype(str)))
    hashes = pd.util.hash_pandas_object(cells[["status", *names]], index=False).to_numpy()
    dense = np.full((len(implementations), len(inputs)), _NOT_RUN, dtype=np.uint64)
    known = rows >= 0
    dense[rows[known], columns[known]] = hashes[known]
    if not len(implementations):
        return np.empty(0, dtype=np.int64)
    _, first, group = np.unique(dense, axis=0, return_index=True, return_inverse=True)
    order = np.argsort(np.argsort(first))
    return np.asarray(order[group.reshape(-1)], dtype=np.int64)
