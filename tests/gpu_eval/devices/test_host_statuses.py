"""A planted kernel of each status, each recorded as such, the session usable afterwards."""

import pytest
import torch

from gpu_eval.devices.base import Binary, Case
from gpu_eval.devices.host_session import HostSession
from gpu_eval.problems.plan import ResolvedPlan, ResolvedWorkspace
from suiteopt.errors import UserError
from suiteopt.matrix.schema import Count, Statistic, Status
from tests.gpu_eval.devices.conftest import Bench, Compile, integer, number, plan, tensor

N = 96
SOURCE = r"""
extern "C" __global__ void good(const float* x, float* out, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) out[i] = 2.0f * x[i];
}
__global__ void shifted(const float* x, float* out, int n, int by) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) { out[i] = 2.0f * x[i]; out[i + by] = 2.0f * x[i]; }
}
__global__ void reads(const float* x, float* out, int n, int by) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) out[i] = x[i + by];
}
__global__ void copies(const float* x, float* out, int n, int more) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n + more) out[i] = fabsf(x[i]);
}
__global__ void writes_input(float* x, float* out, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) { x[i] = x[i] + 1.0f; out[i] = 2.0f * x[i]; }
}
__global__ void hang(const float* x, float* out, int n) {
    while (n > 0) { if (n == 7) n = 8; }
    out[0] = x[0];
}
__global__ void hang_in_barrier(const float* x, float* out, int n) {
    for (int i = 0; n > 0; ++i) __syncthreads();
}
__global__ void endless_launch(float* out) { }
__global__ void partial_shuffle(float* out) {
    float v = threadIdx.x;
    if (threadIdx.x % 32 < 16) v = __shfl_xor_sync(0xffffffffu, v, 1);
    __syncthreads();
    out[threadIdx.x] = v;
}
__global__ void partial_syncwarp(float* out) {
    if (threadIdx.x % 32 < 16) __syncwarp();
    __syncthreads();
    out[threadIdx.x] = 1.0f;
}
__global__ void most(const float* x, float* out, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n - 3) out[i] = 2.0f * x[i];
}
__global__ void accumulates(const float* x, float* out, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) out[i] += x[i];
}
__global__ void race(const float* x, float* out, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) out[0] = x[i];
    if (i > 0 && i < n) out[i] = 2.0f * x[i];
}
__global__ void not_a_number(const float* x, float* out, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) out[i] = i == 5 ? NAN : i == 6 ? INFINITY : 2.0f * x[i];
}
__global__ void traps(float* out, int n) { if (threadIdx.x == 3) __trap(); out[threadIdx.x] = 0; }
__global__ void asserts(float* out, int n) { assert(n == 0); out[threadIdx.x] = 0; }
__global__ void divides(float* out, int n) {
    long long m = n;
    unsigned u = n;
    out[0] = __int_as_float(7 / n);
    out[1] = __int_as_float(7 % n);
    out[2] = 8 / m == -1 ? 1.0f : 0.0f;
    out[3] = __uint_as_float(9u / u);
    int least = (-2147483647 - 1) + n;
    out[4] = __int_as_float(least / (n - 1));
    out[5] = __int_as_float(least % (n - 1));
}
__global__ void recurses(float* out, int n) {
    volatile float big[2048];
    big[n] = out[n];
    if (n >= 0) recurses(out, big[n] == 3.0f ? n : n + 1 - 1);
    out[n] = big[n];
}
__device__ int counter = 5;
__global__ void counts(float* out) { out[threadIdx.x] = atomicAdd(&counter, 1); }
__global__ void uses_workspace(const float* x, float* w, float* out, int n) {
    int i = threadIdx.x;
    if (i < n) { w[i] += 2.0f * x[i]; out[i] = w[i]; }
}
__global__ void far_shared(float* out, int by) {
    __shared__ float tile[32];
    tile[threadIdx.x] = 1.0f;
    __syncthreads();
    out[threadIdx.x] = tile[threadIdx.x + by];
}
__global__ void near_shared(float* out, int by) {
    __shared__ float four[4];
    if (threadIdx.x < 4) four[threadIdx.x] = 1.0f;
    __syncthreads();
    four[4 + by] = 3.0f;
    out[threadIdx.x] = four[4 + by] + four[0];
}
__global__ void too_much_shared(float* out) {
    __shared__ float tile[49 * 256];
    tile[threadIdx.x] = 1.0f;
    __syncthreads();
    out[threadIdx.x] = tile[threadIdx.x];
}
__global__ void dynamic_shared(float* out, int by) {
    extern __shared__ float tile[];
    tile[threadIdx.x] = threadIdx.x;
    __syncthreads();
    out[threadIdx.x] = tile[(threadIdx.x + by) % 32];
}
"""
KERNELS = tuple(
    word.split("(")[0].split()[-1] for word in SOURCE.split("__global__ ")[1:] if "void" in word
)


