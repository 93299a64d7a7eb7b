"""The rules that say why a mutant survives, applied to one problem."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from suiteopt.audit.evidence import Evidence
from suiteopt.audit.reasons import Reason
from suiteopt.audit.settings import SYMMETRIC, TIES
from suiteopt.suite import BENCHMARK_RECIPE

_HIDDEN = {"unwritten": Reason.UNWRITTEN, "out_of_bounds": Reason.OUT_OF_BOUNDS}


@dataclass(frozen=True)
class Survivor:
    """A mutant that a check accepts.

    Attributes
    ----------
    implementation, problem, family : str
    rules : tuple of str
    reason : Reason
    error, tolerance : float or None
        Of the check's inputs the one on which its critical tolerance comes nearest to the
        tolerance in force: both of them there.
    nearest : str
        That input.
    killers : tuple of str
        Inputs outside the check that kill it under the same oracle, witnesses last.
    """

    implementation: str
    problem: str
    family: str
    rules: tuple[str, ...]
    reason: Reason
    error: float | None
    tolerance: float | None
    nearest: str
    killers: tuple[str, ...]


def why(evidence: Evidence, row: int, witness_how: str) -> Reason:
    """Return the first reason that holds for a survivor.

    Parameters
    ----------
    evidence : Evidence
    row : int
        Of the kill table.
    witness_how : str
        The strongest evidence of the witness pool, as the matrix has it.
    """
    mine = evidence.mine
    ran = evidence.ran[row] & mine
    if (evidence.unstable[row] & ran).any():
        return Reason.RACE
    seen = evidence.seen[row] & ran
    if (seen & evidence.relative[row]).any():
        return Reason.BELOW_ATOL
    if seen.any():
        return Reason.MASKED
    if not ran.any() or (mine & evidence.valid & ~evidence.ran[row]).any():
        return Reason.NOT_RUN
    killers = evidence.kills[row] & ~mine
    if killers.any():
        offered = killers & ~evidence.witness
        return _unreached(evidence, offered if offered.any() else killers)
    if witness_how == "race":
        return Reason.RACE
    if witness_how in _HIDDEN:
        return _HIDDEN[witness_how]
    return Reason.MASKED_EVERYWHERE if evidence.seen[row].any() else Reason.EQUIVALENT


def _unreached(evidence: Evidence, killers: NDArray[np.bool_]) -> Reason:
    """Say what the inputs that kill have and the check's inputs have not."""
    theirs = [evidence.settings[column] for column in np.flatnonzero(killers)]
    mine = [evidence.settings[column] for column in np.flatnonzero(evidence.mine)]
    shapes = {evidence.shapes[column] for column in np.flatnonzero(killers)}
    parameters = {setting.parameters for setting in mine}
    if not shapes & {evidence.shapes[column] for column in np.flatnonzero(evidence.mine)}:
        return Reason.SHAPE
    if all(setting.parameters not in parameters for setting in theirs):
        return Reason.IDENTITY if parameters == {BENCHMARK_RECIPE} else Reason.NOT_REACHED
    families = {setting.family for setting in mine}
    if all(s.family in TIES for s in theirs) and not families & TIES:
        return Reason.TIE
    if families <= SYMMETRIC and any(s.family not in SYMMETRIC for s in theirs):
        return Reason.TIE
    same = {(setting.family, setting.parameters) for setting in mine}
    names = {setting.name for setting in mine}
    if any((s.family, s.parameters) in same and s.name not in names for s in theirs):
        return Reason.SATURATION
    return Reason.NOT_REACHED


def survivors_of(
    evidence: Evidence, rows: NDArray[np.intp], details: pd.DataFrame
) -> list[Survivor]:
    """Classify the mutants of some rows that the check does not kill.

    Parameters
    ----------
    evidence : Evidence
    rows : ndarray of int
        Rows of the kill table that count.
    details : DataFrame
        Their rows of ``implementations.parquet``, indexed by id.
    """
    table = evidence.table
    columns = np.flatnonzero(evidence.mine)
    alive = ~evidence.kills[rows][:, columns].any(axis=1)
    found = []
    for row in rows[alive]:
        name = table.implementations[row]
        about: Mapping[Any, Any] = details.loc[name].to_dict()
        killers = np.flatnonzero(evidence.kills[row] & ~evidence.mine)
        nearest = _nearest(evidence, int(row))
        ordered = sorted(killers, key=lambda column: bool(evidence.witness[column]))
        found.append(
            Survivor(
                implementation=name,
                problem=table.problem,
                family=str(about["family"]),
                rules=tuple(str(rule) for rule in about["rules"]),
                reason=why(evidence, int(row), str(about["witness_how"])),
                error=None if nearest is None else float(evidence.low[row, nearest]),
                tolerance=None if nearest is None else float(table.tolerances[nearest]),
                nearest="" if nearest is None else table.inputs[nearest],
                killers=tuple(table.inputs[column] for column in ordered),
            )
        )
    return found


def _nearest(evidence: Evidence, row: int) -> int | None:
    """Return the check's input on which a mutant comes nearest to being rejected."""
    columns = np.flatnonzero(evidence.mine & np.isfinite(evidence.low[row]))
    if not len(columns):
        return None
    with np.errstate(divide="ignore", invalid="ignore"):
        part = evidence.low[row, columns] / evidence.table.tolerances[columns]
    return int(columns[int(np.nan_to_num(part, nan=0.0).argmax())])
