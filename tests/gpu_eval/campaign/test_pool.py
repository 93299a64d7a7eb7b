"""The candidate pool: what is in it, what a target needs for it, and the tensors it makes."""

from collections import Counter
from dataclasses import replace
from itertools import pairwise

import pytest
import torch

from gpu_eval.campaign.choices import CHOICES, SCALINGS, value_order
from gpu_eval.campaign.composites import composites
from gpu_eval.campaign.own_draw import TRIAL_SEEDS, initial_parameters, own_draw
from gpu_eval.campaign.pool import PoolInput, candidate_pool, pool_hash, realise
from gpu_eval.campaign.shapes import CONTRACT_SHAPE, PROFILES, Profile, plan_shape, spread_shape
from gpu_eval.campaign.variations import shape_variations
from gpu_eval.problems.definition import Problem
from gpu_eval.problems.loader import load_corpus
from gpu_eval.problems.tensors import dimensions, shape_of
from suiteopt.errors import UserError
from suiteopt.inputs.parameters import BENCHMARK
from suiteopt.inputs.recipes import generate, tensor_seed
from suiteopt.matrix.schema import Need, OperationClass, Role, ShapeScope
from tests.gpu_eval.campaign.small_problems import (
    ALL,
    convolution,
    elementwise,
    matmul,
    normalization,
    softmax,
    structured,
)

CORPUS = load_corpus().problems
PROBLEMS: dict[str, Problem] = {
    **{make.__name__: make() for make in ALL},
    **CORPUS,
}
REALISED = [
    name
    for name in PROBLEMS
    if name not in CORPUS or name in PROFILES["demo"].problems or int(name[-3:]) % 9 == 0
]
"""Problems whose tensors are made here: all small ones and a sample of the corpus."""
DEMO = PROFILES["demo"]


def by_recipe(problem: Problem, profile: Profile = DEMO) -> dict[str, PoolInput]:
    pool = candidate_pool(problem, profile)
    return {pool_input.id.removeprefix(f"{problem.id}:"): pool_input for pool_input in pool}


@pytest.mark.parametrize("name", PROBLEMS)
@pytest.mark.parametrize("profile", PROFILES)
def test_a_pool_has_its_size_and_its_shares(name: str, profile: str) -> None:
    problem, wanted = PROBLEMS[name], PROFILES[profile]
    pool = candidate_pool(problem, wanted)
    candidates = [i for i in pool if i.role is Role.CANDIDATE]
    assert len(candidates) == wanted.candidates
    assert [i.id for i in pool if i.role is Role.OWN] == [
        f"{problem.id}:own-{trial}" for trial in range(1, 5)
    ]
    assert len({i.id for i in pool}) == len(pool)
    assert candidates[0].id == f"{problem.id}:own-0"
    assert [i.kind for i in pool].count("own") == 5
    needs = Counter(need for i in candidates for need in i.needs)
    planned = spread_shape(problem, plan_shape(problem, wanted.limits), wanted)
    composed = list(composites(problem, planned))
    more = composed if wanted.composed else []
    others = sum(parameters != BENCHMARK for _, parameters, _ in more)
    shapes = sum(shape.recipe != CONTRACT_SHAPE for _, _, shape in more)
    assert needs[Need.PARAMETERS] == (wanted.parameters + others if problem.parameters else 0)
    assert 2 <= needs[Need.SHAPES] <= wanted.shapes + shapes
    assert [i.kind for i in candidates].count("composite") == len(more)
    values_only = [i for i in candidates if set(i.needs) <= {Need.VALUES}]
    assert len(values_only) >= 0.6875 * wanted.candidates  # 11 of 16
    assert len({i.kind for i in candidates}) >= 7


@pytest.mark.parametrize("name", PROBLEMS)
def test_a_larger_profile_holds_the_recipes_of_a_smaller_one(name: str) -> None:
    problem = PROBLEMS[name]
    for smaller, larger in pairwise(PROFILES[p] for p in ("demo", "quick", "full")):
        missing = set(by_recipe(problem, smaller)) - set(by_recipe(problem, larger))
        # A larger shape may itself be odd, and not vary in a way that the smaller one does.
        varied = shape_variations(problem, plan_shape(problem, larger.limits))
        possible = {shape.recipe for shape in varied}
        assert all("@" in i and i.partition("@")[2] not in possible for i in missing)
        assert problem.level != 1 or not missing


@pytest.mark.parametrize("operation", OperationClass)
def test_every_class_has_choices_for_the_full_profile(operation: OperationClass) -> None:
    order = value_order(operation)
    assert len(order) >= 40
    assert len({choice.name for choice in order}) == len(order)
    nonfinite = [choice.name for choice in order if choice.kind == "nonfinite"]
    allowed = operation in (OperationClass.ELEMENTWISE, OperationClass.POOLING)
    assert nonfinite == (["infinities", "nonfinite"] if allowed else [])


