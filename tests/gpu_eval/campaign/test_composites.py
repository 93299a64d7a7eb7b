"""Composite candidates: names that exist, each input once, other profiles' pools untouched."""

import hashlib
from dataclasses import replace

import pytest
import torch

from gpu_eval.campaign.choices import CHOICES, value_order
from gpu_eval.campaign.composites import DISPLACED, composites
from gpu_eval.campaign.pool import candidate_pool, pool_hash, realise
from gpu_eval.campaign.shapes import CONTRACT_SHAPE, PROFILES, plan_shape, spread_shape
from gpu_eval.campaign.witness_pool import witness_pool
from gpu_eval.problems.loader import load_corpus
from suiteopt.inputs.parameters import BENCHMARK, PARAMETER_RECIPES
from suiteopt.matrix.schema import Need, OperationClass
from tests.gpu_eval.campaign.small_problems import elementwise, matmul, normalization, softmax

CONTRACT = PROFILES["contract"]
CORPUS = load_corpus().problems


@pytest.mark.parametrize("operation", OperationClass)
@pytest.mark.parametrize("multiplies", [False, True])
def test_every_name_exists(operation: OperationClass, multiplies: bool) -> None:
    problem = replace(normalization(), operation_class=operation, multiplies=multiplies)
    found = list(composites(problem, plan_shape(problem, CONTRACT.limits)))
    assert len(found) >= 5
    for values, parameters, shape in found:
        assert values in CHOICES
        assert parameters == BENCHMARK or parameters in PARAMETER_RECIPES
        assert multiplies == (values in {"near-one", "few-factors", "nearer-minus-one", "signs"})
        assert shape.sizes(problem).keys() == {d.name for d in problem.dimensions}


@pytest.mark.parametrize("name", CORPUS)
def test_each_composite_is_another_input(name: str) -> None:
    problem = CORPUS[name]
    planned = spread_shape(problem, plan_shape(problem, CONTRACT.limits), CONTRACT)
    found = [(v, p, tuple(s.sizes(problem).items())) for v, p, s in composites(problem, planned)]
    assert len(set(found)) == len(found)
    if not problem.parameters:
        assert {parameters for _, parameters, _ in found} == {BENCHMARK}
    shapes = [s for _, _, s in composites(problem, planned) if s.recipe != CONTRACT_SHAPE]
    assert len({tuple(s.sizes(problem).items()) for s in shapes}) >= 3


def test_without_tiles_two_dimensions_are_swapped() -> None:
    tiled = replace(elementwise(), operation_class=OperationClass.FUSED)
    plain = replace(tiled, dimensions=tuple(replace(d, tile=1) for d in tiled.dimensions))
    planned = plan_shape(plain, CONTRACT.limits)
    found = [(v, s) for v, _, s in composites(plain, planned)]
    recipes = [s.recipe for _, s in found]
    assert recipes == ["prime", "one", "one", "sliver", "non-square", "non-square"]
    assert len({(v, s.recipe) for v, s in found}) == len(found)
    assert [*found[-1][1].dimensions.values()] == [*planned.dimensions.values()][::-1]
    recipes = [s.recipe for _, _, s in composites(tiled, plan_shape(tiled, CONTRACT.limits))]
    assert "non-square" not in recipes


def test_they_displace_value_choices_and_nothing_else() -> None:
    for make in (elementwise, matmul, normalization, softmax):
        problem = make()
        composed = {i.value_recipe for i in candidate_pool(problem, CONTRACT)}
        plain = replace(CONTRACT, composed=False)
        before = {i.value_recipe for i in candidate_pool(problem, plain)}
        assert not composed & DISPLACED
        assert before & DISPLACED
        order = [c.name for c in value_order(problem.operation_class) if c.name in composed]
        kept = [c.name for c in value_order(problem.operation_class) if c.name not in DISPLACED]
        assert order == kept[: len(order)] or set(kept[:25]) <= set(order)


def test_parameters_come_with_values_that_show_them() -> None:
    problem = normalization()
    pool = {i.id.partition(":")[2]: i for i in candidate_pool(problem, CONTRACT)}
    both = pool["lanes-wide:affine@one"]
    assert both.needs == (Need.VALUES, Need.PARAMETERS, Need.SHAPES)
    made = realise(problem, both)
    assert not any(
        torch.equal(made[p.name], torch.ones_like(made[p.name])) for p in problem.parameters
    )


def test_a_pool_of_composites_is_frozen() -> None:
    assert pool_hash(candidate_pool(matmul(), CONTRACT)) == (
        "4281c7e51ccd090bf74045d9126dce6ae2fc8b71e1587ee0946b4004814276d2"
    )
    assert pool_hash(candidate_pool(normalization(), CONTRACT)) == (
        "617724fb1999c450e1ce422bb37f53db12628919424612d1da862b410b2516c6"
    )


def hash_of_level_1(profile: str) -> str:
    """Return one hash of all pools of level 1, which is complete; level 2 still grows."""
    wanted = PROFILES[profile]
    text = "".join(
        pool_hash(candidate_pool(p, wanted)) + pool_hash(witness_pool(p, wanted))
        for p in CORPUS.values()
        if p.level == 1
    )
    return hashlib.sha256(text.encode()).hexdigest()


@pytest.mark.parametrize(
    ("profile", "frozen"),
    [
        ("demo", "6d53771991dd8e6b6f9b05c169ca924cdb71b926410c5f940638015b54d84cea"),
        ("quick", "7257b344745999f7d7a267ee37c5d72919ea2f2760ac99d861280c448807fdf3"),
        ("full", "a93a68326ac11d57e83a0f0f50403722cce8a9245339a2dddf67c0c859c9baf2"),
        ("contract", "d86504fe62879a24860f573795a51e30f1d36ae93f5ffada442f4be90048fc6c"),
    ],
)
def test_pools_of_level_1_are_what_they_were(profile: str, frozen: str) -> None:
    """Matrices were measured with them, and no other profile may move what one of them draws."""
    assert sum(p.level == 1 for p in CORPUS.values()) == 100
    assert hash_of_level_1(profile) == frozen
