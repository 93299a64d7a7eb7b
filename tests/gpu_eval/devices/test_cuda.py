"""The cuda device: planted kernels of each status, statistics, schedules; skipped without a GPU."""

import subprocess
import sys
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
import torch

from gpu_eval.devices.base import Binary, Case, Device, Job, KernelSource, Outcome, Session
from gpu_eval.devices.host import HostDevice
from gpu_eval.devices.registry import open_device
from gpu_eval.problems.plan import ResolvedPlan, ResolvedWorkspace
from gpu_eval.problems.tensors import values_at
from suiteopt.errors import UserError
from suiteopt.matrix.schema import STATISTICS, Count, Statistic, Status
from tests.gpu_eval.devices.conftest import integer, plan, tensor

N = 1000
SOURCE = r"""
__global__ void good(const float* x, float* out, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) out[i] = 2.0f * x[i];
}
__global__ void near_good(const float* x, float* out, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) out[i] = 2.0f * x[i] * (i == 17 ? 1.001f : 1.0f);
}
__global__ void overruns(const float* x, float* out, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i <= n) out[i] = i < n ? 2.0f * x[i] : 3.0f;
}
__global__ void copies(const float* x, float* out, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i <= n) out[i] = x[i];
}
__global__ void writes_input(float* x, float* out, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) { float v = x[i]; x[i] = v + 1.0f; out[i] = 2.0f * v; }
}
__global__ void most(const float* x, float* out, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n - 3) out[i] = 2.0f * x[i];
}
__global__ void not_a_number(const float* x, float* out, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) out[i] = i == 5 ? __int_as_float(0x7fffffff)
                      : i == 6 ? __int_as_float(0x7f800000) : 2.0f * x[i];
}
__global__ void far_away(const float* x, float* out, int n) {
    out[(1LL << 38) + threadIdx.x] = x[0];
}
__global__ void hangs(const float* x, float* out, int n) {
    const volatile float* watched = x;
    while (watched[0] < 2.0f) { }
    out[0] = x[0];
}
__global__ void nearest(const float* x, long long* out, int n) {
    if (threadIdx.x == 0 && blockIdx.x == 0) { out[0] = n - 1; out[1] = 3; }
}
__global__ void wrong_place(const float* x, long long* out, int n) {
    if (threadIdx.x == 0 && blockIdx.x == 0) { out[0] = n - 2; out[1] = 1LL << 40; }
}
__global__ void scratch(const float* x, float* work, float* out, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) { work[i] += 2.0f * x[i]; out[i] = work[i]; }
}
"""
KERNELS = (
    "good", "near_good", "overruns", "writes_input", "most", "not_a_number", "far_away", "hangs",
    "scratch", "nearest", "wrong_place", "copies",
)  # fmt: skip

pytestmark = pytest.mark.gpu


def gpu() -> Device:
    try:
        return open_device("cuda")
    except UserError as error:
        pytest.skip(str(error))


@pytest.fixture(scope="module")
def device() -> Device:
    return gpu()


@pytest.fixture(scope="module")
def binary(device: Device, tmp_path_factory: pytest.TempPathFactory) -> Binary:
    return compiled(device, tmp_path_factory.mktemp("cubins"))


@pytest.fixture(scope="module")
def session(device: Device) -> Iterator[Session]:
    with device.open() as opened:
        yield opened


def compiled(device: Device, cache: Path) -> Binary:
    source = KernelSource("planted", {"planted.cu": SOURCE}, "planted.cu", KERNELS)
    (found,) = device.compile([source], cache, 1)
    assert found.path is not None, found.error
    return found


def case() -> Case:
    x = torch.linspace(-1, 1, N)
    reference = {"out": 2 * x}
    return Case("x", {"x": x}, reference, {"out": 2 * x.double()})


def of(kernel: str) -> ResolvedPlan:
    return plan(kernel, [tensor("x"), tensor("out"), integer(N)], grid=8, block=128)


def run(session: Session, binary: Binary, kernel: str, **options: Any) -> Outcome:
    session.bind(case())
    return session.run(binary, of(kernel), **options)


def test_a_right_kernel_is_ok_and_repeats_to_the_bit(session: Session, binary: Binary) -> None:
    outcomes = [run(session, binary, "good", schedule=s) for s in (0, 1, 0)]
    assert {o.status for o in outcomes} == {Status.OK}
    assert len({o.output_hash for o in outcomes}) == 1
    assert outcomes[0].statistics[Statistic.RMS] == 0.0
    assert torch.equal(session.outputs()["out"].cpu(), case().reference["out"])


def test_statistics_equal_the_hosts(session: Session, binary: Binary, tmp_path: Path) -> None:
    on_gpu = run(session, binary, "near_good")
    host = HostDevice(tmp_path)
    with host.open() as cpu:
        cpu.bind(case())
        on_host = cpu.run(compiled(host, tmp_path), of("near_good"))
    for statistic in STATISTICS:
        assert on_gpu.statistics[statistic] == pytest.approx(
            on_host.statistics[statistic], rel=1e-12
        )


