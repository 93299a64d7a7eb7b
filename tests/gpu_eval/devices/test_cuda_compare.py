"""The comparison on a GPU: against numpy, the host device and itself; skipped without one."""

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from numpy.typing import NDArray

from gpu_eval.devices.base import Case, Device, Outcome, Session
from gpu_eval.devices.cuda_compare import COUNTERS, Comparison, OutputJob, ZoneJob
from gpu_eval.devices.host import HostDevice
from gpu_eval.devices.registry import open_device
from suiteopt.errors import UserError
from suiteopt.matrix.schema import STATISTICS
from tests.gpu_eval.devices.compare_cases import (
    PATTERNS,
    POISON,
    Kernel,
    Made,
    Records,
    check,
    compiled_for_host,
    placed,
    spoiled,
)

pytestmark = pytest.mark.gpu

SIZES = [1, 3, 255, 4_096, 1_000_003]


@pytest.fixture(scope="module")
def device() -> Device:
    try:
        return open_device("cuda")
    except UserError as error:
        pytest.skip(str(error))


@pytest.fixture(scope="module")
def session(device: Device) -> Iterator[Session]:
    with device.open() as opened:
        yield opened


@pytest.fixture(scope="module")
def comparison(session: Session) -> Iterator[Comparison]:
    import pycuda.driver as driver

    made = Comparison(driver, session._compare_module)  # type: ignore[attr-defined]
    yield made
    made.free()


@dataclass
class Uploaded:
    """Output, reference and truth on the GPU, each `offset` elements into its allocation."""

    tensors: tuple[Any, Any, Any]

    @classmethod
    def of(cls, made: Made, offsets: tuple[int, int, int] = (0, 0, 0)) -> "Uploaded":
        tensors = []
        arrays: tuple[NDArray[Any], ...] = made
        for array, offset in zip(arrays, offsets, strict=True):
            words = torch.from_numpy(array.view(np.int32 if array.itemsize == 4 else np.int64))
            room = torch.zeros(words.numel() + offset, dtype=words.dtype, device="cuda")
            room[offset:] = words.cuda()
            tensors.append(room[offset:])
        torch.cuda.synchronize()
        return cls((tensors[0], tensors[1], tensors[2]))

    def job(self, refill: bool = False) -> OutputJob:
        out, reference, truth = (int(t.data_ptr()) for t in self.tensors)
        return OutputJob(out, reference, truth, int(self.tensors[0].numel()), POISON, refill)

    def out(self) -> NDArray[np.uint32]:
        words: NDArray[np.uint32] = self.tensors[0].cpu().numpy().view(np.uint32)
        return words


def launched(
    comparison: Comparison, jobs: list[OutputJob], zones: list[ZoneJob] | None = None
) -> tuple[Records, NDArray[np.uint64]]:
    comparison.prepare(jobs, zones or [])
    comparison.launch()
    return comparison.read()


@pytest.mark.parametrize("pattern", PATTERNS)
@pytest.mark.parametrize("count", SIZES)
def test_records_are_numpys(comparison: Comparison, pattern: str, count: int) -> None:
    made = PATTERNS[pattern](count)
    uploaded = Uploaded.of(made)
    records, _ = launched(comparison, [uploaded.job()])
    check(records[0], *made)
    comparison.launch()
    again, _ = comparison.read()
    assert again["launch"] == records["launch"] + 1
    again["launch"] = records["launch"]
    assert again.tobytes() == records.tobytes()


@pytest.mark.parametrize("pattern", PATTERNS)
def test_bits_are_those_of_the_same_kernel_on_a_cpu(
    comparison: Comparison, pattern: str, tmp_path: Path
) -> None:
    made = PATTERNS[pattern](30_011)
    uploaded = Uploaded.of(made)
    records, _ = launched(comparison, [uploaded.job()])
    out, reference, truth = (placed(array) for array in made)
    addresses = (out.ctypes.data, reference.ctypes.data, truth.ctypes.data)
    with HostDevice().open() as host:
        kernel = Kernel(host, compiled_for_host(tmp_path))
        on_cpu = kernel([OutputJob(*addresses, out.size, POISON)], most_blocks=528)
    on_cpu["launch"] = records["launch"]
    assert records.tobytes() == on_cpu.tobytes()


@pytest.mark.parametrize("offsets", [(1, 0, 0), (0, 3, 0), (0, 0, 1), (1, 1, 1)])
@pytest.mark.parametrize("refill", [False, True])
def test_unaligned_and_poisoning_give_the_same_bits(
    comparison: Comparison, offsets: tuple[int, int, int], refill: bool
) -> None:
    made = spoiled(1_000_003)
    plain, moved = Uploaded.of(made), Uploaded.of(made, offsets)
    records, _ = launched(comparison, [plain.job(refill), moved.job(refill)])
    assert records[0].tobytes() == records[1].tobytes()
    for uploaded in (plain, moved):
        left = uploaded.out()
        assert (left == POISON).all() if refill else np.array_equal(left, made[0].view(np.uint32))


def test_many_jobs_and_zones_in_one_launch(comparison: Comparison) -> None:
    made = [PATTERNS[name](count) for name in PATTERNS for count in SIZES]
    uploaded = [Uploaded.of(m) for m in made]
    zone = torch.full((300_001,), 7, dtype=torch.int32, device="cuda")
    copy = zone.clone()
    zone[[0, 1_000, 300_000]] = 8
    torch.cuda.synchronize()
    zones = [
        ZoneJob(zone.data_ptr(), zone.numel(), 0, 7),
        ZoneJob(zone.data_ptr() + 4, zone.numel() - 1, copy.data_ptr() + 4, 0),
        ZoneJob(copy.data_ptr(), copy.numel(), 0, 7),
    ]
    for _ in range(3):
        records, damaged = launched(comparison, [u.job() for u in uploaded], zones)
        for record, one in zip(records, made, strict=True):
            check(record, *one)
        assert damaged.tolist() == [3, 2, 0]
    assert records["counts"][:, COUNTERS.index("unwritten")].any()


def judged(session: Session, made: Made, name: str) -> Outcome:
    out, reference, truth = (torch.from_numpy(array) for array in made)
    session.bind(Case(name, {}, {"out": reference}, {"out": truth}))
    return session.judge({"out": out})


@pytest.mark.parametrize("pattern", PATTERNS)
@pytest.mark.parametrize("count", SIZES)
def test_every_statistic_is_the_host_devices(session: Session, pattern: str, count: int) -> None:
    made = PATTERNS[pattern](count)
    out = made[0]
    out[out.view(np.uint32) == POISON] = np.nan  # the host's poison is another word
    on_gpu = judged(session, made, f"{pattern} {count}")
    with HostDevice().open() as host:
        on_host = judged(host, made, "once")
    assert on_gpu.counts == on_host.counts
    assert on_gpu.status == on_host.status
    for statistic in STATISTICS:
        assert on_gpu.statistics[statistic] == pytest.approx(
            on_host.statistics[statistic], rel=1e-12, abs=0.0
        ), statistic
