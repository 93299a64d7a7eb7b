"""Kill tables: an oracle's threshold query over the stored critical tolerances."""

from collections.abc import Collection, Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array

from suiteopt.errors import UserError
from suiteopt.matrix.judge import (
    SLACK_LIMIT,
    SparseRows,
    dense_of,
    judge,
    share_places,
    tolerances_in_force,
)
from suiteopt.matrix.layout import Layout, floors_of, layout_of
from suiteopt.matrix.oracle import Oracle
from suiteopt.matrix.pieces import CellPieces, load_block, load_cells, some_rows
from suiteopt.matrix.schema import Kind, Statistic
from suiteopt.matrix.store import Matrix
from suiteopt.matrix.verdict import CellBlock

__all__ = [
    "SLACK_LIMIT",
    "KillTable",
    "calibrated_tolerances",
    "calibrating_controls",
    "kill_table",
    "load_block",
    "matrix_kills",
]


REFEREE_LIMIT = 0.125
"""Largest calibrated tolerance of an input that may be chosen, as a share of the output's scale.

An eighth: beyond it correct kernels differ so much that outputs which are wrong by a whole digit
are accepted. Such an input would only find what is non-finite, and maintainers could not say what
it judges. `gpu_eval.problems.check` draws the line for PyTorch's own error at the same place.
"""


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
        Valid candidates on which no calibrating control and no substrate is rejected, and at least
        one control was run if the problem has any; with a calibrated oracle only where the
        tolerance says something (`REFEREE_LIMIT`).
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
    block: CellBlock | None = None,
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
    block : CellBlock, optional
        `load_block` of the problem for an oracle that differs in its tolerance alone, when it
        is at hand.

    Returns
    -------
    KillTable

    Raises
    ------
    UserError
        If the stored statistics cannot answer the query: a comparator or ratio that is not
        stored, or a tolerance above 0.1 where own draws were ``decided``.
    """
    layout = layout_of(matrix, problem)
    ids, names = layout.ids, layout.names
    cells = load_cells(matrix, problem, oracle) if block is None else (block,)
    if isinstance(cells, CellPieces):
        correct = some_rows(cells, layout.kinds != str(Kind.MUTANT))
    else:
        (correct,) = cells
    control_rows = np.flatnonzero(layout.kinds == str(Kind.CONTROL))
    by_default = _calibrates(layout, oracle)
    chosen = set(ids[by_default] if controls is None else controls)
    control_ids = tuple(str(name) for name in ids[control_rows])
    if not chosen <= set(control_ids):
        raise UserError(f"{problem} has no control {min(chosen - set(control_ids))!r}")
    calibrating = np.array([name in chosen for name in control_ids], dtype=np.bool_)
    shape = (len(ids), len(names))
    tolerances = tolerances_in_force(
        oracle,
        floors_of(matrix, problem, oracle.comparator),
        layout.dtype,
        correct,
        control_rows[calibrating],
        shape,
    )
    verdict = judge(correct, oracle, tolerances, layout.valid, names)
    is_row, names_of_rows, kinds = layout.rows_with(include_locked)
    rejected = dense_of(verdict.rejected, correct, control_rows, shape)
    control_ran = dense_of(verdict.known, correct, control_rows, shape)
    substrates = np.flatnonzero(layout.kinds == str(Kind.SUBSTRATE))
    accepts = ~rejected[calibrating].any(axis=0)
    # A correct kernel that the faults were injected into: its mutants would die of its own error.
    accepts &= ~dense_of(verdict.rejected, correct, substrates, shape).any(axis=0)
    if calibrating.any():
        accepts &= control_ran[calibrating].any(axis=0)
    count = cells.count if isinstance(cells, CellPieces) else len(correct.rows)
    kills = SparseRows(is_row, shape, count, np.bool_)
    ran = SparseRows(is_row, shape, count, np.bool_)
    slack = SparseRows(is_row, shape, count, np.float32)
    for piece in cells:
        if piece is not correct:
            verdict = judge(piece, oracle, tolerances, layout.valid, names)
        kills.add(verdict.kills, piece)
        ran.add(verdict.known, piece)
        slack.add(verdict.slack, piece)
    killed, known, decades = kills.table(), ran.table(), slack.table()
    share_places(decades, killed)
    share_places(known, killed)
    return KillTable(
        problem=problem,
        oracle=oracle,
        implementations=names_of_rows,
        kinds=kinds,
        inputs=names,
        kills=killed,
        ran=known,
        slack=decades,
        tolerances=tolerances,
        choosable=layout.valid & layout.candidate & accepts & _referees(oracle, tolerances),
        controls=control_ids,
        calibrating=calibrating,
        control_rejections=rejected,
        control_ran=control_ran,
    )


def _referees(oracle: Oracle, tolerances: NDArray[np.float64]) -> NDArray[np.bool_]:
    """Tell on which inputs a tolerance says something.

    One that somebody fixed is theirs, and `max_abs` knows no scale.
    """
    if not oracle.calibrated or oracle.comparator == Statistic.MAX_ABS:
        return np.isfinite(tolerances)
    return tolerances <= REFEREE_LIMIT


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
    layout = layout_of(matrix, problem)
    return tuple(str(name) for name in layout.ids[_calibrates(layout, oracle)])


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


def _calibrates(layout: Layout, oracle: Oracle) -> NDArray[np.bool_]:
    counts = (layout.kinds == str(Kind.CONTROL)) & ~layout.blind
    if layout.rounds and not oracle.judges_truth:
        counts &= ~layout.identical
    return np.asarray(counts, dtype=np.bool_)
