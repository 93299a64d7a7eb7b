"""From a matrix to one problem's instance, with what is reported about it."""

from collections.abc import Iterable, Iterator, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from suiteopt.errors import UserError
from suiteopt.matrix.denominator import Denominator, denominator_mask
from suiteopt.matrix.kill import KillTable, load_block
from suiteopt.matrix.layout import layout_of
from suiteopt.matrix.pieces import is_large, load_cells
from suiteopt.matrix.store import Matrix
from suiteopt.matrix.verdict import CellBlock
from suiteopt.selection.case import About, Case, rows_of
from suiteopt.selection.columns import given_inputs, open_columns, own_columns, require_own
from suiteopt.selection.comparators import (
    ANY,
    first_comparator,
    groups_of,
    input_bytes,
    judged_table,
)
from suiteopt.selection.cuts import compressed_part, dense_part, killed_by, stored_in
from suiteopt.selection.instance import Instance, make_instance
from suiteopt.selection.large import make_large, whole_kills, whole_slack
from suiteopt.selection.question import Question

__all__ = [
    "About",
    "Case",
    "case_instance",
    "cases",
    "counted",
    "make_case",
]


def cases(
    matrix: Matrix,
    question: Question,
    problems: Sequence[str] | None = None,
    compressed: bool = False,
) -> Iterator[Case]:
    """Yield the case of every problem, in order; one at a time is in memory.

    Parameters
    ----------
    matrix : Matrix
    question : Question
    problems : sequence of str, optional
        Which ones; all that are measured by default.
    compressed : bool
        Whether large problems may come as a `LargeInstance`, which a plain choice can work with.

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
        yield make_case(matrix, problem, question, compressed=compressed)


def case_instance(
    matrix: Matrix,
    table: KillTable,
    mutants: Sequence[str],
    question: Question,
    compressed: bool = False,
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
    compressed : bool
        Whether to build a `LargeInstance`.

    Raises
    ------
    UserError
        If the harness runs own draws first and the matrix does not have them.
    """
    rows = rows_of(table, mutants)
    own_first = question.capabilities is not None and question.capabilities.own_first
    credited = list(require_own(matrix, table)) if own_first else []
    columns = open_columns(matrix, table, question, credited)
    about: dict[str, Any] = {
        "given": dense_part(table.kills, rows, credited).sum(axis=1),
        "given_slack_decades": dense_part(table.slack, rows, credited).max(axis=1, initial=0.0),
    }
    if compressed:
        columns.sort(key=lambda column: table.inputs[column])
    names = [table.inputs[column] for column in columns]
    about["costs"] = input_bytes(matrix, table.problem, table.inputs)[columns]
    about["groups"] = groups_of(names)
    if compressed:
        kills = compressed_part(table.kills, rows, columns, whole_kills)
        slack = compressed_part(table.slack, rows, columns, whole_slack)
        return make_large(table.problem, mutants, names, kills, slack, **about)
    return make_instance(
        table.problem,
        mutants,
        names,
        dense_part(table.kills, rows, columns),
        slack_decades=dense_part(table.slack, rows, columns),
        **about,
    )


def make_case(
    matrix: Matrix,
    problem: str,
    question: Question,
    block: CellBlock | None = None,
    like: Case | None = None,
    compressed: bool = False,
) -> Case:
    """Build the case of one problem.

    Parameters
    ----------
    matrix : Matrix
    problem : str
    question : Question
    block : CellBlock, optional
        The problem's cells for an oracle that differs in its tolerance alone.
    like : Case, optional
        A case of the same problem and mutants under another oracle: what does not depend on the
        oracle is taken from it.
    compressed : bool
        Whether a large problem may come in pieces and as a `LargeInstance`.

    Raises
    ------
    UserError
        If the stored statistics cannot answer, or the harness runs own draws first and the matrix
        does not have them.
    """
    large = compressed and is_large(layout_of(matrix, problem))
    if block is None and not large and question.oracle.comparator != ANY:
        block = load_block(matrix, problem, question.oracle)
    table = judged_table(
        matrix, problem, question.oracle, include_locked=question.locked, block=block
    )
    mask = counted(matrix, table, question.denominator)
    mutants = tuple(table.implementations[row] for row in np.flatnonzero(mask))
    instance = case_instance(matrix, table, mutants, question, large)
    own = own_columns(matrix, table)
    rows = rows_of(table, mutants)
    places = {name: column for column, name in enumerate(table.inputs)}
    columns = [places[name] for name in instance.inputs]
    about = About(matrix, problem, mutants) if like is None else like.about
    cells: Iterable[CellBlock] | None = None if block is None else (block,)
    if block is None and question.oracle.comparator != ANY:
        cells = load_cells(matrix, problem, question.oracle)
    return Case(
        problem=problem,
        table=table,
        instance=instance,
        about=about,
        own=None if own is None else killed_by(table, rows, own),
        first_own=None if own is None else killed_by(table, rows, own[:1]),
        unknown_cells=len(rows) * len(columns) - stored_in(table.ran, rows, columns),
        own_inputs=None if own is None else tuple(table.inputs[column] for column in own),
        given=given_inputs(matrix, table, question),
        flaky_cells=0 if cells is None else _flaky(matrix, table, cells, mutants, columns),
        block=block,
    )


def counted(matrix: Matrix, table: KillTable, which: Denominator) -> NDArray[np.bool_]:
    """Tell which rows of a kill table count, whatever its columns are."""
    first = first_comparator(table, len(layout_of(matrix, table.problem).names))
    if which == Denominator.WITNESSED_OR_KILLED:
        return denominator_mask(matrix, first, which)
    rows = len(table.implementations)  # locked mutants are rows or they are not
    key = f"counted {table.problem} {which} {rows}"
    return matrix.remember(key, lambda: denominator_mask(matrix, first, which))


def _flaky(
    matrix: Matrix,
    table: KillTable,
    cells: Iterable[CellBlock],
    mutants: Sequence[str],
    columns: Sequence[int],
) -> int:
    """Count cells whose repeats disagree about the verdict: maximum above, minimum not."""
    layout = layout_of(matrix, table.problem)
    rows = np.zeros(len(layout.ids), dtype=np.bool_)
    rows[[layout.rows[name] for name in mutants]] = True
    chosen = np.zeros(len(layout.names), dtype=np.bool_)
    chosen[list(columns)] = True
    total = 0
    for block in cells:
        tolerance = table.tolerances[block.columns]
        with np.errstate(invalid="ignore"):
            torn = block.measured & (block.high > tolerance) & (block.low <= tolerance)
        torn = (torn | (block.fails_high & ~block.fails_low)) & ~block.fatal
        total += int((torn & rows[block.rows] & chosen[block.columns]).sum())
    return total
