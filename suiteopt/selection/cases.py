"""From a matrix to one problem's instance, with what is reported about it."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from suiteopt.errors import UserError
from suiteopt.matrix.behaviour import behaviours
from suiteopt.matrix.denominator import denominator_mask, shows_in_output
from suiteopt.matrix.kill import KillTable, kill_table
from suiteopt.matrix.schema import Kind, Need
from suiteopt.matrix.store import Matrix
from suiteopt.protocols import known_protocols, protocol_inputs
from suiteopt.selection.constraints import Constraints
from suiteopt.selection.instance import Instance, make_instance
from suiteopt.selection.question import Question
from suiteopt.selection.sites import Site, sites_of

OWN_PROTOCOL = "kernelbench"
"""Whose inputs are the benchmark's own draws: the first five."""


@dataclass(frozen=True, eq=False)
class Case:
    """One problem as selection and validation see it; rows are the mutants that count.

    Attributes
    ----------
    problem : str
    table : KillTable
    instance : Instance
        Columns are the choosable inputs that the target can carry. Where the harness runs its own
        draws first, these are credited and no columns.
    families : tuple of str
    rules : tuple of tuple of str
    sites : tuple of tuple of Site
    behaviours : ndarray of int64, shape (m,)
        Equal numbers behave equally on every input of every pool.
    shows : ndarray of bool, shape (m,)
        Witnessed by an exception or a wrong output, which a check of outputs could see.
    own : ndarray of bool, shape (m,), or None
        Killed by one of the benchmark's first five own draws, at the oracle in force; None where
        the matrix does not have them.
    first_own : ndarray of bool, shape (m,), or None
        Killed by the first of them.
    unknown_cells : int
        Cells of these mutants and columns that were not run, and count as no kill.
    """

    problem: str
    table: KillTable
    instance: Instance
    families: tuple[str, ...]
    rules: tuple[tuple[str, ...], ...]
    sites: tuple[tuple[Site, ...], ...]
    behaviours: NDArray[np.int64]
    shows: NDArray[np.bool_]
    own: NDArray[np.bool_] | None
    first_own: NDArray[np.bool_] | None
    unknown_cells: int


def cases(
    matrix: Matrix, question: Question, problems: Sequence[str] | None = None
) -> Iterator[Case]:
    """Yield the case of every problem, in order; one at a time is in memory.

    Raises
    ------
    UserError
        If the matrix is incomplete and that was not accepted, or cannot answer the question.
    """
    if not matrix.meta.complete and not question.incomplete:
        raise UserError(
            f"the matrix at {matrix.path} is incomplete; finish it with `gpu-eval resume`, "
            "or give --allow-incomplete to count cells that were not run as no kills"
        )
    for problem in problems if problems is not None else matrix.measured_problems:
        yield make_case(matrix, problem, question)


def case_instance(
    matrix: Matrix, table: KillTable, mutants: Sequence[str], question: Question
) -> Instance:
    """Build the instance of some mutants of a kill table.

    Parameters
    ----------
    matrix : Matrix
    table : KillTable
        May have been made with fewer calibrating controls than by default.
    mutants : sequence of str
        Rows, by id.
    question : Question

    Raises
    ------
    UserError
        If the harness runs own draws first and the matrix does not have them.
    """
    rows = _rows(table, mutants)
    kills, slack = table.kills[rows].toarray(), table.slack[rows].toarray()
    own_first = question.capabilities is not None and question.capabilities.own_first
    credited = list(_require_own(matrix, table)) if own_first else []
    inputs = matrix.inputs_of(table.problem)
    columns = _columns(table, inputs, question, credited)
    return make_instance(
        table.problem,
        mutants,
        [table.inputs[column] for column in columns],
        kills[:, columns],
        slack_decades=slack[:, columns],
        costs=inputs["bytes"].to_numpy(dtype=np.int64)[columns],
        given=kills[:, credited].sum(axis=1),
        given_slack_decades=slack[:, credited].max(axis=1, initial=0.0),
    )


