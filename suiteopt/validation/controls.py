"""False rejections on controls that the tolerances have not seen."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from suiteopt.matrix.judge import tolerances_in_force
from suiteopt.matrix.kill import KillTable
from suiteopt.matrix.layout import Layout, floors_of, layout_of
from suiteopt.matrix.oracle import Oracle
from suiteopt.matrix.schema import Kind
from suiteopt.matrix.store import Matrix
from suiteopt.matrix.verdict import CellBlock
from suiteopt.selection.cases import Case, case_instance
from suiteopt.selection.comparators import judged_table
from suiteopt.selection.question import Question
from suiteopt.validation.bootstrap import upper_bound
from suiteopt.validation.suites import Choose

BLIND = "blind"


@dataclass(frozen=True)
class HeldOutControl:
    """One control, judged by a suite that was calibrated and chosen without its kind.

    Attributes
    ----------
    problem, control : str
    kind : str
        Its kind, or ``blind`` for one that never calibrates.
    cells, rejected : int
        On members of the suite: all that ran, and rejected ones.
    pool_cells, pool_rejected : int
        The same on every input that could have been chosen.
    """

    problem: str
    control: str
    kind: str
    cells: int
    rejected: int
    pool_cells: int
    pool_rejected: int


@dataclass(frozen=True)
class HeldOutControls:
    """All held-out controls.

    The cells of one problem are not independent: they share inputs, members and often the
    arithmetic. The bound therefore takes the problem as its unit: a problem counts as an event if
    any of its held-out controls is rejected on any member, and the exact one-sided 95%
    Clopper-Pearson bound is that of events among problems. It bounds the share of problems whose
    suite rejects a correct implementation that nobody calibrated on.
    """

    rows: tuple[HeldOutControl, ...]

    @property
    def held_out(self) -> int:
        """Control cells on members."""
        return sum(row.cells for row in self.rows)

    @property
    def rejected(self) -> int:
        """Rejected ones among them."""
        return sum(row.rejected for row in self.rows)

    @property
    def problems(self) -> int:
        """Problems with a held-out control that ran on a member."""
        return len({row.problem for row in self.rows if row.cells})

    @property
    def problems_rejected(self) -> int:
        """Those with a rejection."""
        return len({row.problem for row in self.rows if row.rejected})

    @property
    def bound_share(self) -> float | None:
        """Upper bound of the share of problems with a rejection; None without any."""
        return upper_bound(self.problems_rejected, self.problems)

    def as_dict(self) -> dict[str, Any]:
        """JSON form."""
        blind = [row for row in self.rows if row.kind == BLIND]
        return {
            "held_out": self.held_out,
            "rejected": self.rejected,
            "bound_share": self.bound_share,
            "problems": self.problems,
            "problems_rejected": self.problems_rejected,
            "cell_bound_share": upper_bound(self.rejected, self.held_out),
            "pool_held_out": sum(row.pool_cells for row in self.rows),
            "pool_rejected": sum(row.pool_rejected for row in self.rows),
            "blind_held_out": sum(row.cells for row in blind),
            "blind_rejected": sum(row.rejected for row in blind),
            "rejections": [
                {
                    "problem": row.problem,
                    "control": row.control,
                    "kind": row.kind,
                    "rejected": row.rejected,
                    "cells": row.cells,
                }
                for row in self.rows
                if row.rejected
            ],
        }


OracleFor = Callable[[str, str], Oracle]
"""The oracle by which a kind of a problem's controls is judged, both given by name."""


def hold_out_controls(
    matrix: Matrix,
    question: Question,
    found: Sequence[Case],
    choose: Choose,
    oracle_for: OracleFor | None = None,
    before: HeldOutControls | None = None,
) -> HeldOutControls:
    """Leave one control kind out at a time, calibrate and choose anew, and judge it.

    Where the objective looks at other problems too, these stay as they are. A kind that is the
    only one to calibrate a problem is not left out there. Blind controls are judged by the suite
    that all calibrating controls give.

    Parameters
    ----------
    matrix : Matrix
    question : Question
    found : sequence of Case
        As made by default.
    choose : callable
        Chooses the suite of a problem: see `suiteopt.validation.suites.Choose`.
    oracle_for : callable, optional
        Another safety for each problem and kind; the question's oracle by default.
    before : HeldOutControls, optional
        What the question's oracle gave on the same cases: taken over where ``oracle_for`` returns
        that oracle.
    """
    known = {(row.control, row.kind): row for row in before.rows} if before is not None else {}
    rows: list[HeldOutControl] = []
    for case in found:
        rows += _of_problem(matrix, question, case, choose, oracle_for, known)
    return HeldOutControls(tuple(rows))


