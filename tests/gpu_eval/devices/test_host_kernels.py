"""Kernels as good engineers write them, unchanged, against torch in fp64; determinism; atomics."""

import pytest
import torch

from suiteopt.matrix.schema import Statistic, Status
from tests.gpu_eval.devices.conftest import Bench, Compile, integer, number, plan, tensor

SOURCE = r"""
#include <cuda_runtime.h>
#include <math.h>
constexpr int kTile = 16;
template <int N> struct Pair { float a[N]; int b; };

__device__ __forceinline__ float warp_max(float v) {
    for (int o = 16; o > 0; o >>= 1) v = fmaxf(v, __shfl_xor_sync(0xffffffffu, v, o));
    return v;
}
__device__ float warp_sum(float v) {
    #pragma unroll
    for (int o = 16; o > 0; o >>= 1) v += __shfl_down_sync(0xffffffffu, v, o);
    return v;
}
extern "C" __global__ void __launch_bounds__(256)
relu(const float4* __restrict__ x, float4* out, int n) {
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) {
        float4 v = __ldg(x + i);
        out[i] = make_float4(fmaxf(v.x, 0.f), fmaxf(v.y, 0.f), fmaxf(v.z, 0.f), fmaxf(v.w, 0.f));
    }
}
template <int TILE>
__global__ void matmul(const float* __restrict__ a, const float* __restrict__ b, float* out,
                       int n) {
    __shared__ __align__(16) float tile_a[TILE][TILE], tile_b[TILE][TILE + 1];
    const int row = blockIdx.y * TILE + threadIdx.y, col = blockIdx.x * TILE + threadIdx.x;
    float sum = 0.0f;
    for (int k = 0; k < n; k += TILE) {
        const int ka = k + threadIdx.x, kb = k + threadIdx.y;
        tile_a[threadIdx.y][threadIdx.x] = row < n && ka < n ? a[row * n + ka] : 0.0f;
        tile_b[threadIdx.y][threadIdx.x] = col < n && kb < n ? b[kb * n + col] : 0.0f;
        __syncthreads();
        for (int i = 0; i < TILE; ++i) sum += tile_a[threadIdx.y][i] * tile_b[i][threadIdx.x];
        __syncthreads();
    }
    if (row < n && col < n) out[row * n + col] = sum;
}
__global__ void softmax(const float* x, float* out, int cols) {
    __shared__ float partial[32];
    const float* in = x + (long long)blockIdx.x * cols;
    float* to = out + (long long)blockIdx.x * cols;
    const int lane = threadIdx.x & 31, warp = threadIdx.x >> 5, warps = blockDim.x / 32;
    float top = -INFINITY, sum = 0.0f;
    for (int i = threadIdx.x; i < cols; i += blockDim.x) top = fmaxf(top, in[i]);
    top = warp_max(top);
    if (lane == 0) partial[warp] = top;
    __syncthreads();
    top = warp_max(lane < warps ? partial[lane] : -INFINITY);
    __syncthreads();
    for (int i = threadIdx.x; i < cols; i += blockDim.x) sum += expf(in[i] - top);
    sum = warp_sum(sum);
    if (lane == 0) partial[warp] = sum;
    __syncthreads();
    sum = lane < warps ? partial[lane] : 0.0f;
    sum = __shfl_sync(0xffffffffu, warp_sum(sum), 0);
    for (int i = threadIdx.x; i < cols; i += blockDim.x) to[i] = expf(in[i] - top) / sum;
}
__global__ void layernorm(const float* x, const float* scale, const float* shift, float* out,
                          int cols, float eps) {
    extern __shared__ float buffer[];
    const float* in = x + blockIdx.x * cols;
    float* to = out + blockIdx.x * cols;
    float sum = 0.0f;
    for (int i = threadIdx.x; i < cols; i += blockDim.x) sum += in[i];
    buffer[threadIdx.x] = sum;
    __syncthreads();
    for (int half_way = blockDim.x / 2; half_way > 0; half_way >>= 1) {
        if (threadIdx.x < half_way) buffer[threadIdx.x] += buffer[threadIdx.x + half_way];
        __syncthreads();
    }
    const float mean = buffer[0] / cols;
    __syncthreads();
    sum = 0.0f;
    for (int i = threadIdx.x; i < cols; i += blockDim.x) sum += (in[i] - mean) * (in[i] - mean);
    buffer[threadIdx.x] = sum;
    __syncthreads();
    for (int half_way = blockDim.x / 2; half_way > 0; half_way >>= 1) {
        if (threadIdx.x < half_way) buffer[threadIdx.x] += buffer[threadIdx.x + half_way];
        __syncthreads();
    }
    const float r = rsqrtf(buffer[0] / cols + eps);
    for (int i = threadIdx.x; i < cols; i += blockDim.x)
        to[i] = (in[i] - mean) * r * scale[i] + shift[i];
}
__global__ void histogram(const int* x, float* out, int n, int bins) {
    extern __shared__ int counts[];
    for (int i = threadIdx.x; i < bins; i += blockDim.x) counts[i] = 0;
    __syncthreads();
    for (int i = threadIdx.x; i < n; i += blockDim.x) atomicAdd(&counts[x[i]], 1);
    __syncthreads();
    for (int i = threadIdx.x; i < bins; i += blockDim.x) out[i] = counts[i];
}
__device__ float atomic_max_float(float* address, float value) {
    int* bits = (int*)address;
    int old = *bits, seen;
    do {
        seen = old;
        if (__int_as_float(seen) >= value) break;
        old = atomicCAS(bits, seen, __float_as_int(value));
    } while (old != seen);
    return __int_as_float(old);
}
__global__ void extremes(const float* x, const int* k, float* out, float* fw, int* iw, unsigned* uw,
                         unsigned long long* lw, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) {
        atomic_max_float(&fw[0], x[i]);
        atomicAdd(&fw[1], x[i]);
        atomicMax(&iw[0], k[i]);
        atomicMin(&iw[1], k[i]);
        atomicSub(&iw[2], k[i]);
        atomicInc(&uw[0], 9u);
        atomicXor(&uw[1], 1u << (i % 20));
        atomicOr(&uw[2], 1u << (i % 20));
        atomicAdd(&lw[0], (unsigned long long)k[i] << 20);
        __threadfence();
        if (atomicAdd(&uw[3], 1u) == n - 1) {
            out[0] = fw[0]; out[1] = fw[1]; out[2] = iw[0]; out[3] = iw[1]; out[4] = iw[2];
            out[5] = uw[0]; out[6] = uw[1]; out[7] = uw[2]; out[8] = (long long)lw[0] >> 20;
            out[9] = atomicExch(&uw[3], 7u); out[10] = uw[3];
        }
    }
}
__global__ void grid3(float* out) {
    const dim3 whole = gridDim;
    int block = (blockIdx.z * whole.y + blockIdx.y) * whole.x + blockIdx.x;
    int thread = (threadIdx.z * blockDim.y + threadIdx.y) * blockDim.x + threadIdx.x;
    int size = blockDim.x * blockDim.y * blockDim.z;
    out[block * size + thread] = block * 1000 + thread + (warpSize == 32 ? 0 : 1);
}
__global__ void struct_shared(float* out) {
    __shared__ Pair<3> pairs[32];
    __shared__ unsigned char flag[3];
    __shared__ double wide;
    Pair<3>& mine = pairs[threadIdx.x];
    mine.b = threadIdx.x;
    mine.a[2] = 0.5f;
    if (threadIdx.x == 0) { wide = 0.25; flag[2] = 7; }
    __syncthreads();
    Pair<3>& other = pairs[31 - threadIdx.x];
    out[threadIdx.x] = other.b + other.a[2] + (float)wide + flag[2];
}
"""
KERNELS = (
    "relu",
    "matmul<16>",
    "matmul<8>",
    "softmax",
    "layernorm",
    "histogram",
    "extremes",
    "grid3",
    "struct_shared",
)


