"""Warp exchanges against a model of what the CUDA guide says, barriers, divergence."""

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from suiteopt.matrix.schema import Statistic, Status
from tests.gpu_eval.devices.conftest import Bench, Compile, integer, plan, tensor

SOURCE = r"""
__global__ void shuffles(const int* kinds, const int* masks, const int* operands,
                         const int* widths, float* out, int n) {
    int tid = threadIdx.x;
    for (int i = 0; i < n; ++i) {
        int value = 100 * i + tid, got = -1, lane = tid % 32;
        unsigned mask = masks[i];
        if (mask >> lane & 1) {
            switch (kinds[i]) {
                case 0: got = __shfl_sync(mask, value, operands[i], widths[i]); break;
                case 1: got = __shfl_up_sync(mask, value, operands[i], widths[i]); break;
                case 2: got = __shfl_down_sync(mask, value, operands[i], widths[i]); break;
                case 3: got = __shfl_xor_sync(mask, value, operands[i], widths[i]); break;
            }
        }
        out[i * blockDim.x + tid] = got;
        __syncthreads();
    }
}
__global__ void types(float* out) {
    int tid = threadIdx.x;
    double d = __shfl_xor_sync(0xffffffffu, tid + 0.25, 1);
    long long l = __shfl_down_sync(0xffffffffu, (1ll << 40) + tid, 2);
    unsigned long long u = __shfl_up_sync(0xffffffffu, (1ull << 63) + tid, 1);
    unsigned w = __shfl_sync(0xffffffffu, 0x80000000u + tid, 7);
    __half h = __shfl_sync(0xffffffffu, __half(float(tid)), 9);
    __nv_bfloat16 b = __shfl_xor_sync(0xffffffffu, __nv_bfloat16(float(tid)), 31);
    out[tid] = d;
    out[32 + tid] = l - (1ll << 40);
    out[64 + tid] = u - (1ull << 63);
    out[96 + tid] = w - 0x80000000u;
    out[128 + tid] = h;
    out[160 + tid] = b;
}
__global__ void votes(float* out, int n) {
    int tid = threadIdx.x;
    unsigned mask = tid < 12 ? 0xfffu : 0xfffff000u;
    out[tid] = __popc(__ballot_sync(mask, tid % 3 == 0));
    out[32 + tid] = __any_sync(mask, tid == 20);
    out[64 + tid] = __all_sync(mask, tid >= 12);
    out[96 + tid] = __popc(__activemask());
    out[128 + tid] = __syncthreads_count(tid % 5 == 0);
    out[160 + tid] = __syncthreads_and(tid < 32) + 2 * __syncthreads_or(tid == 77);
}
__global__ void exited_source(float* out) {
    int tid = threadIdx.x;
    out[tid] = -1.0f;
    if (tid % 32 >= 20) return;
    out[tid] = __shfl_xor_sync(0xffffffffu, tid + 1.0f, 16);
}
__global__ void exited_ballot(float* out) {
    int tid = threadIdx.x;
    out[tid] = -1.0f;
    if (tid % 32 >= 20) return;
    out[tid] = __popc(__ballot_sync(0xffffffffu, 1));
}
__global__ void two_sites(float* out) {
    int tid = threadIdx.x;
    float v = tid;
    if (tid % 32 < 16) v = __shfl_xor_sync(0xffffffffu, v, 16);
    else v = 100 + __shfl_xor_sync(0xffffffffu, v, 16);
    out[tid] = v;
}
__global__ void not_in_mask(float* out) {
    out[threadIdx.x] = __shfl_xor_sync(0xffffu, float(threadIdx.x), 1);
}
__global__ void half_warp_exits(float* out) {
    __shared__ float s[64];
    int tid = threadIdx.x;
    s[tid] = tid;
    out[tid] = -1.0f;
    if (tid % 32 >= 16) return;
    __syncthreads();
    out[tid] = s[tid ^ 1];
}
__global__ void barriers_at_two_sites(float* out) {
    __shared__ float s[64];
    int tid = threadIdx.x;
    s[tid] = tid;
    if (tid < 16) { out[64 + tid] = 1; __syncthreads(); out[tid] = s[63 - tid] + 1; }
    else { out[64 + tid] = 2; __syncthreads(); out[tid] = s[63 - tid] + 2; }
}
__global__ void warp_skips_a_barrier(float* out) {
    __shared__ float s[64];
    int tid = threadIdx.x;
    s[tid] = tid;
    if (tid < 32) __syncthreads();
    s[tid] += 1;
    __syncthreads();
    out[tid] = s[63 - tid];
}
__global__ void reverses(const float* x, float* out, int synchronise) {
    extern __shared__ float s[];
    int tid = threadIdx.x, last = blockDim.x - 1;
    s[tid] = x[tid];
    if (synchronise) __syncthreads();
    out[tid] = s[last - tid];
}
__global__ void neighbours(const float* x, float* out, int synchronise) {
    __shared__ float s[32];
    int tid = threadIdx.x;
    s[tid] = x[tid];
    if (synchronise) __syncwarp();
    out[tid] = s[(tid + 1) % 32] - s[(tid + 31) % 32];
}
"""
KERNELS = tuple(part.split("(")[0] for part in SOURCE.split("__global__ void ")[1:])


