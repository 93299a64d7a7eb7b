"""Chains of rounded additions on a GPU, one launch where torch needs one a term.

A serial sum of a million terms is a million launches of `torch.add`; here each output is one
thread that walks its terms. The bits are those of the element-wise operations: products and sums
are rounded one by one, nothing is fused or reordered.
"""

import ctypes
import math
from collections.abc import Sequence
from functools import lru_cache
from typing import TYPE_CHECKING, Any

from suiteopt.errors import UserError

if TYPE_CHECKING:
    from torch import Tensor

PROGRAM = "chains"
KERNELS = (
    "chain",
    "long_chain",
    "tile_chain",
    "tree",
    "treetop",
    "scan",
    "backward",
    "welford",
    "long_welford",
)

PART = 1 << 12
"""Terms of a long tree that are added in one go, a power of two."""

FEW = 1 << 10
"""Chains that do not fill a GPU."""

MANY = 1 << 19
"""Chains whose tiles fill a GPU."""

SIDE = 64
"""Chains of a tile along each dimension, as the kernel has it."""

_THREADS = 64
_LOADERS = 256
_TILED = 256
_MOST = (1 << 31) - 1

SOURCE = r"""
// Terms that are loaded before any of them is added: what hides the latency of memory.
#define AHEAD 64
#define TILE 2048
// Chains of a block along each dimension where they are tiled, and terms that it loads at a time.
#define SIDE 64
#define DEPTH 16

struct Terms {
    const float* left;   // (count, m)
    const float* right;  // (count, n), or null: the terms are those of `left`
    long long m, n;
};

static __device__ __forceinline__ float term(const Terms& t, long long k, long long i, long long j)
{
    const float a = t.left[k * t.m + i];
    return t.right ? __fmul_rn(a, t.right[k * t.n + j]) : a;
}

// One chain for each output and each part (blockIdx.y): starts, steps and lengths of the parts.
extern "C" __global__ void chain(
    const float* left, const float* right, const long long* parts, float* out,
    long long m, long long n)
{
    const Terms t = {left, right, m, n};
    const long long* part = parts + 3 * blockIdx.y;
    const long long start = part[0], step = part[1], count = part[2];
    const long long o = (long long)blockIdx.x * blockDim.x + threadIdx.x;
    if (o >= m * n) return;
    const long long i = o / n, j = o % n;
    float sum = term(t, start, i, j);
    long long done = 1;
    for (; done + AHEAD <= count; done += AHEAD) {
        float next[AHEAD];
#pragma unroll
        for (int u = 0; u < AHEAD; ++u) next[u] = term(t, start + (done + u) * step, i, j);
#pragma unroll
        for (int u = 0; u < AHEAD; ++u) sum = __fadd_rn(sum, next[u]);
    }
    for (; done < count; ++done) sum = __fadd_rn(sum, term(t, start + done * step, i, j));
    out[blockIdx.y * m * n + o] = sum;
}

// The same for few and long chains: a block for each, whose first thread adds what the others load.
extern "C" __global__ void long_chain(
    const float* left, const float* right, const long long* parts, float* out,
    long long m, long long n)
{
    __shared__ float tiles[2][TILE];
    const Terms t = {left, right, m, n};
    const long long* part = parts + 3 * blockIdx.y;
    const long long start = part[0], step = part[1], count = part[2];
    const long long o = blockIdx.x;
    const long long i = o / n, j = o % n, loaders = blockDim.x - 32;
    float sum = 0.0f;
    for (long long u = threadIdx.x; u < TILE && u < count; u += blockDim.x)
        tiles[0][u] = term(t, start + u * step, i, j);
    __syncthreads();
    for (long long first = 0; first < count; first += TILE) {
        const float* now = tiles[(first / TILE) & 1];
        float* next = tiles[(first / TILE + 1) & 1];
        const long long coming = first + TILE;
        if (threadIdx.x >= 32) {
            for (long long u = threadIdx.x - 32; u < TILE && coming + u < count; u += loaders)
                next[u] = term(t, start + (coming + u) * step, i, j);
        } else if (threadIdx.x == 0) {
            const int length = count - first < TILE ? (int)(count - first) : TILE;
            int u = 0;
            if (first == 0) sum = now[u++];
            for (; u + 32 <= length; u += 32) {
#pragma unroll
                for (int v = 0; v < 32; ++v) sum = __fadd_rn(sum, now[u + v]);
            }
            for (; u < length; ++u) sum = __fadd_rn(sum, now[u]);
        }
        __syncthreads();
    }
    if (threadIdx.x == 0) out[blockIdx.y * m * n + o] = sum;
}

// The same for many chains of outer products: a block has SIDE x SIDE of them, a thread 16, so that
// what is loaded once is multiplied by many.
extern "C" __global__ void tile_chain(
    const float* left, const float* right, const long long* parts, float* out,
    long long m, long long n)
{
    __shared__ float lefts[DEPTH][SIDE], rights[DEPTH][SIDE];
    const long long* part = parts + 3 * blockIdx.y;
    const long long start = part[0], step = part[1], count = part[2];
    const long long across = (n + SIDE - 1) / SIDE;
    const long long top = blockIdx.x / across * SIDE, side = blockIdx.x % across * SIDE;
    const int row = threadIdx.x / 16, column = threadIdx.x % 16;
    float sums[4][4];
#pragma unroll
    for (int u = 0; u < 16; ++u) sums[u / 4][u % 4] = -0.0f;  // whose sum with any x is x
    for (long long first = 0; first < count; first += DEPTH) {
        const int length = count - first < DEPTH ? (int)(count - first) : DEPTH;
        for (int u = threadIdx.x; u < length * SIDE; u += blockDim.x) {
            const int k = u / SIDE, x = u % SIDE;
            const long long at = start + (first + k) * step;
            lefts[k][x] = top + x < m ? left[at * m + top + x] : 0.0f;
            rights[k][x] = side + x < n ? right[at * n + side + x] : 0.0f;
        }
        __syncthreads();
#pragma unroll 4
        for (int k = 0; k < length; ++k) {
            float a[4], b[4];
#pragma unroll
            for (int u = 0; u < 4; ++u) {
                a[u] = lefts[k][row + 16 * u];
                b[u] = rights[k][column + 16 * u];
            }
#pragma unroll
            for (int u = 0; u < 16; ++u)
                sums[u / 4][u % 4] =
                    __fadd_rn(sums[u / 4][u % 4], __fmul_rn(a[u / 4], b[u % 4]));
        }
        __syncthreads();
    }
    for (int u = 0; u < 16; ++u) {
        const long long i = top + row + 16 * (u / 4), j = side + column + 16 * (u % 4);
        if (i < m && j < n) out[(blockIdx.y * m + i) * n + j] = sums[u / 4][u % 4];
    }
}

// The pairwise sum of `count` terms from `first` on; `last`, if any, is the sum of what follows.
static __device__ __forceinline__ float pairwise(
    const Terms& t, long long first, long long count, long long i, long long j,
    const float* last = nullptr)
{
    float partial[80];
    int top = 0;
    // Whole subtrees of AHEAD terms in registers, then their sums, then what is left over.
    const long long blocks = count / AHEAD;
    for (long long b = 0; b < blocks; ++b) {
        float next[AHEAD];
#pragma unroll
        for (int u = 0; u < AHEAD; ++u) next[u] = term(t, first + b * AHEAD + u, i, j);
#pragma unroll
        for (int width = AHEAD / 2; width > 0; width /= 2)
#pragma unroll
            for (int u = 0; u < width; ++u) next[u] = __fadd_rn(next[2 * u], next[2 * u + 1]);
        float value = next[0];
        for (long long bits = b; bits & 1; bits >>= 1) value = __fadd_rn(partial[--top], value);
        partial[top++] = value;
    }
    for (long long k = blocks * AHEAD; k < count; ++k) {
        float value = term(t, first + k, i, j);
        for (long long bits = k - blocks * AHEAD; bits & 1; bits >>= 1)
            value = __fadd_rn(partial[--top], value);
        partial[top++] = value;
    }
    float total = last ? *last : partial[--top];
    while (top > 0) total = __fadd_rn(partial[--top], total);
    return total;
}

// Each part (blockIdx.y) holds `width` terms, a power of two, the last one what is left.
extern "C" __global__ void tree(
    const float* left, const float* right, float* out, long long m, long long n, long long count,
    long long width)
{
    const Terms t = {left, right, m, n};
    const long long o = (long long)blockIdx.x * blockDim.x + threadIdx.x;
    if (o >= m * n) return;
    const long long first = blockIdx.y * width;
    const long long length = count - first < width ? count - first : width;
    out[blockIdx.y * m * n + o] = pairwise(t, first, length, o / n, o % n);
}

// The sums of whole parts are the leaves of a tree; the rest comes last, whatever its depth.
extern "C" __global__ void treetop(
    const float* sums, float* out, long long outputs, long long whole, long long rest)
{
    const long long o = (long long)blockIdx.x * blockDim.x + threadIdx.x;
    if (o >= outputs) return;
    const Terms t = {sums, nullptr, outputs, 1};
    out[o] = pairwise(t, 0, whole, o, 0, rest ? sums + whole * outputs + o : nullptr);
}

extern "C" __global__ void scan(
    const float* left, const float* start, float* out, long long m, long long count)
{
    const long long i = (long long)blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= m) return;
    float sum = start ? __fadd_rn(start[i], left[i]) : left[i];
    out[i] = sum;
    for (long long k = 1; k < count; k += AHEAD) {
        float next[AHEAD];
#pragma unroll
        for (int u = 0; u < AHEAD; ++u) next[u] = k + u < count ? left[(k + u) * m + i] : 0.0f;
#pragma unroll
        for (int u = 0; u < AHEAD; ++u) {
            if (k + u >= count) break;
            sum = __fadd_rn(sum, next[u]);
            out[(k + u) * m + i] = sum;
        }
    }
}

// Every prefix of every row anew, from its last term back to the first.
extern "C" __global__ void backward(
    const float* x, float* out, long long rows, long long columns)
{
    const long long o = (long long)blockIdx.x * blockDim.x + threadIdx.x;
    if (o >= rows * columns) return;
    const long long j = o % columns;
    float sum = x[o];
    long long done = 1;
    for (; done + 16 <= j + 1; done += 16) {
        float next[16];
#pragma unroll
        for (int u = 0; u < 16; ++u) next[u] = x[o - done - u];
#pragma unroll
        for (int u = 0; u < 16; ++u) sum = __fadd_rn(sum, next[u]);
    }
    for (; done <= j; ++done) sum = __fadd_rn(sum, x[o - done]);
    out[o] = sum;
}

// delta / count, rounded once, where `inverse` is 1 / count rounded once (Markstein): a division by
// itself takes four times as long, and a chain waits for each. What may underflow on the way, and
// what is not finite, is divided.
static __device__ __forceinline__ float divided(float delta, float count, float inverse)
{
    const float guess = __fmul_rn(delta, inverse);
    const float size = fabsf(guess);
    if (!(size > 1e-30f && size < 1e30f)) return __fdiv_rn(delta, count);
    const float near = __fmaf_rn(__fmaf_rn(-guess, count, delta), inverse, guess);
    return __fmaf_rn(__fmaf_rn(-near, count, delta), inverse, near);
}

extern "C" __global__ void welford(
    const float* left, float* mean_out, float* m2_out, long long m, long long count)
{
    const long long i = (long long)blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= m) return;
    float mean = 0.0f, m2 = 0.0f;
    for (long long k = 0; k < count; k += AHEAD) {
        float next[AHEAD];
#pragma unroll
        for (int u = 0; u < AHEAD; ++u) next[u] = k + u < count ? left[(k + u) * m + i] : 0.0f;
#pragma unroll
        for (int u = 0; u < AHEAD; ++u) {
            if (k + u >= count) break;
            const float delta = __fadd_rn(next[u], -mean);
            const float seen = (float)(k + u + 1);
            mean = __fadd_rn(mean, divided(delta, seen, __frcp_rn(seen)));
            m2 = __fadd_rn(m2, __fmul_rn(delta, __fadd_rn(next[u], -mean)));
        }
    }
    mean_out[i] = mean;
    m2_out[i] = m2;
}

extern "C" __global__ void long_welford(
    const float* left, float* mean_out, float* m2_out, long long m, long long count)
{
    __shared__ float tiles[2][TILE], inverses[2][TILE];
    const long long i = blockIdx.x, loaders = blockDim.x - 32;
    float mean = 0.0f, m2 = 0.0f;
    for (long long u = threadIdx.x; u < TILE && u < count; u += blockDim.x) {
        tiles[0][u] = left[u * m + i];
        inverses[0][u] = __frcp_rn((float)(u + 1));
    }
    __syncthreads();
    for (long long first = 0; first < count; first += TILE) {
        const float* now = tiles[(first / TILE) & 1];
        float* next = tiles[(first / TILE + 1) & 1];
        const long long coming = first + TILE;
        if (threadIdx.x >= 32) {
            float* inverse = inverses[(first / TILE + 1) & 1];
            for (long long u = threadIdx.x - 32; u < TILE && coming + u < count; u += loaders) {
                next[u] = left[(coming + u) * m + i];
                inverse[u] = __frcp_rn((float)(coming + u + 1));
            }
        } else if (threadIdx.x == 0) {
            const int length = count - first < TILE ? (int)(count - first) : TILE;
#pragma unroll 4
            for (int u = 0; u < length; ++u) {
                const float value = now[u];
                const float delta = __fadd_rn(value, -mean);
                const float seen = (float)(first + u + 1);
                mean = __fadd_rn(mean, divided(delta, seen, inverses[(first / TILE) & 1][u]));
                m2 = __fadd_rn(m2, __fmul_rn(delta, __fadd_rn(value, -mean)));
            }
        }
        __syncthreads();
    }
    if (threadIdx.x == 0) { mean_out[i] = mean; m2_out[i] = m2; }
}
"""


