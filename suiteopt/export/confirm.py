"""Comparing a suite's promises with its members measured again at other shapes.

A tolerance belongs to the shape that it was measured at. So each member is judged twice: at the
suite's tolerance as it stands, and at the one that the controls ask for at the new shape.
"""

import json
from collections.abc import Iterable, Mapping
from dataclasses import replace
from functools import cached_property
from typing import Any

import numpy as np

from suiteopt.errors import UserError
from suiteopt.export.confirmation import (
    Confirmation,
    LostKill,
    MemberConfirmation,
    ProblemConfirmation,
)
from suiteopt.export.replay import rejected_controls, stand_ins, verdicts
from suiteopt.export.suite_oracle import is_raised, member_oracle, suite_oracle
from suiteopt.matrix.closed import closed_cells, fatal_implementations
from suiteopt.matrix.kill import KillTable, kill_table, load_block
from suiteopt.matrix.layout import layout_of
from suiteopt.matrix.one_input import input_table
from suiteopt.matrix.oracle import CALIBRATED_SAFETY, Oracle
from suiteopt.matrix.schema import Kind, ShapeScope
from suiteopt.matrix.store import Matrix
from suiteopt.matrix.verdict import CellBlock
from suiteopt.suite import Member, ProblemSuite, Suite


def confirm(suite: Suite, matrix: Matrix, measured: Matrix) -> Confirmation:
    """Compare what a suite promises with what its members show in another matrix.

    Parameters
    ----------
    suite : Suite
    matrix : Matrix
        The one that the suite was chosen on.
    measured : Matrix
        Holds every member of the suite under its own id, at the shapes that are to be confirmed.

    Raises
    ------
    UserError
        If the suite was chosen on another matrix, or a matrix does not hold a member.
    """
    _require_own(suite, matrix)
    oracle = suite_oracle(suite)
    return Confirmation(
        suite_hash=suite.hash,
        matrix_id=matrix.id,
        measured_id=measured.id,
        problems=tuple(
            _problem(problem, oracle, matrix, measured)
            for problem in suite.problems
            if problem.members
        ),
    )


def _require_own(suite: Suite, matrix: Matrix) -> None:
    """Refuse a matrix that a suite was not chosen on: its promises are not to be found there."""
    if suite.matrix_id != matrix.id:
        raise UserError(
            f"the suite was chosen on the matrix {suite.matrix_id[:12]}, and {matrix.path} is "
            f"{matrix.id[:12]}; give the one that it was chosen on with --matrix"
        )


def _problem(
    problem: ProblemSuite, oracle: Oracle, matrix: Matrix, measured: Matrix
) -> ProblemConfirmation:
    side = _Measured(measured, problem.problem, closed_cells(matrix, problem.problem))
    promises: dict[str, KillTable] = {}
    members = []
    promised: set[str] = set()
    kept: set[str] = set()
    lost: set[str] = set()
    for member in problem.members:
        own = member_oracle(oracle, member)
        if own.comparator not in promises:
            promises[own.comparator] = kill_table(matrix, problem.problem, own)
        table = promises[own.comparator]
        if member.input not in table.inputs:
            raise UserError(
                f"{matrix.path} has no input {member.input}; the suite was changed by hand, "
                "select it again"
            )
        if is_raised(table, member):
            judging = own.at(member.tolerance)
            table = input_table(matrix, problem.problem, judging, member.input)
        found = side.member(member, own, table)
        killed = {name for name, kill in verdicts(table, member.input).items() if kill}
        promised |= killed
        here = {each.mutant for each in found.lost}
        lost |= here
        # Who crashed or timed out on a member is not run on others, and is detected all the same.
        kept |= (killed - here - set(found.not_run)) | side.fatal(killed)
        members.append(found)
    return ProblemConfirmation(
        problem.problem, tuple(members), len(promised), len(kept), len(promised - kept - lost)
    )


