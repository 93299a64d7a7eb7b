"""A suite's members as a pool of their own: what ``gpu-eval replay`` and ``confirm`` run again."""

from dataclasses import replace

from gpu_eval.campaign.confirmed_shape import confirmed_shape, confirmed_values
from gpu_eval.campaign.pool_input import OWN, PoolInput, make_input
from gpu_eval.campaign.shapes import PlannedShape, Profile, planned_shape
from gpu_eval.problems.definition import Problem
from gpu_eval.problems.loader import Corpus
from suiteopt.errors import UserError
from suiteopt.matrix.schema import Role
from suiteopt.suite import Member, Suite


def suite_pools(
    suite: str, corpus: Corpus, profile: Profile | None = None
) -> dict[str, tuple[PoolInput, ...]]:
    """Return the members of each problem of a suite as candidate inputs, under their own ids.

    Parameters
    ----------
    suite : str
        JSON text.
    corpus : Corpus
    profile : Profile, optional
        By whose limits members grow to the contract's shapes; without it they keep their own.

    Raises
    ------
    UserError
        If the suite names a problem or a shape that the corpus has not, or has no member.
    """
    pools: dict[str, tuple[PoolInput, ...]] = {}
    for listed in Suite.from_json(suite).problems:
        problem = corpus.problem(listed.problem)
        members = tuple(member_input(problem, member, profile) for member in listed.members)
        if members:
            pools[problem.id] = members
    if not pools:
        raise UserError("the suite has no members; select one with 'suiteopt select -o'")
    return dict(sorted(pools.items()))


def member_input(problem: Problem, member: Member, profile: Profile | None = None) -> PoolInput:
    """Return a member as an input that the campaign can make and run.

    Raises
    ------
    UserError
        If its tensors or its shape are not the problem's.
    """
    missing = {spec.name for spec in problem.inputs} - set(member.values)
    missing |= {spec.name for spec in problem.parameters} - set(member.parameters)
    if missing:
        raise UserError(
            f"the member {member.input} has no recipe for '{sorted(missing)[0]}' of {problem.id}; "
            "the suite was chosen on another corpus"
        )
    planned = _measured_shape(problem, member)
    values = member.values
    if profile is not None:
        planned = confirmed_shape(problem, planned, profile)
        values = confirmed_values(problem, planned, values, profile.hashed_elements)
    names = [str(recipe["name"]) for recipe in member.values.values()]
    parameters = [str(recipe["name"]) for recipe in member.parameters.values()]
    made = make_input(
        problem,
        planned,
        role=Role.CANDIDATE,
        # Kinds that differ let the first members run under every schedule.
        kind=OWN if set(names) == {OWN} else member.input,
        value_recipe=names[0],
        values=values,
        parameter_recipe=parameters[0] if parameters else "benchmark",
        parameters=member.parameters,
        seed=member.seed,
    )
    return replace(made, id=member.input)


def _measured_shape(problem: Problem, member: Member) -> PlannedShape:
    absent = [d.name for d in problem.dimensions if d.name not in member.shape]
    planned = None if absent else planned_shape(problem, member.shape, member.shape_recipe)
    if planned is None:
        raise UserError(
            f"the shape of the member {member.input} does not fit {problem.id}; "
            "the suite was chosen on another corpus"
        )
    return planned
