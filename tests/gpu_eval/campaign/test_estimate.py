"""What a campaign on a GPU would cost, and the shapes of its profile."""

import json
from collections.abc import Iterable
from dataclasses import replace

import pytest

from gpu_eval.campaign.cell_cost import (
    CELL_SECONDS,
    held_elements,
    output_elements,
    seconds,
    tensor_elements,
    work,
)
from gpu_eval.campaign.estimate import case_bytes, cell_seconds, estimate
from gpu_eval.campaign.plan import build_plan
from gpu_eval.campaign.pool import candidate_pool, realise
from gpu_eval.campaign.pool_input import HASHED, OWN, PoolInput
from gpu_eval.campaign.profiles import IMPLEMENTATIONS
from gpu_eval.campaign.settings import Settings
from gpu_eval.campaign.shapes import (
    PROFILES,
    Limits,
    Profile,
    full_shape,
    plan_shape,
    spread_shape,
)
from gpu_eval.campaign.witness_pool import witness_pool
from gpu_eval.cli.run import tell_estimate
from gpu_eval.problems.definition import DimensionKind, Problem
from gpu_eval.problems.loader import load_corpus
from gpu_eval.problems.tensors import dimensions, reduction_length, smallest_sizes
from suiteopt.matrix.schema import ShapeScope

CORPUS = load_corpus().problems
LEVEL_1 = [name for name, problem in CORPUS.items() if problem.level == 1]
CONTRACT = PROFILES["contract"]
SQUARE = {"level1/001", "level1/013", "level1/014", "level1/015"}
"""Whose N is parallel and reduced at once: own draws and three witnesses are full."""
DEEP = {f"level1/{n}" for n in ("004", "006", "035", "040", "095", "097")}
"""Whose least shape with full reductions costs more than an input's share: all inputs have it."""
WHOLE = {
    "level1/033",
    "level1/037",
    "level1/094",
    "level1/096",
    *(f"level1/{n}" for n in ("098", "099", "100")),
}
"""Which sum whole tensors, of more terms or elements than any limits allow."""
OWN_SECONDS, OTHER_SECONDS, DEAREST = 1.5, 2.5, 1.2e-3
"""What a problem's own draws and its other inputs cost, and a cell where they cost more."""


def limits_of(profile: Profile) -> dict[str, Limits]:
    """Return the limits of a profile by name, all of them given."""
    given = {
        "most": profile.limits,
        "own": profile.own_limits,
        "scaled": profile.scaled_limits,
        "spread": profile.spread_limits,
        "full": profile.full_limits,
    }
    return {name: limits for name, limits in given.items() if limits is not None}


LIMITS = limits_of(CONTRACT)


def least_full(problem: Problem) -> dict[str, int]:
    """Return all that is summed in full, everything else as small as its tiles allow."""
    summed = {d.name: d.size for d in problem.dimensions if d.kind is DimensionKind.REDUCED}
    return dimensions(problem, smallest_sizes(problem) | summed)


def fits(problem: Problem, limits: Limits) -> bool:
    """Whether some shape with full reductions is within limits."""
    values = least_full(problem)
    assert limits.max_elements is not None
    assert limits.max_work is not None
    held = held_elements(problem, values) - output_elements(problem, values)
    return (
        reduction_length(problem, values) <= limits.max_reduction
        and tensor_elements(problem, values) + held <= limits.max_elements
        and work(problem, values) <= limits.max_work
        and (limits.max_seconds is None or seconds(problem, values) <= limits.max_seconds)
    )


def test_the_profile_has_all_limits() -> None:
    assert len(LIMITS) == 5
    assert LIMITS["spread"].max_seconds == DEAREST


