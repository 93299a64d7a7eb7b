"""What a session keeps and gives back; describing and finding devices."""

import dataclasses
import signal
from pathlib import Path

import pytest
import torch

from gpu_eval.compilation import toolchain
from gpu_eval.devices import host_programs, host_session
from gpu_eval.devices.base import Case, KernelSource
from gpu_eval.devices.host import HostDevice
from gpu_eval.devices.host_library import load_library
from gpu_eval.devices.host_session import HostSession
from gpu_eval.devices.registry import open_device
from gpu_eval.problems.plan import ResolvedWorkspace
from suiteopt.errors import UserError
from suiteopt.matrix.schema import Statistic, Status
from tests.gpu_eval.devices.conftest import integer, plan, tensor

SOURCE = """__global__ void scale(const float* x, float* out, int n, int by) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) out[i] = by * x[i];
    while (by == 99) { }
}"""


@pytest.fixture(scope="module")
def binary(device: HostDevice, cache: Path):  # type: ignore[no-untyped-def]
    return device.compile([KernelSource("s", {"s.cu": SOURCE}, "s.cu", ("scale",))], cache, 1)[0]


def case(key: str, n: int, by: float = 2.0) -> Case:
    x = torch.arange(n).float() + 1
    return Case(key, {"x": x}, {"out": by * x}, {"out": by * x.double()})


