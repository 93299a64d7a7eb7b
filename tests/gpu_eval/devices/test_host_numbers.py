"""half and bfloat16 round as the hardware does; intrinsics keep their documented error."""

import math
from fractions import Fraction

import numpy as np
import pytest
import torch

from suiteopt.matrix.schema import Status
from tests.gpu_eval.devices.conftest import Bench, Compile, integer, plan, tensor

SOURCE = r"""
#include <cuda_fp16.h>
#include <cuda_bf16.h>
__global__ void decode(float* out) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    out[i] = __half2float(__ushort_as_half((unsigned short)i));
    out[65536 + i] = __bfloat162float(__ushort_as_bfloat16((unsigned short)i));
}
__global__ void encode(const float* x, float* out, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    out[i] = __half_as_ushort(__float2half_rn(x[i]));
    out[n + i] = __bfloat16_as_ushort(__float2bfloat16_rn(x[i]));
}
template <class T>
__device__ void operate(T a, T b, T c, float* out, int n, int i) {
    out[i] = __hadd(a, b);
    out[n + i] = a - b;
    out[2 * n + i] = a * b;
    out[3 * n + i] = __hdiv(a, b);
    out[4 * n + i] = __hfma(a, b, c);
}
__global__ void halves(const float* x, float* out, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) operate<__half>(x[i], x[n + i], x[2 * n + i], out, n, i);
}
__global__ void bfloats(const float* x, float* out, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) operate<__nv_bfloat16>(x[i], x[n + i], x[2 * n + i], out, n, i);
}
__global__ void fast(const float* x, float* out, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    float v = x[i], p = fabsf(v) + 1e-3f;
    out[i] = __expf(v);
    out[n + i] = __logf(p);
    out[2 * n + i] = __sinf(v);
    out[3 * n + i] = __cosf(v);
    out[4 * n + i] = __fdividef(v, p);
    out[5 * n + i] = rsqrtf(p);
    out[6 * n + i] = __frcp_rn(p);
    out[7 * n + i] = __powf(p, 1.5f);
}
__global__ void edges(const float* x, float* out, int n) {
    for (int i = 0; i < n; ++i)
        for (int j = 0; j < n; ++j) {
            out[(i * n + j) * 2] = fmaxf(x[i], x[j]);
            out[(i * n + j) * 2 + 1] = min(x[i], x[j]);
        }
}
__global__ void integers(float* out) {
    out[0] = __float2int_rn(2.5f); out[1] = __float2int_rz(-2.9f); out[2] = __float2int_rd(-2.1f);
    out[3] = __float2int_rn(1e20f); out[4] = __float2int_rn(NAN); out[5] = __float2uint_rn(-5.0f);
    out[6] = __clz(1); out[7] = __ffs(8); out[8] = __popc(255); out[9] = __brev(1u) == 0x80000000u;
    out[10] = __mul24(-3, 5); out[11] = __mulhi(1 << 30, 8); out[12] = __umulhi(1u << 31, 6u);
    out[13] = max(-1, 2); out[14] = min(3u, 4u); out[15] = max(2.0f, NAN);
    out[16] = __saturatef(1.5f);
    out[17] = __fdividef(3.0f, 2e38f); out[18] = __float_as_int(1.0f) == 0x3f800000;
    out[19] = abs(-2.5f); out[20] = abs(-7); out[21] = pow(2.0f, 3);
    out[22] = sizeof(float4) + alignof(float2);
}
"""
KERNELS = tuple(part.split("(")[0] for part in SOURCE.split("__global__ void ")[1:])


@pytest.fixture(scope="module")
def bench(compiled: Compile) -> Bench:
    return compiled(SOURCE, *KERNELS)


