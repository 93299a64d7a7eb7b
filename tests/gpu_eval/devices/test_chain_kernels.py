"""The kernels of `cuda_chains`, run on the host device: the bits of element-wise additions."""

import itertools
from collections.abc import Iterator, Sequence

import pytest
import torch

from gpu_eval.devices.base import Binary, Case, KernelSource, Session
from gpu_eval.devices.cuda_chains import KERNELS, _kernel_for, source, tiles
from gpu_eval.devices.host import HostDevice
from gpu_eval.problems.orders import (
    Terms,
    backward,
    chunked,
    interleaved,
    pairwise,
    reversed_sums,
    running_moments,
    running_sums,
    serial,
)
from gpu_eval.problems.plan import ArgumentType, ResolvedArgument
from tests.gpu_eval.devices.conftest import plan, tensor

NUMBERS = itertools.count()
"""A session keeps its cases by name."""

LONG_COUNTS = (1, 2, 33, 2047, 2048, 2049, 2080, 4096, 5000)
COUNTS = (1, 2, 63, 64, 65, 127, 200, 449)


def wide(value: int) -> ResolvedArgument:
    return ResolvedArgument(ArgumentType.INT64, value)


@pytest.fixture(scope="module")
def binary(tmp_path_factory: pytest.TempPathFactory) -> Binary:
    text = source().replace('extern "C" ', "")
    program = KernelSource("chains", {"chains.cu": text}, "chains.cu", KERNELS)
    (found,) = HostDevice().compile([program], tmp_path_factory.mktemp("units"), 1)
    assert found.path is not None, found.error
    return found


@pytest.fixture(scope="module")
def session() -> Iterator[Session]:
    with HostDevice().open() as opened:
        yield opened


def made(*shape: int) -> torch.Tensor:
    return torch.randn(shape, generator=torch.Generator().manual_seed(7)) * 10


def added(terms: Terms, part: range) -> torch.Tensor:
    return serial(lambda k: terms(part[k]), len(part))


def ran(
    session: Session,
    binary: Binary,
    kernel: str,
    tensors: dict[str, torch.Tensor],
    wanted: torch.Tensor,
    numbers: Sequence[int],
    grid: tuple[int, int] = (1, 1),
    names: Sequence[str] = (),
    block: int = 64,
) -> torch.Tensor:

    case = Case(f"{kernel} {next(NUMBERS)}", tensors, {"out": wanted}, {"out": wanted.double()})
    session.bind(case)
    arguments = [tensor(name) for name in (*tensors, *names, "out")]
    outcome = session.run(
        binary,
        plan(kernel, [*arguments, *map(wide, numbers)], grid=(*grid, 1), block=block),
        deadline=30.0,
    )
    assert outcome.status == "ok", outcome.message
    return session.outputs()["out"]


@pytest.mark.parametrize("count", COUNTS)
def test_parts_of_chains(session: Session, binary: Binary, count: int) -> None:
    a, b = made(count, 3), made(count, 5)
    terms = Terms(a[:, :, None], b[:, None, :])
    parts = [range(count), range(count - 1, -1, -1), range(0, count, 4)]
    wanted = torch.stack([added(terms, part) for part in parts])
    table = torch.tensor([(p.start, p.step, len(p)) for p in parts])
    tensors = {"left": a, "right": b, "parts": table}
    found = ran(session, binary, "chain", tensors, wanted, [3, 5], grid=(1, 3))
    assert torch.equal(found, wanted)


@pytest.mark.parametrize("count", COUNTS)
def test_trees(session: Session, binary: Binary, count: int) -> None:
    a, b = made(count, 3), made(count, 1)
    wanted = pairwise(Terms(a, b), count)
    numbers = [3, 1, count, 1 << 62]
    found = ran(session, binary, "tree", {"left": a, "right": b}, wanted, numbers)
    assert torch.equal(found, wanted)


@pytest.mark.parametrize("width", [64, 128])
@pytest.mark.parametrize("count", [65, 127, 129, 191, 192, 200, 449, 1000, 1024])
def test_trees_in_parts(session: Session, binary: Binary, count: int, width: int) -> None:
    if count <= width:
        pytest.skip("one part")
    a, b = made(count, 3), made(count, 2)
    whole, rest = count // width, count % width
    terms = Terms(a[:, :, None], b[:, None, :])
    starts = range(0, count, width)
    leaves = [
        pairwise(lambda k, first=first: terms(first + k), min(width, count - first))
        for first in starts
    ]
    sums = torch.stack(leaves)
    numbers = [3, 2, count, width]
    tensors = {"left": a, "right": b}
    assert torch.equal(
        ran(session, binary, "tree", tensors, sums, numbers, grid=(1, len(leaves))), sums
    )
    wanted = pairwise(terms, count)
    found = ran(session, binary, "treetop", {"sums": sums}, wanted, [6, whole, rest])
    assert torch.equal(found, wanted)


