"""Exact statistics of one problem's runs to the rows of a cells file."""

from typing import TypeVar

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from suiteopt.matrix.rounding import round_up_12
from suiteopt.matrix.schema import COUNTS, Status
from suiteopt.matrix.tables import comparators, maximum_column

F = TypeVar("F", np.float32, np.float64)

NOT_RUN_STATUSES = frozenset({Status.CLOSED, Status.DECIDED})
"""Statuses of cells that stand in the matrix without having run."""


def stored_cells(
    cells: pd.DataFrame,
    implementations: pd.Index,
    inputs: pd.Index,
    ratios: tuple[float, ...] = (),
) -> pd.DataFrame:
    """Return the rows as they are stored: checked, rounded up and sorted.

    Parameters
    ----------
    cells : DataFrame
        ``implementation``, ``input``, ``status`` and any further columns of a cells file;
        statistics are exact (float64, null or NaN where nothing was measured).
    implementations, inputs : Index
        The problem's ids in the order of their tables.
    ratios : tuple of float
        Further ratios that the matrix stores.

    Returns
    -------
    DataFrame
        Sorted by implementation, then input, in the order of their tables; statistics rounded up
        to 12 significant bits; a maximum that equals the minimum is null.

    Raises
    ------
    ValueError
        On an unknown id or status, a cell that is there twice, a statistic that is negative, a
        maximum below its minimum, or statistics of a cell that did not run.
    """
    if not len(cells):
        cells = pd.DataFrame({"implementation": [], "input": [], "status": []})
    rows = implementations.get_indexer(pd.Index(cells["implementation"].astype(str)))
    columns = inputs.get_indexer(pd.Index(cells["input"].astype(str)))
    for codes, name in ((rows, "implementation"), (columns, "input")):
        if np.any(codes < 0):
            unknown = cells[name].iloc[int(np.argmin(codes))]
            raise ValueError(f"a cell names the {name} {unknown!r}, which the problem has not")
    known = pd.Index([str(status) for status in Status])
    statuses = known.get_indexer(pd.Index(cells["status"].astype(str)))
    if np.any(statuses < 0):
        unknown = cells["status"].iloc[int(np.argmin(statuses))]
        raise ValueError(f"there is no status {unknown!r}")

    order = np.lexsort((columns, rows))
    rows, columns = rows[order], columns[order]
    if np.any((np.diff(rows) == 0) & (np.diff(columns) == 0)):
        raise ValueError("a cell is there twice")
    result = cells.iloc[order].reset_index(drop=True)
    result["implementation"] = pd.Categorical.from_codes(rows, categories=implementations)
    result["input"] = pd.Categorical.from_codes(columns, categories=inputs)
    result["status"] = pd.Categorical.from_codes(statuses[order], categories=known)

    ran = ~result["status"].isin([str(status) for status in NOT_RUN_STATUSES]).to_numpy()
    for name in comparators(ratios):
        low = round_up_12_or_nan(_floats(result, name))
        high = round_up_12_or_nan(_floats(result, maximum_column(name)))
        if np.any(~np.isnan(low) & ~ran):
            raise ValueError(f"a cell that did not run has the statistic {name!r}")
        result[name] = low
        result[maximum_column(name)] = _maximum(low, high, name)
    for count in COUNTS:
        name = maximum_column(count)
        counts = _floats(result, str(count))
        result[name] = _maximum(counts, _floats(result, name), str(count))
    return result


def round_up_12_or_nan(values: NDArray[np.float64]) -> NDArray[np.float32]:
    """Round up what is there; NaN (nothing measured) stays NaN."""
    missing = np.isnan(values)
    rounded = round_up_12(np.where(missing, 0.0, values))
    return np.where(missing, np.float32(np.nan), rounded)


def _floats(frame: pd.DataFrame, name: str) -> NDArray[np.float64]:
    if name not in frame.columns:
        return np.full(len(frame), np.nan)
    return pd.to_numeric(frame[name]).to_numpy(dtype=np.float64, na_value=np.nan)


def _maximum(low: NDArray[F], high: NDArray[F], name: str) -> NDArray[F]:
    if np.any(high < low) or np.any(np.isnan(low) & ~np.isnan(high)):
        raise ValueError(f"a maximum of {name!r} lies below its minimum")
    return np.where(high == low, np.nan, high).astype(low.dtype)