def scale(n: int, by: int = 2):  # type: ignore[no-untyped-def]
    arguments = [tensor("x"), tensor("out"), integer(n), integer(by)]
    return plan("scale", arguments, grid=-(-n // 64), block=64)


def test_cases_stay_bound_and_are_dropped_by_age(device, binary, monkeypatch) -> None:  # type: ignore[no-untyped-def]
    monkeypatch.setattr(host_session, "KEPT_CASES", 3)
    with device.open() as session:
        cases = [case(f"c{n}", n) for n in (10, 70, 200, 1)]
        for _ in range(2):
            for n, bound in zip((10, 70, 200, 1), cases, strict=True):
                session.bind(bound)
                assert session.run(binary, scale(n)).statistics[Statistic.MAX_ABS] == 0
                assert torch.equal(session.outputs()["out"], bound.reference["out"])
        assert len(session._cases) == 3


def test_outputs_are_copies_of_the_last_run_that_ended(device, binary) -> None:  # type: ignore[no-untyped-def]
    with device.open() as session:
        with pytest.raises(UserError, match="nothing has run"):
            session.outputs()
        with pytest.raises(UserError, match="no case is bound"):
            session.run(binary, scale(8))
        session.bind(case("a", 8))
        session.run(binary, scale(8))
        first = session.outputs()["out"]
        failed = session.run(binary, scale(8, 99), deadline=0.02)
        assert failed.status is Status.TIMEOUT
        assert torch.equal(session.outputs()["out"], first)
        first.zero_()
        assert session.outputs()["out"].tolist() == [2, 4, 6, 8, 10, 12, 14, 16]
        other = session.run(binary, scale(8, 3))
        assert other.statistics[Statistic.MAX_ABS] == 8
        assert session.outputs()["out"].tolist() == [3, 6, 9, 12, 15, 18, 21, 24]


def test_inputs_of_other_kinds_are_copied_in(device, binary) -> None:  # type: ignore[no-untyped-def]
    x = torch.arange(16).float().reshape(4, 4).T  # not contiguous
    with device.open() as session:
        session.bind(Case("t", {"x": x}, {"out": 2 * x}, {"out": 2 * x.double()}))
        outcome = session.run(binary, scale(16))
        assert outcome.statistics[Statistic.MAX_ABS] == 0
        assert outcome.status is Status.OK


def test_signal_handlers_are_put_back(device, binary) -> None:  # type: ignore[no-untyped-def]
    seen = []
    before = signal.signal(signal.SIGALRM, lambda *_: seen.append(1))
    try:
        with device.open() as session:
            session.bind(case("a", 8))
            assert session.run(binary, scale(8, 99), deadline=0.02).status is Status.TIMEOUT
        assert seen == []
        signal.raise_signal(signal.SIGALRM)
        assert seen == [1]
    finally:
        signal.signal(signal.SIGALRM, before)


def test_sessions_of_one_process_share_units_but_no_state(device, cache) -> None:  # type: ignore[no-untyped-def]
    text = "__device__ int seen; __global__ void count(float* out) { out[0] = seen++; }"
    (binary,) = device.compile([KernelSource("n", {"n.cu": text}, "n.cu", ("count",))], cache, 1)
    zero = Case("zero", {}, {"out": torch.zeros(1)}, {"out": torch.zeros(1).double()})
    with device.open() as first:
        first.bind(zero)
        assert first.run(binary, plan("count", [tensor("out")])).statistics[Statistic.MAX_ABS] == 31
        with device.open() as second:
            second.bind(zero)
            inner = second.run(binary, plan("count", [tensor("out")]))
            assert inner.statistics[Statistic.MAX_ABS] == 31
        again = first.run(binary, plan("count", [tensor("out")]))
        assert again.statistics[Statistic.MAX_ABS] == 31


def test_registry() -> None:
    assert open_device("cpu").name == open_device("auto").name == "host"
    assert open_device("cpu").schedules == 2
    with pytest.raises(UserError, match="unknown device 'tpu'; known: auto, cpu, cuda"):
        open_device("tpu")


def test_description_names_compiler_and_options(device: HostDevice) -> None:
    described = device.describe()
    assert described["compiler"].startswith("g++")
    assert "-ffp-contract=fast" in described["options"]
    assert all(isinstance(value, str) for value in described.values())


def test_no_compiler_is_one_sentence(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", "/nowhere")
    toolchain.find_toolchain.cache_clear()
    try:
        with pytest.raises(UserError, match=r"needs g\+\+ 11 or newer; install it"):
            HostDevice().describe()
    finally:
        toolchain.find_toolchain.cache_clear()


def test_workspaces_are_shared_and_dropped_by_age(device, cache, monkeypatch) -> None:  # type: ignore[no-untyped-def]
    monkeypatch.setattr(host_programs, "KEPT_WORKSPACES", 2)
    text = "__global__ void last(float* w, float* out, int n) { w[n - 1] = n; out[0] = w[n - 1]; }"
    (binary,) = device.compile([KernelSource("w", {"w.cu": text}, "w.cu", ("last",))], cache, 1)
    with device.open() as session:
        for key in ("a", "b"):
            session.bind(case(key, 1, by=0.0))
            for n in (3, 5000, 7, 3, 7, 5000):
                arguments = [tensor("w"), tensor("out"), integer(n)]
                what = plan("last", arguments, workspaces=(ResolvedWorkspace("w", n, True),))
                outcome = session.run(binary, what)
                assert outcome.status is Status.OK
                assert outcome.statistics[Statistic.MAX_ABS] == n
        assert len(session._programs._workspaces) == 2


def test_fibers_by_ucontext_do_the_same(device, session, binary, cache) -> None:  # type: ignore[no-untyped-def]
    # What other processors use; here beside the switch by hand.
    text = """__global__ void both(const float* x, float* out, int n) {
        __shared__ float s[64];
        int tid = threadIdx.x;
        s[tid] = __shfl_xor_sync(0xffffffffu, x[tid], 5);
        __syncthreads();
        while (n == 99) { }
        if (n == 98) out[1 << 28] = 1.0f;
        if (n == 97 && tid < 16) __syncwarp();
        __syncthreads();
        out[tid] = s[63 - tid];
    }"""
    found = toolchain.find_toolchain()
    other = dataclasses.replace(found, machine=(*found.machine, "-DHOSTGPU_UCONTEXT"))
    (built,) = device.compile([KernelSource("u", {"u.cu": text}, "u.cu", ("both",))], cache, 1)
    x = torch.randn(64)
    expected = x[torch.arange(64) ^ 5].flip(0)
    seen = []
    for opened in (session, HostSession(load_library(other, cache))):
        opened.bind(Case("ucontext", {"x": x}, {"out": expected}, {"out": expected.double()}))
        for n in (1, 99, 98, 97, 1):
            for schedule in (0, 1):
                what = plan("both", [tensor("x"), tensor("out"), integer(n)], block=64)
                outcome = opened.run(built, what, schedule=schedule, deadline=0.05)
                seen.append((outcome.status, outcome.message, outcome.output_hash))
    assert seen[:10] == seen[10:]
    statuses = [status for status, _, _ in seen[:10:2]]
    assert statuses == [Status.OK, Status.TIMEOUT, Status.CRASH, Status.TIMEOUT, Status.OK]
