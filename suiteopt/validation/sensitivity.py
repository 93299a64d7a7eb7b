"""What a suite is worth when its tolerances are scaled: a few kills hang on a threshold."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from suiteopt.errors import UserError
from suiteopt.matrix.oracle import Oracle
from suiteopt.matrix.store import Matrix
from suiteopt.matrix.verdict import CellBlock
from suiteopt.selection.cases import Case
from suiteopt.selection.comparators import judged_table
from suiteopt.selection.cuts import rejected_cells
from suiteopt.selection.question import Question
from suiteopt.validation.figures import share_of

FACTORS = (0.1, 1 / 3, 1.0, 3.0, 10.0)


@dataclass(frozen=True)
class Sensitivity:
    """The same suites under tolerances that are all scaled by one factor.

    Attributes
    ----------
    factor : float
        Of the safety of a calibrated oracle, or of the fixed tolerance.
    mutants, detected : int
        Over the problems that could be judged.
    rejected, cells : int
        Control cells on the members: rejected, and all that ran.
    refused : tuple of str
        Problems whose stored cells do not answer that tolerance.
    """

    factor: float
    mutants: int
    detected: int
    rejected: int
    cells: int
    refused: tuple[str, ...]

    def as_dict(self) -> dict[str, Any]:
        """JSON form."""
        return {
            "factor": self.factor,
            "fitted_share": share_of(self.detected, self.mutants),
            "control_cells": self.cells,
            "rejected": self.rejected,
            "refused": list(self.refused),
        }


def scaled(oracle: Oracle, factor: float) -> Oracle:
    """Return the oracle with every tolerance scaled; floors of a calibrated one stay."""
    if oracle.safety is not None:
        return replace(oracle, name=f"calibrated:{oracle.safety * factor:g}",
                       safety=oracle.safety * factor)  # fmt: skip
    if oracle.tolerance is not None:
        return replace(oracle, tolerance=oracle.tolerance * factor)
    return replace(
        oracle, by_dtype={dtype: value * factor for dtype, value in oracle.by_dtype.items()}
    )


def sensitivity(
    matrix: Matrix,
    question: Question,
    found: Sequence[Case],
    members: Mapping[str, Sequence[str]],
    factors: Sequence[float] = FACTORS,
) -> tuple[Sensitivity, ...]:
    """Score fixed suites at scaled tolerances.

    Parameters
    ----------
    matrix : Matrix
    question : Question
    found : sequence of Case
    members : mapping of str to sequence of str
        The suite of every problem.
    factors : sequence of float
    """
    totals = {factor: Sensitivity(factor, 0, 0, 0, 0, ()) for factor in factors}
    for case in found:
        block = case.block
        for factor, before in totals.items():
            try:
                row = _count(matrix, question, case, members[case.problem], factor, block)
            except UserError:  # a tolerance beyond what `decided` cells can answer
                totals[factor] = replace(before, refused=(*before.refused, case.problem))
                continue
            totals[factor] = replace(
                before,
                mutants=before.mutants + row[0],
                detected=before.detected + row[1],
                rejected=before.rejected + row[2],
                cells=before.cells + row[3],
            )
    return tuple(totals.values())


def _count(
    matrix: Matrix,
    question: Question,
    case: Case,
    members: Sequence[str],
    factor: float,
    block: CellBlock | None,
) -> tuple[int, int, int, int]:
    table = judged_table(
        matrix,
        case.problem,
        scaled(question.oracle, factor),
        include_locked=question.locked,
        block=block,
    )
    rows = case.rows_of(table)
    columns = [table.inputs.index(name) for name in members]
    given = [table.inputs.index(name) for name in case.given]
    killed = table.kills[rows].toarray()[:, [*columns, *given]].any(axis=1)
    rejected, cells = rejected_cells(table, members)
    return len(rows), int(killed.sum()), rejected, cells
