import re

import pytest

from gpu_eval.compilation.inlining import SourceError
from gpu_eval.compilation.shared_memory import SharedMemoryError, rewrite_shared
from gpu_eval.compilation.tokens import tokenize
from gpu_eval.compilation.unit import assemble, label, prepare, table
from tests.gpu_eval.compilation.conftest import source


def shared(text: str) -> str:
    return rewrite_shared(list(tokenize(text)))


def squeezed(text: str) -> str:
    return re.sub(r"\s+", " ", text).strip()


def test_static_shared_becomes_a_reference() -> None:
    before = "__global__ void k() { __shared__ float t[16][N + 1]; }"
    after = squeezed(shared(before))
    assert (
        "static ::hostgpu::SharedSlot hg_slot_t; typedef float hg_type_t [ 16 ] [ N + 1 ];" in after
    )
    assert "hg_type_t& t = ::hostgpu::shared<hg_type_t>(hg_slot_t);" in after


@pytest.mark.parametrize(
    ("declaration", "types"),
    [
        (
            "__shared__ float a, b[4], *c[2];",
            ["float hg_type_a", "float hg_type_b [ 4 ]", "float * hg_type_c [ 2 ]"],
        ),
        ("volatile __shared__ unsigned int a[2];", ["volatile unsigned int hg_type_a [ 2 ]"]),
        (
            "__shared__ __align__(16) float a[4];",
            ["float hg_type_a [ 4 ] __attribute__((aligned(16)))"],
        ),
        (
            "alignas(2 * 8) static __shared__ char a[4];",
            ["char hg_type_a [ 4 ] __attribute__((aligned(2 * 8)))"],
        ),
        ("__shared__ Pair<int, 3> a[N<4>()];", ["Pair < int , 3 > hg_type_a [ N < 4 > ( ) ]"]),
        ("__shared__ ns::T a;", ["ns : : T hg_type_a"]),
    ],
)
def test_every_declarator_is_read(declaration: str, types: list[str]) -> None:
    after = squeezed(shared(f"void k() {{ {declaration} }}"))
    assert re.findall(r"typedef (.*?) ?;", after) == types


def test_dynamic_shared_becomes_a_pointer_inside_and_outside() -> None:
    inside = squeezed(shared("void k() { extern __shared__ float s[]; }"))
    assert inside == "void k() {float (*s) = (float (*))::hostgpu_self.dynamic_shared;}" or (
        "float (*s) = (float (*))::hostgpu_self.dynamic_shared;" in inside
    )
    rows = squeezed(shared("void k() { extern __shared__ float s[][32]; }"))
    assert "float (*s)[ 32 ] = (float (*)[ 32 ])::hostgpu_self.dynamic_shared;" in rows
    outside = squeezed(shared("namespace a { extern __shared__ __align__(16) char s[]; }"))
    assert "static char (*const& s) = (char (*const&))::hostgpu_self.dynamic_shared;" in outside


def test_lines_stay_where_they_were() -> None:
    before = "void k() {\n  __shared__ float a[2],\n     b\n  ;\n  int x; }\n"
    after = shared(before)
    assert after.count("\n") == before.count("\n")
    assert after.split("\n")[4].strip() == "int x; }"


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("\n__shared__ float a[3];", "2: error: .*inside the kernel"),
        ("namespace x { struct Y { int z; }; __shared__ float a; }", "inside the kernel"),
        ("void k() { __shared__ float a[3] }", "without its ';'"),
        ("void k() { __shared__ float a[3] = {1}; }", ""),
        ("void k() { __shared__; }", "cannot read"),
    ],
)
def test_declarations_that_have_no_place(text: str, reason: str) -> None:
    if not reason:  # an initialiser is the compiler's to refuse
        assert "= { 1 }" in squeezed(shared(text))
        return
    with pytest.raises(SharedMemoryError, match=reason):
        shared(text)


def test_unit_separates_members() -> None:
    text = "#include <limits>\n#define N 3\n#undef M\n"
    text += 'extern "C" __global__ void k() { __syncthreads(); }\n'
    unit = assemble([prepare(source(f"s{i}", text)) for i in range(2)])
    assert unit.startswith('#include <limits>\n#include "host_runtime.h"\n')
    assert unit.count("#include") == 2
    for index in range(2):
        assert f"namespace {label(index)} {{ namespace {{" in unit
        assert f'#line 1 "{label(index)}/kernel.cu"' in unit
        assert f"HOSTGPU_TABLE({table(index)})" in unit
    for macro in "MN":
        assert unit.count(f'#pragma push_macro("{macro}")') == 2
        assert unit.count(f'#pragma pop_macro("{macro}")') == 2
    assert 'extern "C++" __global__ void k() { ::hostgpu::barrier_at<1>(); }' in unit
    assert len(label(0)) == len(label(99999))


def test_headers_are_inlined_at_their_place() -> None:
    headers = {
        "a.cuh": '#pragma once\n#include "sub/b.cuh"\nint a;\n',
        "sub/b.cuh": '#include "c.cuh"\nint b;\n',
        "sub/c.cuh": "int c;\n",
    }
    text = '#include "a.cuh"\n#include <cuda_runtime.h>\n#include "a.cuh"\nint d;\n'
    body = prepare(source("s", text, headers=headers)).body.replace("\x00label\x00", "L")
    lines = [line for line in body.split("\n") if line]
    assert lines == [
        '#line 1 "L/kernel.cu"',
        '#line 1 "L/a.cuh"',
        "#pragma once",
        '#line 1 "L/sub/b.cuh"',
        '#line 1 "L/sub/c.cuh"',
        "int c;",
        '#line 2 "L/sub/b.cuh"',
        "int b;",
        '#line 3 "L/a.cuh"',
        "int a;",
        '#line 2 "L/kernel.cu"',
        "int d;",
    ]


def test_unknown_headers_are_named() -> None:
    with pytest.raises(SourceError, match=r"kernel\.cu:2: error: header 'mma\.h' is neither"):
        prepare(source("s", "\n#include <mma.h>\n"))


def test_headers_that_include_each_other_come_to_an_end() -> None:
    headers = {
        "a.h": '#ifndef A\n#define A\n#include "b.h"\nint a;\n#endif\n',
        "b.h": '#ifndef B\n#define B\n#include "a.h"\nint b;\n#endif\n',
    }
    body = prepare(source("s", '#include "a.h"\nint c;\n', headers=headers)).body
    assert [line for line in body.split("\n") if line.startswith("int")] == [
        "int b;",
        "int a;",
        "int c;",
    ]


@pytest.mark.parametrize(
    ("text", "balanced"),
    [
        ("void k() { if (1) { a[0] = ')'; } } // {", True),
        ("void k() { ", False),
        ("void k() ) {}", False),
        ("void k() { a[(0]); }", False),
        ("#if 1\nint x;\n", False),
        ("#endif\n", False),
        ("#ifdef A\n#else\n#endif\n", True),
        ("int x; /* open", False),
    ],
)
def test_balance(text: str, balanced: bool) -> None:
    assert prepare(source("s", text)).balanced is balanced
