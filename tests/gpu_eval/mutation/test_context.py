import pytest

from gpu_eval.mutation.contexts import build_contexts
from gpu_eval.mutation.kinds import Kind, Space
from gpu_eval.mutation.parser import parse_all
from gpu_eval.mutation.rules.patterns import sides
from gpu_eval.mutation.sites import SourceContext
from tests.gpu_eval.mutation.snippets import context, whole

PRELUDE = """struct Pair { float first; int second; };
__device__ float half_of(float value);
__device__ float half_of(float value) { return value * 0.5f; }
__device__ int count_of(int value) { return value; }
"""
DECLARED = """long long big = 0;
size_t size = 0;
unsigned int bits = 0u;
bool flag = i < n;
Pair pair;
float many[4];
auto row = x + i;
auto four = reinterpret_cast<const float4*>(x);
int4 whole_numbers;
double wide = 0.0;
"""


def value_of(expression: str) -> tuple[SourceContext, Kind]:
    source = context(whole(f"{DECLARED}auto probe = {expression};", PRELUDE))
    node = source.nodes("init_declarator")[-1].child_by_field_name("value")
    return source, source.kind(node)


@pytest.mark.parametrize(
    ("expression", "kind"),
    [
        ("1", Kind.INTEGER),
        ("0x1fff", Kind.INTEGER),
        ("3ull", Kind.INTEGER),
        ("1.0f", Kind.FLOAT),
        ("1e-5", Kind.FLOAT),
        ("v", Kind.FLOAT),
        ("n * 4", Kind.INTEGER),
        ("n * v", Kind.FLOAT),
        ("big + size", Kind.INTEGER),
        ("bits >> 3", Kind.INTEGER),
        ("flag", Kind.BOOL),
        ("v < w", Kind.BOOL),
        ("!n", Kind.BOOL),
        ("-v", Kind.FLOAT),
        ("(float)n", Kind.FLOAT),
        ("(const float*)y", Kind.POINTER),
        ("static_cast<long long>(n)", Kind.INTEGER),
        ("x", Kind.POINTER),
        ("x + n", Kind.POINTER),
        ("x[i]", Kind.FLOAT),
        ("*x", Kind.FLOAT),
        ("&v", Kind.POINTER),
        ("many[2]", Kind.FLOAT),
        ("plane[t]", Kind.POINTER),
        ("plane[t][i]", Kind.FLOAT),
        ("q", Kind.VECTOR),
        ("q.x", Kind.FLOAT),
        ("whole_numbers.y", Kind.INTEGER),
        ("four[i]", Kind.VECTOR),
        ("four[i].w", Kind.FLOAT),
        ("reinterpret_cast<const float4*>(x)[i]", Kind.VECTOR),
        ("threadIdx.x + blockIdx.y", Kind.INTEGER),
        ("pair.first", Kind.FLOAT),
        ("pair.second", Kind.INTEGER),
        ("half_of(v)", Kind.FLOAT),
        ("count_of(n)", Kind.INTEGER),
        ("fmaxf(v, w)", Kind.FLOAT),
        ("max(n, m)", Kind.INTEGER),
        ("__shfl_xor_sync(0xffffffffu, v, 1)", Kind.FLOAT),
        ("__shfl_xor_sync(0xffffffffu, n, 1)", Kind.INTEGER),
        ("flag ? v : w", Kind.FLOAT),
        ("wide", Kind.FLOAT),
        ("kHuge", Kind.FLOAT),
        ("nobody_knows", Kind.UNKNOWN),
    ],
)
def test_kinds(expression: str, kind: Kind) -> None:
    assert value_of(expression)[1] is kind


def test_the_nearest_declaration_counts() -> None:
    source = context(whole("{ int v = 3; v = 4; }\nv = 5.0f;"))
    first, second = source.nodes("assignment_expression")
    assert source.kind(sides(first)[0]) is Kind.INTEGER
    assert source.kind(sides(second)[0]) is Kind.FLOAT


@pytest.mark.parametrize(
    ("target", "space"),
    [
        ("x[i]", Space.GLOBAL),
        ("row[i]", Space.GLOBAL),
        ("reinterpret_cast<float4*>(y)[i]", Space.GLOBAL),
        ("tile[t]", Space.SHARED),
        ("plane[t][i]", Space.SHARED),
        ("alias[0]", Space.SHARED),
        ("many[0]", Space.LOCAL),
        ("v", Space.LOCAL),
        ("n", Space.PARAMETER),
        ("kHuge", Space.CONSTANT),
    ],
)
def test_spaces(target: str, space: Space) -> None:
    body = f"float many[4];\nconst float* row = x + n;\nfloat* alias = tile + t;\n{target} = 1;"
    source = context(whole(body))
    assert source.space(sides(source.nodes("assignment_expression")[-1])[0]) is space


def test_pointers_of_device_functions_are_where_their_callers_point() -> None:
    files = {
        "main.cu": "__device__ float outer(float* a) { return inner(a, a); }\n"
        "__global__ void k(float* y) { __shared__ float s[4]; outer(s); other(y); }\n",
        "ops.cuh": "__device__ float inner(float* b, float* c) { b[0] = 1.0f; return c[1]; }\n"
        "__device__ void other(float* d) { d[0] = 2.0f; }\n",
    }
    contexts = build_contexts(parse_all(files))
    first, second = contexts["ops.cuh"].nodes("assignment_expression")
    assert contexts["ops.cuh"].space(sides(first)[0]) is Space.SHARED
    assert contexts["ops.cuh"].space(sides(second)[0]) is Space.GLOBAL


def test_types_are_known_across_files() -> None:
    files = {
        "main.cu": "__global__ void k(float* y) { y[0] = lift(2) * kScale; }\n",
        "ops.cuh": "constexpr float kScale = 2.0f;\n__device__ float lift(int a) { return a; }\n",
    }
    source = build_contexts(parse_all(files))["main.cu"]
    (product,) = source.nodes("binary_expression")
    assert [source.kind(side) for side in sides(product)] == [Kind.FLOAT, Kind.FLOAT]
