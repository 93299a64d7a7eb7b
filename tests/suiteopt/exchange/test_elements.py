"""Positions in UTF-16 and offsets in UTF-8 are each other's inverse."""

from hypothesis import given
from hypothesis import strategies as st

from suiteopt.exchange.elements import byte_offset, position_at

TEXT = st.text(st.characters(exclude_categories=["Cs"]), max_size=40)


@given(head=TEXT, tail=TEXT)
def test_an_offset_comes_back(head: str, tail: str) -> None:
    source, offset = head + tail, len(head.encode())
    assert byte_offset(source, position_at(source, offset)) == offset


def test_columns_count_utf16_units() -> None:
    source = "a\n\N{GRINNING FACE}é+b"
    assert position_at(source, 2 + 4 + 2) == {"line": 2, "column": 4}
    assert byte_offset(source, {"line": 2, "column": 4}) == 8
    assert source.encode()[8:9] == b"+"


def test_positions_outside_the_text_have_no_offset() -> None:
    assert byte_offset("ab\nc", {"line": 2, "column": 3}) == -1
    assert byte_offset("ab\nc", {"line": 3, "column": 1}) == -1
    assert byte_offset("ab\nc", {"line": 2, "column": 2}) == 4