@pytest.fixture(scope="module")
def bench(compiled: Compile) -> Bench:
    return compiled(SOURCE, *KERNELS)


@pytest.fixture
def x() -> torch.Tensor:
    return torch.arange(N, dtype=torch.float32) + 1


@pytest.fixture(autouse=True)
def usable_afterwards(bench: Bench, x: torch.Tensor):  # type: ignore[no-untyped-def]
    yield
    after = bench.run(simple("good"), {"x": x}, 2 * x)
    assert after.status is Status.OK
    assert after.statistics[Statistic.MAX_ABS] == 0.0
    assert torch.equal(bench.out(), 2 * x)


def simple(kernel: str, *more: int) -> ResolvedPlan:
    arguments = [tensor("x"), tensor("out"), integer(N), *map(integer, more)]
    return plan(kernel, arguments, grid=3)


def test_ok(bench: Bench, x: torch.Tensor) -> None:
    outcome = bench.run(simple("good"), {"x": x}, 2 * x)
    assert outcome.status is Status.OK
    assert outcome.message == ""
    assert not outcome.divergent
    assert set(outcome.statistics) == set(Statistic)
    assert set(outcome.counts) == set(Count)
    assert outcome.seconds > 0


@pytest.mark.parametrize("by", [N, -N, 1, 16 * 1024])
def test_small_write_outside_is_found_and_the_slack_restored(
    bench: Bench, x: torch.Tensor, by: int
) -> None:
    for _ in range(2):
        outcome = bench.run(simple("shifted", by), {"x": x}, 2 * x)
        assert outcome.status is Status.OUT_OF_BOUNDS
        assert "wrote outside 'out'" in outcome.message
        assert outcome.statistics[Statistic.ALLCLOSE_REFERENCE] < 1.0


@pytest.mark.parametrize("more", [1, 2])
def test_a_copy_of_what_lies_behind_an_input_is_a_write_outside(
    bench: Bench, x: torch.Tensor, more: int
) -> None:
    def copies(behind: int) -> ResolvedPlan:
        arguments = [tensor("x"), tensor("out"), integer(N), integer(behind)]
        return plan("copies", arguments, grid=4)

    assert bench.run(copies(0), {"x": x}, x.abs()).status is Status.OK
    outcome = bench.run(copies(more), {"x": x}, x.abs())
    assert outcome.status is Status.OUT_OF_BOUNDS
    assert outcome.statistics[Statistic.MAX_ABS] == 0


@pytest.mark.parametrize("by", [1 << 20, -(1 << 20), 1 << 30, -(1 << 30), (1 << 31) - 200])
def test_large_write_outside_is_a_crash(bench: Bench, x: torch.Tensor, by: int) -> None:
    outcome = bench.run(simple("shifted", by), {"x": x}, 2 * x)
    assert outcome.status is Status.CRASH
    assert "access to an unmapped address" in outcome.message
    assert "'out'" in outcome.message
    assert ("past the end" if by > 0 else "before the start") in outcome.message
    assert outcome.statistics == {}