def usable(*tensors: "Tensor | None") -> bool:
    """Tell whether chains over these tensors can run here: float32 on a GPU, NVRTC installed."""
    import torch

    given = [tensor for tensor in tensors if tensor is not None]
    if not all(tensor.is_cuda and tensor.dtype == torch.float32 for tensor in given):
        return False
    try:
        _kernels(torch.cuda.current_device())
    except (UserError, ImportError):
        return False
    return True


def chains(left: "Tensor", right: "Tensor | None", parts: Sequence[range]) -> "Tensor":
    """Add the terms of some indices in their order, for several parts at once.

    Parameters
    ----------
    left, right : Tensor of float32
        Shapes (count, m) and (count, n); term k is the outer product of their rows k, or the row
        of ``left`` where there is no ``right`` (n = 1).
    parts : sequence of range
        Indices, at least one each.

    Returns
    -------
    Tensor of float32, shape (parts, m, n)
    """
    import torch

    m, n = left.shape[1], 1 if right is None else right.shape[1]
    out = torch.empty((len(parts), m, n), dtype=torch.float32, device=left.device)
    table = torch.tensor([(p.start, p.step, len(p)) for p in parts], device=left.device)
    name = _kernel_for(m, n, parts)
    threads = tiles(m, n) * _TILED if name == "tile_chain" else m * n
    _launch(name, threads, [left, right, table, out], [m, n], len(parts))
    return out


