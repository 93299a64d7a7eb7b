import shutil
import subprocess
from pathlib import Path

import numpy as np
import pytest

from gpu_eval.mutation.rules.rounding import BF16, FP16, rounded, tf32

PROGRAM = """#include <cmath>
#include <cstdio>
#include <cstring>
#include <vector>
using std::fabs;
static int __float_as_int(float v) { int b; std::memcpy(&b, &v, 4); return b; }
static float __int_as_float(int b) { float v; std::memcpy(&v, &b, 4); return v; }
int main(int count, char** paths) {
  std::FILE* in = std::fopen(paths[1], "rb");
  std::FILE* out = std::fopen(paths[2], "wb");
  float given;
  while (std::fread(&given, 4, 1, in) == 1) {
    const float results[3] = {FP16, BF16, TF32};
    std::fwrite(results, 4, 3, out);
  }
  std::fclose(out);
}
"""


def samples() -> np.ndarray:
    """Every half, the midpoints between neighbours and what lies beside them, and random bits."""
    halves = np.arange(65536, dtype=np.uint16).view(np.float16).astype(np.float32)
    finite = np.sort(halves[np.isfinite(halves)])
    middles = ((finite[1:].astype(np.float64) + finite[:-1]) / 2).astype(np.float32)
    beside = [np.nextafter(middles, np.float32(s) * np.float32(np.inf)) for s in (-1, 1)]
    limits = np.array([65504, 65519.996, 65520, 65536, 1e30, -65520, 0.0, -0.0], dtype=np.float32)
    bits = np.random.default_rng(7).integers(0, 2**32, 200_000, dtype=np.uint32).view(np.float32)
    return np.concatenate([halves, middles, *beside, limits, bits])


def to_bfloat16(values: np.ndarray) -> np.ndarray:
    """Round to bf16 through exact arithmetic on the two neighbours."""
    bits = values.view(np.uint32).astype(np.int64)
    low = (bits & ~np.int64(0xFFFF)).astype(np.uint32)
    high = (low.astype(np.int64) + 0x10000).astype(np.uint32)
    rest = bits & 0xFFFF
    odd = (bits >> 16) & 1
    up = (rest > 0x8000) | ((rest == 0x8000) & (odd == 1))
    return np.where(up, high, low).astype(np.uint32).view(np.float32)


@pytest.fixture(scope="module")
def computed(tmp_path_factory: pytest.TempPathFactory) -> tuple[np.ndarray, np.ndarray]:
    compiler = shutil.which("g++")
    if compiler is None:
        pytest.skip("no g++")
    directory: Path = tmp_path_factory.mktemp("rounding")
    text = PROGRAM
    for name, expression in (
        ("FP16", rounded(FP16, "given")),
        ("BF16", rounded(BF16, "given")),
        ("TF32", tf32("given")),
    ):
        text = text.replace(f"{name}", expression, 1)
    (directory / "p.cpp").write_text(text)
    flags = ["-O1", "-ffp-contract=fast", "-fwrapv", "-std=c++17"]
    subprocess.run([compiler, *flags, "p.cpp", "-o", "p"], cwd=directory, check=True)
    given = samples()
    given.tofile(directory / "in")
    subprocess.run(["./p", "in", "out"], cwd=directory, check=True)
    return given, np.fromfile(directory / "out", dtype=np.float32).reshape(-1, 3)


def same(left: np.ndarray, right: np.ndarray) -> np.ndarray:
    return (left.view(np.uint32) == right.view(np.uint32)) | (np.isnan(left) & np.isnan(right))


def test_fp16_is_round_to_nearest_even(computed: tuple[np.ndarray, np.ndarray]) -> None:
    given, results = computed
    with np.errstate(over="ignore"):
        wanted = given.astype(np.float16).astype(np.float32)
    assert same(np.ascontiguousarray(results[:, 0]), wanted).all()


def test_bf16_is_round_to_nearest_even(computed: tuple[np.ndarray, np.ndarray]) -> None:
    given, results = computed
    finite = ~np.isnan(given)
    wanted = to_bfloat16(given)
    assert same(np.ascontiguousarray(results[:, 1]), wanted)[finite].all()
    assert np.isnan(results[~finite, 1]).all()


def test_tf32_cuts_to_ten_bits(computed: tuple[np.ndarray, np.ndarray]) -> None:
    given, results = computed
    normal = np.isfinite(given) & (np.abs(given) >= np.float32(2.0**-126))
    cut = results[normal, 2].astype(np.float64)
    exact = given[normal].astype(np.float64)
    assert (np.abs(cut) <= np.abs(exact)).all()
    assert (np.abs(cut - exact) < np.abs(exact) * 2.0**-10).all()
    assert (np.ascontiguousarray(results[normal, 2]).view(np.uint32) & 0x1FFF == 0).all()
