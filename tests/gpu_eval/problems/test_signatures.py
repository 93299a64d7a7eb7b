from pathlib import Path

import pytest

from gpu_eval.problems.plan import ArgumentType
from gpu_eval.problems.signatures import read_source
from suiteopt.errors import UserError

P, N, L, F = (
    ArgumentType.POINTER,
    ArgumentType.INT32,
    ArgumentType.INT64,
    ArgumentType.FLOAT,
)


@pytest.mark.parametrize(
    ("parameter", "expected"),
    [
        ("const float* __restrict__ a", P),
        ("float *a", P),
        ("const float4* a", P),
        ("int* __restrict__", P),
        ("int n", N),
        ("const int n", N),
        ("int const n", N),
        ("unsigned int n", N),
        ("long long n", L),
        ("const long long int n", L),
        ("unsigned long long n", L),
        ("size_t n", L),
        ("int64_t n", L),
        ("float eps", F),
        ("float", F),
        ("double eps", None),
        ("float** a", None),
        ("float& a", None),
        ("short n", None),
    ],
)
def test_parameter_types(parameter: str, expected: ArgumentType | None) -> None:
    facts = read_source(Path("k.cu"), f"__global__ void k({parameter}) {{}}\n")
    (found,) = facts.signatures[0].parameters
    assert found.type is expected
    assert found.text == parameter


def test_kernels_in_all_their_forms() -> None:
    text = (
        '#include <cuda.h>\n#include "a.cuh"\n'
        "__device__ float f(float x) { return x; }\n"
        "__global__ __launch_bounds__(128) void one(float* a, int n) {}\n"
        'extern "C" __global__ void two(void) {}\n'
        "namespace n { static __global__ void three(float e,\n    long long n) {} }\n"
    )
    facts = read_source(Path("k.cu"), text)
    found = {s.kernel: (s.line, [p.type for p in s.parameters]) for s in facts.signatures}
    assert found == {"one": (4, [P, N]), "two": (5, []), "three": (6, [F, L])}
    assert [(i.name, i.line) for i in facts.includes] == [("a.cuh", 2)]


def test_templates_are_refused() -> None:
    with pytest.raises(UserError, match=r"k\.cu:2: kernel 'k' is a template"):
        read_source(Path("k.cu"), "\ntemplate <int N> __global__ void k(float* a) {}\n")