def run(
    bench: Bench, kernel: str, outputs: int, x: torch.Tensor | None = None, n: int = 0
) -> torch.Tensor:
    arguments = [tensor("out")] if x is None else [tensor("x"), tensor("out"), integer(n)]
    single = kernel in ("edges", "integers")
    blocks = 1 if single else -(-(n or 65536) // 256)
    what = plan(kernel, arguments, grid=blocks, block=1 if single else 256)
    outcome = bench.run(what, {} if x is None else {"x": x}, torch.zeros(outputs))
    assert outcome.status in (Status.OK, Status.NONFINITE)
    return bench.out()


def bits(values: torch.Tensor, dtype: torch.dtype) -> torch.Tensor:
    """Return the 16 bits of fp32 values rounded by torch; a NaN is the canonical 0x7fff."""
    raw = values.to(dtype).view(torch.int16).int() & 0xFFFF
    return torch.where(values.isnan(), 0x7FFF, raw)


def samples() -> torch.Tensor:
    generator = torch.Generator().manual_seed(3)
    raw = torch.randint(-(2**31), 2**31, (60000,), generator=generator).int().view(torch.float32)
    halves = torch.arange(65536).short().view(torch.float16).float()
    halves = halves[halves.isfinite()]
    between = (halves[:-1].double() + halves[1:].double()) / 2
    near = torch.cat([between.float(), torch.nextafter(between.float(), torch.tensor(torch.inf))])
    special = torch.tensor([0.0, -0.0, torch.inf, -torch.inf, torch.nan, 65519.99, 65520.0, 1e-45])
    return torch.cat([raw, halves, near, special])


def test_every_half_and_bfloat16_decodes(bench: Bench) -> None:
    out = run(bench, "decode", 2 * 65536).reshape(2, -1)
    raw = torch.arange(65536).short()
    for row, dtype in zip(out, (torch.float16, torch.bfloat16), strict=True):
        expected = raw.view(dtype).float()
        assert torch.equal(row.isnan(), expected.isnan())
        finite = ~expected.isnan()
        assert torch.equal(row[finite].view(torch.int32), expected[finite].view(torch.int32))


def test_floats_encode_as_torch_rounds_them(bench: Bench) -> None:
    x = samples()
    out = run(bench, "encode", 2 * len(x), x, len(x)).reshape(2, -1).int()
    assert torch.equal(out[0], bits(x, torch.float16))
    assert torch.equal(out[1], bits(x, torch.bfloat16))


@pytest.mark.parametrize(
    ("kernel", "dtype"), [("halves", torch.float16), ("bfloats", torch.bfloat16)]
)
def test_arithmetic_rounds_once(bench: Bench, kernel: str, dtype: torch.dtype) -> None:
    generator = torch.Generator().manual_seed(4)
    n = 1500
    x = torch.randn(3, n, generator=generator) * 2.0 ** torch.randint(
        -9, 10, (3, n), generator=generator
    )
    x = x.to(dtype).float()
    out = run(bench, kernel, 5 * n, x, n).reshape(5, n)
    for i in range(n):
        a, b, c = (Fraction(float(v)) for v in x[:, i])
        exact = [a + b, a - b, a * b, a / b, a * b + c]
        assert out[:, i].tolist() == [_round(value, dtype) for value in exact]


def _round(value: Fraction, dtype: torch.dtype) -> float:
    """Round an exact number to nearest even in a 16-bit format."""
    precision, least = (11, -24) if dtype is torch.float16 else (8, -133)
    if value == 0:
        return 0.0
    exponent = math.floor(math.log2(abs(value))) - precision
    while abs(value) >= Fraction(2) ** (exponent + precision):
        exponent += 1
    while abs(value) < Fraction(2) ** (exponent + precision - 1):
        exponent -= 1
    exponent = max(exponent, least)
    rounded = float(round(value / Fraction(2) ** exponent) * Fraction(2) ** exponent)
    return math.copysign(math.inf, rounded) if abs(rounded) > torch.finfo(dtype).max else rounded


def test_fast_intrinsics_keep_their_documented_error(bench: Bench) -> None:
    n = 4096
    x = torch.linspace(-20, 20, n)
    out = run(bench, "fast", 8 * n, x, n).reshape(8, n).double().numpy()
    v = x.double().numpy()
    p = (x.abs() + np.float32(1e-3)).double().numpy()

    def ulps(got: np.ndarray, exact: np.ndarray) -> np.ndarray:
        return np.abs(got - exact) / np.spacing(np.abs(exact).astype(np.float32))

    # Appendix "Intrinsic functions" of the CUDA programming guide.
    assert np.all(ulps(out[0], np.exp(v)) <= 2 + np.floor(np.abs(1.173 * v)))
    assert np.max(ulps(out[0], np.exp(v))) > 2  # and it is not the accurate function
    near_one = (p >= 0.5) & (p <= 2)
    assert np.all(np.abs(out[1] - np.log(p))[near_one] <= 2**-21.41)
    assert np.all(ulps(out[1], np.log(p))[~near_one] <= 3)
    inside = np.abs(v) <= np.pi
    assert np.all(np.abs(out[2] - np.sin(v))[inside] <= 2**-21.41)
    assert np.all(np.abs(out[3] - np.cos(v))[inside] <= 2**-21.19)
    assert np.all(ulps(out[4], v / p) <= 2)
    assert np.all(ulps(out[5], 1 / np.sqrt(p)) <= 2)
    assert np.array_equal(out[6], (1 / p.astype(np.float32)).astype(np.float64))
    assert np.all(np.abs(out[7] / p**1.5 - 1) <= 2e-6)


def test_maxima_of_nan_zeros_and_infinities(bench: Bench) -> None:
    x = torch.tensor([0.0, -0.0, 1.0, -1.0, torch.inf, -torch.inf, torch.nan])
    out = run(bench, "edges", 2 * 49, x, 7).reshape(7, 7, 2)
    for i, a in enumerate(x):
        for j, b in enumerate(x):
            assert torch.equal(out[i, j, 0], torch.fmax(a, b)) or bool(a.isnan() & b.isnan())
            assert torch.equal(out[i, j, 1], torch.fmin(a, b)) or bool(a.isnan() & b.isnan())
    assert not torch.signbit(out[:2, :2, 0]).sum() > 1  # only of -0 and -0
    assert torch.signbit(out[:2, :2, 1]).sum() == 3


def test_conversions_and_integer_intrinsics(bench: Bench) -> None:
    out = run(bench, "integers", 23).tolist()
    assert out[:6] == [2, -2, -3, float(np.float32(2**31 - 1)), 0, 0]
    assert out[6:13] == [31, 4, 8, 1, -15, 2, 3]
    assert out[13:] == [2, 3, 2, 1, 0, 1, 2.5, 7, 8, 24]
