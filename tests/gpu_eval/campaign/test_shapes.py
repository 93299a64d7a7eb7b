"""Planned shapes and their variations: limits, congruence, scope, ratio, aspect."""

from collections.abc import Callable
from dataclasses import replace
from itertools import combinations
from math import lcm

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gpu_eval.campaign.cell_cost import held_elements, seconds, tensor_elements, work
from gpu_eval.campaign.shapes import PROFILES, Limits, output_elements, plan_shape, planned_shape
from gpu_eval.campaign.variations import SHAPE_RECIPES, SPREAD, shape_variations, vary_shape
from gpu_eval.problems.definition import Dimension, DimensionKind, Problem, TensorSpec
from gpu_eval.problems.loader import load_corpus
from suiteopt.errors import UserError
from suiteopt.matrix.schema import OperationClass, ShapeScope
from tests.gpu_eval.campaign.small_problems import (
    ALL,
    convolution,
    elementwise,
    make_problem,
    matmul,
    normalization,
    softmax,
    structured,
)

DEMO = Limits(4096, 256)
PROBLEMS: dict[str, Problem] = {
    **{make.__name__: make() for make in ALL},
    **load_corpus().problems,
}


@pytest.mark.parametrize(
    ("problem", "sizes", "scope", "ratio"),
    [
        (elementwise(), {"rows": 36, "columns": 104}, ShapeScope.CONTRACT, 1.0),
        (matmul(), {"m": 48, "k": 100, "n": 80}, ShapeScope.CONTRACT, 1.0),
        (softmax(), {"rows": 16, "columns": 256}, ShapeScope.PROFILE, 256 / 393216),
        (softmax(200, 8), {"rows": 20, "columns": 200}, ShapeScope.CONTRACT, 1.0),
        (
            normalization(),
            {"batch": 16, "height": 8, "width": 32},
            ShapeScope.PROFILE,
            256 / 4096,
        ),
        (
            convolution(),
            {"batch": 2, "channels": 3, "height": 32, "width": 32, "filters": 16, "kernel": 11},
            ShapeScope.CONTRACT,
            1.0,
        ),
        (structured(), {"n": 40}, ShapeScope.CONTRACT, 1.0),
    ],
)
def test_known_shapes(
    problem: Problem, sizes: dict[str, int], scope: ShapeScope, ratio: float
) -> None:
    planned = plan_shape(problem, DEMO)
    assert planned.sizes(problem) == sizes
    assert (planned.scope, planned.reduction_ratio) == (scope, ratio)
    assert planned.recipe == "contract"


def test_derived_sizes_and_integer_scalars_come_along() -> None:
    planned = plan_shape(convolution(), DEMO)
    assert planned.dimensions["out_height"] == (32 - 11) // 2 + 1
    assert planned.dimensions["stride"] == 2
    assert "slope" not in planned.dimensions


def test_a_reduction_of_fixed_dimensions_is_never_shortened() -> None:
    planned = plan_shape(convolution(), Limits(4096, 8))
    assert planned.reduction_ratio == 1
    assert planned.scope is ShapeScope.CONTRACT


def test_a_tile_beyond_the_limit_is_replaced_by_a_divisor() -> None:
    planned = plan_shape(softmax(393216, 1024), DEMO)
    assert planned.sizes(softmax()) == {"rows": 16, "columns": 256}


def test_a_square_dimension_stays_one() -> None:
    square = make_problem(
        OperationClass.MATMUL,
        (Dimension("n", 4096, DimensionKind.REDUCED, tile=32),),
        (TensorSpec("a", ("n", "n")), TensorSpec("b", ("n", "n"))),
        (TensorSpec("c", ("n", "n")),),
        reduction_length="n",
    )
    planned = plan_shape(square, DEMO)
    assert planned.sizes(square) == {"n": 64}
    assert planned.scope is ShapeScope.PROFILE
    assert planned.reduction_ratio == 64 / 4096


def test_a_small_contract_is_kept_whole() -> None:
    planned = plan_shape(softmax(100, 1), Limits(10**7, 10**4))
    assert planned.sizes(softmax()) == {"rows": 4096, "columns": 100}


def within(problem: Problem, limits: Limits, sizes: dict[str, int]) -> bool:
    """Whether a shape keeps within the limits."""
    found = planned_shape(problem, sizes, "contract")
    if found is None or held_elements(problem, found.dimensions) > limits.max_outputs:
        return False
    elements = tensor_elements(problem, found.dimensions)
    elements += held_elements(problem, found.dimensions)
    elements -= output_elements(problem, found.dimensions)
    cost = seconds(problem, found.dimensions)
    return (
        (limits.max_seconds is None or cost <= limits.max_seconds)
        and (limits.max_elements is None or elements <= limits.max_elements)
        and (limits.target_elements is None or elements <= limits.target_elements)
        and (limits.max_work is None or work(problem, found.dimensions) <= limits.max_work)
    )


