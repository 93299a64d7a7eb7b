"""Kill tables: an oracle's threshold query over the stored critical tolerances."""

from collections.abc import Collection, Iterator
from dataclasses import dataclass
from typing import TypeVar

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from scipy.sparse import csr_array

from suiteopt.errors import UserError
from suiteopt.matrix.oracle import Oracle, refuse_decided
from suiteopt.matrix.rounding import round_up_12
from suiteopt.matrix.schema import DECIDED_TOLERANCE, ImplementationClass, Kind, Role
from suiteopt.matrix.store import Matrix
from suiteopt.matrix.tables import cells_file, floor_column
from suiteopt.matrix.verdict import CellBlock, cell_block, needed_columns

S = TypeVar("S", bound=np.generic)

SLACK_LIMIT = 6.0
"""Largest slack, in decades: of exceptions, non-finite mismatches, and kills at tolerance 0."""

SLACK_LEAST = 1e-4
"""Slack of a kill of which only a lower bound is known (``decided``) that is not above it."""


@dataclass(frozen=True, eq=False)
class KillTable:
    """What an oracle kills on one problem.

    Rows are valid mutants, nulls, controls and wild kernels, in the order of
    ``implementations.parquet``; columns are all inputs of the problem, of every role, in the
    order of ``inputs.parquet``.

    Attributes
    ----------
    problem : str
    oracle : Oracle
    implementations : tuple of str
    kinds : tuple of Kind
    inputs : tuple of str
    kills : csr_array of bool, implementations x inputs
        Stable kills: the oracle rejects the cell in every repeat.
    ran : csr_array of bool, implementations x inputs
        Whether the verdict is known. False is "not run": neither a kill nor survival.
    slack : csr_array of float32, implementations x inputs
        log10(stored / tolerance) of the kills, at most `SLACK_LIMIT`; nothing elsewhere.
    tolerances : ndarray of float64, inputs
        In force; infinite where no calibrating control ran or one of them failed outright, so
        that no statistic says anything there.
    choosable : ndarray of bool, inputs
        Valid candidates on which no calibrating control is rejected, and at least one was run
        if the problem has any.
    controls : tuple of str
        Rows of ``control_rejections``.
    calibrating : ndarray of bool, controls
        Which of them count for tolerances and choice.
    control_rejections : ndarray of bool, controls x inputs
        The oracle rejects the control in some repeat.
    control_ran : ndarray of bool, controls x inputs
    """

    problem: str
    oracle: Oracle
    implementations: tuple[str, ...]
    kinds: tuple[Kind, ...]
    inputs: tuple[str, ...]
    kills: csr_array
    ran: csr_array
    slack: csr_array
    tolerances: NDArray[np.float64]
    choosable: NDArray[np.bool_]
    controls: tuple[str, ...]
    calibrating: NDArray[np.bool_]
    control_rejections: NDArray[np.bool_]
    control_ran: NDArray[np.bool_]

    def rows(self, kind: Kind) -> NDArray[np.intp]:
        """Return the positions of the implementations of a kind."""
        return np.flatnonzero([k == kind for k in self.kinds])

    @property
    def incomplete(self) -> NDArray[np.bool_]:
        """Whether a row has an input, among the choosable ones, that it was not run on."""
        unknown = ~self.ran.toarray()[:, self.choosable]
        return np.asarray(unknown.any(axis=1), dtype=np.bool_)


