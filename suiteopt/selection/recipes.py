"""Generic recipes: which k inputs to take for a problem that nobody has measured.

An input is told by its recipes of values, parameters and shape, so it exists in many problems.
The k recipes are chosen that detect most of the mutants of all measured problems together, each
problem weighing the same. What they are worth on a problem that had no say is measured by leaving
one problem out at a time.
"""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from suiteopt.errors import UserError
from suiteopt.matrix.store import Matrix
from suiteopt.selection.cases import Case, cases
from suiteopt.selection.comparators import input_rows
from suiteopt.selection.instance import Instance, make_instance
from suiteopt.selection.parts import keep_rows
from suiteopt.selection.question import Question
from suiteopt.selection.recommendation import LeftOut, Recipe, Recommendation
from suiteopt.selection.solve import solve

PROBLEM_WEIGHT = 10_000
"""What a problem weighs in all; its mutants share it in whole numbers."""


def recommend(
    matrix: Matrix,
    question: Question,
    budget: int,
    operation: str | None = None,
    solver: str = "auto",
) -> Recommendation:
    """Choose recipes over all measured problems, and leave each problem out once.

    Parameters
    ----------
    matrix : Matrix
    question : Question
    budget : int
    operation : str, optional
        Learn from problems of this operation class alone.
    solver : str
        As `suiteopt.selection.solve.solve` takes it.

    Raises
    ------
    UserError
        If fewer than two problems are there to learn from.
    """
    operations = {p: str(matrix.problem(p)["operation_class"]) for p in matrix.measured_problems}
    wanted = [p for p, name in operations.items() if operation in (None, name)]
    found = [case for case in cases(matrix, question, wanted) if case.instance.total]
    if len(found) < 2:
        kinds = ", ".join(sorted(set(operations.values())))
        raise UserError(
            f"{len(found)} problems with mutants are too few to leave one out; "
            f"measure more, or choose among the operation classes {kinds}"
        )
    recipes = [_recipes(matrix, case) for case in found]
    whole, homes = stacked(found, recipes)
    names = {str(recipe): recipe for own in recipes for recipe in own}
    chosen = solve(whole, budget, solver)
    left_out = []
    for place, case in enumerate(found):
        picked = solve(keep_rows(whole, np.flatnonzero(homes != place)), budget, solver).members
        taken = tuple(names[name] for name in picked)
        left_out.append(_score(case, recipes[place], taken, operations[case.problem], budget))
    return Recommendation(
        oracle=question.oracle.name,
        budget=budget,
        operation=operation,
        recipes=tuple(names[name] for name in chosen.members),
        problems=tuple(sum(names[name] in own for own in recipes) for name in chosen.members),
        selection=chosen,
        left_out=tuple(left_out),
    )


def _recipes(matrix: Matrix, case: Case) -> list[Recipe]:
    rows = input_rows(matrix, case.problem, case.instance.inputs)
    return [
        Recipe(str(values), str(parameters), str(shape))
        for values, parameters, shape in zip(
            rows["value_recipe"], rows["parameter_recipe"], rows["shape_recipe"], strict=True
        )
    ]


def stacked(
    found: Sequence[Case], recipes: Sequence[Sequence[Recipe]]
) -> tuple[Instance, NDArray[np.intp]]:
    """Put the mutants of all problems below each other, with a column a recipe.

    A recipe that a problem lacks kills nothing there. Where a problem has it several times, with
    other seeds, the first one stands for it.

    Returns
    -------
    instance : Instance
    homes : ndarray of intp
        The problem of each row.
    """
    names = sorted({str(recipe) for own in recipes for recipe in own})
    place = {name: column for column, name in enumerate(names)}
    kills, slack, weights, given, homes, mutants = [], [], [], [], [], []
    costs = np.zeros(len(names), dtype=np.int64)
    for number, (case, own) in enumerate(zip(found, recipes, strict=True)):
        instance = case.instance
        table = np.zeros((len(instance.mutants), len(names)), dtype=np.bool_)
        room = np.zeros(table.shape)
        for column in reversed(range(len(own))):
            table[:, place[str(own[column])]] = instance.kills[:, column]
            room[:, place[str(own[column])]] = instance.slack[:, column] / 1000
            costs[place[str(own[column])]] += int(instance.costs[column])
        kills.append(table)
        slack.append(room)
        weights.append(np.full(len(table), max(1, PROBLEM_WEIGHT // len(table)), dtype=np.int64))
        given.append(instance.given)
        homes.append(np.full(len(table), number, dtype=np.intp))
        mutants += list(instance.mutants)
    stack = make_instance(
        "all problems",
        mutants,
        names,
        np.vstack(kills),
        weights=np.concatenate(weights),
        slack_decades=np.vstack(slack),
        costs=costs,
        given=np.concatenate(given),
    )
    return stack, np.concatenate(homes)


def _score(
    case: Case,
    own: Sequence[Recipe],
    taken: tuple[Recipe, ...],
    operation: str,
    budget: int,
) -> LeftOut:
    columns = [own.index(recipe) for recipe in taken if recipe in own]
    instance = case.instance
    killed = (instance.given > 0) | instance.kills[:, columns].any(axis=1)
    return LeftOut(
        problem=case.problem,
        operation=operation,
        mutants=len(instance.mutants),
        detected=int(killed.sum()),
        own=None if case.own is None else int(case.own.sum()),
        best=solve(instance, budget).detected,
        recipes=taken,
        missing=tuple(recipe for recipe in taken if recipe not in own),
    )