@pytest.fixture(scope="module")
def bench(compiled: Compile) -> Bench:
    return compiled(SOURCE, *KERNELS)


def check(bench: Bench, what, tensors, truth: torch.Tensor, limit: float) -> None:  # type: ignore[no-untyped-def]
    hashes = set()
    for schedule in (0, 1, 0):
        outcome = bench.run(what, tensors, truth.float(), schedule=schedule)
        assert outcome.status is Status.OK, outcome.message
        assert not outcome.divergent
        hashes.add(outcome.output_hash)
        error = (bench.out().double() - truth).abs().max() / truth.square().mean().sqrt()
        assert float(error) <= limit
    assert len(hashes) == 1


@pytest.mark.parametrize("n", [4, 1000, 4096])
def test_relu(bench: Bench, n: int) -> None:
    x = torch.randn(n, generator=torch.Generator().manual_seed(n))
    what = plan("relu", [tensor("x"), tensor("out"), integer(n // 4)], grid=2, block=256)
    check(bench, what, {"x": x}, x.double().relu(), 0.0)


@pytest.mark.parametrize(("kernel", "tile"), [("matmul<16>", 16), ("matmul<8>", 8)])
@pytest.mark.parametrize("n", [16, 50, 64])
def test_tiled_matmul(bench: Bench, kernel: str, tile: int, n: int) -> None:
    generator = torch.Generator().manual_seed(n)
    a, b = torch.randn(n, n, generator=generator), torch.randn(n, n, generator=generator)
    blocks = -(-n // tile)
    arguments = [tensor("a"), tensor("b"), tensor("out"), integer(n)]
    what = plan(kernel, arguments, (blocks, blocks, 1), (tile, tile, 1))
    check(bench, what, {"a": a, "b": b}, a.double() @ b.double(), 2e-6)


@pytest.mark.parametrize(("rows", "cols", "block"), [(16, 256, 256), (3, 100, 64), (2, 1500, 128)])
def test_shuffle_softmax(bench: Bench, rows: int, cols: int, block: int) -> None:
    x = 3 * torch.randn(rows, cols, generator=torch.Generator().manual_seed(cols))
    what = plan("softmax", [tensor("x"), tensor("out"), integer(cols)], grid=rows, block=block)
    check(bench, what, {"x": x}, torch.softmax(x.double(), 1), 1e-5)


@pytest.mark.parametrize(("rows", "cols", "block"), [(16, 256, 256), (3, 100, 64), (2, 1500, 1024)])
def test_tree_layernorm(bench: Bench, rows: int, cols: int, block: int) -> None:
    generator = torch.Generator().manual_seed(cols)
    x, scale, shift = (torch.randn(s, generator=generator) for s in ((rows, cols), cols, cols))
    truth = torch.nn.functional.layer_norm(
        x.double(), (cols,), scale.double(), shift.double(), 1e-5
    )
    names = [*map(tensor, ("x", "scale", "shift", "out")), integer(cols), number(1e-5)]
    what = plan("layernorm", names, grid=rows, block=block, shared=4 * block)
    check(bench, what, {"x": x, "scale": scale, "shift": shift}, truth, 3e-6)


def test_shared_atomics(bench: Bench) -> None:
    x = torch.randint(0, 37, (1000,), generator=torch.Generator().manual_seed(1))
    what = plan(
        "histogram",
        [tensor("x"), tensor("out"), integer(1000), integer(37)],
        block=96,
        shared=4 * 37,
    )
    check(bench, what, {"x": x.int()}, torch.bincount(x, minlength=37).double(), 0.0)


def test_global_atomics(bench: Bench) -> None:
    from gpu_eval.problems.plan import ResolvedWorkspace

    generator = torch.Generator().manual_seed(2)
    n = 300
    x = torch.randint(0, 1000, (n,), generator=generator).float() / 8
    k = torch.randint(-500, 500, (n,), generator=generator).int()
    k[0] = -3
    bits = 0
    for i in range(n):
        bits ^= 1 << i % 20
    total = int(k.sum())
    expected = [float(x.max()), float(x.sum()), int(k.max()), min(0, int(k.min())), -total, n % 10]
    expected += [bits, (1 << 20) - 1, total, n, 7]
    what = plan(
        "extremes",
        [*map(tensor, ("x", "k", "out", "fw", "iw", "uw", "lw")), integer(n)],
        grid=3,
        block=128,
        workspaces=tuple(ResolvedWorkspace(w, 8, True) for w in ("fw", "iw", "uw", "lw")),
    )
    check(bench, what, {"x": x, "k": k}, torch.tensor(expected, dtype=torch.float64), 0.0)


def test_three_dimensional_launch(bench: Bench) -> None:
    what = plan("grid3", [tensor("out")], (3, 2, 2), (5, 3, 4))
    expected = (torch.arange(12)[:, None] * 1000 + torch.arange(60)).flatten().double()
    check(bench, what, {}, expected, 0.0)


def test_shared_structures_bytes_and_doubles(bench: Bench) -> None:
    expected = (31 - torch.arange(32)).double() + 0.5 + 0.25 + 7
    check(bench, plan("struct_shared", [tensor("out")]), {}, expected, 0.0)


def test_atomic_order_follows_the_schedule(compiled: Compile) -> None:
    source = """__global__ void takes(float* out, unsigned* w) {
        int i = blockIdx.x * blockDim.x + threadIdx.x;
        out[i] = atomicAdd(w, 1u);
    }"""
    from gpu_eval.problems.plan import ResolvedWorkspace

    bench = compiled(source, "takes")
    what = plan(
        "takes",
        [tensor("out"), tensor("w")],
        grid=2,
        block=70,
        workspaces=(ResolvedWorkspace("w", 1, True),),
    )
    order = torch.arange(140).float()
    assert bench.run(what, {}, order).statistics[Statistic.MAX_ABS] == 0
    assert bench.run(what, {}, order.flip(0), schedule=1).statistics[Statistic.MAX_ABS] == 0


def test_fused_multiply_add_follows_the_flag(compiled: Compile) -> None:
    source = """__global__ void both(const float* x, float* out) {
        int i = threadIdx.x;
        out[i] = x[i] * x[i] - 1.0f;
        out[32 + i] = __fadd_rn(__fmul_rn(x[i], x[i]), -1.0f);
        out[64 + i] = __fmaf_rn(x[i], x[i], -1.0f);
    }"""
    x = 1 + torch.arange(1, 33).float() * 2**-20
    exact = x.double() ** 2 - 1
    rounded = (x * x - 1).double()
    fused = exact.float().double()
    assert not torch.equal(rounded, fused)
    for flags, plain in (((), fused), (("-ffp-contract=off",), rounded)):
        bench = compiled(source, "both", flags=flags)
        expected = torch.cat([plain, rounded, fused])
        outcome = bench.run(plan("both", [tensor("x"), tensor("out")]), {"x": x}, expected)
        assert outcome.statistics[Statistic.MAX_ABS] == 0