def kill_table(
    matrix: Matrix,
    problem: str,
    oracle: Oracle,
    *,
    controls: Collection[str] | None = None,
    include_locked: bool = False,
) -> KillTable:
    """Apply an oracle to the stored cells of a problem.

    A cell of a mutant, null or wild kernel is a kill when its status is fatal, when an element
    fails by the oracle's non-finite policy, or when the stored minimum exceeds the tolerance
    rounded up to 12 bits. A control is rejected when its stored maximum exceeds the tolerance.
    Nothing is a kill on an invalid input.

    Parameters
    ----------
    matrix : Matrix
    problem : str
    oracle : Oracle
    controls : collection of str, optional
        Ids of the controls that calibrate, and on which no chosen input may be wrong; by default
        `calibrating_controls`.
    include_locked : bool
        Whether mutants of the rules that are set aside have rows.

    Returns
    -------
    KillTable

    Raises
    ------
    UserError
        If the stored statistics cannot answer the query: a comparator or ratio that is not
        stored, or a tolerance above 0.1 where own draws were ``decided``.
    """
    implementations = matrix.implementations_of(problem)
    inputs = matrix.inputs_of(problem)
    names = tuple(str(name) for name in inputs["input"])
    ids = implementations["implementation"].astype(str).to_numpy(dtype=object)
    block = cell_block(
        matrix.cells_table(problem, needed_columns(oracle)),
        oracle,
        {name: row for row, name in enumerate(ids)},
        {name: column for column, name in enumerate(names)},
        str(matrix.path / cells_file(problem)),
    )
    kinds = implementations["kind"].to_numpy(dtype=object)
    control_rows = np.flatnonzero(kinds == str(Kind.CONTROL))
    chosen = set(calibrating_controls(matrix, problem, oracle) if controls is None else controls)
    control_ids = tuple(str(name) for name in ids[control_rows])
    if not chosen <= set(control_ids):
        raise UserError(f"{problem} has no control {min(chosen - set(control_ids))!r}")
    calibrating = np.array([name in chosen for name in control_ids], dtype=np.bool_)
    dtype = str(matrix.problem(problem)["dtype"])

    shape = (len(ids), len(names))
    tolerances = _tolerances(oracle, inputs, dtype, block, control_rows[calibrating], shape)
    valid = inputs["valid"].to_numpy(dtype=np.bool_)
    verdict = _judge(block, oracle, tolerances, valid, names)
    is_row = _is_row(implementations, include_locked)
    rejected = _dense(verdict.rejected, block, shape)[control_rows]
    control_ran = _dense(verdict.known, block, shape)[control_rows]
    accepts = ~rejected[calibrating].any(axis=0)
    if calibrating.any():
        accepts &= control_ran[calibrating].any(axis=0)
    candidate = (inputs["role"] == str(Role.CANDIDATE)).to_numpy(dtype=np.bool_)
    return KillTable(
        problem=problem,
        oracle=oracle,
        implementations=tuple(str(name) for name in ids[is_row]),
        kinds=tuple(Kind(kind) for kind in kinds[is_row]),
        inputs=names,
        kills=csr_array(_dense(verdict.kills, block, shape)[is_row]),
        ran=csr_array(_dense(verdict.known, block, shape)[is_row]),
        slack=csr_array(_dense(verdict.slack, block, shape)[is_row]),
        tolerances=tolerances,
        choosable=valid & candidate & accepts & np.isfinite(tolerances),
        controls=control_ids,
        calibrating=calibrating,
        control_rejections=rejected,
        control_ran=control_ran,
    )


def matrix_kills(
    matrix: Matrix, oracle: Oracle, *, include_locked: bool = False
) -> Iterator[KillTable]:
    """Yield the kill table of every problem, in order; one is in memory at a time."""
    for problem in matrix.problem_ids:
        yield kill_table(matrix, problem, oracle, include_locked=include_locked)


def calibrating_controls(matrix: Matrix, problem: str, oracle: Oracle) -> tuple[str, ...]:
    """Return the ids of the controls that calibrate by default.

    Not the blind ones; and where the operation rounds and the oracle compares with the own
    reference, not those that equal it to the bit, since they would say that 0 is safe.
    """
    rows = matrix.implementations_of(problem)
    counts = (rows["kind"] == str(Kind.CONTROL)) & ~rows["blind"]
    if matrix.problem(problem)["rounds"] and not oracle.judges_truth:
        counts &= ~rows["identical"]
    return tuple(str(name) for name in rows.loc[counts, "implementation"])