@pytest.mark.parametrize("name", PROBLEMS)
@pytest.mark.parametrize("profile", PROFILES)
def test_what_holds_for_every_plan(name: str, profile: str) -> None:
    problem, limits = PROBLEMS[name], PROFILES[profile].limits
    planned = plan_shape(problem, limits)
    free = [d for d in problem.dimensions if not d.fixed]
    outputs = output_elements(problem, planned.dimensions)
    # Tiles of some kernels are so large that the smallest congruent shape is beyond the limits.
    # Dimensions of one size in the contract shrink together, by a step that suits all of them.
    tied: dict[int, list[Dimension]] = {}
    for d in free:
        if d.kind is DimensionKind.PARALLEL:
            tied.setdefault(d.size, []).append(d)
    least = all(
        any(planned.dimensions[d.name] - lcm(*(e.tile for e in group)) < d.minimum for d in group)
        for group in tied.values()
    )
    assert outputs <= limits.max_outputs or least
    for d in problem.dimensions:
        size = planned.dimensions[d.name]
        assert d.minimum <= size <= d.size
        if d.fixed:
            assert size == d.size
        elif d.kind is DimensionKind.PARALLEL:
            assert (d.size - size) % d.tile == 0
            twins = [e.name for e in free if e.size == d.size and e.kind is d.kind]
            doubled = planned.sizes(problem) | {n: 2 * planned.dimensions[n] for n in twins}
            assert size >= 2 or not within(problem, limits, doubled)
    for a, b in combinations([d for d in free if d.kind is DimensionKind.PARALLEL], 2):
        # Axes of an image stay equal; batch and channels of the same size need not on a processor.
        fused = problem.operation_class is OperationClass.FUSED and profile != "contract"
        if a.size == b.size and (not fused or a.minimum == b.minimum):
            assert planned.dimensions[a.name] == planned.dimensions[b.name]
    assert plan_shape(problem, limits) == planned


def test_no_dimension_could_still_grow() -> None:
    problem = matmul()
    sizes = plan_shape(problem, DEMO).sizes(problem)
    for name in ("m", "n"):
        larger = planned_shape(problem, {**sizes, name: sizes[name] + 16}, "contract")
        assert larger is not None
        assert output_elements(problem, larger.dimensions) > DEMO.max_outputs


@given(
    st.integers(1, 5000),
    st.integers(1, 5000),
    st.integers(1, 5000),
    st.sampled_from([1, 4, 16, 96]),
    st.integers(1, 20000),
    st.integers(1, 2000),
)
@settings(max_examples=150, deadline=None)
def test_any_matmul_can_be_planned(
    m: int, k: int, n: int, tile: int, max_outputs: int, max_reduction: int
) -> None:
    problem = make_problem(
        OperationClass.MATMUL,
        (
            Dimension("m", m, DimensionKind.PARALLEL, tile=tile),
            Dimension("k", k, DimensionKind.REDUCED, tile=tile),
            Dimension("n", n, DimensionKind.PARALLEL),
        ),
        (TensorSpec("a", ("m", "k")), TensorSpec("b", ("k", "n"))),
        (TensorSpec("c", ("m", "n")),),
        reduction_length="k",
    )
    limits = Limits(max_outputs, max_reduction)
    planned = plan_shape(problem, limits)
    sizes = planned.sizes(problem)
    assert 1 <= sizes["m"] <= m
    assert (m - sizes["m"]) % tile == 0
    assert 1 <= sizes["n"] <= n
    assert 1 <= sizes["k"] <= k
    assert sizes["k"] <= max(max_reduction, 2)
    # Only the smallest congruent shape may cost more than the limit; dimensions that are equal
    # in the contract have one size and the larger tile.
    smallest = sizes["m"] <= tile and sizes["n"] == (sizes["m"] if m == n else 1)
    assert sizes["m"] * sizes["n"] <= max_outputs or smallest
    full = planned.scope is ShapeScope.CONTRACT
    assert full == (sizes["k"] == k)
    assert planned.reduction_ratio == sizes["k"] / k