def test_small_read_outside_gives_the_stated_pattern(bench: Bench, x: torch.Tensor) -> None:
    seen = []
    for by in (N, -N):
        outcome = bench.run(simple("reads", by), {"x": x}, 2 * x)
        assert outcome.status is Status.OK
        seen.append(bench.out())
        assert bool(((seen[-1] >= 1) & (seen[-1] < 2)).all())
        assert len(seen[-1].unique()) == N
    again = bench.run(simple("reads", N), {"x": x * 7}, 2 * x)
    assert again.status is Status.OK
    assert torch.equal(bench.out(), seen[0])


def test_large_read_outside_is_a_crash(bench: Bench, x: torch.Tensor) -> None:
    outcome = bench.run(simple("reads", 1 << 29), {"x": x}, 2 * x)
    assert outcome.status is Status.CRASH
    assert "past the end of 'x'" in outcome.message


def test_write_into_an_input_shows_in_the_run_and_is_undone(bench: Bench, x: torch.Tensor) -> None:
    for _ in range(2):
        outcome = bench.run(simple("writes_input"), {"x": x}, 2 * x)
        assert outcome.status is Status.OUT_OF_BOUNDS
        assert outcome.message == "wrote into input 'x'"
        assert torch.equal(bench.out(), 2 * (x + 1))
    assert torch.equal(x, torch.arange(N, dtype=torch.float32) + 1)


@pytest.mark.parametrize("kernel", ["hang", "hang_in_barrier"])
@pytest.mark.parametrize("schedule", [0, 1])
def test_hang(bench: Bench, x: torch.Tensor, kernel: str, schedule: int) -> None:
    outcome = bench.run(simple(kernel), {"x": x}, 2 * x, schedule=schedule, deadline=0.05)
    assert outcome.status is Status.TIMEOUT
    assert outcome.message == "no end after 0.05 s"


def test_hang_of_many_blocks(bench: Bench, x: torch.Tensor) -> None:
    endless = plan("endless_launch", [tensor("out")], grid=(1 << 30, 1, 1), block=1)
    outcome = bench.run(endless, {"x": x}, 2 * x, deadline=0.05)
    assert outcome.status is Status.TIMEOUT


@pytest.mark.parametrize("kernel", ["partial_shuffle", "partial_syncwarp"])
@pytest.mark.parametrize("schedule", [0, 1])
def test_deadlock_is_seen_at_once(
    bench: Bench, x: torch.Tensor, kernel: str, schedule: int
) -> None:
    stuck = plan(kernel, [tensor("out")], block=64)
    outcome = bench.run(stuck, {"x": x}, x[:64], schedule=schedule, deadline=1000.0)
    assert outcome.status is Status.TIMEOUT
    assert outcome.message == "deadlock"
    assert outcome.seconds < 10


def test_unwritten_output_is_judged_over_the_stale_result(bench: Bench, x: torch.Tensor) -> None:
    outcome = bench.run(simple("most"), {"x": x}, 2 * x)
    assert outcome.status is Status.UNWRITTEN
    assert outcome.message == "3 elements not written"
    assert outcome.statistics[Statistic.MAX_ABS] == 0.0
    assert outcome.counts[Count.NONFINITE_OUTPUT] == 0
    assert torch.equal(bench.out(), 2 * x)


def test_adding_to_what_was_never_written_counts_as_unwritten(
    bench: Bench, x: torch.Tensor
) -> None:
    outcome = bench.run(simple("accumulates"), {"x": x}, 2 * x)
    assert outcome.status is Status.UNWRITTEN
    assert torch.equal(bench.out(), 3 * x)


def test_race_shows_between_schedules(bench: Bench, x: torch.Tensor) -> None:
    outcomes = [bench.run(simple("race"), {"x": x}, 2 * x, schedule=s) for s in (0, 1, 0, 1)]
    assert outcomes[0].output_hash == outcomes[2].output_hash
    assert outcomes[1].output_hash == outcomes[3].output_hash
    assert outcomes[0].output_hash != outcomes[1].output_hash
    assert outcomes[0].statistics[Statistic.MAX_ABS] == N - 2
    assert outcomes[1].statistics[Statistic.MAX_ABS] == 1


