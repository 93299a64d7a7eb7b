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

_THREADS = 64
_MOST = (1 << 31) - 1

SOURCE = r"""
// Terms that are loaded before any of them is added: what hides the latency of memory.
#define AHEAD 64

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

extern "C" __global__ void tree(
    const float* left, const float* right, float* out, long long m, long long n, long long count)
{
    const Terms t = {left, right, m, n};
    const long long o = (long long)blockIdx.x * blockDim.x + threadIdx.x;
    if (o >= m * n) return;
    const long long i = o / n, j = o % n;
    float partial[80];
    int top = 0;
    // Whole subtrees of AHEAD terms in registers, then their sums, then what is left over.
    const long long blocks = count / AHEAD;
    for (long long b = 0; b < blocks; ++b) {
        float next[AHEAD];
#pragma unroll
        for (int u = 0; u < AHEAD; ++u) next[u] = term(t, b * AHEAD + u, i, j);
#pragma unroll
        for (int width = AHEAD / 2; width > 0; width /= 2)
#pragma unroll
            for (int u = 0; u < width; ++u) next[u] = __fadd_rn(next[2 * u], next[2 * u + 1]);
        float value = next[0];
        for (long long bits = b; bits & 1; bits >>= 1) value = __fadd_rn(partial[--top], value);
        partial[top++] = value;
    }
    for (long long k = blocks * AHEAD; k < count; ++k) {
        float value = term(t, k, i, j);
        for (long long bits = k - blocks * AHEAD; bits & 1; bits >>= 1)
            value = __fadd_rn(partial[--top], value);
        partial[top++] = value;
    }
    float total = partial[--top];
    while (top > 0) total = __fadd_rn(partial[--top], total);
    out[o] = total;
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
            mean = __fadd_rn(mean, __fdiv_rn(delta, (float)(k + u + 1)));
            m2 = __fadd_rn(m2, __fmul_rn(delta, __fadd_rn(next[u], -mean)));
        }
    }
    mean_out[i] = mean;
    m2_out[i] = m2;
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
    _launch("chain", m * n, [left, right, table, out], [m, n], len(parts))
    return out


def tree(left: "Tensor", right: "Tensor | None", count: int) -> "Tensor":
    """Add the first ``count`` terms pairwise; otherwise like `chains`."""
    import torch

    m, n = left.shape[1], 1 if right is None else right.shape[1]
    out = torch.empty((m, n), dtype=torch.float32, device=left.device)
    _launch("tree", m * n, [left, right, out], [m, n, count])
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
    _launch("welford", m, [left, mean, m2], [m, count])
    return mean, m2


@lru_cache(maxsize=8)
def _kernels(device: int) -> dict[str, Any]:
    """Compile and load the kernels into torch's context of a device."""
    import torch
    from cuda.bindings import driver

    from gpu_eval.compilation.nvrtc import compile_cubin

    major, minor = torch.cuda.get_device_capability(device)
    names = ("chain", "tree", "scan", "backward", "welford")
    cubin, _ = compile_cubin(SOURCE, "chains.cu", f"sm_{major}{minor}", (), names)
    torch.zeros(1, device="cuda")  # makes the context and leaves it current
    module = _check(driver.cuModuleLoadData(cubin))
    return {name: _check(driver.cuModuleGetFunction(module, name.encode())) for name in names}


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
    blocks = math.ceil(threads / _THREADS)
    if not 0 < blocks <= _MOST:
        raise ValueError(f"{threads} outputs are no launch")
    for tensor in tensors:
        assert tensor is None or tensor.is_contiguous()
    values = (*(0 if t is None else t.data_ptr() for t in tensors), *numbers)
    types = (ctypes.c_void_p,) * len(tensors) + (ctypes.c_longlong,) * len(numbers)
    stream = torch.cuda.current_stream().cuda_stream
    grid, block = (blocks, parts, 1), (_THREADS, 1, 1)
    _check(driver.cuLaunchKernel(function, *grid, *block, 0, stream, (values, types), 0))


def _check(answer: tuple[Any, ...]) -> Any:
    status, *values = answer
    if int(status) != 0:
        raise RuntimeError(f"a control's launch failed: {status.name}")
    return values[0] if values else None
