import math
from dataclasses import replace

import pytest
import torch

from gpu_eval.problems.definition import Problem
from gpu_eval.problems.loader import Corpus
from gpu_eval.problems.tensors import (
    contract,
    dimensions,
    floors,
    reduction_length,
    shape_of,
    smallest_sizes,
)
from suiteopt.errors import UserError
from suiteopt.matrix.schema import OWN_STATISTICS, Statistic

U = 2.0**-24


def test_dimensions_hold_sizes_integer_scalars_and_derived(corpus: Corpus) -> None:
    problem = corpus.problem("level1/050")
    values = dimensions(
        problem,
        {"batch": 2, "in_channels": 3, "height": 32, "width": 96, "out_channels": 32, "kernel": 11},
    )
    assert values["stride"] == 4
    assert values["padding"] == 2
    assert (values["out_height"], values["out_width"]) == (7, 23)
    assert shape_of(problem.outputs[0], values) == (2, 32, 7, 23)
    assert reduction_length(problem, values) == 363


def test_float_scalars_are_no_sizes(corpus: Corpus) -> None:
    assert "eps" not in contract(corpus.problem("level1/040"))


def test_given_derived_sizes_are_computed_anew(corpus: Corpus) -> None:
    problem = corpus.problem("level1/042")
    values = contract(problem) | {"height": 20}
    assert dimensions(problem, values)["out_height"] == 19


def test_missing_size_is_named(corpus: Corpus) -> None:
    with pytest.raises(UserError, match=r"level1/019: no size given for cols"):
        dimensions(corpus.problem("level1/019"), {"rows": 4})


def test_negative_shape_is_refused(corpus: Corpus) -> None:
    problem = corpus.problem("level1/042")
    values = dimensions(problem, {"batch": 1, "channels": 1, "height": 0, "width": 8})
    with pytest.raises(UserError, match="negative shape"):
        shape_of(problem.outputs[0], values | {"out_height": -1})


def test_smallest_sizes_are_congruent_and_at_least_the_minimum(corpus: Corpus) -> None:
    for problem in corpus.problems.values():
        for d in problem.dimensions:
            size = smallest_sizes(problem)[d.name]
            assert size == d.size if d.fixed else (d.size - size) % d.tile == 0
            assert d.minimum <= size <= d.size
            assert d.fixed or size - d.tile < max(d.minimum, 1)


def floors_of(problem: Problem, reference: torch.Tensor, magnitude, length: int, exact=False):
    given = replace(problem, magnitude=None if magnitude is None else lambda _: {"c": magnitude})
    return floors(given, {"a": torch.zeros(1)}, {"c": reference}, length, exact)


def test_floors_by_hand(corpus: Corpus) -> None:
    problem = corpus.problem("level1/001")
    reference = torch.tensor([3.0, -1.0, 0.5])
    magnitude = torch.tensor([4.0, 4.0, 1.0], dtype=torch.float64)
    got = floors_of(problem, reference, magnitude, 16)
    # sqrt(16) u m = 4 u (4, 4, 1); eta is far below.
    expected = {
        Statistic.ALLCLOSE_CANDIDATE: 16 * U / 2,
        Statistic.ALLCLOSE_REFERENCE: 16 * U / 2,
        Statistic.MAX_ABS: 16 * U,
        Statistic.MAX_REL: 16 * U,
        Statistic.EITHER_OR: 16 * U,
        Statistic.GLOBAL: 16 * U / 4,
        Statistic.RMS: 16 * U / math.sqrt((9 + 1 + 0.25) / 3),
    }
    assert set(got) == set(OWN_STATISTICS)
    assert got == pytest.approx(expected, rel=1e-12)


def test_floor_without_magnitude_is_the_reference(corpus: Corpus) -> None:
    got = floors_of(corpus.problem("level1/001"), torch.tensor([2.0, 2.0]), None, 4)
    assert got[Statistic.RMS] == pytest.approx(2 * U)
    assert got[Statistic.MAX_REL] == pytest.approx(2 * U)


def test_cancellation_has_an_infinite_relative_floor_and_zeros_have_none(corpus: Corpus) -> None:
    problem = corpus.problem("level1/001")
    cancelled = floors_of(problem, torch.zeros(2), torch.ones(2).double(), 1)
    assert cancelled[Statistic.MAX_REL] == math.inf
    assert cancelled[Statistic.RMS] == math.inf
    assert cancelled[Statistic.MAX_ABS] == pytest.approx(U)
    zeros = floors_of(problem, torch.zeros(2), torch.zeros(2).double(), 1)
    assert set(zeros.values()) == {0.0}


def test_elements_that_are_not_finite_are_left_out(corpus: Corpus) -> None:
    reference = torch.tensor([math.nan, math.inf, 1.0, 1.0])
    magnitude = torch.tensor([1.0, 1.0, math.inf, 1.0], dtype=torch.float64)
    got = floors_of(corpus.problem("level1/001"), reference, magnitude, 1)
    assert got[Statistic.RMS] == pytest.approx(U)
    nothing = floors_of(corpus.problem("level1/001"), reference[:1], magnitude[:1], 1)
    assert set(nothing.values()) == {0.0}


def test_floor_of_denormals_is_not_below_their_spacing(corpus: Corpus) -> None:
    tiny = 2.0**-149
    got = floors_of(corpus.problem("level1/001"), torch.tensor([tiny]), None, 1)
    assert got[Statistic.MAX_REL] == pytest.approx(0.5)


def test_exact_sums_and_operations_that_never_round_have_no_floor(corpus: Corpus) -> None:
    matmul = corpus.problem("level1/001")
    assert set(floors_of(matmul, torch.ones(2), None, 9, exact=True).values()) == {0.0}
    softmax = corpus.problem("level1/023")
    x = {"x": torch.zeros(1, 4)}
    assert floors(softmax, x, softmax.reference(x), 4, True)[Statistic.RMS] > 0
    relu = corpus.problem("level1/019")
    assert set(floors(relu, x, relu.reference(x), 1, False).values()) == {0.0}


def test_empty_output_has_no_floor(corpus: Corpus) -> None:
    assert set(floors_of(corpus.problem("level1/001"), torch.zeros(0), None, 4).values()) == {0.0}
