"""``ground.cu`` itself, run by the host device, against numpy."""

from importlib.resources import files
from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest
import torch
from numpy.typing import NDArray

from gpu_eval.devices.base import Binary, Case, KernelSource
from gpu_eval.devices.cuda_ground import KERNELS
from gpu_eval.devices.host import HostDevice
from gpu_eval.devices.host_session import HostSession
from gpu_eval.problems.plan import (
    ResolvedArgument,
    ResolvedLaunch,
    ResolvedPlan,
    ResolvedWorkspace,
)
from tests.gpu_eval.devices.conftest import integer, plan, tensor
from tests.gpu_eval.devices.ground_cases import Words, looked_at, pattern, seen

COPY = """
__global__ void copy(const unsigned int* from, unsigned int* to, int n) {
    for (int i = threadIdx.x; i < n; i += blockDim.x) to[i] = from[i];
}
"""
SIZES = [8192, 2080, 512 * 61]
"""Bytes of a chunk: a power of 2; one with a sector beyond the last whole group; 512 by a prime."""


@pytest.fixture(scope="module")
def binary(device: HostDevice, cache: Path) -> Binary:
    text = files("gpu_eval.devices").joinpath("ground.cu").read_text().replace('extern "C" ', "")
    source = KernelSource("ground", {"ground.cu": text + COPY}, "ground.cu", (*KERNELS, "copy"))
    (found,) = device.compile([source], cache, 1)
    assert found.path is not None, found.error
    return found


def as_tensor(words: NDArray[np.uint32]) -> torch.Tensor:
    return torch.from_numpy(words.view(np.int64).copy())


def damaged(chunks: int, nbytes: int, seed: int) -> Words:
    """Return chunks with few and many changed words, and some without."""
    random = np.random.default_rng(seed)
    ground = np.tile(pattern(nbytes // 4), chunks)
    rows = ground.reshape(chunks, -1)
    for chunk in range(0, chunks, 2):
        places = random.choice(rows.shape[1], random.integers(1, rows.shape[1]), replace=False)
        rows[chunk, places] ^= np.uint32(1 << 22)
    return ground


def step(
    kernel: str, arguments: list[ResolvedArgument], grid: tuple[int, int, int]
) -> ResolvedLaunch:
    (launch,) = plan(kernel, arguments, grid=grid, block=64).launches
    return launch


@pytest.mark.parametrize("whole", [False, True])
@pytest.mark.parametrize("nbytes", SIZES)
@pytest.mark.parametrize("parts", [1, 3])
def test_looks_are_numpys(
    session: HostSession, binary: Binary, nbytes: int, parts: int, whole: bool
) -> None:
    chunks = 12
    ground = damaged(chunks, nbytes, parts)
    closeness = np.array([128, 1, 0, 16, 1, 128, 128, 0, 1, 2, 128, 1], np.uint32)
    expected = seen(ground, closeness, whole)
    assert expected.any()
    key = f"look {nbytes} {parts} {whole}"
    reference = {"out": as_tensor(expected)}
    inputs = {"ground": as_tensor(ground), "closeness": as_tensor(closeness)}
    session.bind(Case(key, inputs, reference, reference))
    names = [tensor(name) for name in ("ground", "closeness", "counts")]
    launches = (
        step("ground_look", [*names, integer(nbytes // 16), integer(whole)], (chunks, parts, 1)),
        step("copy", [tensor("counts"), tensor("out"), integer(chunks)], (1, 1, 1)),
    )
    work = (ResolvedWorkspace("counts", chunks, True),)
    outcome = session.run(binary, ResolvedPlan(launches, work), deadline=30.0)
    assert outcome.status == "ok", outcome.message
    assert torch.equal(session.outputs()["out"], reference["out"])


@pytest.mark.parametrize("nbytes", SIZES)
@pytest.mark.parametrize("spares_arenas", [False, True])
def test_filling_writes_the_pattern_and_nothing_else(
    session: HostSession, binary: Binary, nbytes: int, spares_arenas: bool
) -> None:
    chunks, first, count = 9, 2, 5
    closeness = np.array([1, 1, 128, 0, 128, 0, 1, 1, 1, 1], np.uint32)
    if not spares_arenas:
        closeness[:] = 1
    quads = nbytes // 16
    expected = np.full(chunks * nbytes // 4, 7, np.uint32)
    for chunk in range(first, first + count):
        if closeness[chunk]:
            expected.reshape(chunks, -1)[chunk] = pattern(nbytes // 4)
    key = f"fill {nbytes} {spares_arenas}"
    reference = {"out": as_tensor(expected)}
    before = as_tensor(np.full(chunks * nbytes // 4, 7, np.uint32))
    inputs = {"before": before, "closeness": as_tensor(closeness)}
    session.bind(Case(key, inputs, reference, reference))
    words = integer(chunks * nbytes // 4)
    launches = (
        step("copy", [tensor("before"), tensor("out"), words], (1, 1, 1)),
        step(
            "ground_fill",
            [tensor("out"), tensor("closeness"), integer(first), integer(quads)],
            (count, 2, 1),
        ),
    )
    outcome = session.run(binary, ResolvedPlan(launches), deadline=30.0)
    assert outcome.status == "ok", outcome.message
    assert torch.equal(session.outputs()["out"], reference["out"])


@pytest.mark.parametrize("sectors", [65, 256, 1000, 65_488])
def test_who_looks_less_closely_sees_a_part_of_what_others_see(sectors: int) -> None:
    """What was seen to be whole is whole for whoever looks less closely afterwards."""
    for chunk in (0, 7, 5_000):
        seen_by = [set(looked_at(chunk, step, sectors).tolist()) for step in (1, 2, 16, 128)]
        assert all(more >= fewer for more, fewer in pairwise(seen_by))
        assert len(seen_by[0]) == sectors
        assert abs(len(seen_by[2]) - sectors / 16) <= 8