@pytest.mark.parametrize("name", CORPUS)
def test_reductions_are_full_where_the_least_shape_fits_and_nowhere_else(name: str) -> None:
    problem = CORPUS[name]
    full = {limit: fits(problem, limits) for limit, limits in LIMITS.items()}
    for limit, limits in LIMITS.items():
        planned = plan_shape(problem, limits)
        assert (planned.scope is ShapeScope.CONTRACT) == full[limit]
        assert (planned.reduction_ratio == 1.0) == full[limit]
    candidates, witnesses = candidate_pool(problem, CONTRACT), witness_pool(problem, CONTRACT)
    early, later = witnesses[: CONTRACT.full_witnesses], witnesses[CONTRACT.full_witnesses :]
    most = [i for i in (*candidates, *later) if i.kind not in (OWN, "scaling")]
    own = [i for i in candidates if i.kind == OWN]
    wide = full["spread"]
    assert scopes(own) == {scope(full["own"] or wide or full["full"])}
    assert scopes(early) == {scope(full["most"] or wide or full["full"])}
    assert scopes(most) == {scope(full["most"] or wide)}
    # Signs and probabilities have no scalings.
    assert scopes(i for i in candidates if i.kind == "scaling") <= {scope(full["scaled"] or wide)}


def scopes(inputs: Iterable[PoolInput]) -> set[ShapeScope]:
    """Return the scopes of inputs, variations aside."""
    return {i.scope for i in inputs} - {ShapeScope.OTHER}


def scope(full: bool) -> ShapeScope:
    """Return the scope of an input whose reductions are full, or are not."""
    return ShapeScope.CONTRACT if full else ShapeScope.PROFILE


@pytest.mark.parametrize("name", LEVEL_1)
def test_level_1_is_full_but_for_squares_and_sums_over_whole_tensors(name: str) -> None:
    problem = CORPUS[name]
    narrow = plan_shape(problem, CONTRACT.limits)
    assert (narrow.scope is ShapeScope.CONTRACT) == (name not in SQUARE | DEEP | WHOLE)
    wide = spread_shape(problem, narrow, CONTRACT)
    assert (wide.scope is ShapeScope.CONTRACT) == (name not in SQUARE | WHOLE)
    drawn = full_shape(problem, narrow, CONTRACT)
    assert (drawn.scope is ShapeScope.CONTRACT) == (name not in WHOLE)
    pool = (*candidate_pool(problem, CONTRACT), *witness_pool(problem, CONTRACT))
    full = sum(i.scope is ShapeScope.CONTRACT for i in pool)
    others = sum(i.scope is ShapeScope.OTHER for i in pool)
    assert full == (0 if name in WHOLE else 8 if name in SQUARE else len(pool) - others)


@pytest.mark.parametrize("name", CORPUS)
def test_a_problem_keeps_to_its_budget(name: str) -> None:
    problem = CORPUS[name]
    pool = (*candidate_pool(problem, CONTRACT), *witness_pool(problem, CONTRACT))
    cell = {i.id: cell_seconds(problem, i) for i in pool}
    share = CONTRACT.limits.max_seconds
    assert share is not None
    full = [i for i in pool if i.scope is ShapeScope.CONTRACT]
    own = [i for i in pool if i.kind == OWN]
    rest = [i for i in pool if i.kind != OWN]
    if fits(problem, LIMITS["spread"]):
        assert {i.scope for i in rest} <= {ShapeScope.CONTRACT, ShapeScope.OTHER}
        if not fits(problem, CONTRACT.limits):
            # Beyond the budget only for what no shape is cheap enough for, and never by more.
            assert seconds(problem, least_full(problem)) > share
            assert max(cell[i.id] for i in rest) <= DEAREST
            rest = []
    elif fits(problem, LIMITS["full"]):
        # Eight full inputs come on top: the own draws and three witnesses.
        assert len(full) == len(own) + CONTRACT.full_witnesses == 8
        rest = [i for i in rest if i not in full]
        own = own if fits(problem, LIMITS["own"]) else []
    assert IMPLEMENTATIONS * sum(cell[i.id] for i in own) <= OWN_SECONDS
    # Variations are of a planned shape: one of two swapped dimensions may cost more than that.
    odd = [i for i in rest if i.scope is ShapeScope.OTHER]
    assert all(cell[i.id] <= DEAREST for i in odd)
    beyond = sum(max(cell[i.id] - share, 0.0) for i in odd)
    assert IMPLEMENTATIONS * (sum(cell[i.id] for i in rest) - beyond) <= OTHER_SECONDS


