import ast
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from suiteopt.export.literals import WIDTH, comment, literal

scalars = (
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False)
)
values = st.recursive(
    scalars | st.text(max_size=12),
    lambda inner: (
        st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=6), inner, max_size=4)
    ),
    max_leaves=25,
)


@given(values)
def test_a_literal_reads_back_as_the_value(value: Any) -> None:
    assert ast.literal_eval(literal(value)) == value
    assert literal(value).isascii()


def test_long_values_are_broken_and_keys_keep_their_order() -> None:
    value = {"b": list(range(40)), "a": {"text": "x" * 60, "more": "y" * 40}}
    text = literal(value)
    assert ast.literal_eval(text) == value
    assert text.index('"b"') < text.index('"a"')
    assert max(len(line) for line in text.splitlines()) <= WIDTH
    assert literal({"a": 1}) == '{"a": 1}'


@pytest.mark.parametrize("value", [float("nan"), float("inf"), object(), {1: 2}, {"a": {2}}])
def test_what_has_no_literal_is_refused(value: Any) -> None:
    with pytest.raises(TypeError):
        literal(value)


@given(st.text())
def test_a_comment_stays_one(line: str) -> None:
    text = comment(line)
    assert text.startswith("#")
    assert len(text.splitlines()) == 1
    assert ast.parse(text + "\n").body == []
