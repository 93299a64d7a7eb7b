"""What a sanitizer looks at: which mutants of a matrix, on which input."""

import json
from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import Any

from gpu_eval.campaign.plan import cost
from gpu_eval.campaign.pool_input import PoolInput
from gpu_eval.campaign.witness import RACE
from gpu_eval.problems.definition import Problem
from suiteopt.errors import UserError
from suiteopt.matrix.schema import (
    ImplementationClass,
    Kind,
    Need,
    Role,
    ShapeScope,
    WitnessScope,
)
from suiteopt.matrix.store import Matrix

_SCOPES = (ShapeScope.CONTRACT, ShapeScope.PROFILE)


def choose_mutants(
    matrix: Matrix, problems: Sequence[str], named: Sequence[str], everything: bool
) -> dict[str, list[str]]:
    """Return the ids of the mutants to look at, by problem, in the order of the tables.

    Parameters
    ----------
    matrix : Matrix
    problems : sequence of str
        Only these; all of the matrix if empty.
    named : sequence of str
        Only these mutants or wild kernels.
    everything : bool
        All valid mutants. Otherwise, and where none is named: those without a witness, and those
        that only a repeat made one.

    Raises
    ------
    UserError
        If a name is unknown, or names what is not valid.
    """
    wanted = list(problems) or list(matrix.problem_ids)
    for problem in wanted:
        if problem not in matrix.problem_ids:
            raise UserError(
                f"the matrix has no problem '{problem}'; it has {', '.join(matrix.problem_ids)}"
            )
    chosen: dict[str, list[str]] = {}
    missing = set(named)
    for problem in (p for p in matrix.problem_ids if p in wanted):
        table = matrix.implementations_of(problem)
        valid = table["class"].astype(str) == ImplementationClass.VALID
        ids = table["implementation"].astype(str)
        kind = table["kind"].astype(str)
        if named:
            rows = valid & kind.isin([str(Kind.MUTANT), str(Kind.WILD)]) & ids.isin(list(named))
        else:
            rows = valid & (kind == Kind.MUTANT)
            if not everything:
                unseen = table["witness"].astype(str) == WitnessScope.NONE
                rows &= unseen | (table["witness_how"].astype(str) == RACE)
        if rows.any():
            chosen[problem] = ids[rows].tolist()
            missing -= set(chosen[problem])
    if missing:
        raise UserError(
            f"the matrix has no valid mutant '{min(missing)}' there; list them with "
            "'gpu-eval mutants list'"
        )
    return chosen


def choose_inputs(
    matrix: Matrix, problems: Iterable[Problem], named: Collection[str] = ()
) -> dict[str, PoolInput]:
    """Return the input that each problem runs on: one that is named, or the cheapest.

    Raises
    ------
    UserError
        If a named one is not a valid input of one of the problems, or a problem has none.
    """
    chosen = {problem.id: _choose_input(matrix, problem, named) for problem in problems}
    unknown = set(named) - {pool_input.id for pool_input in chosen.values()}
    if unknown:
        raise UserError(
            f"'{min(unknown)}' is not the id of a valid input of a problem that runs, or not the "
            "only one given for its problem; name one a problem"
        )
    return chosen


def _choose_input(matrix: Matrix, problem: Problem, named: Collection[str]) -> PoolInput:
    """Return a named valid input, or the cheapest at contract or profile scope."""
    table = matrix.inputs_of(problem.id)
    rows: list[dict[str, Any]] = table[table["valid"].astype(bool)].to_dict("records")  # type: ignore[assignment]
    valid = [pool_input_of(row) for row in rows]
    candidates = [i for i in valid if i.id in named] or [i for i in valid if i.scope in _SCOPES]
    if not candidates:
        raise UserError(
            f"{problem.id} has no valid input at contract or profile scope; name one with --input"
        )
    chosen = min(candidates, key=lambda i: cost(problem, i))
    absent = {spec.name for spec in problem.inputs} - set(chosen.values)
    absent |= {spec.name for spec in problem.parameters} - set(chosen.parameters)
    if absent:
        raise UserError(
            f"the input {chosen.id} has no recipe for '{min(absent)}'; "
            "the matrix was measured on another corpus"
        )
    return chosen


def pool_input_of(row: Mapping[str, Any]) -> PoolInput:
    """Return an input as a campaign runs it, from its row in a matrix."""
    return PoolInput(
        id=str(row["input"]),
        problem=str(row["problem"]),
        role=Role(str(row["role"])),
        value_recipe=str(row["value_recipe"]),
        values=json.loads(row["values"]),
        parameter_recipe=str(row["parameter_recipe"]),
        parameters=json.loads(row["parameters"]),
        shape_recipe=str(row["shape_recipe"]),
        shape=json.loads(row["shape"]),
        scope=ShapeScope(str(row["scope"])),
        reduction_ratio=float(row["reduction_ratio"]),
        seed=int(row["seed"]),
        needs=tuple(Need(str(need)) for need in row["needs"]),
        exact=bool(row["exact"]),
        kind="",
    )