@pytest.mark.parametrize(
    ("make", "wanted"),
    [
        (matmul, {"lattice-3", "lattice-fit", "residue", "heavy-tail", "cancel", "tile-edges"}),
        (softmax, {"hot-last", "hot-random", "heavy-tail", "offset-1000", "sparse-16"}),
        (elementwise, {"normal", "few-3", "zeros-denormals", "ramp", "impulse-last"}),
        (normalization, {"offset-1000", "rows-flat", "heavy-tail", "normal:affine"}),
        (convolution, {"lattice-3:lattice", "residue:index", "heavy-tail", "pairs"}),
    ],
)
def test_the_smallest_profile_holds_what_its_class_needs(make: object, wanted: set[str]) -> None:
    assert wanted <= set(by_recipe(make()))  # type: ignore[operator]


def test_own_draws_and_scalings_are_multiples_of_the_harness_draw() -> None:
    problem = matmul()
    pool = by_recipe(problem, PROFILES["full"])
    values = dimensions(problem, pool["own-0"].shape)
    for trial, seed in enumerate(TRIAL_SEEDS):
        drawn = own_draw(problem, values, seed)
        made = realise(problem, pool[f"own-{trial}"])
        assert all(torch.equal(made[name], drawn[name]) for name in drawn)
    first = own_draw(problem, values, TRIAL_SEEDS[0])
    for factor in SCALINGS:
        made = realise(problem, pool[f"own-x{factor:g}"])
        assert all(torch.equal(made[name], first[name] * factor) for name in first)
    assert pool["own-0"].needs == ()
    assert pool["own-x3"].needs == (Need.VALUES,)


def test_every_tensor_has_a_seed_of_its_own() -> None:
    problem = matmul()
    pool_input = by_recipe(problem)["normal"]
    made = realise(problem, pool_input)
    for name, shape in (("a", (48, 100)), ("b", (100, 80))):
        assert torch.equal(
            made[name], generate("normal", shape, tensor_seed(pool_input.seed, name))
        )
    assert pool_input.needs == (Need.VALUES,)
    seeds = [i.seed for i in candidate_pool(problem, DEMO) if "own" not in i.id]
    assert len(set(seeds)) == len(seeds)


@pytest.mark.parametrize("name", REALISED)
def test_tensors_have_shape_dtype_and_distinct_contents(name: str) -> None:
    problem = PROBLEMS[name]
    contents = set()
    for pool_input in candidate_pool(problem, DEMO):
        values = dimensions(problem, pool_input.shape)
        made = realise(problem, pool_input)
        assert list(made) == [spec.name for spec in (*problem.inputs, *problem.parameters)]
        for spec in (*problem.inputs, *problem.parameters):
            tensor = made[spec.name]
            assert tuple(tensor.shape) == shape_of(spec, values)
            assert tensor.dtype == getattr(torch, getattr(spec, "dtype", "float32"))
            assert tensor.is_contiguous()
            if tensor.is_floating_point():
                assert torch.isfinite(tensor).all()
        contents.add(tuple(bytes(made[t].numpy().tobytes()) for t in made))
    assert len(contents) == DEMO.candidates + 4