class _Measured:
    """A problem of the matrix that was measured again."""

    def __init__(self, matrix: Matrix, problem: str, assumed: frozenset[tuple[str, str]]) -> None:
        self._matrix = matrix
        self._problem = problem
        self._assumed = assumed
        self._closed = closed_cells(matrix, problem)
        self._instead = stand_ins(matrix, problem)
        self._blocks: dict[str, CellBlock] = {}

    @cached_property
    def _inputs(self) -> Mapping[str, Any]:
        rows = self._matrix.inputs_of(self._problem).to_dict("records")
        return {str(row["input"]): row for row in rows}

    def member(self, member: Member, own: Oracle, promises: KillTable) -> MemberConfirmation:
        """Judge a member, at its tolerance and at the one that it needs here."""
        row = self._inputs.get(member.input)
        if row is None:
            raise UserError(
                f"{self._matrix.path} does not hold the member {member.input}; "
                "measure the suite again into another directory"
            )
        as_promised = own.at(member.tolerance)
        safety = own.safety or CALIBRATED_SAFETY
        as_needed = replace(own, tolerance=None, by_dtype={}, safety=safety)
        here = self._table(as_promised, member.input)
        anew = self._table(as_needed, member.input)
        column = here.inputs.index(member.input)
        before = verdicts(promises, member.input)
        wanted = [name for name, kill in before.items() if kill]
        found = self._verdicts(here, member.input, before)
        at_needed = self._verdicts(anew, member.input, before)
        nulls = verdicts(promises, member.input, Kind.NULL)
        nulls_here = self._verdicts(here, member.input, nulls, Kind.NULL)
        shape = json.loads(row["shape"])
        ran = here.control_ran[:, column] & here.calibrating
        rejected = rejected_controls(here, member.input)
        return MemberConfirmation(
            input=member.input,
            shape=shape,
            full=shape == json.loads(self._matrix.problem(self._problem)["contract"]),
            scope=ShapeScope(row["scope"]),
            reduction_ratio=float(row["reduction_ratio"]),
            invalid="" if row["valid"] else str(row["invalid_reason"]) or "the input is invalid",
            comparator=own.comparator,
            tolerance=member.tolerance,
            needed=float(anew.tolerances[column]),
            worst_control=self._worst_control(as_promised, here, column),
            promised=len(wanted),
            confirmed=sum(found[name] is True for name in wanted),
            confirmed_at_needed=sum(at_needed[name] is True for name in wanted),
            lost=tuple(
                LostKill(
                    name,
                    self._critical(as_promised, name, column),
                    (name, member.input) in self._assumed,
                )
                for name in wanted
                if found[name] is False
            ),
            not_run=tuple(name for name in wanted if found[name] is None),
            gained=sum(not kill and found[name] is True for name, kill in before.items()),
            controls_accepted=int(ran.sum()) - len(rejected),
            controls_rejected=rejected,
            nulls_promised=sum(nulls.values()),
            nulls_confirmed=sum(nulls_here[name] is True for name, kill in nulls.items() if kill),
        )

    @cached_property
    def _exceptions(self) -> frozenset[str]:
        return fatal_implementations(self._matrix, self._problem)

    def fatal(self, names: Iterable[str]) -> set[str]:
        """Return which mutants ended in an exception on a member."""
        return {name for name in names if self._instead.get(name, name) in self._exceptions}

    def _verdicts(
        self,
        table: KillTable,
        input_id: str,
        names: Iterable[str],
        kind: Kind = Kind.MUTANT,
    ) -> dict[str, bool | None]:
        """Return whether each of a kind is killed on an input; None for those that were not run."""
        found = verdicts(table, input_id, kind)
        ran = {name: self._instead.get(name, name) for name in names}
        return {
            name: None if (each, input_id) in self._closed else found.get(each)
            for name, each in ran.items()
        }

    def _table(self, oracle: Oracle, input_id: str) -> KillTable:
        return input_table(
            self._matrix,
            self._problem,
            oracle,
            input_id,
            include_locked=True,
            block=self._block(oracle),
        )

    def _block(self, oracle: Oracle) -> CellBlock:
        if oracle.comparator not in self._blocks:
            self._blocks[oracle.comparator] = load_block(self._matrix, self._problem, oracle)
        return self._blocks[oracle.comparator]

    def _critical(self, oracle: Oracle, mutant: str, column: int) -> float | None:
        row = layout_of(self._matrix, self._problem).rows[self._instead.get(mutant, mutant)]
        block = self._block(oracle)
        low = block.low[(block.rows == row) & (block.columns == column) & block.measured]
        return float(low[0]) if low.size else None

    def _worst_control(self, oracle: Oracle, table: KillTable, column: int) -> float:
        rows = layout_of(self._matrix, self._problem).rows
        chosen = [rows[name] for name in np.array(table.controls)[table.calibrating]]
        block = self._block(oracle)
        here = block.measured & (block.columns == column) & np.isin(block.rows, chosen)
        return float(block.high[here].max(initial=0.0))
