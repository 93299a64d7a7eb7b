"""The defects of a problem as a check sees it: nulls that pass, controls that do not, flags."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from suiteopt.audit.critical import CriticalTable, critical_table, worst
from suiteopt.audit.nulls import null_name
from suiteopt.matrix.schema import Kind, Need, Role, Statistic
from suiteopt.matrix.store import Matrix

LOOSE_TOLERANCE = 1e-2
STRICT_TOLERANCE = 1e-4
"""What the flags ``near_zero`` and ``reference_beyond_tolerance`` of a matrix are measured at."""


class Defect(StrEnum):
    """Why a problem cannot be refereed."""

    NULL_PASSES = "null_passes"  # an implementation that does no work is accepted
    CONSTANT = "constant"  # every output element is the same
    NEAR_ZERO = "near_zero"  # all outputs are below the loosest tolerance in use
    RANDOM_REFERENCE = "random_reference"  # two runs of the reference differ
    REFERENCE_INEXACT = "reference_beyond_tolerance"  # the reference misses fp64 by more
    REFERENCE_FAILS = "reference_fails"  # it raises, or is not finite
    CONTROL_REJECTED = "control_rejected"  # a correct implementation is rejected


@dataclass(frozen=True)
class Reason:
    """One defect of a problem.

    Attributes
    ----------
    defect : Defect
    subject : str
        The null or control in question, or empty.
    lowest, highest : float
        Tolerances at which it holds: from ``lowest`` (included) up to, not including,
        ``highest``. 0 and infinity: at every one.
    detail, fix : str
        What was seen, and what cures it; one sentence each.
    """

    defect: Defect
    subject: str
    lowest: float
    highest: float
    detail: str
    fix: str

    def holds(self, tolerance: float) -> bool:
        """Whether it holds at a tolerance."""
        return self.lowest <= tolerance < self.highest


def flags(row: "pd.Series[Any]", sizes: NDArray[np.float64]) -> list[Reason]:
    """Return what the campaign found out about the reference on the benchmark's own first draw.

    Parameters
    ----------
    row : Series
        Of ``problems.parquet``.
    sizes : ndarray of float64
        RMS of the output on each draw; NaN where unknown. An output whose elements are equal and
        that changes from draw to draw is a single number, such as a loss, and no defect.
    """
    always = (0.0, np.inf)
    reasons = []
    if row["constant"] and not _varies(sizes):
        reasons.append(
            Reason(
                Defect.CONSTANT,
                "",
                *always,
                "every element of the reference's output is the same number",
                "change the problem's parameters or inputs until its output depends on them",
            )
        )
    if row["near_zero"]:
        reasons.append(
            Reason(
                Defect.NEAR_ZERO,
                "",
                LOOSE_TOLERANCE,
                np.inf,
                f"no output of the reference exceeds {LOOSE_TOLERANCE:g}, so the absolute part of "
                "the tolerance decides",
                "compare relative to the RMS of the output, or scale the output up",
            )
        )
    if row["random_reference"]:
        reasons.append(
            Reason(
                Defect.RANDOM_REFERENCE,
                "",
                *always,
                "two runs of the reference on equal inputs differ",
                "put the model into evaluation mode, or draw its random numbers from an input",
            )
        )
    if row["reference_fails"]:
        reasons.append(
            Reason(
                Defect.REFERENCE_FAILS,
                "",
                *always,
                "the reference raises or is not finite on an input of the pool",
                "keep integer inputs integer and magnitudes inside the reference's range",
            )
        )
    if row["reference_beyond_tolerance"]:
        reasons.append(
            Reason(
                Defect.REFERENCE_INEXACT,
                "",
                0.0,
                float(np.nextafter(STRICT_TOLERANCE, np.inf)),
                f"the reference itself is off from fp64 by up to {row['reference_error']:.2g} of "
                f"the output's RMS, more than allclose at {STRICT_TOLERANCE:g} forgives",
                "compute the reference in fp64, or loosen the tolerance beyond its own error",
            )
        )
    return reasons


def _varies(sizes: NDArray[np.float64]) -> bool:
    """Whether sizes differ by more than the rounding of what they are told from."""
    known = sizes[np.isfinite(sizes)]
    return bool(len(known) > 1 and known.max() > known.min() * (1 + 2.0**-10))


def nulls(
    matrix: Matrix, table: CriticalTable, inputs: tuple[str, ...], loosest: float
) -> list[Reason]:
    """Return the nulls that pass, each with the input or comparator that stops it."""
    columns = table.columns(inputs)
    reasons = []
    cures = _cures(matrix, table)
    relative = critical_table(matrix, table.problem, Statistic.RMS)
    for index in table.rows(Kind.NULL):
        values = table.low[index, columns]
        if np.isnan(values).all():
            continue
        passes_from = float(worst(values))
        if passes_from > loosest:
            continue
        name = null_name(table.implementations[index], table.problem)
        detail = (
            f"the output of '{name}', which does no work, is accepted on all {len(columns)} draws "
            + ("at every tolerance" if passes_from == 0 else f"from {passes_from:.2g} on")
        )
        reasons.append(
            Reason(
                Defect.NULL_PASSES,
                name,
                passes_from,
                np.inf,
                detail,
                _cure(table, index, cures, relative, columns, passes_from),
            )
        )
    return reasons


def _cures(matrix: Matrix, table: CriticalTable) -> list[dict[int, float]]:
    """Candidates that may be added, first those that need no other parameters or shapes.

    Columns with the worst critical tolerance of a control there.
    """
    rows = matrix.inputs_of(table.problem)
    controls = table.high[table.rows(Kind.CONTROL)]
    plain: dict[int, float] = {}
    special: dict[int, float] = {}
    for column, (_, row) in enumerate(rows.iterrows()):
        if row["role"] == str(Role.CANDIDATE) and row["valid"]:
            simple = {str(need) for need in row["needs"]} <= {Need.VALUES}
            chosen = plain if simple else special
            chosen[column] = float(np.nan_to_num(worst(controls[:, column])))
    return [plain, special]


def _cure(
    table: CriticalTable,
    index: np.intp,
    cures: Sequence[Mapping[int, float]],
    relative: CriticalTable,
    columns: NDArray[np.intp],
    passes_from: float,
) -> str:
    for group in cures:
        best, reach, safe = None, passes_from, 0.0
        for column, control in group.items():
            value = float(table.low[index, column])
            if value > reach and value > 10.0 * control:
                best, reach, safe = table.inputs[column], value, control
        if best is not None:
            until = "at every tolerance" if np.isinf(reach) else f"up to {reach:.2g}"
            needs = f" (correct kernels need {safe:.1g} there)" if safe else ""
            return f"add the input {best}, on which it is rejected {until}{needs}"
    shows = float(worst(relative.low[index, columns]))
    if shows > 10 * passes_from:
        return f"compare relative to the RMS of the output, where it is off by {shows:.2g}"
    return "no input of the pool tells it from the reference: change the problem's parameters"


def controls(table: CriticalTable, inputs: tuple[str, ...], tightest: float) -> list[Reason]:
    """Return correct kernels that are rejected at some tolerance above the tightest."""
    columns = table.columns(inputs)
    reasons = []
    for index in table.rows(Kind.CONTROL):
        values = table.high[index, columns]
        if np.isnan(values).all() or float(worst(values)) <= tightest:
            continue
        limit = float(worst(values))
        reasons.append(
            Reason(
                Defect.CONTROL_REJECTED,
                table.implementations[index],
                0.0,
                limit,
                f"the correct kernel {table.implementations[index]} is off by {limit:.2g}",
                "loosen the tolerance beyond that, or calibrate it for each input",
            )
        )
    return reasons
