"""Chains of rounded additions on a GPU give the bits of the element-wise ones; skipped without."""

from collections.abc import Callable

import pytest
import torch

from gpu_eval.problems.orders import (
    ORDERS,
    Order,
    Terms,
    reversed_sums,
    running_moments,
    running_sums,
    terms_of_rows,
)

pytestmark = pytest.mark.gpu

COUNT = 1000


@pytest.fixture(scope="module", autouse=True)
def _gpu() -> None:
    if not torch.cuda.is_available():
        pytest.skip("torch finds no GPU")


def made(*shape: int) -> torch.Tensor:
    return torch.randn(shape, generator=torch.Generator().manual_seed(7))


def rows(device: str) -> tuple[Terms, int]:
    return terms_of_rows(made(5, COUNT).to(device)), COUNT


def column(device: str) -> tuple[Terms, int]:
    return Terms(made(COUNT).to(device)), COUNT


def matrix_vector(device: str) -> tuple[Terms, int]:
    return Terms(made(9, COUNT).to(device).t(), made(COUNT, 1).to(device)), COUNT


def outer(device: str) -> tuple[Terms, int]:
    a, b = made(11, COUNT).to(device), made(COUNT, 13).to(device)
    return Terms(a.t()[:, :, None], b[:, None, :]), COUNT


@pytest.mark.parametrize("terms", [rows, column, matrix_vector, outer])
@pytest.mark.parametrize(("name", "order"), [(name, order) for name, _, order in ORDERS])
def test_orders(terms: Callable[[str], tuple[Terms, int]], name: str, order: Order) -> None:
    on_gpu, on_cpu = order(*terms("cuda")), order(*terms("cpu"))
    assert on_gpu.shape == on_cpu.shape
    assert torch.equal(on_gpu.cpu(), on_cpu)


def many(device: str) -> tuple[Terms, int]:
    a, b = made(700, 40).to(device), made(40, 800).to(device)
    return Terms(a.t()[:, :, None], b[:, None, :]), 40


@pytest.mark.parametrize(("name", "order"), [(name, order) for name, _, order in ORDERS])
def test_orders_of_many_chains(name: str, order: Order) -> None:
    assert torch.equal(order(*many("cuda")).cpu(), order(*many("cpu")))


@pytest.mark.parametrize("start", [None, torch.tensor([1.0, -3.0, 1e6])])
def test_running_sums(start: torch.Tensor | None) -> None:
    x = made(3, COUNT)
    on_gpu = running_sums(x.cuda(), None if start is None else start.cuda())
    assert torch.equal(on_gpu.cpu(), running_sums(x, start))


def test_reversed_sums() -> None:
    x = made(3, COUNT)
    assert torch.equal(reversed_sums(x.cuda()).cpu(), reversed_sums(x))


def test_running_moments() -> None:
    x = made(4, COUNT) + 100
    for found, wanted in zip(running_moments(x.cuda()), running_moments(x), strict=True):
        assert torch.equal(found.cpu(), wanted)


@pytest.mark.parametrize("scale", [1e-38, 1e-30, 1e-6, 1.0, 1e6, 1e18, 1e38])
@pytest.mark.parametrize("count", [COUNT, 3 * 4096 + 70])
def test_moments_of_any_size(scale: float, count: int) -> None:
    """What is divided by way of an inverse has the bits of a division, down to denormals."""
    x = made(2, count) * scale
    x[1, ::3] = 0.0
    for found, wanted in zip(running_moments(x.cuda()), running_moments(x), strict=True):
        assert torch.equal(found.cpu().nan_to_num(7.0), wanted.nan_to_num(7.0))


LONG = 3 * 4096 + 70


@pytest.mark.parametrize(("name", "order"), [(name, order) for name, _, order in ORDERS])
def test_long_orders(name: str, order: Order) -> None:
    """Few chains of many terms take other kernels, to the same bits."""
    x = made(3, LONG)
    on_gpu, on_cpu = (order(terms_of_rows(x.to(device)), LONG) for device in ("cuda", "cpu"))
    assert torch.equal(on_gpu.cpu(), on_cpu)


def test_long_moments() -> None:
    x = made(2, LONG) + 10
    for on_gpu, on_cpu in zip(running_moments(x.cuda()), running_moments(x), strict=True):
        assert torch.equal(on_gpu.cpu(), on_cpu)
