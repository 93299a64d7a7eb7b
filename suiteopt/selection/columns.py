"""Which inputs of a problem may be chosen, and which are the benchmark's own draws."""

import json
from collections.abc import Sequence

import numpy as np

from suiteopt.errors import UserError
from suiteopt.matrix.kill import KillTable
from suiteopt.matrix.schema import Need
from suiteopt.matrix.store import Matrix
from suiteopt.protocols import known_protocols, protocol_inputs
from suiteopt.selection.comparators import (
    input_rows,
)
from suiteopt.selection.question import Question

OWN_RECIPES = frozenset({"own", "scaled"})
"""Value recipes that the benchmark's own generator makes."""


OWN_PROTOCOL = "kernelbench"
"""Whose inputs are the benchmark's own draws: the first five."""


def open_columns(
    matrix: Matrix, table: KillTable, question: Question, barred: Sequence[int]
) -> list[int]:
    """Positions of the inputs that may be chosen."""
    capabilities = question.capabilities
    if capabilities is None:
        allowed = table.choosable.copy()
        allowed[list(barred)] = False
        return [int(column) for column in np.flatnonzero(allowed)]
    inputs = input_rows(matrix, table.problem, table.inputs)
    chosen = []
    for column, (needs, values) in enumerate(zip(inputs["needs"], inputs["values"], strict=True)):
        carried = capabilities.carries(frozenset(Need(str(need)) for need in needs)) and (
            capabilities.draws or not _draws(values)
        )
        if table.choosable[column] and carried and column not in barred:
            chosen.append(column)
    return chosen


def _draws(values: str) -> bool:
    """Whether any tensor is the benchmark's own draw, or a multiple of one."""
    return any(recipe["name"] in OWN_RECIPES for recipe in json.loads(values).values())


def own_columns(matrix: Matrix, table: KillTable) -> tuple[int, ...] | None:
    """Positions of the benchmark's first five own draws; None where the matrix lacks some."""

    def find() -> tuple[int, ...] | None:
        try:
            return require_own(matrix, table)
        except UserError:
            return None

    return matrix.remember(f"own draws {table.problem}", find)


def require_own(matrix: Matrix, table: KillTable) -> tuple[int, ...]:
    """Return the same, or refuse a matrix that does not have them."""
    names = protocol_inputs(matrix, table.problem, known_protocols()[OWN_PROTOCOL])
    return tuple(table.inputs.index(name) for name in names)


def given_inputs(matrix: Matrix, table: KillTable, question: Question) -> tuple[str, ...]:
    """Own draws that the harness runs anyway."""
    if question.capabilities is None or not question.capabilities.own_first:
        return ()
    return tuple(table.inputs[column] for column in require_own(matrix, table))