@pytest.mark.parametrize(
    ("make", "recipe", "expected"),
    [
        (elementwise, "tile+1", {"rows": 33, "columns": 65}),
        (elementwise, "tile-1", {"rows": 35, "columns": 63}),
        (elementwise, "prime", {"rows": 31, "columns": 103}),
        (elementwise, "one", {"rows": 1, "columns": 1}),
        (elementwise, "non-square", {"rows": 104, "columns": 36}),
        (elementwise, "sliver", {"rows": 3, "columns": 13}),
        (matmul, "sliver", {"m": 7, "k": 100, "n": 5}),
        (softmax, "sliver", {"rows": 1, "columns": 256}),
        (matmul, "one", {"m": 1, "k": 100, "n": 1}),
        (matmul, "prime", {"m": 47, "k": 97, "n": 79}),
        (matmul, "tile+1", {"m": 33, "k": 81, "n": 65}),
        (softmax, "tile+1", {"rows": 16, "columns": 129}),
        (softmax, "one", {"rows": 1, "columns": 256}),
        (
            convolution,
            "non-square",
            {"batch": 2, "channels": 3, "height": 32, "width": 17, "filters": 16, "kernel": 11},
        ),
        (
            convolution,
            "one",
            {"batch": 1, "channels": 3, "height": 11, "width": 11, "filters": 1, "kernel": 11},
        ),
    ],
)
def test_known_variations(
    make: Callable[[], Problem], recipe: str, expected: dict[str, int]
) -> None:
    problem = make()
    varied = vary_shape(problem, plan_shape(problem, DEMO), recipe)
    assert varied is not None
    assert varied.sizes(problem) == expected
    assert varied.scope is ShapeScope.OTHER
    assert varied.recipe == recipe


@pytest.mark.parametrize(
    ("recipe", "expected"),
    [
        ("tile+1", None),
        ("one", (2, 2, 5, 5, 5, 1)),
        ("tile-1", (2, 2, 5, 7, 7, 2)),
        ("non-square", (2, 2, 5, 5, 9, 2)),
    ],
)
def test_a_fused_problem_at_its_least_sizes_has_larger_ones(
    recipe: str, expected: tuple[int, ...] | None
) -> None:
    # Of depth, height and width, none may be below 5; their tiles are 2, 4 and 4.
    problem = PROBLEMS["level2/015"]
    planned = plan_shape(problem, DEMO)
    assert tuple(planned.sizes(problem).values()) == (2, 2, 5, 5, 5, 2)
    varied = vary_shape(problem, planned, recipe)
    assert (varied and tuple(varied.sizes(problem).values())) == expected


def test_only_fused_problems_have_larger_ones() -> None:
    # Pools of level 1 stay what they were.
    problem = convolution()
    planned = planned_shape(
        problem, plan_shape(problem, DEMO).sizes(problem) | {"height": 11, "width": 11}, "contract"
    )
    assert planned is not None
    assert vary_shape(problem, planned, "tile-1") is None
    fused = replace(problem, operation_class=OperationClass.FUSED)
    raised = vary_shape(fused, planned, "tile-1")
    assert raised is not None
    # 7 is too small for the kernel; tiles are 16 and 32.
    assert (raised.dimensions["height"], raised.dimensions["width"]) == (7 + 16, 7 + 32)


def test_a_variation_that_changes_nothing_is_none() -> None:
    problem = softmax()
    assert vary_shape(problem, plan_shape(problem, DEMO), "non-square") is None


@pytest.mark.parametrize("name", PROBLEMS)
def test_variations_are_different_shapes_that_the_problem_can_have(name: str) -> None:
    problem = PROBLEMS[name]
    planned = plan_shape(problem, DEMO)
    variations = shape_variations(problem, planned)
    shapes = [tuple(v.sizes(problem).values()) for v in (planned, *variations)]
    assert len(set(shapes)) == len(shapes)
    # Of dimensions without a tile there is nothing a tile more or less.
    tiled = any(d.tile > 1 and not d.fixed for d in problem.dimensions)
    assert len(variations) >= (3 if tiled or problem.level == 1 else 2)
    most = 3 * max(DEMO.max_outputs, output_elements(problem, planned.dimensions))
    for varied in variations:
        assert output_elements(problem, varied.dimensions) in range(1, most)
        for d in problem.dimensions:
            assert varied.dimensions[d.name] >= d.minimum
            assert not d.fixed or varied.dimensions[d.name] == d.size


def test_an_unknown_variation_is_refused() -> None:
    problem = softmax()
    with pytest.raises(UserError, match="no shape recipe 'round'; choose one of tile"):
        vary_shape(problem, plan_shape(problem, DEMO), "round")
    assert set(SHAPE_RECIPES) == {"one", "tile+1", "tile-1", "prime", "non-square", "sliver"}
    assert set(SPREAD) == set(SHAPE_RECIPES) - {"sliver"}


def test_a_shape_below_the_minimum_cannot_be_had() -> None:
    problem = convolution()
    sizes = plan_shape(problem, DEMO).sizes(problem)
    assert planned_shape(problem, {**sizes, "height": 10}, "one") is None
