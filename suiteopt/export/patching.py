"""Small insertions into files of a benchmark, placed by its syntax tree and not by line number."""

import ast
from collections.abc import Callable

from suiteopt.errors import UserError

MARK = "# suiteopt"


def insert_after(
    source: bytes, where: str, wanted: Callable[[ast.stmt], bool], lines: list[str], what: str
) -> bytes:
    """Insert lines after the one statement that is wanted, at its indentation.

    Parameters
    ----------
    source : bytes
        A Python file; parsed, not executed.
    where : str
        What an error calls it.
    wanted : callable
        Says of a statement whether it is the one.
    lines : list of str
        Without indentation and line ends.
    what : str
        What an error calls the statement.

    Raises
    ------
    UserError
        If it is no Python file, or not exactly one statement is wanted.
    """
    found = [node for node in ast.walk(parse(source, where)) if _is_wanted(node, wanted)]
    if len(found) != 1:
        raise UserError(
            f"{where} has {len(found) or 'no'} places that {what}, and the export needs exactly "
            "one; this version of the benchmark is not known to suiteopt"
        )
    node = found[0]
    assert isinstance(node, ast.stmt)
    assert node.end_lineno is not None
    text = source.decode().splitlines(keepends=True)
    indent = " " * node.col_offset
    inserted = [f"{indent}{line}\n" if line else "\n" for line in lines]
    head = text[: node.end_lineno]
    if not head[-1].endswith("\n"):
        head[-1] += "\n"
    return "".join([*head, *inserted, *text[node.end_lineno :]]).encode()


def insert_at_start(source: bytes, where: str, name: str, lines: list[str]) -> bytes:
    """Insert lines before the first statement of a top-level function, its docstring apart.

    Raises
    ------
    UserError
        If there is no such function.
    """
    function = function_named(parse(source, where), name)
    if function is None:
        raise UserError(
            f"{where} has no function {name}; this version of the benchmark is not known"
        )
    first = function.body[1 if ast.get_docstring(function) is not None else 0]
    text = source.decode().splitlines(keepends=True)
    indent = " " * first.col_offset
    at = first.lineno - 1
    return "".join([*text[:at], *(f"{indent}{line}\n" for line in lines), *text[at:]]).encode()


def append(source: bytes, lines: list[str]) -> bytes:
    """Append lines to a file, after a line end if it has none."""
    end = b"" if source.endswith(b"\n") else b"\n"
    return source + end + "".join(f"{line}\n" for line in lines).encode()


def parse(source: bytes, where: str) -> ast.Module:
    """Parse a file of a benchmark.

    Raises
    ------
    UserError
        If it is no Python file.
    """
    try:
        return ast.parse(source)
    except (SyntaxError, ValueError) as error:
        raise UserError(f"{where} is no Python file that can be parsed: {error}") from error


def function_named(module: ast.Module, name: str) -> ast.FunctionDef | None:
    """Return a function of a module's top level, or None."""
    return next(
        (node for node in module.body if isinstance(node, ast.FunctionDef) and node.name == name),
        None,
    )


def _is_wanted(node: ast.AST, wanted: Callable[[ast.stmt], bool]) -> bool:
    return isinstance(node, ast.stmt) and wanted(node)