@pytest.mark.parametrize("block", [64, 256])
@pytest.mark.parametrize("count", LONG_COUNTS)
def test_long_chains(session: Session, binary: Binary, count: int, block: int) -> None:
    a, b = made(count, 3), made(count, 2)
    terms = Terms(a[:, :, None], b[:, None, :])
    parts = [range(count), range(count - 1, -1, -1), range(0, count, 3)]
    wanted = torch.stack([added(terms, part) for part in parts])
    table = torch.tensor([(p.start, p.step, len(p)) for p in parts])
    tensors = {"left": a, "right": b, "parts": table}
    found = ran(session, binary, "long_chain", tensors, wanted, [3, 2], grid=(6, 3), block=block)
    assert torch.equal(found, wanted)


@pytest.mark.parametrize(("m", "n"), [(3, 5), (64, 64), (65, 20), (17, 130)])
@pytest.mark.parametrize("count", [1, 15, 16, 17, 50])
def test_tiles_of_chains(session: Session, binary: Binary, count: int, m: int, n: int) -> None:
    a, b = made(count, m), made(count, n).flip(0)
    a[0, :2] = torch.tensor([0.0, -0.0])  # whose sums with nothing keep their sign
    terms = Terms(a[:, :, None], b[:, None, :])
    parts = [range(count), range(count - 1, -1, -1), range(0, count, 4), range(1)]
    wanted = torch.stack([added(terms, part) for part in parts])
    table = torch.tensor([(p.start, p.step, len(p)) for p in parts])
    tensors = {"left": a, "right": b, "parts": table}
    grid = (tiles(m, n), len(parts))
    found = ran(session, binary, "tile_chain", tensors, wanted, [m, n], grid=grid, block=256)
    assert torch.equal(found.view(torch.int32), wanted.view(torch.int32))


def test_chains_go_to_the_kernel_that_is_fast_for_them() -> None:
    assert _kernel_for(1000, 1000, [range(64)]) == "tile_chain"
    assert _kernel_for(200, 700, [range(64)] * 4) == "tile_chain"
    assert _kernel_for(1 << 20, 1, [range(64)]) == "chain"
    assert _kernel_for(100, 100, [range(8192)]) == "chain"
    assert _kernel_for(10, 10, [range(8192)]) == "long_chain"


@pytest.mark.parametrize("count", COUNTS)
def test_scans_and_prefixes(session: Session, binary: Binary, count: int) -> None:
    x, start = made(3, count), made(3)
    wanted = running_sums(x, start).t().contiguous()
    tensors = {"left": x.t().contiguous(), "start": start}
    assert torch.equal(ran(session, binary, "scan", tensors, wanted, [3, count]), wanted)
    wanted = reversed_sums(x)
    grid = (-(-x.numel() // 64), 1)
    assert torch.equal(
        ran(session, binary, "backward", {"x": x}, wanted, [3, count], grid=grid), wanted
    )


@pytest.mark.parametrize(
    ("kernel", "count"),
    [*(("welford", c) for c in COUNTS), *(("long_welford", c) for c in LONG_COUNTS)],
)
def test_moments(session: Session, binary: Binary, kernel: str, count: int) -> None:
    x = made(3, count) + 100
    mean, m2 = running_moments(x)
    columns = x.t().contiguous()
    case = Case(
        f"{kernel} {count}",
        {"left": columns},
        {"mean": mean, "m2": m2},
        {"mean": mean.double(), "m2": m2.double()},
    )
    session.bind(case)
    arguments = [tensor("left"), tensor("mean"), tensor("m2"), wide(3), wide(count)]
    grid = 3 if kernel == "long_welford" else 1
    session.run(binary, plan(kernel, arguments, grid=grid, block=64), deadline=30.0)
    assert torch.equal(session.outputs()["mean"], mean)
    assert torch.equal(session.outputs()["m2"], m2)


def test_terms_are_what_their_slices_are() -> None:
    """On a CPU every order walks the same terms, given as rows or one by one."""
    a, b = made(37, 4), made(37, 6)
    terms = Terms(a[:, :, None], b[:, None, :])
    for order in (serial, backward, pairwise, chunked(4), interleaved(4)):
        one_by_one = order(lambda k: a[k][:, None] * b[k][None, :], 37)
        assert torch.equal(order(terms, 37), one_by_one)