def _kernel_for(m: int, n: int, parts: Sequence[range]) -> str:
    """Return what adds chains fastest: a block for each, a tile for many, or a thread for each."""
    chains = m * n * len(parts)
    if _is_long(chains, max(map(len, parts))):
        return "long_chain"
    # Of the tiles of a thin product most would be empty.
    return "tile_chain" if chains >= MANY and min(m, n) >= SIDE // 4 else "chain"


def tiles(m: int, n: int) -> int:
    """Return how many tiles cover m x n chains."""
    return math.ceil(m / SIDE) * math.ceil(n / SIDE)


def tree(left: "Tensor", right: "Tensor | None", count: int) -> "Tensor":
    """Add the first ``count`` terms pairwise; otherwise like `chains`."""
    import torch

    m, n = left.shape[1], 1 if right is None else right.shape[1]
    width = PART if _is_long(m * n, count) else 1 << 62
    whole, rest = (count // width, count % width) if count > width else (1, 0)
    sums = torch.empty((whole + (rest > 0), m, n), dtype=torch.float32, device=left.device)
    _launch("tree", m * n, [left, right, sums], [m, n, count, width], len(sums))
    if len(sums) == 1:
        return sums[0]
    out = torch.empty((m, n), dtype=torch.float32, device=left.device)
    _launch("treetop", m * n, [sums, out], [m * n, whole, rest])
    return out


def scan(left: "Tensor", start: "Tensor | None") -> "Tensor":
    """Return the running sums over the rows of a (count, m) tensor, after ``start`` (m,)."""
    import torch

    count, m = left.shape
    out = torch.empty_like(left)
    _launch("scan", m, [left, start, out], [m, count])
    return out


def backward(x: "Tensor") -> "Tensor":
    """Sum every prefix of every row of a matrix from its last term back to the first."""
    import torch

    out = torch.empty_like(x)
    _launch("backward", x.numel(), [x, out], list(x.shape))
    return out


def welford(left: "Tensor") -> "tuple[Tensor, Tensor]":
    """Return running mean and sum of squared deviations over the rows of a (count, m) tensor."""
    import torch

    count, m = left.shape
    mean = torch.empty(m, dtype=torch.float32, device=left.device)
    m2 = torch.empty_like(mean)
    name = "long_welford" if _is_long(m, count) else "welford"
    _launch(name, m, [left, mean, m2], [m, count])
    return mean, m2


def _is_long(chains: int, count: int) -> bool:
    """Whether a block for each chain pays: few chains, which leave the GPU idle, of many terms."""
    return chains <= FEW and count >= 2 * PART


@lru_cache(maxsize=8)
def _kernels(device: int) -> dict[str, Any]:
    """Load the kernels into torch's context of a device."""
    import torch
    from cuda.bindings import driver

    from gpu_eval.devices import cuda_code

    major, minor = torch.cuda.get_device_capability(device)
    cubin = cuda_code.machine_code(PROGRAM, f"sm_{major}{minor}")
    torch.zeros(1, device="cuda")  # makes the context and leaves it current
    module = _check(driver.cuModuleLoadData(cubin))
    return {name: _check(driver.cuModuleGetFunction(module, name.encode())) for name in KERNELS}


def _launch(
    name: str,
    threads: int,
    tensors: "Sequence[Tensor | None]",
    numbers: Sequence[int],
    parts: int = 1,
) -> None:
    import torch
    from cuda.bindings import driver

    function = _kernels(torch.cuda.current_device())[name]
    a_block_each = name.startswith("long_")
    width = _LOADERS if a_block_each else _TILED if name == "tile_chain" else _THREADS
    blocks = threads if a_block_each else math.ceil(threads / width)
    block = (width, 1, 1)
    if not 0 < blocks <= _MOST:
        raise ValueError(f"{threads} outputs are no launch")
    for tensor in tensors:
        assert tensor is None or tensor.is_contiguous()
    values = (*(0 if t is None else t.data_ptr() for t in tensors), *numbers)
    types = (ctypes.c_void_p,) * len(tensors) + (ctypes.c_longlong,) * len(numbers)
    stream = torch.cuda.current_stream().cuda_stream
    grid = (blocks, parts, 1)
    _check(driver.cuLaunchKernel(function, *grid, *block, 0, stream, (values, types), 0))


def _check(answer: tuple[Any, ...]) -> Any:
    status, *values = answer
    if int(status) != 0:
        raise RuntimeError(f"a control's launch failed: {status.name}")
    return values[0] if values else None
