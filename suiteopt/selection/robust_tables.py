"""Tables of the held-out objective: the mutants of all problems, seen through one's columns."""

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from suiteopt.errors import UserError
from suiteopt.matrix.store import Matrix
from suiteopt.selection.bank import (
    BANK_CELLS,
    bank_cells,
    make_bank,
)
from suiteopt.selection.cases import Case
from suiteopt.selection.comparators import comparator_of, input_rows
from suiteopt.selection.instance import Instance
from suiteopt.selection.robust import Problem

Key = tuple[str, ...]


def prepare(matrix: Matrix, found: Sequence[Case], budget: int) -> tuple[Problem, ...]:
    """Build the tables of all problems.

    Parameters
    ----------
    matrix : Matrix
    found : sequence of Case
    budget : int

    Raises
    ------
    UserError
        If there are too many small suites to table.
    """
    keys = [_keys(matrix, case, case.table.inputs) for case in found]
    kills = [_table_kills(case) for case in found]
    classes = [_classes(matrix, case) for case in found]
    starts = np.cumsum([0, *(len(case.instance.mutants) for case in found)])
    problems = []
    for place, case in enumerate(found):
        if bank_cells(case.instance, budget) > BANK_CELLS:
            raise UserError(
                f"the objective held-out tables all suites of up to {budget} inputs, which are too "
                f"many for {case.problem}; give a smaller --budget or --objective coverage"
            )
        columns = _keys(matrix, case, case.instance.inputs)
        others = [other for other in range(len(found)) if other != place]
        foreign = [_seen_through(kills[other], keys[other], columns) for other in others]
        rows = np.concatenate(
            [np.arange(starts[q], starts[q + 1]) for q in (place, *others)]
        ).astype(np.intp)
        operation = classes[place][0]
        labels = [label for q in (place, *others) for label in classes[q][1]]
        same = [classes[q][0] == operation for q in (place, *others) for _ in classes[q][1]]
        names = {label: number for number, label in enumerate(sorted(set(labels)))}
        member = np.zeros((len(names), len(labels)), dtype=np.bool_)
        member[[names[label] for label in labels], np.arange(len(labels))] = True
        mine = np.arange(len(labels)) < len(case.instance.mutants)
        problems.append(
            Problem(
                case=case,
                bank=make_bank(case.instance, budget),
                wide=make_bank(_widened(case.instance, foreign), budget),
                rows=rows,
                own=member & mine,
                near=member & ~mine & np.array(same),
                far=member & ~mine,
            )
        )
    return tuple(problems)


def _keys(matrix: Matrix, case: Case, columns: Sequence[str]) -> list[Key]:
    """What an input is, whatever the problem: its recipes, and what it is compared by."""
    rows = input_rows(matrix, case.problem, columns)
    recipes = zip(
        rows["value_recipe"].astype(str),
        rows["parameter_recipe"].astype(str),
        rows["shape_recipe"].astype(str),
        strict=True,
    )
    comparator = case.table.oracle.comparator
    return [
        (*recipe, comparator_of(name, comparator))
        for recipe, name in zip(recipes, columns, strict=True)
    ]


def _table_kills(case: Case) -> NDArray[np.bool_]:
    kills = case.table.kills[case.rows_of(case.table)].toarray()
    return np.asarray(kills & np.isfinite(case.table.tolerances))


def _classes(matrix: Matrix, case: Case) -> tuple[str, list[Key]]:
    """Operation class of a problem, and rule and kind of site of its mutants."""
    operation = str(matrix.problem(case.problem)["operation_class"])
    labels = [
        ("+".join(rules), "+".join(sorted({file.rpartition(".")[2] for file in files})))
        for rules, files in zip(case.rules, case.about.files, strict=True)
    ]
    return operation, list(labels)


def _seen_through(
    kills: NDArray[np.bool_], keys: Sequence[Key], columns: Sequence[Key]
) -> NDArray[np.bool_]:
    """Kills of another problem in the order of these columns; nothing where it lacks a recipe."""
    places: dict[Key, int] = {}
    for place, key in enumerate(keys):
        places.setdefault(key, place)
    seen = np.zeros((len(kills), len(columns)), dtype=np.bool_)
    for column, key in enumerate(columns):
        if key in places:
            seen[:, column] = kills[:, places[key]]
    return seen


def _widened(instance: Instance, foreign: Sequence[NDArray[np.bool_]]) -> Instance:
    """The instance with the mutants of other problems below its own; they have no slack."""
    more = sum(len(part) for part in foreign)
    nothing = np.zeros((more, len(instance.inputs)), dtype=np.int32)
    return replace(
        instance,
        mutants=(*instance.mutants, *(f"foreign {row}" for row in range(more))),
        kills=np.ascontiguousarray(np.vstack([instance.kills, *foreign])),
        weights=np.concatenate([instance.weights, np.ones(more, dtype=np.int64)]),
        slack=np.vstack([instance.slack, nothing]),
        given=np.concatenate([instance.given, np.zeros(more, dtype=np.int8)]),
        given_slack=np.concatenate([instance.given_slack, np.zeros(more, dtype=np.int32)]),
    )