def test_structures_are_kept_by_every_input() -> None:
    problem = structured()
    for pool_input in candidate_pool(problem, PROFILES["full"]):
        made = realise(problem, pool_input)
        size = pool_input.shape["n"]
        upper = torch.ones(size, size).triu(1).bool()
        assert (made["lower"][upper] == 0).all()
        assert (made["upper"][upper.T] == 0).all()
        assert (made["diagonal"][upper | upper.T] == 0).all()
        assert torch.equal(made["symmetric"], made["symmetric"].T)
        assert made["rows"].min() > 0
        assert made["rows"].double().sum(1) == pytest.approx(1, abs=1e-5)
        assert (made["signs"].abs() == 1).all()
        assert made["mask"].dtype == torch.bool
        assert made["ids"].dtype == torch.int64
        assert made["ids"].min() >= 0
        assert made["ids"].max() < max(size // 4, 1)


def test_parameters_come_from_the_benchmark_or_from_recipes() -> None:
    problem = normalization()
    pool = by_recipe(problem)
    values = dimensions(problem, pool["own-0"].shape)
    initial = initial_parameters(problem, values)
    for name in ("own-0", "heavy-tail", "normal@tile+1"):
        made = realise(problem, pool[name])
        if pool[name].scope is not ShapeScope.OTHER:
            assert torch.equal(made["gain"], initial["gain"])
    affine = realise(problem, pool["normal:affine"])
    assert affine["gain"].abs().min() >= 1.25
    assert affine["lift"].abs().min() >= 0.5
    assert pool["normal:affine"].needs == (Need.VALUES, Need.PARAMETERS)
    assert pool["normal:affine"].parameter_recipe == "affine"
    assert pool["normal:affine"].kind == "parameters"
    assert pool["own-0"].parameter_recipe == "benchmark"
    own = by_recipe(problem, PROFILES["full"])["own-0:affine"]
    assert own.needs == (Need.PARAMETERS,)
    assert own.seed == TRIAL_SEEDS[0]


def test_rows_span_all_reduced_dimensions() -> None:
    problem = normalization()
    pool = by_recipe(problem, PROFILES["full"])
    made = realise(problem, pool["rows-flat"])["x"]
    assert (made.flatten(1).amax(1) - made.flatten(1).amin(1)).max() <= 2**-7
    impulses = realise(problem, pool["impulse-last"])["x"].flatten(1)
    assert (impulses[:, -1] >= 1).all()
    assert impulses[:, :-1].abs().max() <= 0.25


def test_tile_edges_follow_the_tile_of_the_dimension() -> None:
    made = realise(matmul(), by_recipe(matmul())["tile-edges"])["a"]
    columns = (made != 0).any(0).nonzero().flatten().tolist()
    assert columns == sorted({c for c in range(100) if c % 16 in (0, 15)} | {99})


def test_exact_inputs_have_sums_below_two_to_the_24() -> None:
    for make in (matmul, convolution):
        problem = make()
        exact = [i for i in candidate_pool(problem, PROFILES["full"]) if i.exact]
        assert len(exact) >= 2
        for pool_input in exact:
            tensors = list(realise(problem, pool_input).values())
            assert all(torch.equal(t, t.round()) for t in tensors)
            assert all(recipe["name"] != "own" for recipe in pool_input.values.values())
            largest = 100 if make is matmul else 363
            for tensor in tensors[:2]:
                largest *= max(float(tensor.abs().max()), 1)
            assert largest <= 2**24
    assert not any(i.exact for i in candidate_pool(softmax(), DEMO))


def test_the_widest_lattice_is_exact_over_the_whole_reduction() -> None:
    width = by_recipe(matmul())["lattice-fit"].values["a"]["arguments"]["width"]
    assert 100 * width**2 <= 2**24 < 100 * (width + 1) ** 2


def test_varied_shapes_are_named_and_marked() -> None:
    pool = by_recipe(matmul(), PROFILES["full"])
    varied = pool["lattice-3@tile+1"]
    assert {size % 16 for size in varied.shape.values()} == {1}
    assert varied.scope is ShapeScope.OTHER
    assert varied.needs == (Need.VALUES, Need.SHAPES)
    assert varied.shape_recipe == "tile+1"
    assert varied.exact


def test_a_shortened_reduction_is_recorded() -> None:
    for pool_input in candidate_pool(softmax(), DEMO):
        if pool_input.scope is ShapeScope.PROFILE:
            assert pool_input.reduction_ratio == 256 / 393216
    assert {i.scope for i in candidate_pool(elementwise(), DEMO)} == {
        ShapeScope.CONTRACT,
        ShapeScope.OTHER,
    }


def test_nonfinite_inputs_say_what_they_need() -> None:
    problem = elementwise()
    assert not any(Need.NONFINITE in i.needs for i in candidate_pool(problem, DEMO))
    huge = replace(PROFILES["full"], candidates=60)
    infinities = by_recipe(problem, huge)["infinities"]
    assert infinities.needs == (Need.VALUES, Need.NONFINITE)
    assert torch.isinf(realise(problem, infinities)["x"]).any()


def test_the_hash_of_a_pool_is_frozen() -> None:
    pool = candidate_pool(matmul(), DEMO)
    assert pool_hash(pool) == "1b0c192419be18d61e6ed77bb220b2d7e25bab2618110743d29b92e107962c65"
    assert pool_hash(candidate_pool(matmul(), DEMO)) == pool_hash(pool)
    assert pool_hash(pool[::-1]) != pool_hash(pool)
    first = pool[0]
    for changed in (
        replace(first, seed=1),
        replace(first, shape={**first.shape, "m": 1}),
        replace(first, values={"a": {"name": "own", "version": 2, "arguments": {}}}),
    ):
        assert pool_hash([changed, *pool[1:]]) != pool_hash(pool)


def test_an_input_of_another_version_is_refused() -> None:
    problem = matmul()
    pool_input = by_recipe(problem)["normal"]
    other = {**pool_input.values["a"], "version": 9}
    with pytest.raises(UserError, match="'made/up:normal' cannot be made, tensor 'a'"):
        realise(problem, replace(pool_input, values={**pool_input.values, "a": other}))


def test_names_of_choices_are_short_and_unique() -> None:
    assert all(name == choice.name for name, choice in CHOICES.items())
    assert all(len(name) <= 20 and ":" not in name and "@" not in name for name in CHOICES)
