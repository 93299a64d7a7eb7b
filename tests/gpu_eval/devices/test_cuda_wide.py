"""Stray accesses on a GPU whose arenas lie in a ground; skipped without one."""

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any, cast

import numpy as np
import pytest
import torch

from gpu_eval.devices.base import Binary, Case, Job, KernelSource, Outcome
from gpu_eval.devices.cuda import CudaDevice
from gpu_eval.devices.cuda_ground import Ground
from gpu_eval.devices.cuda_places import CHUNK, SAMPLE
from gpu_eval.devices.cuda_session import CudaSession
from gpu_eval.problems.plan import ArgumentType, ResolvedArgument, ResolvedPlan
from suiteopt.errors import UserError
from suiteopt.matrix.schema import Status
from tests.gpu_eval.devices import test_cuda
from tests.gpu_eval.devices.conftest import integer, plan, tensor
from tests.gpu_eval.devices.ground_cases import looked_at, pattern
from tests.gpu_eval.devices.test_cuda import N, case

SOURCE = r"""
__global__ void reads(const float* x, float* out, int n, long long by, int count) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) out[i] = i < count ? x[by + i] : 2.0f * x[i];
}
__global__ void writes(const float* x, float* out, int n, long long by, int count) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) out[i] = 2.0f * x[i];
    for (int k = i; k < count; k += gridDim.x * blockDim.x) out[by + k] = 3.0f;
}
__global__ void leaves(const float* x, float* out, int n, long long by, int count) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n && i >= 3) out[i] = 2.0f * x[i];
    for (int k = i; k < count; k += gridDim.x * blockDim.x) out[by + k] = 3.0f;
}
"""
KERNELS = ("reads", "writes", "leaves")
GIB = 1 << 28
"""Of floats."""

pytestmark = pytest.mark.gpu


@pytest.fixture(scope="module")
def device() -> CudaDevice:
    try:
        found = CudaDevice()
    except UserError as error:
        pytest.skip(str(error))
    if found.ground < 5 << 30:
        pytest.skip("the GPU is too small for a ground of some GiB")
    return found