@pytest.mark.parametrize("name", CORPUS)
def test_shapes_keep_within_the_limits(name: str) -> None:
    problem = CORPUS[name]
    for limits in LIMITS.values():
        values = plan_shape(problem, limits).dimensions
        assert limits.max_elements is not None
        assert limits.max_work is not None
        assert tensor_elements(problem, values) <= limits.max_elements
        assert work(problem, values) <= limits.max_work
        assert limits.max_seconds is None or seconds(problem, values) <= limits.max_seconds


def test_parallel_dimensions_stay_congruent() -> None:
    for problem in CORPUS.values():
        planned = plan_shape(problem, CONTRACT.limits)
        for d in problem.dimensions:
            if planned.scope is ShapeScope.CONTRACT:
                assert (planned.dimensions[d.name] - d.size) % d.tile == 0


def test_draws_beyond_the_generator_are_hashed_and_say_so() -> None:
    problem = CORPUS["level1/019"]
    small = replace(
        CONTRACT,
        own_limits=None,
        scaled_limits=None,
        limits=replace(CONTRACT.limits, target_elements=1 << 14),
    )
    plain = candidate_pool(problem, replace(small, hashed_elements=1 << 20))
    hashed = candidate_pool(problem, replace(small, hashed_elements=16))
    assert "draw" not in plain[0].values["x"]["arguments"]
    assert [i.values["x"]["arguments"]["draw"] for i in hashed[:6]] == [HASHED] * 6
    first, scaled = (realise(problem, pool_input)["x"] for pool_input in hashed[:2])
    assert not first.equal(realise(problem, plain[0])["x"])
    assert 0.0 <= float(first.min()) < 0.01 < 0.99 < float(first.max()) < 1.0
    assert scaled.equal(first * 3)
    assert not first.equal(realise(problem, hashed[-1])["x"])


def test_costs_of_a_matrix_product() -> None:
    (plan,) = build_plan(Settings("contract", "cuda", problems=("level1/001",))).problems
    own = next(i for i in plan.order if i.id == plan.own)
    n = own.shape["n"]
    assert n == 4096
    assert case_bytes(plan.problem, own) == 4 * n * n * (2 * 2 + 4)
    found = cell_seconds(plan.problem, own) - CELL_SECONDS
    assert found == pytest.approx((3 * 8 + 24) * n * n / 4e12 + 2 * n**3 / 7e12)


def test_estimates_add_up() -> None:
    plan = build_plan(Settings("demo", "cuda", problems=("level1/019", "level1/042")))
    for found, problem in zip(estimate(plan), plan.problems, strict=True):
        assert found.cells == len(problem.implementations) * len(problem.inputs)
        assert found.seconds > found.cells * CELL_SECONDS


def test_what_is_left_out_costs_nothing() -> None:
    plan = build_plan(Settings("demo", "cuda", problems=("level1/019", "level1/042")))
    problem = plan.problems[0]
    first, second = problem.order[:2]
    mutant = problem.implementations[-1].id
    left_out = [(mutant, first.id), (mutant, second.id), ("level1/019:gone", first.id)]
    whole, less = estimate(plan), estimate(plan, left_out)
    assert less[1] == whole[1]
    assert less[0].cells == whole[0].cells - 2
    saved = sum(cell_seconds(problem.problem, each) for each in (first, second))
    assert less[0].seconds == pytest.approx(whole[0].seconds - saved)


def test_the_command_takes_off_what_is_left_out(capsys: pytest.CaptureFixture[str]) -> None:
    settings = Settings("demo", "cuda", problems=("level1/019",))
    (problem,) = build_plan(settings).problems
    left_out = ((problem.implementations[-1].id, problem.order[0].id),)
    tell_estimate(replace(settings, skipped=left_out), True)
    (found,) = estimate(build_plan(settings))
    assert json.loads(capsys.readouterr().out)["cells"] == found.cells - 1
