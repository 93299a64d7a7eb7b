"""The safety factor of calibrated tolerances, chosen on control kinds that did not calibrate.

One kind of control is left out at a time, the others calibrate, and the cells of the kind left
out are judged at every safety of a grid. No kill is looked at: detection has no say.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from suiteopt.matrix.judge import dense_of
from suiteopt.matrix.kill import calibrating_controls, load_block
from suiteopt.matrix.layout import layout_of
from suiteopt.matrix.oracle import CALIBRATED_SAFETY, Oracle
from suiteopt.matrix.schema import Kind, Role
from suiteopt.matrix.store import Matrix
from suiteopt.matrix.tables import floor_column
from suiteopt.matrix.verdict import CellBlock

SAFETIES = (1.0, 2.0, 3.0, 5.0, 10.0, 20.0, 30.0)
"""The grid. Above 30 precision faults escape, so a pool that needs more needs more controls."""


@dataclass(frozen=True, eq=False)
class HeldOutKinds:
    """How often each kind of control is rejected when the other kinds of its problem calibrate.

    Attributes
    ----------
    problem : str
    kinds : tuple of str
    trials : ndarray of int64, kinds
        Candidate inputs on which the kind ran, and the others ran and did not fail.
    rejected : ndarray of int64, kinds x safeties
        Of those: inputs on which a control of the kind exceeds the tolerance.
    """

    problem: str
    kinds: tuple[str, ...]
    trials: NDArray[np.int64]
    rejected: NDArray[np.int64]


def held_out_kinds(
    matrix: Matrix,
    problem: str,
    oracle: Oracle,
    safeties: Sequence[float] = SAFETIES,
    block: CellBlock | None = None,
) -> HeldOutKinds:
    """Leave out each control kind of a problem and count its rejections.

    Parameters
    ----------
    matrix : Matrix
    problem : str
    oracle : Oracle
        Calibrated; its comparator counts, its safety does not.
    safeties : sequence of float
    block : CellBlock, optional
        The problem's cells for that comparator.
    """
    if block is None:
        block = load_block(matrix, problem, oracle)
    details = matrix.implementations_of(problem)
    names = calibrating_controls(matrix, problem, oracle)
    kind_of = dict(
        zip(details["implementation"].astype(str), details["control_kind"].astype(str), strict=True)
    )
    kinds = tuple(sorted({kind_of[name] for name in names}))
    worst = _worst(matrix, problem, block, names)
    own = np.array([[kind_of[name] == kind for name in names] for kind in kinds], dtype=np.bool_)
    inputs = matrix.inputs_of(problem)
    column = floor_column(oracle.comparator)
    floors = inputs[column].to_numpy(dtype=np.float64) if column in inputs else 0.0
    pool = inputs["valid"].to_numpy(dtype=np.bool_) & (
        inputs["role"] == str(Role.CANDIDATE)
    ).to_numpy(dtype=np.bool_)
    trials = np.zeros(len(kinds), dtype=np.int64)
    rejected = np.zeros((len(kinds), len(safeties)), dtype=np.int64)
    for position, mask in enumerate(own):
        rest = _largest(worst[~mask])
        left_out = _largest(worst[mask])
        counts = pool & np.isfinite(rest) & ~np.isnan(left_out)
        trials[position] = counts.sum()
        for place, safety in enumerate(safeties):
            with np.errstate(invalid="ignore"):
                tolerances = np.maximum(safety * rest, floors)
                rejected[position, place] = (counts & (left_out > tolerances)).sum()
    return HeldOutKinds(problem, kinds, trials, rejected)


def calibrating_without(
    matrix: Matrix, problem: str, oracle: Oracle, kind: str | None
) -> tuple[str, ...]:
    """Return the controls that calibrate by default, those of one kind left out."""
    names = calibrating_controls(matrix, problem, oracle)
    if kind is None:
        return names
    details = matrix.implementations_of(problem)
    own = details.loc[details["control_kind"] == kind, "implementation"].astype(str)
    left_out = set(own)
    return tuple(name for name in names if name not in left_out)


def worst_controls(
    matrix: Matrix,
    problem: str,
    oracle: Oracle,
    block: CellBlock,
    controls: Sequence[str] | None = None,
) -> NDArray[np.float64]:
    """Return the worst calibrating control or substrate of every valid candidate input.

    Parameters
    ----------
    matrix, problem, oracle, block
    controls : sequence of str, optional
        Those that calibrate; by default all that can.

    Returns
    -------
    ndarray of float64
        Infinite where one fails outright, NaN where none ran.
    """
    layout = layout_of(matrix, problem)
    substrates = [str(name) for name in layout.ids[layout.kinds == str(Kind.SUBSTRATE)]]
    if controls is None:
        controls = calibrating_controls(matrix, problem, oracle)
    names = [*controls, *substrates]
    worst = _worst(matrix, problem, block, names)
    inputs = matrix.inputs_of(problem)
    pool = inputs["valid"].to_numpy(dtype=np.bool_) & (
        inputs["role"] == str(Role.CANDIDATE)
    ).to_numpy(dtype=np.bool_)
    return _largest(worst)[pool]


def _worst(
    matrix: Matrix, problem: str, block: CellBlock, names: Sequence[str]
) -> NDArray[np.float64]:
    """Stored maxima of controls, controls x inputs; infinite where one fails, NaN: not run."""
    layout = layout_of(matrix, problem)
    rows = np.array([layout.rows[name] for name in names], dtype=np.intp)
    shape = (len(layout.ids), len(layout.names))
    return dense_of(block.worst, block, rows, shape, np.nan)


def _largest(worst: NDArray[np.float64]) -> NDArray[np.float64]:
    """Largest of what ran; NaN where nothing did."""
    ran = ~np.isnan(worst)
    most = np.where(ran, worst, -np.inf).max(axis=0, initial=-np.inf)
    return np.where(ran.any(axis=0), most, np.nan)


def choose_safety(
    cells: Sequence[HeldOutKinds],
    safeties: Sequence[float] = SAFETIES,
    *,
    without_problem: str | None = None,
    without_kind: str | None = None,
) -> float:
    """Return the smallest safety with the fewest rejections of controls that did not calibrate.

    Parameters
    ----------
    cells : sequence of `HeldOutKinds`
    safeties : sequence of float
        The grid that they were counted on, ascending.
    without_problem, without_kind : str, optional
        What is left out, because it is going to be judged.

    Returns
    -------
    float
        `CALIBRATED_SAFETY` where nothing is left to choose by.
    """
    return SafetyChooser(cells, safeties).choose(without_problem, without_kind)


class SafetyChooser:
    """Chooses the safety again and again, each time with something else left out.

    Parameters
    ----------
    cells : sequence of `HeldOutKinds`
        One a problem.
    safeties : sequence of float
        As `choose_safety` takes them.
    """

    def __init__(self, cells: Sequence[HeldOutKinds], safeties: Sequence[float] = SAFETIES) -> None:
        self._safeties = safeties
        self._problems = np.array([part.problem for part in cells for _ in part.kinds], dtype=str)
        self._kinds = np.array([kind for part in cells for kind in part.kinds], dtype=str)
        nothing = np.zeros((0, len(safeties)), dtype=np.int64)
        self._rejected = np.concatenate([nothing, *(part.rejected for part in cells)])
        self._trials = np.concatenate([nothing[:, 0], *(part.trials for part in cells)])

    def choose(self, without_problem: str | None = None, without_kind: str | None = None) -> float:
        """Return what `choose_safety` does."""
        keep = np.ones(len(self._trials), dtype=np.bool_)
        if without_problem is not None:
            keep &= self._problems != without_problem
        if without_kind is not None:
            keep &= self._kinds != without_kind
        if not self._trials[keep].any():
            return CALIBRATED_SAFETY
        return float(self._safeties[int(np.argmin(self._rejected[keep].sum(axis=0)))])
