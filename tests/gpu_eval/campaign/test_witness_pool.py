"""The witness pool: random in kind, apart from the candidates, frozen."""

import pytest
import torch

from gpu_eval.campaign.own_draw import initial_parameters
from gpu_eval.campaign.pool import candidate_pool, pool_hash, realise
from gpu_eval.campaign.shapes import PROFILES, full_shape, plan_shape, spread_shape
from gpu_eval.campaign.witness_pool import witness_pool
from gpu_eval.problems.definition import Problem
from gpu_eval.problems.loader import load_corpus
from gpu_eval.problems.tensors import dimensions
from suiteopt.matrix.schema import Role, ShapeScope
from tests.gpu_eval.campaign.small_problems import ALL, convolution, matmul, structured

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


@pytest.mark.parametrize("name", PROBLEMS)
@pytest.mark.parametrize("profile", PROFILES)
def test_kinds_shapes_and_numbers(name: str, profile: str) -> None:
    problem, wanted = PROBLEMS[name], PROFILES[profile]
    pool = witness_pool(problem, wanted)
    assert len(pool) == wanted.witnesses >= {"demo": 8, "full": 24}.get(profile, 16)
    assert {i.role for i in pool} == {Role.WITNESS}
    assert len({i.kind for i in pool}) == 7
    assert len({i.id for i in pool}) == len({i.seed for i in pool}) == len(pool)
    others = [i for i in pool if i.scope is ShapeScope.OTHER]
    assert len(others) == wanted.witnesses // 8
    planned = plan_shape(problem, wanted.witness_limits or wanted.limits)
    planned = spread_shape(problem, planned, wanted)
    full = full_shape(problem, planned, wanted)
    for index, witness in enumerate(pool):
        shape = full if index < wanted.full_witnesses else planned
        if witness not in others:
            assert (witness.shape, witness.scope) == (shape.sizes(problem), shape.scope)
    assert witness_pool(problem, wanted) == pool


@pytest.mark.parametrize("name", PROBLEMS)
def test_no_witness_is_a_candidate(name: str) -> None:
    problem = PROBLEMS[name]
    candidates = candidate_pool(problem, PROFILES["full"])
    witnesses = witness_pool(problem, PROFILES["full"])
    assert not {i.seed for i in candidates} & {i.seed for i in witnesses}
    assert not {i.id for i in candidates} & {i.id for i in witnesses}
    taken = [i.values for i in candidates]
    assert not any(i.values in taken for i in witnesses)


@pytest.mark.parametrize("name", REALISED)
def test_witness_tensors_are_finite_and_all_different(name: str) -> None:
    problem = PROBLEMS[name]
    contents = set()
    for pool_input in witness_pool(problem, PROFILES["quick"]):
        made = realise(problem, pool_input)
        for tensor in made.values():
            assert torch.isfinite(tensor.double()).all()
            assert tensor.double().abs().max() < 1e8
        first = next(iter(made.values()))
        assert first.unique().numel() > 1
        contents.add(first.numpy().tobytes())
    assert len(contents) == PROFILES["quick"].witnesses


def test_every_second_input_has_random_parameters() -> None:
    problem = convolution()
    for index, pool_input in enumerate(witness_pool(problem, PROFILES["quick"])):
        assert pool_input.parameter_recipe == ("random" if index % 2 else "benchmark")
        made = realise(problem, pool_input)
        initial = initial_parameters(problem, dimensions(problem, pool_input.shape))
        assert torch.equal(made["w"], initial["w"]) == (index % 2 == 0)


def test_scales_and_offsets_vary() -> None:
    pool = witness_pool(matmul(), PROFILES["full"])
    blends = [recipe["arguments"] for i in pool for recipe in i.values.values()]
    assert {i["name"] for p in pool for i in p.values.values()} == {"blend"}
    assert len({b["exponent"] for b in blends}) >= 8
    assert len({b["base"] for b in blends}) >= 6
    assert any(b.get("offset", 0) > 0 for b in blends)
    assert any(b.get("offset", 0) < 0 for b in blends)


def test_structures_are_kept() -> None:
    problem = structured()
    for pool_input in witness_pool(problem, PROFILES["full"]):
        made = realise(problem, pool_input)
        assert torch.equal(made["symmetric"], made["symmetric"].T)
        assert set(made["signs"].unique().tolist()) == {-1.0, 1.0}
        assert made["mask"].any()
        assert not made["mask"].all()
        assert made["ids"].max() < pool_input.shape["n"] // 4


def test_the_hash_of_a_pool_is_frozen() -> None:
    frozen = "42cf37312a2a0ee1a510d040d2c95b0a5c3b48ce73827fe56334e41576dfba6f"
    assert pool_hash(witness_pool(matmul(), PROFILES["demo"])) == frozen