@pytest.fixture(scope="module")
def bench(compiled: Compile) -> Bench:
    return compiled(SOURCE, *KERNELS)


def run_both(bench: Bench, kernel: str, expected: torch.Tensor, block: int = 64) -> bool:
    """Run both schedules, compare to the bit, return whether they were flagged."""
    flags = set()
    for schedule in (0, 1):
        outcome = bench.run(
            plan(kernel, [tensor("out")], block=block), {}, expected, schedule=schedule
        )
        assert outcome.status is Status.OK, outcome.message
        assert torch.equal(bench.out(), expected), kernel
        flags.add(outcome.divergent)
    assert len(flags) == 1
    return flags.pop()


def shuffled(kind: int, lane: int, operand: int, width: int) -> int:
    """Return the lane that is read, by the words of the CUDA programming guide."""
    group = lane // width * width
    position = lane - group
    operand %= 32  # the instruction takes five bits
    match kind:
        case 0:
            return group + operand % width
        case 1:
            return lane - operand if position - operand >= 0 else lane
        case 2:
            return lane + operand if position + operand < width else lane
        case _:
            other = lane ^ operand
            return other if other < group + width else lane


exchanges = st.tuples(
    st.integers(0, 3),
    st.integers(1, 2**32 - 1) | st.just(2**32 - 1),
    st.integers(-3, 40),
    st.sampled_from([1, 2, 4, 8, 16, 32]),
)


@settings(max_examples=40, deadline=None)
@given(cases=st.lists(exchanges, min_size=12, max_size=12), schedule=st.integers(0, 1))
def test_shuffles_follow_the_guide(
    bench: Bench, cases: list[tuple[int, int, int, int]], schedule: int
) -> None:
    columns = torch.tensor(cases, dtype=torch.int64).T
    masks = columns[1]
    names = ("kinds", "masks", "operands", "widths")
    tensors = {
        name: column.to(torch.int32).contiguous() if name != "masks" else _signed(masks)
        for name, column in zip(names, columns, strict=True)
    }
    expected = torch.empty(12, 64)
    for i, (kind, mask, operand, width) in enumerate(cases):
        for thread in range(64):
            lane, base = thread % 32, thread // 32 * 32
            if not mask >> lane & 1:
                expected[i, thread] = -1
                continue
            source = shuffled(kind, lane, operand, width)
            absent = not mask >> source & 1
            expected[i, thread] = 0 if absent else 100 * i + base + source
    arguments = [*map(tensor, names), tensor("out"), integer(12)]
    outcome = bench.run(plan("shuffles", arguments, block=64), tensors, expected, schedule=schedule)
    assert outcome.status is Status.OK, outcome.message
    assert torch.equal(bench.out(), expected)


