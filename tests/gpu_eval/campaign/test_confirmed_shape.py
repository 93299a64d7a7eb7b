import math
from collections.abc import Callable
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gpu_eval.campaign.cell_cost import tensor_elements, work
from gpu_eval.campaign.confirmed_shape import confirmed_shape, confirmed_values, contract_shape
from gpu_eval.campaign.shapes import PROFILES, plan_shape, planned_shape
from gpu_eval.campaign.variations import shape_variations, vary_shape
from gpu_eval.problems.definition import Problem
from gpu_eval.problems.loader import load_corpus
from gpu_eval.problems.tensors import shape_of
from suiteopt.matrix.schema import ShapeScope
from tests.gpu_eval.campaign import small_problems as made

CONTRACT = PROFILES["contract"]
Maker = Callable[[], Problem]


def whole(problem: Problem) -> dict[str, int]:
    return {d.name: d.size for d in problem.dimensions}


@pytest.mark.parametrize("maker", [made.matmul, made.elementwise, made.convolution])
def test_full_where_the_limits_carry_it(maker: Maker) -> None:
    problem = maker()
    grown = contract_shape(problem, CONTRACT)
    assert grown.sizes(problem) == whole(problem)
    assert (grown.scope, grown.reduction_ratio) == (ShapeScope.CONTRACT, 1.0)


def test_an_input_of_the_pool_grows() -> None:
    problem = made.convolution()
    small = plan_shape(problem, CONTRACT.limits)
    assert small.sizes(problem) != whole(problem)
    assert confirmed_shape(problem, small, CONTRACT).sizes(problem) == whole(problem)


def test_a_tensor_beyond_the_limits_is_as_large_as_an_own_draw() -> None:
    problem = made.softmax()  # 12 GiB of tensors
    assert CONTRACT.own_limits is not None
    grown = contract_shape(problem, CONTRACT)
    assert grown == plan_shape(problem, CONTRACT.own_limits)
    assert (grown.scope, grown.reduction_ratio) == (ShapeScope.CONTRACT, 1.0)
    assert grown.sizes(problem)["columns"] == 393216
    assert 1 < grown.sizes(problem)["rows"] < 4096


def test_a_reduction_that_nothing_carries_says_its_ratio() -> None:
    problem = made.softmax(columns=1 << 24)
    grown = contract_shape(problem, CONTRACT)
    assert grown.scope is ShapeScope.PROFILE
    assert grown.reduction_ratio == grown.sizes(problem)["columns"] / (1 << 24) <= 0.25


@pytest.mark.parametrize("maker", made.ALL)
def test_a_variation_stays_one_at_the_contracts_scale(maker: Maker) -> None:
    problem = maker()
    grown = contract_shape(problem, CONTRACT)
    variations = shape_variations(problem, plan_shape(problem, PROFILES["demo"].limits))
    assert variations
    for varied in variations:
        found = confirmed_shape(problem, varied, CONTRACT)
        assert (found.scope, found.recipe) == (ShapeScope.OTHER, varied.recipe)
        assert found == (vary_shape(problem, grown, varied.recipe) or varied)
        if varied.recipe in ("tile+1", "tile-1", "prime"):
            sizes = [tensor_elements(problem, shape.dimensions) for shape in (varied, found)]
            assert sizes == sorted(sizes)


def test_one_row_stays_one_row_with_the_whole_reduction() -> None:
    problem = made.softmax()
    small = plan_shape(problem, PROFILES["demo"].limits)
    one = vary_shape(problem, small, "one")
    assert one is not None
    assert one.sizes(problem)["columns"] < 393216
    found = confirmed_shape(problem, one, CONTRACT)
    assert found.sizes(problem) == {"rows": 1, "columns": 393216}


def test_a_shape_that_no_recipe_makes_is_kept() -> None:
    problem = made.matmul()
    foreign = planned_shape(problem, {"m": 33, "k": 100, "n": 47}, "odd-by-hand")
    assert foreign is not None
    assert confirmed_shape(problem, foreign, CONTRACT) is foreign


@given(
    maker=st.sampled_from(made.ALL),
    profile=st.sampled_from(sorted(PROFILES)),
    measured=st.sampled_from(sorted(PROFILES)),
)
def test_confirming_twice_changes_nothing(maker: Maker, profile: str, measured: str) -> None:
    problem, limits = maker(), PROFILES[profile]
    first = confirmed_shape(problem, plan_shape(problem, PROFILES[measured].limits), limits)
    assert confirmed_shape(problem, first, limits) == first
    smaller = plan_shape(problem, limits.limits)
    assert first.reduction_ratio >= smaller.reduction_ratio
    assert work(problem, first.dimensions) >= work(problem, smaller.dimensions)


def test_what_the_shape_decides_follows_it() -> None:
    problem = made.structured()
    planned = plan_shape(problem, CONTRACT.limits)
    recipe = {"name": "uniform", "version": 1, "arguments": {"tile": 3}}
    values = {spec.name: dict(recipe) for spec in problem.inputs}
    values["ids"] = {**recipe, "structure": "class_ids", "classes": 2}
    values["plain"] = {"name": "scaled", "version": 1, "arguments": {"factor": 3.0}}
    found = confirmed_values(problem, planned, values, hashed_elements=1 << 27)
    assert found["ids"]["classes"] == 40 // 4
    assert values["ids"]["classes"] == 2
    assert {n: v for n, v in found.items() if n != "ids"} == {
        n: v for n, v in values.items() if n != "ids"
    }


@pytest.mark.parametrize("over", [0, 1])
def test_own_draws_are_hashed_where_they_are_too_large(over: int) -> None:
    problem = made.softmax()
    planned = contract_shape(problem, CONTRACT)
    elements = math.prod(shape_of(problem.inputs[0], planned.dimensions))
    for arguments in ({}, {"draw": "hash"}):
        values = {"x": {"name": "own", "version": 1, "arguments": arguments}}
        found = confirmed_values(problem, planned, values, elements - over)
        assert found["x"]["arguments"] == ({"draw": "hash"} if over else {})
    drawn = confirmed_values(problem, replace(planned), values, None)
    assert drawn["x"]["arguments"] == {}


def test_where_level_1_is_confirmed() -> None:
    """The figures of docs/gpu.md."""
    problems = [p for p in load_corpus([]).problems.values() if p.id.startswith("level1/")]
    grown = [(p, contract_shape(p, CONTRACT)) for p in problems]
    full = [p.id for p, shape in grown if shape.sizes(p) == whole(p)]
    shortened = [p.id for p, shape in grown if shape.scope is ShapeScope.PROFILE]
    assert (len(grown), len(full)) == (100, 26)
    numbers = (33, 37, 94, 96, 98, 99, 100)
    assert shortened == [f"level1/{number:03d}" for number in numbers]
    assert all(shape.scope is not ShapeScope.OTHER for _, shape in grown)
