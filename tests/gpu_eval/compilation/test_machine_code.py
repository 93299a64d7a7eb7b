"""Equal machine code hashes equal, wherever it was compiled; any behavioural edit changes it."""

from pathlib import Path

import pytest

from gpu_eval.compilation.host import HostCompiler
from tests.gpu_eval.compilation.conftest import source

BASE = r"""
#include <cuda_runtime.h>
#define SCALE 2.5f
__constant__ float table[3] = {1.0f, 2.0f, 3.0f};
__device__ int calls = 4;
__device__ float helper(float v, int i) {
    const float weights[5] = {0.5f, 0.25f, 0.125f, 1.5f, 3.0f};
    return v * weights[i % 5] + table[i % 3];
}
__device__ int choose(int i) {
    switch (i) {
        case 0: return 17;
        case 1: return 5;
        case 2: return 99;
        case 3: return i * 3;
        case 4: return 1234;
        case 5: return i - 8;
        default: return 1;
    }
}
template <int TILE>
__global__ void k(const float* __restrict__ x, float* out, int n) {
    __shared__ float tile[TILE];
    int i = threadIdx.x;
    tile[i % TILE] = x[i] * SCALE;
    __syncthreads();
    double wide = tile[0] * 1.000000001;
    float v = helper(tile[(i + 1) % TILE], i) + expf(x[i]) + (float)wide;
    v = __shfl_xor_sync(0xffffffffu, v, 1);
    if (i < n) out[i] = v + choose(i % 7) + atomicAdd(&calls, 1);
}
__global__ void second(float* out, int n) {
    extern __shared__ float buffer[];
    buffer[threadIdx.x] = n;
    __syncthreads();
    out[threadIdx.x] = buffer[0];
}
"""

EDITS = {
    "literal": ("SCALE 2.5f", "SCALE 2.50001f"),
    "double literal": ("1.000000001", "1.000000002"),
    "constant memory": ("{1.0f, 2.0f, 3.0f}", "{1.0f, 2.0f, 4.0f}"),
    "initial value": ("calls = 4", "calls = 5"),
    "local table": ("0.125f, 1.5f", "0.125f, 1.25f"),
    "last of a local table": ("1.5f, 3.0f}", "1.5f, 0.0f}"),
    "callee": ("return v * weights", "return v - weights"),
    "jump table": ("case 2: return 99", "case 2: return 98"),
    "barrier": ("    __syncthreads();\n    double", "    double"),
    "warp barrier": ("__syncthreads();\n    double", "__syncwarp();\n    double"),
    "shuffle": ("v, 1)", "v, 2)"),
    "comparison": ("if (i < n)", "if (i <= n)"),
    "function": ("expf(x[i])", "__expf(x[i])"),
    "library function": ("expf(x[i])", "exp2f(x[i])"),
    "shared size": ("float tile[TILE]", "float tile[TILE + 1]"),
    "other kernel": ("= buffer[0]", "= buffer[1]"),
    "index": ("blockless", "blockless"),
}
EDITS.pop("index")
NEUTRAL = {
    "comment": ("double wide", "/* a\n comment */ double wide // more\n"),
    "whitespace": ("if (i < n) out", "if (i<n)\n\n      out"),
    "blank line at the top": ("#include", "\n\n#include"),
    "renamed local": ("wide", "broad"),
    "renamed helper": ("helper", "assistant"),
    "parentheses": ("tile[0] * 1.000000001", "(tile[0]) * 1.000000001"),
}
KERNELS = ("k<16>", "second")


def edited(edit: tuple[str, str]) -> str:
    assert edit[0] in BASE
    return BASE.replace(*edit)


@pytest.fixture(scope="module")
def hashes(tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    """Compile the base, every edit, and copies of the base between them, in one unit."""
    from gpu_eval.compilation.toolchain import find_toolchain

    sources = []
    for name, edit in (EDITS | NEUTRAL).items():
        sources.append(source(name, edited(edit), *KERNELS))
        sources.append(source(f"base after {name}", BASE + f"// {name}\n", *KERNELS))
    binaries = HostCompiler(find_toolchain()).compile(sources, tmp_path_factory.mktemp("c"), 1)
    assert [b.error for b in binaries] == [""] * len(sources)
    assert len({b.path for b in binaries}) == 1
    return {b.id: b.machine_code for b in binaries}


def test_hash_is_the_same_anywhere_in_a_unit_and_alone(
    compiler: HostCompiler, hashes: dict[str, str], tmp_path: Path
) -> None:
    (alone,) = compiler.compile([source("alone", BASE, *KERNELS)], tmp_path, 1)
    copies = {code for name, code in hashes.items() if name.startswith("base after")}
    assert copies == {alone.machine_code}
    (again,) = compiler.compile([source("again", BASE, *KERNELS)], tmp_path / "other", 1)
    assert again.machine_code == alone.machine_code


@pytest.mark.parametrize("name", sorted(EDITS))
def test_behavioural_edits_change_it(hashes: dict[str, str], name: str) -> None:
    assert hashes[name] != hashes["base after literal"]


def test_different_edits_differ_from_each_other(hashes: dict[str, str]) -> None:
    assert len({hashes[name] for name in EDITS}) == len(EDITS)


@pytest.mark.parametrize("name", sorted(NEUTRAL))
def test_edits_without_behaviour_do_not(hashes: dict[str, str], name: str) -> None:
    assert hashes[name] == hashes["base after literal"]


def test_edits_alone_equal_edits_in_a_unit(
    compiler: HostCompiler, hashes: dict[str, str], tmp_path: Path
) -> None:
    for name in ("jump table", "local table", "last of a local table", "callee"):
        (alone,) = compiler.compile([source(name, edited(EDITS[name]), *KERNELS)], tmp_path, 1)
        assert alone.machine_code == hashes[name], name


def test_which_kernels_are_launched_matters(compiler: HostCompiler, tmp_path: Path) -> None:
    both, one = compiler.compile(
        [source("both", BASE, *KERNELS), source("one", BASE, "second")], tmp_path, 1
    )
    assert both.machine_code != one.machine_code
