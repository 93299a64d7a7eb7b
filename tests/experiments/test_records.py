"""Records of results: the values come back, and what is flat is a line."""

import json
from pathlib import Path

from hypothesis import given
from hypothesis import strategies as st

from experiments.records import record_text, write_record

FLAT = st.none() | st.booleans() | st.integers() | st.text() | st.floats(allow_nan=False, width=32)
NESTED = st.recursive(
    FLAT.filter(lambda value: value not in (float("inf"), float("-inf"))),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(), inner, max_size=4),
    max_leaves=20,
)


@given(st.dictionaries(st.text(), NESTED, max_size=5))
def test_what_is_written_is_what_is_read(document: dict[str, object]) -> None:
    text = record_text(document)
    found = json.loads(text)
    assert found == document
    assert list(found) == list(document)


def test_a_record_is_a_line() -> None:
    rows = [{"input": "a", "members": 2}, {"input": "b", "members": None}]
    assert record_text({"name": "x", "rows": rows, "none": [], "of": {"a": [1, float("nan")]}}) == (
        "{\n"
        ' "name": "x",\n'
        ' "rows": [\n'
        '  {"input": "a", "members": 2},\n'
        '  {"input": "b", "members": null}\n'
        " ],\n"
        ' "none": [],\n'
        ' "of": {\n'
        '  "a": [1, null]\n'
        " }\n"
        "}\n"
    )


def test_a_file_holds_the_last_document_alone(tmp_path: Path) -> None:
    path = tmp_path / "found.json"
    write_record(path, {"old": list(range(100))})
    write_record(path, {"new": 1})
    assert path.read_text("utf-8") == '{"new": 1}\n'
    assert list(tmp_path.iterdir()) == [path]
