import pytest
from hypothesis import given
from hypothesis import strategies as st

from gpu_eval.mutation.parser import blank_unreadable, line_starts, make_span, parse, walk
from suiteopt.errors import UserError


@pytest.mark.parametrize(
    "text",
    [
        "__shared__ __align__(16) float tile[4];\n",
        "extern __shared__ __align__ ( sizeof(float) * (2 + 2) ) unsigned char bytes[];\n",
        "__global__ void __cluster_dims__(2, 1, 1) kernel() {}\n",
        "struct __align__(16) Four { float x; };\n",
    ],
)
def test_unreadable_attributes_are_blanked(text: str) -> None:
    file = parse("a.cu", text)
    assert file.data == text.encode()
    blanked = blank_unreadable(file.data)
    assert len(blanked) == len(file.data)
    assert b"__align__" not in blanked
    assert b"__cluster_dims__" not in blanked


def test_comments_and_literals_are_not_blanked() -> None:
    text = b'// __align__(4)\nconst char* a = "__align__(8) \\" __align__(2)"; /* __align__(1) */\n'
    assert blank_unreadable(text) == text


def test_attribute_names_inside_words_are_not_blanked() -> None:
    text = b"int my__align__(int a); int b = 1'000; int c__cluster_dims__;\n"
    assert blank_unreadable(text) == text


def test_line_feeds_inside_a_blanked_attribute_stay() -> None:
    assert blank_unreadable(b"__align__(\n16) x") == b" " * 10 + b"\n" + b" " * 3 + b" x"


@pytest.mark.parametrize(
    ("text", "place"),
    [
        ("int a;\nint b = ;\n", "bad.cu:2:"),
        ("__global__ void k() {\n  int a = 3\n}\n", "bad.cu:2:"),
        ("void f() { auto g = [&] __device__ (int x) { return x; }; }\n", "bad.cu:1:"),
    ],
)
def test_a_broken_file_is_refused_with_its_line(text: str, place: str) -> None:
    with pytest.raises(UserError, match="grammar cannot read") as caught:
        parse("bad.cu", text)
    assert str(caught.value).startswith(place)


def test_walk_is_in_source_order_parents_first() -> None:
    tree = parse("a.cu", "int a = 1 + 2;").tree
    named = [node.type for node in walk(tree.root_node) if node.is_named]
    assert named == [
        "translation_unit",
        "declaration",
        "primitive_type",
        "init_declarator",
        "identifier",
        "binary_expression",
        "number_literal",
        "number_literal",
    ]


TEXTS = st.text(alphabet=st.sampled_from("ab \n\tµε漢😀"), max_size=40)


@given(TEXTS, TEXTS, TEXTS)
def test_spans_count_lines_and_characters(before: str, inside: str, after: str) -> None:
    data = (before + inside + after).encode()
    start = len(before.encode())
    span = make_span("f", data, start, start + len(inside.encode()))
    assert span.line == before.count("\n") + 1
    assert span.column == len(before) - (before.rfind("\n") + 1) + 1
    both = before + inside
    assert span.end_line == both.count("\n") + 1
    assert span.end_column == len(both) - (both.rfind("\n") + 1) + 1
    assert data[span.start : span.end].decode() == inside


@given(TEXTS)
def test_line_starts_follow_line_feeds(text: str) -> None:
    data = text.encode()
    starts = line_starts(data)
    assert starts[0] == 0
    assert len(starts) == text.count("\n") + 1
    assert all(data[s - 1 : s] == b"\n" for s in starts[1:])


def test_column_after_a_comment_that_is_not_ascii() -> None:
    text = "int a; /* ε ± 漢 */ int b = 2;\n"
    file = parse("a.cu", text)
    start = file.data.index(b"2;")
    span = file.span(start, start + 1)
    assert (span.line, span.column, span.end_column) == (
        1,
        text.index("2") + 1,
        text.index("2") + 2,
    )
    assert file.text(span.start, span.end) == "2"
