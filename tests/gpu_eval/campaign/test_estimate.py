"""What a campaign on a GPU would cost, and the shapes of its profile."""

from dataclasses import replace

import pytest

from gpu_eval.campaign.cell_cost import (
    CELL_SECONDS,
    held_elements,
    seconds,
    tensor_elements,
    work,
)
from gpu_eval.campaign.estimate import case_bytes, cell_seconds, estimate
from gpu_eval.campaign.plan import build_plan
from gpu_eval.campaign.pool import candidate_pool, realise
from gpu_eval.campaign.pool_input import HASHED, OWN
from gpu_eval.campaign.profiles import IMPLEMENTATIONS
from gpu_eval.campaign.settings import Settings
from gpu_eval.campaign.shapes import PROFILES, full_shape, plan_shape
from gpu_eval.campaign.witness_pool import witness_pool
from gpu_eval.problems.definition import DimensionKind
from gpu_eval.problems.loader import load_corpus
from gpu_eval.problems.tensors import dimensions, reduction_length, smallest_sizes
from suiteopt.matrix.schema import ShapeScope

CORPUS = load_corpus().problems
LEVEL_1 = [name for name, problem in CORPUS.items() if problem.level == 1]
LEVEL_2 = [name for name, problem in CORPUS.items() if problem.level == 2]
CONTRACT = PROFILES["contract"]
SQUARE = {"level1/001", "level1/013", "level1/014", "level1/015"}
"""Whose N is parallel and reduced at once: own draws and some witnesses are full."""
DEEP = {f"level1/{n}" for n in ("004", "006", "035", "040", "095", "097")}
"""Whose least shape with full reductions costs more than most inputs may: own draws with their
scalings, some witnesses and some candidates are full."""
WHOLE = {
    "level1/033",
    "level1/037",
    "level1/094",
    "level1/096",
    *(f"level1/{n}" for n in ("098", "099", "100")),
}
"""Whose sums have more terms than controls that add one after the other can afford."""
SHORTENED = SQUARE | DEEP | WHOLE


@pytest.mark.parametrize("name", LEVEL_2)
def test_fused_problems_are_full_unless_one_image_is_beyond_the_limits(name: str) -> None:
    problem = CORPUS[name]
    planned = plan_shape(problem, CONTRACT.limits)
    assert (planned.scope is ShapeScope.CONTRACT) == (planned.reduction_ratio == 1.0)
    if planned.scope is not ShapeScope.CONTRACT:
        # All that is summed in full, everything else as small as its tiles allow.
        least = smallest_sizes(problem) | {
            d.name: d.size for d in problem.dimensions if d.kind is DimensionKind.REDUCED
        }
        values = dimensions(problem, least)
        assert CONTRACT.limits.max_work is not None
        assert CONTRACT.limits.max_elements is not None
        assert (
            work(problem, values) > CONTRACT.limits.max_work
            or reduction_length(problem, values) > CONTRACT.limits.max_reduction
            or held_elements(problem, values) > CONTRACT.limits.max_elements
            or tensor_elements(problem, values) > CONTRACT.limits.max_elements
        )


@pytest.mark.parametrize("name", LEVEL_1)
def test_reductions_are_full_wherever_they_can_be(name: str) -> None:
    problem = CORPUS[name]
    planned = plan_shape(problem, CONTRACT.limits)
    assert (planned.scope is ShapeScope.CONTRACT) == (name not in SHORTENED)
    assert (planned.reduction_ratio == 1.0) == (name not in SHORTENED)
    own = CONTRACT.own_limits
    assert own is not None
    drawn = full_shape(problem, plan_shape(problem, own), CONTRACT)
    assert (drawn.scope is ShapeScope.CONTRACT) == (name not in WHOLE)
    full = [i for i in witness_pool(problem, CONTRACT) if i.scope is ShapeScope.CONTRACT]
    assert len(full) == (0 if name in WHOLE else 3 if name in SHORTENED else 14)
    candidates = candidate_pool(problem, CONTRACT)
    full += [i for i in candidates if i.scope is ShapeScope.CONTRACT]
    if name not in WHOLE:
        assert len(full) >= 8
        assert {i.scope for i in candidates if i.kind == OWN} == {ShapeScope.CONTRACT}
    if name in DEEP:
        values = [i for i in candidates if i.kind not in (OWN, "scaling")]
        full = [i for i in values if i.scope is ShapeScope.CONTRACT]
        assert len(full) == CONTRACT.full_candidates
        assert all(i.scope is ShapeScope.CONTRACT for i in candidates if i.kind == "scaling")


@pytest.mark.parametrize("name", CORPUS)
def test_a_problem_keeps_to_its_budget(name: str) -> None:
    problem = CORPUS[name]
    pool = (*candidate_pool(problem, CONTRACT), *witness_pool(problem, CONTRACT))
    cost = {i.id: IMPLEMENTATIONS * cell_seconds(problem, i) for i in pool}
    own = sum(cost[i.id] for i in pool if i.kind == OWN)
    full = [i.id for i in pool if i.scope is ShapeScope.CONTRACT and i.kind != OWN]
    eight = 8 * max(cost[i.id] for i in pool)
    if name in SQUARE:
        assert own + sum(cost[i] for i in full) <= eight
        assert sum(cost.values()) <= eight + 2.5
    else:
        assert own <= 1.5
        # Eight full inputs at most come on top of what all inputs may cost.
        assert sum(cost.values()) - own <= 2.5 + (0.7 if name in DEEP else 0.0)


@pytest.mark.parametrize("name", CORPUS)
def test_shapes_keep_within_the_limits(name: str) -> None:
    problem = CORPUS[name]
    for limits in (CONTRACT.limits, CONTRACT.own_limits, CONTRACT.scaled_limits):
        assert limits is not None
        values = plan_shape(problem, limits).dimensions
        assert limits.max_elements is not None
        assert limits.max_work is not None
        assert limits.max_seconds is not None
        assert tensor_elements(problem, values) <= limits.max_elements
        assert work(problem, values) <= limits.max_work
        assert seconds(problem, values) <= limits.max_seconds


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
