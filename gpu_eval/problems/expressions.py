"""Integer expressions of launch plans and shapes: parsed, never evaluated as Python.

Allowed: integer literals, names, ``+ - * // %``, unary minus, comparisons, and the calls
``ceil_div(a, b)``, ``min(a, b)``, ``max(a, b)``.
"""

import ast
import operator
from collections.abc import Callable, Mapping
from functools import lru_cache

from suiteopt.errors import UserError

_BINARY: dict[type[ast.operator], Callable[[int, int], int]] = {
    ast.Add: operator.add,
    ast.Sub: operator.sub,
    ast.Mult: operator.mul,
    ast.FloorDiv: operator.floordiv,
    ast.Mod: operator.mod,
}
_COMPARE: dict[type[ast.cmpop], Callable[[int, int], bool]] = {
    ast.Lt: operator.lt,
    ast.LtE: operator.le,
    ast.Gt: operator.gt,
    ast.GtE: operator.ge,
    ast.Eq: operator.eq,
    ast.NotEq: operator.ne,
}
_CALLS: dict[str, Callable[[int, int], int]] = {
    "ceil_div": lambda a, b: -(-a // b),
    "min": min,
    "max": max,
}


class ExpressionError(UserError):
    """An expression outside the whitelist, an unknown name, or a division by zero."""

    def __init__(self, text: str, reason: str) -> None:
        super().__init__(f"expression '{text}': {reason}")
        self.text = text
        self.reason = reason


@lru_cache(maxsize=4096)
def parse(text: str) -> ast.expr:
    """Parse an expression and check it against the whitelist.

    Raises
    ------
    ExpressionError
        If the text is no expression or uses anything that is not whitelisted.
    """
    try:
        tree = ast.parse(text.strip(), mode="eval").body
    except (SyntaxError, ValueError, RecursionError, MemoryError) as error:
        raise ExpressionError(text, "is not an integer expression") from error
    _check(tree, text)
    return tree


def _check(node: ast.expr, text: str) -> None:
    match node:
        case ast.Constant(value=int()) if not isinstance(node.value, bool):
            return
        case ast.Name():
            return
        case ast.UnaryOp(op=ast.USub(), operand=operand):
            _check(operand, text)
        case ast.BinOp(left=left, op=op, right=right) if type(op) in _BINARY:
            _check(left, text)
            _check(right, text)
        case ast.Compare(left=left, ops=[op], comparators=[right]) if type(op) in _COMPARE:
            _check(left, text)
            _check(right, text)
        case ast.Call(func=ast.Name(id=name), args=[a, b], keywords=[]) if name in _CALLS:
            _check(a, text)
            _check(b, text)
        case _:
            raise ExpressionError(
                text,
                f"'{ast.unparse(node)}' is not allowed; use integers, names, + - * // %, "
                "comparisons, ceil_div, min and max",
            )


@lru_cache(maxsize=4096)
def names(text: str) -> frozenset[str]:
    """Return the names that an expression refers to (the functions are not among them)."""
    tree = parse(text)
    called = {node.func for node in ast.walk(tree) if isinstance(node, ast.Call)}
    return frozenset(
        node.id for node in ast.walk(tree) if isinstance(node, ast.Name) and node not in called
    )


def evaluate(text: str, values: Mapping[str, int]) -> int:
    """Evaluate an expression over named integers; a comparison gives 0 or 1.

    Raises
    ------
    ExpressionError
        If a name is unknown or a divisor is zero.
    """
    return _evaluate(parse(text), values, text)


def _evaluate(node: ast.expr, values: Mapping[str, int], text: str) -> int:
    match node:
        case ast.Constant(value=int() as value):
            return value
        case ast.Name(id=name):
            if name not in values:
                known = ", ".join(sorted(values))
                raise ExpressionError(text, f"unknown name '{name}'; known: {known}")
            return values[name]
        case ast.UnaryOp(operand=operand):
            return -_evaluate(operand, values, text)
        case ast.BinOp(left=left, op=op, right=right):
            a, b = _evaluate(left, values, text), _evaluate(right, values, text)
            if b == 0 and isinstance(op, ast.FloorDiv | ast.Mod):
                raise ExpressionError(text, "division by zero")
            return _BINARY[type(op)](a, b)
        case ast.Compare(left=left, ops=[op], comparators=[right]):
            a, b = _evaluate(left, values, text), _evaluate(right, values, text)
            return int(_COMPARE[type(op)](a, b))
        case ast.Call(func=ast.Name(id=name), args=[left, right]):
            a, b = _evaluate(left, values, text), _evaluate(right, values, text)
            if name == "ceil_div" and b == 0:
                raise ExpressionError(text, "division by zero")
            return _CALLS[name](a, b)
    raise ExpressionError(text, "is not an integer expression")
