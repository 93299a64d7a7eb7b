"""Which input of a benchmark's model is which, read from its source without executing it."""

import ast
from collections.abc import Collection, Sequence

from suiteopt.errors import UserError

SUFFIX = "_in"
"""Behind the name of an input that the benchmark calls as the definition calls an output."""


def order_tensors(names: Collection[str], source: bytes, where: str) -> list[str]:
    """Return a problem's input tensors in the order in which its model takes them.

    They are told apart by the argument names of ``Model.forward`` (`named_so`); a single tensor
    needs no name.

    Parameters
    ----------
    names : collection of str
        Names of the tensors in a suite.
    source : bytes
        The problem's Python file; parsed, not executed.
    where : str
        What an error calls it.

    Raises
    ------
    UserError
        If the file has no ``Model.forward``, or its arguments do not name the tensors.
    """
    if len(names) < 2:
        return list(names)
    arguments = forward_arguments(source, where)
    places = {name: named_so(name, arguments) for name in names}
    told = set(places.values())
    if None in told or len(told) < len(names):
        raise UserError(
            f"the suite has input tensors {', '.join(sorted(names))}, and Model.forward in {where} "
            f"takes {', '.join(arguments)}: which is which cannot be told; name the tensors of "
            "the problem definition as the benchmark does"
        )
    return sorted(names, key=lambda name: places[name] or 0)


def named_so(name: str, arguments: Sequence[str]) -> int | None:
    """Return which of a benchmark's arguments a tensor of a definition is; None if that is unclear.

    Letter case does not count. A definition whose output has the name that the benchmark gives an
    input calls the input ``y_in`` instead of ``y``.
    """
    known = [argument.lower() for argument in arguments]
    for spelling in (name.lower(), name.lower().removesuffix(SUFFIX)):
        if known.count(spelling) == 1:
            return known.index(spelling)
    return None


def forward_arguments(source: bytes, where: str) -> list[str]:
    """Return the names of what ``Model.forward`` takes, ``self`` apart.

    Raises
    ------
    UserError
        If the file is no Python, or has no such method.
    """
    try:
        module = ast.parse(source)
    except (SyntaxError, ValueError) as error:
        raise UserError(f"{where} is no Python file that can be parsed: {error}") from error
    for node in module.body:
        if isinstance(node, ast.ClassDef) and node.name == "Model":
            for method in node.body:
                if isinstance(method, ast.FunctionDef) and method.name == "forward":
                    arguments = [*method.args.posonlyargs, *method.args.args]
                    return [argument.arg for argument in arguments[1:]]
    raise UserError(f"{where} has no class Model with a method forward, so it is no problem file")