@pytest.mark.parametrize("n", [1, 3, 1000, (1 << 20) + 5])
def test_a_checksum_tells_any_changed_bit(session: Session, n: int) -> None:
    x = torch.linspace(-1, 1, n, device="cuda")
    truth = {"out": 2 * x.double()}
    session.bind(Case(f"sum-{n}", {"x": x}, {"out": 2 * x}, truth))
    first = session.checksum()
    assert session.checksum() == first
    for tensor_ in (x, truth["out"]):
        words = tensor_.view(torch.int32)
        for place in {0, n // 2, n - 1}:
            words[place] ^= 1
            assert session.checksum() != first
            words[place] ^= 1
    assert session.checksum() == first
    session.forget(f"sum-{n}")
    session.bind(Case(f"sum-{n}", {"x": x.clone()}, {"out": 2 * x}, truth))
    assert session.checksum() == first


def test_judge_equals_a_run(session: Session, binary: Binary) -> None:
    ran = run(session, binary, "near_good")
    judged = session.judge({"out": session.outputs()["out"].cpu()})
    assert judged.statistics == ran.statistics
    assert judged.output_hash == ran.output_hash


def test_a_small_overrun_is_seen_and_the_next_run_is_clean(
    session: Session, binary: Binary
) -> None:
    assert run(session, binary, "overruns").status is Status.OUT_OF_BOUNDS
    assert run(session, binary, "good").status is Status.OK


def test_a_copy_of_what_lies_behind_an_input_is_a_write_outside(
    session: Session, binary: Binary
) -> None:
    assert run(session, binary, "copies").status is Status.OUT_OF_BOUNDS
    assert run(session, binary, "good").status is Status.OK


def test_a_written_input_is_seen_and_restored(session: Session, binary: Binary) -> None:
    first = run(session, binary, "writes_input")
    assert first.status is Status.OUT_OF_BOUNDS
    assert first.statistics[Statistic.RMS] == 0.0
    assert run(session, binary, "good").statistics[Statistic.RMS] == 0.0


def test_unwritten_elements_are_judged_over_the_stale_result(
    session: Session, binary: Binary
) -> None:
    outcome = run(session, binary, "most")
    assert outcome.status is Status.UNWRITTEN
    assert outcome.statistics[Statistic.RMS] == 0.0
    assert "3 elements" in outcome.message


def test_nonfinite_elements_are_counted(session: Session, binary: Binary) -> None:
    outcome = run(session, binary, "not_a_number")
    assert outcome.status is Status.NONFINITE
    assert outcome.counts[Count.NAN_ONE] == 1
    assert outcome.counts[Count.INF_MISMATCH] == 1
    assert outcome.counts[Count.NONFINITE_OUTPUT] == 2


def test_workspaces_are_zeroed_or_poisoned(session: Session, binary: Binary) -> None:
    arguments = [tensor("x"), tensor("work"), tensor("out"), integer(N)]
    session.bind(case())
    for zeroed, status in ((True, Status.OK), (False, Status.UNWRITTEN)):
        work = (ResolvedWorkspace("work", N, zeroed),)
        outcome = session.run(
            binary, plan("scratch", arguments, grid=8, block=128, workspaces=work)
        )
        # NaN poison plus a number keeps the poison's payload, so it reads as unwritten.
        assert outcome.status in {status, Status.NONFINITE}
        assert (outcome.status is Status.OK) == zeroed


@pytest.mark.parametrize(
    "wrong", [{"grid": 0}, {"block": 2048}, {"shared": 1 << 20}], ids=lambda w: next(iter(w))
)
def test_impossible_launches_leave_the_session_usable(
    session: Session, binary: Binary, wrong: dict[str, Any]
) -> None:
    session.bind(case())
    launch = plan("good", [tensor("x"), tensor("out"), integer(N)], **wrong)
    assert session.run(binary, launch).status is Status.LAUNCH_ERROR
    assert run(session, binary, "good").status is Status.OK


def indices() -> Case:
    """The largest of a row, and any of four equal ones: place 3 is as good as place 0."""
    x = torch.linspace(-1, 1, N).repeat(2, 1)
    x[1, :4] = 2.0
    out = torch.tensor([N - 1, 0])

    def value_of(tensors: Any, outputs: Any) -> Any:
        return {"out": values_at(tensors["x"], outputs["out"], 1)}

    return Case("indices", {"x": x}, {"out": out}, {"out": out}, value_of)


def test_integer_outputs_are_judged_by_what_they_choose(session: Session, binary: Binary) -> None:
    session.bind(indices())
    right, wrong = (session.run(binary, of(name)) for name in ("nearest", "wrong_place"))
    assert right.status is Status.OK
    assert right.statistics[Statistic.TRUTH_RMS] == 0.0
    assert right.statistics[Statistic.MAX_ABS] == 3.0
    assert wrong.status is Status.OK
    assert wrong.statistics[Statistic.TRUTH_RMS] == float("inf")
    assert wrong.counts[Count.NONFINITE_OUTPUT] == 0
    assert session.run(binary, of("nearest")).output_hash == right.output_hash


def planted() -> list[Job]:
    """Every kernel that leaves the device whole, with different workspaces and schedules."""
    names = ("good", "near_good", "overruns", "writes_input", "most", "not_a_number")
    plans = [of(name) for name in names]
    arguments = [tensor("x"), tensor("work"), tensor("out"), integer(N)]
    for elements, zeroed in ((N, True), (4 * N, True), (N, False), (1 << 20, True)):
        work = (ResolvedWorkspace("work", elements, zeroed),)
        plans.append(plan("scratch", arguments, grid=8, block=128, workspaces=work))
    wrong: list[dict[str, Any]] = [{"grid": 0}, {"block": 2048}, {"shared": 1 << 20}]
    plans += [plan("good", [tensor("x"), tensor("out"), integer(N)], **w) for w in wrong]
    return [Job(Binary("", None, "", (), ""), p, i % 2, 10.0) for i, p in enumerate(plans)]


@pytest.mark.parametrize("together", [2, 3, 6, 13])
@pytest.mark.parametrize("step", [1, 5, 11])
def test_many_at_once_give_what_each_gives_alone(
    session: Session, binary: Binary, together: int, step: int
) -> None:
    jobs = [replace(job, binary=binary) for job in planted()]
    session.bind(case())
    assert session.lanes > 1
    alone = [
        session.run(job.binary, job.plan, schedule=job.schedule, deadline=job.deadline)
        for job in jobs
    ]
    order = [step * i % len(jobs) for i in range(len(jobs))]
    for _ in range(3):
        session.bind(case())
        found: list[Outcome] = []
        for start in range(0, len(jobs), together):
            found += session.run_many([jobs[i] for i in order[start : start + together]])
        for place, outcome in zip(order, found, strict=True):
            assert replace(outcome, seconds=0.0) == replace(alone[place], seconds=0.0)


def test_the_bits_of_many_at_once_are_the_same_every_time(session: Session, binary: Binary) -> None:
    x = torch.linspace(-3, 5, N)
    out = 2 * x * (1 + 1e-6 * torch.cos(torch.arange(N)))
    session.bind(Case("noisy", {"x": x}, {"out": out}, {"out": 2 * x.double()}))
    jobs = [Job(binary, of(name), 0, 10.0) for name in ("good", "near_good") * 3]
    first = [replace(o, seconds=0.0) for o in session.run_many(jobs)]
    assert len({o.output_hash for o in first}) == 2
    for _ in range(20):
        assert [replace(o, seconds=0.0) for o in session.run_many(jobs)] == first


def test_a_large_case_has_one_lane(session: Session) -> None:
    x = torch.zeros(1 << 29, device="cuda")
    session.bind(Case("large", {"x": x}, {"out": x}, {"out": x.double()}))
    assert session.lanes == 1
    session.forget("large")
    session.bind(case())
    assert session.lanes > 1


FATAL = """
import sys
from pathlib import Path
from gpu_eval.devices.base import DeviceLostError
from gpu_eval.devices.registry import open_device
from tests.gpu_eval.devices import test_cuda as t
device = open_device("cuda")
session = device.open()
binary = t.compiled(device, Path(sys.argv[2]))
assert t.run(session, binary, "good").status == "ok"
try:
    t.run(session, binary, sys.argv[1], deadline=0.5)
except DeviceLostError as lost:
    print(lost.outcome.status.value, flush=True)
    import os
    os._exit(0)
"""


@pytest.mark.parametrize(("kernel", "status"), [("far_away", "crash"), ("hangs", "timeout")])
def test_fatal_kernels_lose_the_device_with_a_known_outcome(
    device: Device, tmp_path: Path, kernel: str, status: str
) -> None:
    done = subprocess.run(
        [sys.executable, "-c", FATAL, kernel, str(tmp_path)],
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    assert done.stdout.strip() == status, done.stderr


BATCH = """
import os
import sys
from pathlib import Path
from gpu_eval.devices.base import BatchLostError, Job
from gpu_eval.devices.registry import open_device
from tests.gpu_eval.devices import test_cuda as t
device = open_device("cuda")
session = device.open()
binary = t.compiled(device, Path(sys.argv[1]))
session.bind(t.case())
jobs = [Job(binary, t.of(name), 0, 0.5) for name in sys.argv[2:]]
assert all(o.status == "ok" for o in session.run_many([Job(binary, t.of("good"))] * len(jobs)))
try:
    session.run_many(jobs)
except BatchLostError as lost:
    print(lost.outcome.status.value, flush=True)
    os._exit(0)
"""


@pytest.mark.parametrize(
    ("kernels", "statuses"),
    [
        (("good", "far_away", "near_good", "far_away"), {"crash"}),
        (("good", "hangs", "most"), {"timeout"}),
        (("hangs", "overruns", "good"), {"timeout"}),
        (("hangs", "far_away"), {"crash", "timeout"}),
    ],
)
def test_a_batch_that_loses_the_device_blames_nobody(
    device: Device, tmp_path: Path, kernels: tuple[str, ...], statuses: set[str]
) -> None:
    done = subprocess.run(
        [sys.executable, "-c", BATCH, str(tmp_path), *kernels],
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    assert done.stdout.strip() in statuses, done.stderr