def make_case(matrix: Matrix, problem: str, question: Question) -> Case:
    """Build the case of one problem.

    Parameters
    ----------
    matrix : Matrix
    problem : str
    question : Question

    Raises
    ------
    UserError
        If the stored statistics cannot answer, or the harness runs own draws first and the matrix
        does not have them.
    """
    table = kill_table(matrix, problem, question.oracle, include_locked=question.locked)
    mask = denominator_mask(matrix, table, question.denominator)
    mutants = tuple(table.implementations[row] for row in np.flatnonzero(mask))
    instance = case_instance(matrix, table, mutants, question)
    own = _own_columns(matrix, table)
    rows = _rows(table, mutants)
    kills = table.kills[rows].toarray()
    columns = [table.inputs.index(name) for name in instance.inputs]
    details = matrix.implementations_of(problem).set_index("implementation").loc[list(mutants)]
    return Case(
        problem=problem,
        table=table,
        instance=instance,
        families=tuple(str(family) for family in details["family"]),
        rules=tuple(tuple(str(rule) for rule in rules) for rules in details["rules"]),
        sites=sites_of(matrix, problem, details),
        behaviours=behaviours(matrix, problem, mutants),
        shows=shows_in_output(details),
        own=None if own is None else np.asarray(kills[:, list(own)].any(axis=1)),
        first_own=None if own is None else np.asarray(kills[:, own[0]]),
        unknown_cells=int((~table.ran[rows].toarray()[:, columns]).sum()),
    )


def split_constraints(
    found: Sequence[Case], include: Sequence[str], exclude: Sequence[str]
) -> dict[str, Constraints]:
    """Sort required and barred inputs by problem.

    Raises
    ------
    UserError
        If no problem has an input of that name.
    """
    home = {name: case.problem for case in found for name in case.table.inputs}
    for name in (*include, *exclude):
        if name not in home:
            raise UserError(f"the matrix has no input '{name}'; `suiteopt show` lists them")
    return {
        case.problem: Constraints(
            frozenset(name for name in include if home[name] == case.problem),
            frozenset(name for name in exclude if home[name] == case.problem),
        )
        for case in found
    }


def _columns(
    table: KillTable, inputs: pd.DataFrame, question: Question, barred: Sequence[int]
) -> list[int]:
    """Positions of the inputs that may be chosen."""
    capabilities = question.capabilities
    chosen = []
    for column, needs in enumerate(inputs["needs"]):
        carried = capabilities is None or capabilities.carries(
            frozenset(Need(str(need)) for need in needs)
        )
        if table.choosable[column] and carried and column not in barred:
            chosen.append(column)
    return chosen


def _rows(table: KillTable, mutants: Sequence[str]) -> NDArray[np.intp]:
    positions = {name: row for row, name in enumerate(table.implementations)}
    return np.array([positions[name] for name in mutants], dtype=np.intp)


def _own_columns(matrix: Matrix, table: KillTable) -> tuple[int, ...] | None:
    try:
        return _require_own(matrix, table)
    except UserError:
        return None


def _require_own(matrix: Matrix, table: KillTable) -> tuple[int, ...]:
    names = protocol_inputs(matrix, table.problem, known_protocols()[OWN_PROTOCOL])
    return tuple(table.inputs.index(name) for name in names)


def rejected_cells(
    table: KillTable, inputs: Sequence[str], controls: NDArray[np.bool_] | None = None
) -> tuple[int, int]:
    """Count rejected and all run cells of controls on some inputs.

    Parameters
    ----------
    table : KillTable
    inputs : sequence of str
    controls : ndarray of bool, controls, optional
        Which controls; all of them by default, blind ones included.
    """
    columns = [table.inputs.index(name) for name in inputs]
    which = np.ones(len(table.controls), dtype=np.bool_) if controls is None else controls
    rejected = table.control_rejections[which][:, columns] & table.control_ran[which][:, columns]
    return int(rejected.sum()), int(table.control_ran[which][:, columns].sum())


def null_rows(table: KillTable) -> NDArray[np.intp]:
    """Rows of the implementations that do no work."""
    return table.rows(Kind.NULL)