def _of_problem(
    matrix: Matrix,
    question: Question,
    case: Case,
    choose: Choose,
    oracle_for: OracleFor | None,
    known: Mapping[tuple[str, str], HeldOutControl],
) -> list[HeldOutControl]:
    layout = layout_of(matrix, case.problem)
    kind_of = matrix.remember(
        f"control kinds {case.problem}", lambda: _control_kinds(matrix, case.problem)
    )
    calibrating = [
        name
        for name, counts in zip(case.table.controls, case.table.calibrating, strict=True)
        if counts
    ]
    kinds = {name: kind_of[name] for name in calibrating}
    block = None if case.block is None else _looked_at(layout, case, case.block)

    def judged(oracle: Oracle, controls: Sequence[str]) -> _Suite:
        table = judged_table(
            matrix,
            case.problem,
            oracle,
            controls=controls,
            include_locked=question.locked,
            block=block,
        )
        instance = case_instance(matrix, table, case.instance.mutants, question)
        return _Suite(table, instance.inputs, tuple(choose(case, instance)))

    whole: list[tuple[Oracle, _Suite]] = []

    def by_all(oracle: Oracle) -> _Suite:
        """Return the suite that all calibrating controls give."""
        for before, suite in whole:
            if before == oracle:
                return suite
        if oracle == question.oracle:
            members = tuple(choose(case, case.instance))
            suite = _Suite(case.table, case.instance.inputs, members)
        else:
            suite = judged(oracle, calibrating)
        whole.append((oracle, suite))
        return suite

    def without(oracle: Oracle, rest: Sequence[str]) -> _Suite:
        """Return what is left of the calibrating controls gives; often all of them give it."""
        if block is None:
            return judged(oracle, rest)
        tolerances = tolerances_in_force(
            oracle,
            floors_of(matrix, case.problem, oracle.comparator),
            layout.dtype,
            block,
            np.array([layout.rows[name] for name in rest], dtype=np.intp),
            (len(layout.ids), len(layout.names)),
        )
        suite = by_all(oracle)
        columns = _columns_that_matter(layout, case)
        alike = _alike(suite.table, rest, tolerances, columns)
        return suite if alike else judged(oracle, rest)

    rows: list[HeldOutControl] = []
    for kind in sorted(set(kinds.values())):
        rest = [name for name in calibrating if kinds[name] != kind]
        if not rest:
            continue
        oracle = question.oracle if oracle_for is None else oracle_for(case.problem, kind)
        out = [name for name in calibrating if kinds[name] == kind]
        if oracle == question.oracle and all((name, kind) in known for name in out):
            rows += [known[name, kind] for name in out]
            continue
        rows += _judge(without(oracle, rest), out, kind)
    blind = [name for name in case.table.controls if layout.blind[layout.rows[name]]]
    if blind:
        oracle = question.oracle if oracle_for is None else oracle_for(case.problem, BLIND)
        rows += _judge(by_all(oracle), blind, BLIND)
    return rows


def _alike(
    table: KillTable,
    rest: Sequence[str],
    tolerances: NDArray[np.float64],
    columns: NDArray[np.bool_],
) -> bool:
    """Whether a kill table is the same when only some of its controls calibrate.

    Most kinds are the worst on no input, or below the floor there.

    Parameters
    ----------
    table : KillTable
        By all that calibrate.
    rest : sequence of str
        Those that still do; at least one.
    tolerances : ndarray of float64, inputs
        By these.
    columns : ndarray of bool, inputs
        Where it matters.
    """
    left = np.isin(table.controls, rest)
    return np.array_equal(tolerances[columns], table.tolerances[columns]) and all(
        np.array_equal(what[left].any(axis=0), what[table.calibrating].any(axis=0))
        for what in (table.control_rejections[:, columns], table.control_ran[:, columns])
    )


def _columns_that_matter(layout: Layout, case: Case) -> NDArray[np.bool_]:
    """Inputs that a suite or a held-out control depends on."""
    columns = layout.candidate.copy()
    columns[[layout.columns[name] for name in case.given]] = True
    return columns


def _looked_at(layout: Layout, case: Case, block: CellBlock) -> CellBlock:
    """Return the cells that a suite or a held-out control depends on: about half of them."""
    rows = np.isin(layout.kinds.astype(str), [str(Kind.CONTROL), str(Kind.SUBSTRATE)])
    rows[[layout.rows[name] for name in case.instance.mutants]] = True
    columns = _columns_that_matter(layout, case)
    return block.take(np.flatnonzero(rows[block.rows] & columns[block.columns]))


def _control_kinds(matrix: Matrix, problem: str) -> dict[str, str]:
    rows = matrix.implementations_of(problem)
    names, kinds = rows["implementation"].astype(str), rows["control_kind"].astype(str)
    return dict(zip(names, kinds, strict=True))


@dataclass(frozen=True, eq=False)
class _Suite:
    """What some controls give."""

    table: KillTable
    inputs: tuple[str, ...]
    members: tuple[str, ...]


def _judge(suite: _Suite, controls: Sequence[str], kind: str) -> list[HeldOutControl]:
    rows = []
    for name in controls:
        cells, rejected = _count(suite.table, name, suite.members)
        pool_cells, pool_rejected = _count(suite.table, name, suite.inputs)
        rows.append(
            HeldOutControl(
                suite.table.problem, name, kind, cells, rejected, pool_cells, pool_rejected
            )
        )
    return rows


def _count(table: KillTable, control: str, inputs: Sequence[str]) -> tuple[int, int]:
    row = table.controls.index(control)
    places = {name: column for column, name in enumerate(table.inputs)}
    columns = [places[name] for name in inputs]
    ran = table.control_ran[row, columns]
    return int(ran.sum()), int(np.sum(ran & table.control_rejections[row, columns]))
