"""Cells in memory and in a shard file: one fixed-size record a cell, the same bytes every time."""

import io
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from gpu_eval.devices.base import Outcome
from suiteopt.matrix.schema import COUNTS, MEASURED_STATUSES, STATISTICS, Status

STATUS_CODES = {status: code for code, status in enumerate(Status)}
STATUSES = tuple(Status)

# How bad a status is, among those that leave something to measure.
_SEVERITY = {Status.OK: 0, Status.NONFINITE: 1, Status.UNWRITTEN: 2, Status.OUT_OF_BOUNDS: 3}

RECORD = np.dtype(
    [("subject", "<i4"), ("input", "<i4"), ("status", "<u1")]
    + [("repeats", "<i2"), ("disagreed", "<i2")]
    + [(f"{count}{end}", "<i8") for count in COUNTS for end in ("", "_max")]
    + [(f"{statistic}{end}", "<f8") for statistic in STATISTICS for end in ("", "_max")]
)
"""A cell: indices of implementation and input in their task, status code, exact statistics.

Counts are -1 and statistics NaN where nothing was measured.
"""

_BYTES = np.dtype((np.void, RECORD.itemsize))
_NOTHING = (-1,) * (2 * len(COUNTS)) + (float("nan"),) * (2 * len(STATISTICS))


class CellTable:
    """Cells of one task, in the order in which they were run.

    Parameters
    ----------
    known : array of `RECORD`, optional
        Cells that are known already.
    """

    def __init__(self, known: NDArray[np.void] | None = None) -> None:
        # Parts never change once they are there, so that copies share them; only what came since
        # the last copy has to be converted.
        self._parts: tuple[NDArray[np.void], ...] = () if known is None else (known,)
        self._rows: list[tuple[Any, ...]] = []

    def __len__(self) -> int:
        return sum(map(len, self._parts)) + len(self._rows)

    def copy(self) -> "CellTable":
        """Return a table with the same cells."""
        self._fold()
        other = CellTable()
        other._parts = self._parts
        return other

    def _fold(self) -> None:
        if self._rows:
            self._parts += (np.array(self._rows, dtype=RECORD),)
            self._rows = []

    def mark(self, subject: int, cell_input: int, status: Status) -> None:
        """Store a cell that was not run, or of which nothing could be measured."""
        self._rows.append((subject, cell_input, STATUS_CODES[status], 1, 0, *_NOTHING))

    def add(self, subject: int, cell_input: int, outcomes: Sequence[Outcome]) -> Status:
        """Store a cell that was run once or several times; return the status it gets."""
        row = merge(outcomes)
        self._rows.append((subject, cell_input, *row))
        status: Status = STATUSES[row[0]]
        return status

    def array(self) -> NDArray[np.void]:
        """Return the cells sorted by implementation, then input."""
        self._fold()
        if not self._parts:
            return np.empty(0, dtype=RECORD)
        # As plain bytes: NumPy moves records field by field, which takes twenty times as long.
        plain = np.concatenate([part.view(_BYTES) for part in self._parts])
        cells = plain.view(RECORD)
        ordered: NDArray[np.void] = plain[np.lexsort((cells["input"], cells["subject"]))]
        return ordered.view(RECORD)

    def to_bytes(self) -> bytes:
        """Return the content of a shard file."""
        buffer = io.BytesIO()
        np.save(buffer, self.array(), allow_pickle=False)
        return buffer.getvalue()


def from_bytes(data: bytes) -> NDArray[np.void]:
    """Read the cells of a shard file.

    Raises
    ------
    ValueError
        If it is not one of this version.
    """
    cells: NDArray[np.void] = np.load(io.BytesIO(data), allow_pickle=False)
    if cells.dtype != RECORD:
        raise ValueError("the shard holds other columns than this version writes")
    return cells


def disagree(outcomes: Sequence[Outcome]) -> bool:
    """Tell whether repeats differ in their status or in a bit of their output."""
    first = outcomes[0]
    return any(_differs(o, first) for o in outcomes[1:])


def _differs(outcome: Outcome, first: Outcome) -> bool:
    return outcome.output_hash != first.output_hash or outcome.status != first.status


def merge(outcomes: Sequence[Outcome]) -> tuple[Any, ...]:
    """Make one cell of repeated runs: the minimum and the maximum of everything.

    A kill must be stable, so a cell keeps the most lenient reading as its minimum: it is an
    exception only if every repeat ended in one, and ``nonfinite`` only if every repeat was. A
    repeat that ended in an exception makes the maxima infinite: a control is not accepted then.
    ``out_of_bounds`` and ``unwritten`` are evidence, not kills, and kept if seen once.

    Returns
    -------
    tuple
        The fields of `RECORD` after ``subject`` and ``input``.
    """
    first = outcomes[0]
    disagreed = sum(_differs(o, first) for o in outcomes[1:])
    measured = [o for o in outcomes if o.status in MEASURED_STATUSES]
    if not measured:
        return (STATUS_CODES[first.status], len(outcomes), disagreed, *_NOTHING)
    statuses = {o.status for o in measured}
    if statuses == {Status.OK, Status.NONFINITE}:
        status = Status.OK
    else:
        status = max(statuses, key=_SEVERITY.__getitem__)
    fields: list[Any] = [STATUS_CODES[status], len(outcomes), disagreed]
    if len(outcomes) == 1:
        counts, statistics = first.counts, first.statistics
        for count in COUNTS:
            value = counts[count]
            fields += (value, value)
        for statistic in STATISTICS:
            exact = statistics[statistic]
            fields += (exact, exact)
        return tuple(fields)
    failed = len(measured) < len(outcomes)
    for count in COUNTS:
        values = [o.counts[count] for o in measured]
        fields += (min(values), max(values))
    for statistic in STATISTICS:
        exacts = [o.statistics[statistic] for o in measured]
        fields += (min(exacts), float("inf") if failed else max(exacts))
    return tuple(fields)