@pytest.fixture(scope="module")
def cache(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("cubins")


@pytest.fixture(scope="module")
def binary(device: CudaDevice, cache: Path) -> Binary:
    source = KernelSource("stray", {"stray.cu": SOURCE}, "stray.cu", KERNELS)
    (found,) = device.compile([source], cache, 1)
    assert found.path is not None, found.error
    return found


@pytest.fixture(scope="module")
def planted(device: CudaDevice, cache: Path) -> Binary:
    return test_cuda.compiled(device, cache)


def opened(device: CudaDevice) -> CudaSession:
    return cast(CudaSession, device.open())


@pytest.fixture(scope="module")
def session(device: CudaDevice) -> Iterator[CudaSession]:
    with opened(device) as found:
        if found._lanes._ground is None:
            pytest.skip("others have the GPU's memory")
        yield found


def ground_of(session: CudaSession) -> Ground:
    ground = session._lanes._ground
    assert ground is not None
    return ground


def of(kernel: str, by: int, count: int = 1) -> ResolvedPlan:
    """Return a launch that goes astray by so many elements, with so many of them."""
    astray = ResolvedArgument(ArgumentType.INT64, by)
    arguments = [tensor("x"), tensor("out"), integer(N), astray, integer(count)]
    return plan(kernel, arguments, grid=8, block=128)


def plain(outcomes: Any) -> list[Outcome]:
    return [replace(outcome, seconds=0.0) for outcome in outcomes]


def address(session: CudaSession, buffer: str) -> int:
    """Return where a buffer of whoever runs alone begins, in the ground."""
    return session._lanes._berths.lanes[0]._arena.buffers[buffer].address - ground_of(session)._base


@pytest.mark.parametrize("by", [GIB, -GIB // 2, 2 * GIB - 1, 4 << 20, GIB // 2 + 77])
def test_a_stray_read_finds_the_grounds_word_and_nothing_is_lost(
    session: CudaSession, binary: Binary, planted: Binary, by: int
) -> None:
    session.bind(case())
    for _ in range(2):
        outcome = session.run(binary, of("reads", by, 5))
        assert outcome.status is Status.OK, outcome.message
        first = (address(session, "x") + 4 * by) % CHUNK // 4
        places = (first + np.arange(5)) % (CHUNK // 4)
        expected = torch.from_numpy(pattern(CHUNK // 4)[places].view(np.float32))
        assert torch.equal(session.outputs()["out"][:5].cpu(), expected)
        # The second time others have run in between, in places that are ground again.
        session.run_many([Job(planted, test_cuda.of("good"), 0, 10.0)] * 20)
    assert not session.lost()
    assert not session.trespassed()


def test_every_lane_reads_the_same_word(session: CudaSession, binary: Binary) -> None:
    session.bind(case())
    jobs = [Job(binary, of("reads", 2 * GIB, 100), 0, 10.0)] * 24
    (alone,) = plain([session.run(binary, of("reads", 2 * GIB, 100))])
    assert all(outcome == alone for outcome in plain(session.run_many(jobs)))


@pytest.mark.parametrize("by", [GIB, -GIB // 2, 2 * GIB - 5, 3 << 20])
@pytest.mark.parametrize("count", [20_000, 3_000_000])
def test_a_stray_write_is_out_of_bounds_and_the_next_finds_clean_ground(
    session: CudaSession, binary: Binary, planted: Binary, by: int, count: int
) -> None:
    session.bind(case())
    (right,) = plain([session.run(planted, test_cuda.of("good"))])
    there = by + (address(session, "out") - address(session, "x")) // 4
    (read,) = plain([session.run(binary, of("reads", there, 900))])
    (outcome,) = plain([session.run(binary, of("writes", by, count))])
    assert outcome.status is Status.OUT_OF_BOUNDS
    assert replace(outcome, status=Status.OK, message="") == right
    assert plain([session.run(binary, of("reads", there, 900))]) == [read]
    assert not session.trespassed()
    assert not session.lost()


def test_who_leaves_elements_and_strays_is_judged_over_the_poison(
    session: CudaSession, binary: Binary
) -> None:
    session.bind(case())
    outcome = session.run(binary, of("leaves", GIB, 20_000))
    assert outcome.status is Status.OUT_OF_BOUNDS
    assert not session.trespassed()


@pytest.mark.parametrize("by", [GIB + GIB // 2, -GIB // 2])
def test_who_strays_among_others_is_named_and_nobody_else(
    session: CudaSession, binary: Binary, planted: Binary, by: int
) -> None:
    session.bind(case())
    strays = Job(binary, of("writes", by, 100_000), 0, 10.0)
    names = ("good", "near_good", "most", "not_a_number", "good", "near_good", "most")
    jobs = [Job(planted, test_cuda.of(name), i % 2, 10.0) for i, name in enumerate(names)]
    jobs = [*jobs[:4], strays, *jobs[4:], strays, *jobs]
    alone = [session.run_many([job])[0] for job in jobs]
    assert [o.status for o in alone].count(Status.OUT_OF_BOUNDS) == 2
    for _ in range(3):
        session.bind(case())
        assert plain(session.run_many(jobs)) == plain(alone)
        assert not session.trespassed()
        harmless = [job for job in jobs if job is not strays][:5]
        expected = plain([o for o, job in zip(alone, jobs, strict=True) if job is not strays])
        assert plain(session.run_many(harmless)) == expected[:5]


def test_a_single_word_far_away_is_seen_by_a_look_at_everything(
    session: CudaSession, binary: Binary, planted: Binary
) -> None:
    session.bind(case())
    session.run(planted, test_cuda.of("good"))
    chunk = address(session, "out") // CHUNK + (3 << 30) // CHUNK
    seen = set(looked_at(chunk, SAMPLE, CHUNK // 32).tolist())
    sector = next(s for s in range(1000, 2000) if s not in seen)
    by = (chunk * CHUNK + 32 * sector - address(session, "out")) // 4
    assert session.run(binary, of("writes", by)).status is Status.OK
    assert session.trespassed()
    assert not session.trespassed()
    assert session.run(planted, test_cuda.of("good")).status is Status.OK
    assert session.run(binary, of("writes", by)).status is Status.OUT_OF_BOUNDS
    assert session.run(planted, test_cuda.of("good")).status is Status.OK
    assert not session.trespassed()


def test_the_bits_are_those_of_a_session_without_ground(
    session: CudaSession, device: CudaDevice, planted: Binary
) -> None:
    jobs = [replace(job, binary=planted) for job in test_cuda.planted()]
    session.bind(case())
    found = [plain(session.run_many(jobs))]
    with opened(CudaDevice(device.ordinal, 0)) as bare:
        assert bare._lanes._ground is None
        bare.bind(case())
        found.append(plain(bare.run_many(jobs)))
    assert found[0] == found[1]


def large(elements: int) -> Case:
    x = torch.linspace(-1, 1, elements)
    return Case(f"large {elements}", {"x": x}, {"out": 2 * x}, {"out": 2 * x.double()})


def test_a_large_case_has_the_memory_of_the_ground(device: CudaDevice, planted: Binary) -> None:
    with opened(device) as found:
        found.bind(case())
        assert found.run(planted, test_cuda.of("good")).status is Status.OK
        found.bind(large(1 << 28))
        assert found._lanes._ground is None
        assert found.run(planted, test_cuda.of("good")).status is Status.UNWRITTEN
        found.bind(case())
        assert found.run(planted, test_cuda.of("good")).status is Status.OK


def test_a_case_without_memory_takes_that_of_the_ground(
    device: CudaDevice, planted: Binary
) -> None:
    with opened(device) as found:
        found.bind(case())
        assert found._lanes._ground is not None
        free, _ = torch.cuda.mem_get_info()
        hog = torch.empty(free - (1 << 30), dtype=torch.uint8, device="cuda")
        found.bind(large(1 << 27))
        assert found._lanes._ground is None
        assert found.run(planted, test_cuda.of("good")).status is Status.UNWRITTEN
        del hog
        torch.cuda.empty_cache()
