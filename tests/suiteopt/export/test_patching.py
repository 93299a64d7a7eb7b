"""Insertions by the syntax tree: where they go, and when they are refused."""

import ast

import pytest

from suiteopt.errors import UserError
from suiteopt.export.patching import append, insert_after, insert_at_start

SOURCE = b"""def f(x):
    \"\"\"Doc.\"\"\"
    y = call(
        x,
    )
    return y


def g():
    return 1"""


def is_call(node: ast.stmt) -> bool:
    return isinstance(node, ast.Assign)


def test_lines_follow_a_statement_of_several_lines_at_its_indentation() -> None:
    made = insert_after(SOURCE, "s.py", is_call, ["a = 1", "b = 2"], "call").decode()
    assert "    )\n    a = 1\n    b = 2\n    return y\n" in made
    ast.parse(made)


def test_lines_start_a_function_after_its_docstring() -> None:
    made = insert_at_start(SOURCE, "s.py", "f", ["a = 1"]).decode()
    assert '"""Doc."""\n    a = 1\n    y = call(' in made
    made = insert_at_start(SOURCE, "s.py", "g", ["a = 1"]).decode()
    assert made.endswith("def g():\n    a = 1\n    return 1")


def test_appended_lines_start_on_a_line_of_their_own() -> None:
    assert append(b"x = 1", ["y = 2"]) == b"x = 1\ny = 2\n"
    assert append(b"x = 1\n", ["y = 2"]) == b"x = 1\ny = 2\n"


def test_what_is_not_there_or_twice_there_is_refused() -> None:
    with pytest.raises(UserError, match="has no places that call"):
        insert_after(b"x = 1\n", "s.py", lambda node: False, ["y"], "call")
    with pytest.raises(UserError, match="has 2 places that call"):
        insert_after(b"x = 1\ny = 2\n", "s.py", is_call, ["z"], "call")
    with pytest.raises(UserError, match="no Python file"):
        insert_after(b"x =", "s.py", is_call, ["z"], "call")
    with pytest.raises(UserError, match="has no function h"):
        insert_at_start(SOURCE, "s.py", "h", ["z"])