def test_nonfinite_mismatch(bench: Bench, x: torch.Tensor) -> None:
    outcome = bench.run(simple("not_a_number"), {"x": x}, 2 * x)
    assert outcome.status is Status.NONFINITE
    assert outcome.counts == {
        Count.NAN_BOTH: 0,
        Count.NAN_ONE: 1,
        Count.INF_MISMATCH: 1,
        Count.NONFINITE_OUTPUT: 2,
    }
    assert outcome.statistics[Statistic.MAX_ABS] == 0.0


@pytest.mark.parametrize("kernel", ["traps", "asserts"])
def test_trap(bench: Bench, x: torch.Tensor, kernel: str) -> None:
    outcome = bench.run(plan(kernel, [tensor("out"), integer(1)]), {"x": x}, x[:32])
    assert outcome.status is Status.CRASH
    assert outcome.message == "trap"


def test_division_by_zero_gives_what_the_hardware_gives(bench: Bench, x: torch.Tensor) -> None:
    divide = plan("divides", [tensor("out"), integer(0)], block=1)
    outcome = bench.run(divide, {"x": x}, torch.zeros(6))
    assert outcome.status is Status.NONFINITE  # bits of -1 are a NaN
    out = bench.out()
    assert out.view(torch.int32)[[0, 1, 3, 4, 5]].tolist() == [-1, -1, -1, -(2**31), 0]
    assert out[2] == 1.0


def test_stack_overflow_is_a_crash(bench: Bench, x: torch.Tensor) -> None:
    outcome = bench.run(plan("recurses", [tensor("out"), integer(0)], block=1), {"x": x}, x[:1])
    assert outcome.status is Status.CRASH
    assert outcome.message.endswith("beside the thread's stack")


@pytest.mark.parametrize(
    ("grid", "block", "shared", "reason"),
    [
        ((0, 1, 1), (32, 1, 1), 0, "size zero"),
        ((1, 1, 1), (32, 0, 1), 0, "size zero"),
        ((-1, 1, 1), (32, 1, 1), 0, "grid or block of size"),
        ((1, 1, 1), (1025, 1, 1), 0, "dimension too large"),
        ((1, 1, 1), (1, 1, 65), 0, "dimension too large"),
        ((1, 1, 1), (32, 33, 1), 0, "more than 1024 threads"),
        ((1, 65536, 1), (1, 1, 1), 0, "grid too large"),
        ((1 << 31, 1, 1), (1, 1, 1), 0, "grid too large"),
        ((1 << 32, 1, 1), (1, 1, 1), 0, "grid or block of size"),
        ((1, 1, 1), (32, 1, 1), 227 * 1024 + 1, "227 KiB"),
        ((1, 1, 1), (32, 1, 1), -4, "-4 bytes"),
    ],
)
def test_launch_errors(
    bench: Bench,
    x: torch.Tensor,
    grid: tuple[int, int, int],
    block: tuple[int, int, int],
    shared: int,
    reason: str,
) -> None:
    what = plan("good", [tensor("x"), tensor("out"), integer(N)], grid, block, shared)
    outcome = bench.run(what, {"x": x}, 2 * x)
    assert outcome.status is Status.LAUNCH_ERROR
    assert reason in outcome.message
    assert outcome.statistics == {}


def test_largest_launches_are_allowed(bench: Bench, x: torch.Tensor) -> None:
    arguments = [tensor("x"), tensor("out"), integer(N)]
    largest = plan("good", arguments, (1, 1, 1), (1024, 1, 1), 227 * 1024)
    assert bench.run(largest, {"x": x}, 2 * x).status is Status.OK
    wide = plan("good", arguments, (3, 65535, 1), (32, 1, 1))
    assert bench.run(wide, {"x": x}, 2 * x).status is Status.OK


def test_static_shared_memory_beyond_48_kib(bench: Bench, x: torch.Tensor) -> None:
    outcome = bench.run(plan("too_much_shared", [tensor("out")]), {"x": x}, x[:32])
    assert outcome.status is Status.LAUNCH_ERROR
    assert "shared memory" in outcome.message