def calibrated_tolerances(
    matrix: Matrix, problem: str, oracle: Oracle, *, controls: Collection[str] | None = None
) -> NDArray[np.float64]:
    """Return the tolerance in force on each input of a problem.

    Of a calibrated oracle: max(safety x the worst stored maximum of the calibrating controls,
    the input's floor for the comparator), which may be 0; infinite where none of them ran, one
    raised an exception or failed by the non-finite policy.

    Returns
    -------
    ndarray of float64, inputs in the order of their table
    """
    return kill_table(matrix, problem, oracle, controls=controls).tolerances


@dataclass(frozen=True)
class _Verdict:
    """One entry a stored cell."""

    kills: NDArray[np.bool_]
    rejected: NDArray[np.bool_]
    known: NDArray[np.bool_]
    slack: NDArray[np.float32]


def _judge(
    block: CellBlock,
    oracle: Oracle,
    tolerances: NDArray[np.float64],
    valid: NDArray[np.bool_],
    names: tuple[str, ...],
) -> _Verdict:
    tolerance = tolerances[block.columns]
    counts = valid[block.columns]
    decided = block.decided & counts & np.isfinite(tolerance)
    beyond = decided & (tolerance > DECIDED_TOLERANCE)
    if beyond.any():
        column = int(block.columns[np.flatnonzero(beyond)[0]])
        raise refuse_decided(oracle, names[column], float(tolerances[column]))
    low = np.where(block.measured, block.low, 0.0)
    high = np.where(block.measured, block.high, 0.0)
    outright = (block.fatal | block.fails_low) & counts
    above = block.measured & counts & (low > round_up_12(tolerance))
    with np.errstate(divide="ignore", invalid="ignore"):
        decades = np.log10(np.where(decided, DECIDED_TOLERANCE, low) / tolerance)
    slack = np.where(above | decided, np.clip(decades, SLACK_LEAST, SLACK_LIMIT), 0.0)
    return _Verdict(
        kills=outright | above | decided,
        rejected=counts
        & (block.fatal | block.fails_high | decided | (block.measured & (high > tolerance))),
        known=counts
        & (block.fatal | block.fails_low | decided | (block.measured & np.isfinite(tolerance))),
        slack=np.where(outright, SLACK_LIMIT, slack).astype(np.float32),
    )


def _tolerances(
    oracle: Oracle,
    inputs: pd.DataFrame,
    dtype: str,
    block: CellBlock,
    calibrating: NDArray[np.intp],
    shape: tuple[int, int],
) -> NDArray[np.float64]:
    if oracle.safety is None:
        return np.full(len(inputs), oracle.fixed_tolerance(dtype))
    name = floor_column(oracle.comparator)
    floors = inputs[name].to_numpy(dtype=np.float64) if name in inputs else np.zeros(len(inputs))
    fails = block.fatal | block.fails_high | block.decided
    worst = np.where(fails, np.inf, np.where(block.measured, block.high, np.nan))
    dense = np.full(shape, np.nan)
    dense[block.rows, block.columns] = worst
    dense = dense[calibrating]
    ran = ~np.isnan(dense)
    most = np.where(ran, dense, -np.inf).max(axis=0, initial=-np.inf)
    tolerances = np.maximum(oracle.safety * np.maximum(most, 0.0), np.nan_to_num(floors))
    return np.where(ran.any(axis=0), tolerances, np.inf)


def _is_row(implementations: pd.DataFrame, include_locked: bool) -> NDArray[np.bool_]:
    kind, valid = implementations["kind"], implementations["class"]
    is_mutant = (kind == str(Kind.MUTANT)) & (valid == str(ImplementationClass.VALID))
    if not include_locked:
        is_mutant &= ~implementations["locked"]
    others = kind.isin([str(Kind.NULL), str(Kind.CONTROL), str(Kind.WILD)])
    return (is_mutant | others).to_numpy(dtype=np.bool_)


def _dense(values: NDArray[S], block: CellBlock, shape: tuple[int, int]) -> NDArray[S]:
    dense = np.zeros(shape, dtype=values.dtype)
    dense[block.rows, block.columns] = values
    return dense
