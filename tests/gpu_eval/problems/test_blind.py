"""Blind controls: drawn by the stated rule, and right by the benchmark's own expressions."""

import hashlib
import importlib
import math
from collections.abc import Callable

import pytest
import torch

from gpu_eval.problems.definition import Tensors
from gpu_eval.problems.loader import Corpus

DRAWN = ["level1/010", "level1/039", "level1/091", "level1/069", "level1/024"]
REWRITTEN = ["level1/044", "level1/088"]
HAD_ONE = "level1/040"

# What the forward functions of the benchmark's models say, and shapes that no tile divides.
MODELS: dict[str, tuple[Callable[..., torch.Tensor], dict[str, tuple[int, ...]]]] = {
    "level1/010": (torch.matmul, {"a": (3, 7, 53), "b": (53, 11)}),
    "level1/039": (lambda x: x / torch.norm(x, p=2, dim=1, keepdim=True), {"x": (5, 601)}),
    "level1/091": (lambda x: torch.cumsum(x.flip(1), dim=1).flip(1), {"x": (3, 1301)}),
    "level1/069": (
        torch.nn.functional.conv_transpose2d,
        {"x": (2, 5, 7, 9), "weight": (5, 6, 3, 5)},
    ),
    "level1/024": (lambda x: torch.log_softmax(x, dim=1), {"x": (4, 601)}),
}


def blind(identifier: str) -> Callable[[Tensors], Tensors]:
    module = importlib.import_module(f"gpu_eval.problems.blind.{identifier.replace('/', '_')}")
    control: Callable[[Tensors], Tensors] = module.control
    return control


def test_problems_are_the_first_of_the_draw(corpus: Corpus) -> None:
    classes, drawn = set(), []
    for identifier in sorted(corpus.problems, key=lambda i: hashlib.sha256(i.encode()).hexdigest()):
        problem = corpus.problem(identifier)
        eligible = problem.level == 1 and problem.rounds and identifier != HAD_ONE
        if eligible and problem.operation_class not in classes:
            classes.add(problem.operation_class)
            drawn.append(identifier)
    assert drawn[:7] == DRAWN + REWRITTEN


@pytest.mark.parametrize("identifier", DRAWN)
def test_each_is_held_out_of_its_problem_s_calibration(corpus: Corpus, identifier: str) -> None:
    (held_out,) = [c for c in corpus.problem(identifier).controls if c.blind]
    assert held_out.kind == "blind"
    assert held_out.run is not None
    assert held_out.run.__module__ == blind(identifier).__module__


@pytest.mark.parametrize("identifier", DRAWN)
@pytest.mark.parametrize("shift", [0.0, 3.0])
def test_each_computes_what_the_benchmark_s_model_does(identifier: str, shift: float) -> None:
    model, shapes = MODELS[identifier]
    generator = torch.Generator().manual_seed(11)
    tensors = {
        name: shift + torch.randn(shape, generator=generator, dtype=torch.float64)
        for name, shape in shapes.items()
    }
    (found,) = blind(identifier)(tensors).values()
    torch.testing.assert_close(found, model(*tensors.values()), rtol=1e-11, atol=1e-11)


@pytest.mark.parametrize("identifier", ["level1/024", "level1/039"])
def test_rows_that_are_no_numbers_stay_so(identifier: str) -> None:
    model, _ = MODELS[identifier]
    x = torch.ones((5, 300))
    x[0, 7] = math.nan
    x[1, 7] = math.inf
    x[2, ::2] = -math.inf
    x[3] = 0
    x[4] = -math.inf
    (found,) = blind(identifier)({"x": x}).values()
    torch.testing.assert_close(found, model(x), equal_nan=True)
