import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gpu_eval.mutation.catalogue import RULES, rule
from gpu_eval.mutation.parser import parse
from gpu_eval.mutation.rule import Rule
from tests.gpu_eval.mutation.cases import CASES, NEGATIVES
from tests.gpu_eval.mutation.snippets import applied, context, edits, results, whole

SOURCE_RULES = [one for one in RULES if isinstance(one, Rule)]
ROWS = [(name, *row) for name, rows in CASES.items() for row in rows]


def source_rule(name: str) -> Rule:
    found = rule(name)
    assert isinstance(found, Rule)
    return found


def test_every_source_rule_has_a_row() -> None:
    assert set(CASES) == {one.name for one in SOURCE_RULES}
    assert all(rows and all(after for _, _, after in rows) for rows in CASES.values())


@pytest.mark.parametrize(("name", "prelude", "body", "after"), ROWS)
def test_edits(name: str, prelude: str, body: str, after: list[str]) -> None:
    assert results(source_rule(name), body, prelude) == after


@pytest.mark.parametrize(("name", "prelude", "body", "after"), ROWS)
def test_edits_parse_again(name: str, prelude: str, body: str, after: list[str]) -> None:
    for text in after:
        parse("after.cu", whole(text, prelude))


@pytest.mark.parametrize(("name", "body"), NEGATIVES)
def test_nothing_found(name: str, body: str) -> None:
    assert results(source_rule(name), body) == []


def test_macros_types_and_assertions_are_left_alone() -> None:
    text = """#define LESS(a, b) ((a) < (b) && (a) * 2.5f > 0.5f)
#if VERSION > 2
#endif
template <int N = 3 * 4>
__global__ void __launch_bounds__(128 / 32) kernel(float* y) {
  static_assert(3 < 4, "");
  __shared__ float tile[8 * 4 + 1];
}
"""
    found = [edit for one in SOURCE_RULES for edit in edits(one, text)]
    assert found == []


def test_one_text_for_a_whole_file() -> None:
    text = "__global__ void k(float* y, int i, int n) {\n  if (i < n) y[i] = 1.0f;\n}\n"
    (edit,) = edits(source_rule("lt-to-le"), text)
    assert applied(edit, text) == text.replace("i < n", "i <= n")
    assert text[edit.start : edit.end] == "i < n"


def test_rules_that_edit_one_expression_share_its_span() -> None:
    text = whole("if (i < n) y[i] = v;")
    spans = {
        (edit.start, edit.end)
        for name in ("lt-to-le", "guard-tightened", "comparison-reversed", "guard-dropped")
        for edit in edits(source_rule(name), text)
    }
    assert len(spans) == 1


BODIES = [body for _, _, body, _ in ROWS] + [text for *_, after in ROWS for text in after]
ODD = [
    "v = fmaf(v, w);",
    "v = expf();",
    "v = acc / float();",
    "atomicAdd(y);",
    "v += __shfl_down_sync(v);",
    "v = __int_as_float();",
    "for (;;) break;",
    "for (int k = 0, j = n; k < j; ++k, --j) acc += v;",
    "do { ++i; } while (i < n);",
    "switch (n) { case 1 + 2: v = 1.0f; break; default: v += w; }",
    "auto f = [=](float a) { return a * w; };\nv = f(w);",
    "y[i, t] = x[i, t];",
    "i = n, t = m;",
    "if (i < n) ; else return;",
    "while (n > 0) n >>= 1;",
    "float many[2][2] = {{0.0f}, {0.0f}};\nmany[0][1] += v;",
    "for (int k = k * 4; k < n; ++k) acc += v;",
    "const float itself = -itself;\nv = itself;",
    "auto other = other + 1;\nint b = other * 4;",
    "int a{3};\nfloat b(2.0f);",
]


@pytest.mark.parametrize("body", ODD)
def test_unusual_code_breaks_no_rule(body: str) -> None:
    text = whole(body)
    for one in SOURCE_RULES:
        for edit in edits(one, text):
            parse("after.cu", applied(edit, text))


@settings(max_examples=40, deadline=None)
@given(st.lists(st.sampled_from(BODIES), min_size=2, max_size=4))
def test_rules_on_code_that_other_rules_have_edited(bodies: list[str]) -> None:
    text = whole("\n".join("{ " + body + " }" for body in bodies))
    source = context(text)
    for one in SOURCE_RULES:
        for edit in one.sites(source):
            assert 0 <= edit.start < edit.end <= len(text.encode())
            parse("after.cu", applied(edit, text))
