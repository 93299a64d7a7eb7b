import math

import pytest
import torch

from gpu_eval.problems.nulls import NULLS, Null

X = torch.arange(6.0).reshape(2, 3)
BY_NAME = {null.name: null for null in NULLS}


def made(name: str, reference: torch.Tensor, previous: torch.Tensor | None = None) -> torch.Tensor:
    before = None if previous is None else {"y": previous}
    outputs = BY_NAME[name].outputs({"x": X, "w": torch.ones(1)}, {"y": reference}, before)
    assert list(outputs) == ["y"]
    return outputs["y"]


def test_there_are_seven() -> None:
    assert len(NULLS) == len(BY_NAME) == 7


@pytest.mark.parametrize("null", NULLS, ids=lambda n: n.name)
@pytest.mark.parametrize("shape", [(), (0,), (1,), (4,), (3, 5)])
@pytest.mark.parametrize("dtype", [torch.float32, torch.float16, torch.int64])
def test_outputs_are_like_the_reference(null: Null, shape, dtype: torch.dtype) -> None:
    reference = torch.ones(shape, dtype=dtype)
    for previous in (None, {}, {"y": torch.zeros(2)}):
        output = null.outputs({"x": X}, {"y": reference}, previous)["y"]
        assert output.shape == reference.shape
        assert output.dtype == dtype
        assert output.data_ptr() != reference.data_ptr() or output.numel() == 0
        assert output.is_contiguous()


def test_values() -> None:
    reference = torch.tensor([[1.0, -3.0], [math.inf, 5.0]])
    assert made("zeros", reference).tolist() == [[0, 0], [0, 0]]
    assert made("constant", reference).tolist() == [[1, 1], [1, 1]]
    assert made("copy-input", reference).tolist() == [[0, 1], [2, 3]]
    assert made("copy-input", torch.ones(8)).tolist() == [0, 1, 2, 3, 4, 5, 0, 1]
    assert made("nan", reference).isnan().all()
    bits = made("untouched", reference).view(torch.int32)
    assert {v & 0xFFFFFFFF for v in bits.flatten().tolist()} == {0xCDCDCDCD}


def test_random_is_of_the_right_range_and_always_the_same() -> None:
    reference = torch.linspace(-2, 7, 1000)
    first = made("random", reference)
    assert -2 <= first.min() < -1.9
    assert 6.9 < first.max() <= 7
    torch.manual_seed(3)
    assert torch.equal(made("random", reference), first)
    assert not torch.equal(first, reference)


def test_stale_is_what_the_last_call_gave() -> None:
    previous = torch.tensor([7.0, 8.0, 9.0])
    assert made("stale", torch.ones(2), previous).tolist() == [7, 8]
    assert made("stale", torch.ones(2, 2), previous).tolist() == [[7, 8], [9, 7]]
    assert torch.equal(made("stale", torch.ones(2)), made("untouched", torch.ones(2)))
    previous[0] = 0.0
    assert made("stale", torch.ones(2), previous).tolist() == [0, 8]


def test_nothing_finite_still_gives_an_output() -> None:
    reference = torch.full((2,), math.nan)
    assert made("constant", reference).tolist() == [0, 0]
    assert made("random", reference).isfinite().all()


def test_integer_fill_is_the_debug_byte_repeated() -> None:
    assert made("untouched", torch.ones(1, dtype=torch.uint8)).tolist() == [0xCD]
    assert made("untouched", torch.ones(1, dtype=torch.int32)).tolist() == [0xCDCDCDCD - 2**32]
