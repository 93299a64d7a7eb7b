"""What is run on a problem and by what it is judged: a protocol's inputs, or a suite's."""

from collections.abc import Mapping
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from suiteopt.errors import UserError
from suiteopt.matrix.closed import closed_cells
from suiteopt.matrix.kill import KillTable, kill_table
from suiteopt.matrix.layout import layout_of
from suiteopt.matrix.one_input import with_tolerances
from suiteopt.matrix.oracle import Oracle
from suiteopt.matrix.store import Matrix
from suiteopt.protocols import (
    Protocol,
    judged_problems,
    known_protocols,
    load_oracle,
    protocol_inputs,
)
from suiteopt.selection.columns import OWN_PROTOCOL
from suiteopt.selection.comparators import parse_any
from suiteopt.suite import Suite


@dataclass(frozen=True)
class Check:
    """An oracle with the inputs that it runs on each problem.

    Attributes
    ----------
    name : str
    oracle : Oracle
    inputs : mapping of str to tuple of str
        Ids by problem; a problem that is not there is not checked.
    left_out : mapping of str to str
        Measured problems whose pool lacks an input of the check, and which.
    tolerances : mapping of str to float
        Of inputs that a confirmed suite judges at a tolerance of their own.
    """

    name: str
    oracle: Oracle
    inputs: Mapping[str, tuple[str, ...]]
    left_out: Mapping[str, str] = field(default_factory=dict)
    tolerances: Mapping[str, float] = field(default_factory=dict)


def protocol_check(matrix: Matrix, protocol: Protocol) -> Check:
    """Return what a protocol runs on the measured problems of a matrix that have its inputs.

    Raises
    ------
    UserError
        If no problem has them.
    """
    found = judged_problems(matrix, protocol)
    return Check(protocol.name, protocol.oracle, found.inputs, found.left_out)


def suite_check(matrix: Matrix, suite: Suite, name: str) -> Check:
    """Return what a suite runs: its members, after the target's own draws where it has them.

    Its tolerances are worked out on this matrix, but for those that a confirmation raised; the name
    says so if another one chose it. A measured problem that the suite leaves out has the own draws
    alone, or nothing.

    Raises
    ------
    UserError
        If the matrix has not a problem or an input of it, or the suite's target is unknown.
    """
    if parse_any(suite.oracle) is not None:
        raise UserError(
            f"{name} was chosen under {suite.oracle}, with a comparator for each input, and this "
            "judges all inputs by one; give a suite chosen under calibrated or a fixed tolerance"
        )
    own_first = False
    if suite.target is not None:
        from suiteopt.export.registry import get_target

        own_first = get_target(suite.target).capabilities.own_first
    for part in suite.problems:
        if part.problem not in matrix.measured_problems:
            raise UserError(
                f"{name} has the problem {part.problem}, of which the matrix at {matrix.path} has "
                "no cells; give the matrix that it was chosen from"
            )
        known = set(matrix.inputs_of(part.problem)["input"].astype(str))
        unknown = [member.input for member in part.members if member.input not in known]
        if unknown:
            raise UserError(
                f"{name} has the input {unknown[0]!r}, which the matrix at {matrix.path} does not "
                "have; give the matrix that it was chosen from"
            )
    chosen = {part.problem: [member.input for member in part.members] for part in suite.problems}
    inputs: dict[str, tuple[str, ...]] = {}
    for problem in matrix.measured_problems:
        own: tuple[str, ...] = ()
        if own_first:
            own = protocol_inputs(matrix, problem, known_protocols()[OWN_PROTOCOL])
        inputs[problem] = tuple(dict.fromkeys((*own, *chosen.get(problem, ()))))
    if suite.matrix_id != matrix.id:
        name = f"{name}, chosen on another matrix"
    from suiteopt.export.suite_oracle import raised_tolerances

    tolerances = raised_tolerances(suite, matrix)
    return Check(name, load_oracle(suite.oracle), inputs, tolerances=tolerances)


def check_table(matrix: Matrix, problem: str, check: Check) -> tuple[KillTable, NDArray[np.intp]]:
    """Return the kill table of a check's oracle, and the columns of its inputs."""
    table = with_tolerances(matrix, kill_table(matrix, problem, check.oracle), check.tolerances)
    positions = {name: column for column, name in enumerate(table.inputs)}
    names = check.inputs.get(problem, ())
    return table, np.array([positions[name] for name in names], dtype=np.intp)


def require_answers(
    check: Check,
    matrix: Matrix,
    table: KillTable,
    rows: NDArray[np.intp],
    columns: NDArray[np.intp],
) -> None:
    """Refuse a problem on which a matrix keeps nothing of any mutant: zero would be no answer.

    Mutants that were closed did not run; that is an answer.

    Parameters
    ----------
    check : Check
    matrix : Matrix
    table : KillTable
    rows : ndarray of int
        The mutants that count.
    columns : ndarray of int
        The inputs of the check.

    Raises
    ------
    UserError
    """
    ran = table.ran[rows].toarray()[:, columns]
    if not ran.size or ran.any():
        return
    valid = layout_of(matrix, table.problem).valid
    asked = {
        (table.implementations[row], table.inputs[column])
        for row in rows
        for column in columns
        if valid[column]
    }
    if asked - closed_cells(matrix, table.problem):
        raise UserError(
            f"{check.name} cannot be judged on {table.problem}: the matrix keeps no "
            f"{check.oracle.comparator} of its inputs for any mutant; use a matrix with that "
            "statistic, or a comparator that this one has"
        )