def _signed(values: torch.Tensor) -> torch.Tensor:
    return torch.where(values >= 2**31, values - 2**32, values).to(torch.int32)


def test_shuffles_move_every_type(bench: Bench) -> None:
    lanes = torch.arange(32, dtype=torch.float32)
    expected = torch.cat(
        [
            (torch.arange(32) ^ 1) + 0.25,
            torch.where(lanes < 30, lanes + 2, lanes),
            torch.where(lanes > 0, lanes - 1, lanes),
            torch.full((32,), 7.0),
            torch.full((32,), 9.0),
            31 - lanes,
        ]
    )
    assert not run_both(bench, "types", expected, block=32)


def test_votes(bench: Bench) -> None:
    low = torch.arange(32) < 12
    expected = torch.cat(
        [
            torch.where(low, 4, 7),
            torch.where(low, 0, 1),
            torch.where(low, 0, 1),
            torch.full((32,), 32),
            torch.full((32,), 7),
            torch.full((32,), 1),
        ]
    ).float()
    for schedule in (0, 1):
        what = plan("votes", [tensor("out"), integer(0)])
        outcome = bench.run(what, {}, expected, schedule=schedule)
        assert outcome.status is Status.OK
        assert torch.equal(bench.out(), expected)
        assert not outcome.divergent


def test_what_hardware_forgives_goes_on_and_is_flagged(bench: Bench) -> None:
    # Every expectation was seen on an H200.
    threads = torch.arange(64)
    lane = threads % 32
    off = torch.tensor(-1)
    source = threads ^ 16
    exited = torch.where(source % 32 < 20, source + 1, 0)
    assert run_both(bench, "exited_source", torch.where(lane < 20, exited, off).float())
    assert run_both(bench, "exited_ballot", torch.where(lane < 20, 20, off).float())
    run_both(bench, "two_sites", (source + torch.where(lane < 16, 0, 100)).float())
    assert run_both(bench, "not_in_mask", (threads ^ 1).float())
    assert run_both(bench, "half_warp_exits", torch.where(lane < 16, threads ^ 1, off).float())
    which = torch.where(threads < 16, 1, 2)
    expected = torch.cat([63 - threads + which, which]).float()
    assert run_both(bench, "barriers_at_two_sites", expected)


def test_skipped_barrier_is_flagged_and_wrong_in_one_schedule(bench: Bench) -> None:
    expected = (64 - torch.arange(64)).float()
    outcomes = [
        bench.run(plan("warp_skips_a_barrier", [tensor("out")], block=64), {}, expected, schedule=s)
        for s in (0, 1)
    ]
    assert all(o.divergent for o in outcomes)
    assert any(o.statistics[Statistic.MAX_ABS] == 1 for o in outcomes)


@pytest.mark.parametrize("block", [33, 64, 256, 1000, 1024])
def test_missing_barrier_shows_in_one_of_two_schedules(bench: Bench, block: int) -> None:
    x = torch.randn(block)
    for synchronise in (1, 0):
        arguments = [tensor("x"), tensor("out"), integer(synchronise)]
        what = plan("reverses", arguments, block=block, shared=4 * block)
        outcomes = [bench.run(what, {"x": x}, x.flip(0), schedule=s) for s in (0, 1)]
        right = [o.status is Status.OK and o.statistics[Statistic.MAX_ABS] == 0 for o in outcomes]
        assert all(right) == bool(synchronise)


def test_missing_warp_barrier_shows(bench: Bench) -> None:
    x = torch.randn(32)
    for synchronise in (1, 0):
        arguments = [tensor("x"), tensor("out"), integer(synchronise)]
        expected = x.roll(-1) - x.roll(1)
        what = plan("neighbours", arguments)
        outcomes = [bench.run(what, {"x": x}, expected, schedule=s) for s in (0, 1)]
        assert all(o.status is Status.OK for o in outcomes) == bool(synchronise)