def test_shared_memory_ends_where_hardware_ends_it(bench: Bench, x: torch.Tensor) -> None:
    # Measured on an H200: an access past the allocation, rounded up to 128 bytes, is fatal.
    by_one = plan("far_shared", [tensor("out"), integer(1)])
    outcome = bench.run(by_one, {"x": x}, x[:32])
    assert outcome.status is Status.CRASH
    assert outcome.message.endswith("beside static shared memory")
    inside = plan("near_shared", [tensor("out"), integer(27)])
    assert bench.run(inside, {"x": x}, torch.full((32,), 4.0)).status is Status.OK
    outside = plan("near_shared", [tensor("out"), integer(28)])
    assert bench.run(outside, {"x": x}, torch.full((32,), 4.0)).status is Status.CRASH


def test_dynamic_shared_memory(bench: Bench, x: torch.Tensor) -> None:
    expected = torch.arange(32).roll(-5)
    arguments = [tensor("out"), integer(5)]
    good = bench.run(plan("dynamic_shared", arguments, shared=128), {"x": x}, expected)
    assert good.status is Status.OK
    assert good.statistics[Statistic.MAX_ABS] == 0.0
    none = bench.run(plan("dynamic_shared", arguments, shared=0), {"x": x}, expected)
    assert none.status is Status.CRASH
    assert none.message.endswith("beside dynamic shared memory")


def test_device_variables_begin_anew_with_every_run(bench: Bench, x: torch.Tensor) -> None:
    expected = torch.arange(32) + 5
    for _ in range(2):
        outcome = bench.run(plan("counts", [tensor("out")]), {"x": x}, expected)
        assert outcome.statistics[Statistic.MAX_ABS] == 0.0


def test_workspaces_are_zeroed_or_poisoned_before_every_run(bench: Bench, x: torch.Tensor) -> None:
    arguments = [tensor("x"), tensor("w"), tensor("out"), integer(32)]
    for zeroed, status in ((True, Status.OK), (False, Status.UNWRITTEN)):
        what = plan("uses_workspace", arguments, workspaces=(ResolvedWorkspace("w", 32, zeroed),))
        for _ in range(2):
            outcome = bench.run(what, {"x": x}, 2 * x[:32])
            assert outcome.status is status, outcome.message
    small = plan("uses_workspace", arguments, workspaces=(ResolvedWorkspace("w", 31, True),))
    outcome = bench.run(small, {"x": x}, 2 * x[:32])
    assert outcome.status is Status.OUT_OF_BOUNDS
    assert outcome.message == "wrote outside 'w'"
    negative = plan("uses_workspace", arguments, workspaces=(ResolvedWorkspace("w", -1, True),))
    assert bench.run(negative, {"x": x}, 2 * x[:32]).status is Status.LAUNCH_ERROR


def test_what_only_a_caller_can_get_wrong(
    bench: Bench, session: HostSession, x: torch.Tensor
) -> None:
    with pytest.raises(UserError, match="names 'nothing', which is none of: out, x"):
        bench.run(plan("counts", [tensor("nothing")]), {"x": x}, x)
    with pytest.raises(UserError, match="launches 'absent', which was not compiled"):
        bench.run(plan("absent", []), {"x": x}, x)
    with pytest.raises(UserError, match="it takes 'ppi', the plan gives 'ppf'"):
        bench.run(plan("good", [tensor("x"), tensor("out"), number(1)]), {"x": x}, x)
    with pytest.raises(UserError, match="schedules 0 and 1"):
        session.run(bench.binary, simple("good"), schedule=2)
    with pytest.raises(UserError, match="did not compile"):
        session.run(Binary("bad", None, "", (), "", "no"), simple("good"))
    with pytest.raises(UserError, match="dtype int16"):
        session.bind(Case("i", {}, {"out": torch.zeros(3).short()}, {"out": torch.zeros(3)}))
    with pytest.raises(UserError, match="needs an int64 truth"):
        session.bind(Case("l", {}, {"out": torch.zeros(3).long()}, {"out": torch.zeros(3)}))
    with pytest.raises(UserError, match="needs a float64 truth"):
        session.bind(Case("t", {}, {"out": torch.zeros(3)}, {"out": torch.zeros(3)}))
