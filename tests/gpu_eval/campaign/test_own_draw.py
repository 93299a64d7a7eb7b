"""The benchmark's own draw: its seeds, its generator, its order."""

import math
from dataclasses import replace

import pytest
import torch

from gpu_eval.campaign.own_draw import (
    INITIAL_SEED,
    TRIAL_SEEDS,
    initial_parameters,
    is_scalable,
    own_draw,
    seeded,
    shared_parameters,
)
from gpu_eval.problems.loader import load_corpus
from suiteopt.errors import UserError
from tests.gpu_eval.campaign.small_problems import convolution, matmul, normalization, structured


def test_trial_seeds_are_those_of_the_harness() -> None:
    with seeded(INITIAL_SEED):
        drawn = [int(torch.randint(0, 2**32 - 1, (1,)).item()) for _ in range(5)]
    assert tuple(drawn) == TRIAL_SEEDS


def test_inputs_are_drawn_in_order_right_after_seeding() -> None:
    drawn = own_draw(matmul(), {"m": 5, "k": 7, "n": 3}, TRIAL_SEEDS[1])
    torch.manual_seed(TRIAL_SEEDS[1])
    assert torch.equal(drawn["a"], torch.rand(5, 7))
    assert torch.equal(drawn["b"], torch.rand(7, 3))
    assert list(drawn) == ["a", "b"]


def test_known_values_of_the_first_trial() -> None:
    drawn = own_draw(matmul(), {"m": 1, "k": 3, "n": 1}, TRIAL_SEEDS[0])
    torch.manual_seed(734796314)
    assert drawn["a"].tolist() == torch.rand(1, 3).tolist()
    assert len({float(v) for t in drawn.values() for v in t.flatten()}) == 6


def test_parameters_are_initialised_under_seed_42() -> None:
    drawn = initial_parameters(normalization(), {"batch": 2, "height": 3, "width": 4})
    torch.manual_seed(42)
    assert torch.equal(drawn["gain"], torch.rand(3, 4))
    assert torch.equal(drawn["lift"], torch.rand(3, 4))
    assert initial_parameters(matmul(), {"m": 1, "k": 1, "n": 1}) == {}


def test_convolution_of_the_corpus_gets_the_weights_of_the_benchmark() -> None:
    problem = load_corpus().problems["level1/050"]
    values = {d.name: d.size for d in problem.dimensions}
    drawn = initial_parameters(problem, values)
    torch.manual_seed(42)
    layer = torch.nn.Conv2d(3, 96, 11, stride=4, padding=2)
    weight, bias = (next(t for t in drawn.values() if t.dim() == n) for n in (4, 1))
    assert torch.equal(weight, layer.weight)
    assert torch.equal(bias, layer.bias)
    assert weight.abs().max() <= 1 / math.sqrt(3 * 11 * 11)


def test_the_global_generator_is_left_as_it_was() -> None:
    torch.manual_seed(123)
    before = torch.get_rng_state()
    own_draw(structured(), {"n": 40}, 1)
    initial_parameters(convolution(), {d.name: 11 for d in convolution().dimensions})
    with pytest.raises(UserError), seeded(4):
        initial_parameters(replace(normalization(), initialise=None), {})
    assert torch.equal(before, torch.get_rng_state())


def test_every_structure_is_drawn_as_the_benchmark_does() -> None:
    drawn = own_draw(structured(), {"n": 40}, 7)
    torch.manual_seed(7)
    expected = {
        "plain": torch.rand(40, 40),
        "normal": torch.randn(40, 40),
        "diagonal": torch.rand(40, 40).diag().diag(),
    }
    square = torch.rand(40, 40)
    expected["symmetric"] = (square + square.T) / 2
    expected["lower"] = torch.tril(torch.rand(40, 40))
    expected["upper"] = torch.triu(torch.rand(40, 40))
    expected["rows"] = torch.rand(40, 40).softmax(dim=-1)
    expected["signs"] = torch.randint(0, 2, (40,)).float() * 2 - 1
    expected["mask"] = torch.randint(0, 2, (40, 40)).bool()
    expected["ids"] = torch.randint(0, 10, (40,))
    assert list(drawn) == list(expected)
    for name, tensor in expected.items():
        assert drawn[name].dtype == tensor.dtype, name
        assert torch.equal(drawn[name], tensor), name
        assert drawn[name].is_contiguous()


def test_only_tensors_of_free_magnitude_are_scaled() -> None:
    scalable = {spec.name for spec in structured().inputs if is_scalable(spec)}
    assert scalable == {"plain", "normal", "diagonal", "symmetric", "lower", "upper"}


def test_a_missing_or_wrong_initialisation_is_told() -> None:
    sizes = {"batch": 2, "height": 3, "width": 4}
    with pytest.raises(UserError, match="has parameters and no 'initialise'"):
        initial_parameters(replace(normalization(), initialise=None), sizes)
    wrong = replace(normalization(), initialise=lambda shapes: {"gain": torch.ones(3, 4)})
    with pytest.raises(UserError, match="and the definition wants"):
        initial_parameters(wrong, sizes)


@pytest.mark.parametrize("name", ["level1/093", "level1/095", "level1/100"])
def test_hashed_draws_choose_among_the_same_numbers(name: str) -> None:
    """A mask, class ids and signs: too large for the generator, they are hashed like the rest."""
    problem = load_corpus().problems[name]
    values = {d.name: min(d.size, 96) for d in problem.dimensions}
    names = [spec.name for spec in problem.inputs]
    plain, hashed = own_draw(problem, values, 7), own_draw(problem, values, 7, names)
    for spec in problem.inputs:
        one, other = plain[spec.name], hashed[spec.name]
        assert (one.dtype, one.shape) == (other.dtype, other.shape)
        if not is_scalable(spec):
            assert set(other.unique().tolist()) <= set(range(96)) | {-1.0}
            assert one.double().mean().item() == pytest.approx(
                other.double().mean().item(), rel=0.35, abs=0.35
            )
            assert len(other.unique()) == len(one.unique()) or len(other.unique()) > 48


def test_parameters_of_a_gpu_are_drawn_once_for_inputs_of_one_shape() -> None:
    problem = normalization()
    values = {"batch": 2, "height": 3, "width": 4}
    first = shared_parameters(problem, values, "cuda")
    assert shared_parameters(problem, values, "cuda") is first
    assert torch.equal(first["gain"], initial_parameters(problem, values)["gain"])

    def ones(shapes):
        return {name: torch.ones(shape) for name, shape in shapes.items()}

    assert shared_parameters(replace(problem, initialise=ones), values, "cuda")["gain"].eq(1).all()
    assert shared_parameters(problem, values, "cuda") is not first
    wider = {"batch": 2, "height": 5, "width": 7}
    drawn = shared_parameters(problem, wider, "cuda")
    assert {n: t.shape for n, t in drawn.items()} == {
        n: t.shape for n, t in initial_parameters(problem, wider).items()
    }
    assert {n: t.shape for n, t in drawn.items()} != {n: t.shape for n, t in first.items()}
    # A kernel on a processor can write over its parameters.
    assert shared_parameters(problem, values, "cpu") is not shared_parameters(
        problem, values, "cpu"
    )
