"""Problems whose definition in a checkout takes other inputs than those that were measured.

Served all the same, their members would raise in the harness, or in the reference, and a right
kernel would be rejected. Definitions are read, not executed.
"""

import ast
from pathlib import Path

from suiteopt.export.fixed_oracle import without
from suiteopt.export.target import Target
from suiteopt.suite import ProblemSuite, Suite

OTHER_DTYPES = frozenset(
    {"float16", "half", "bfloat16", "float64", "double", "float8_e4m3fn", "float8_e5m2"}
)


def without_unfit(
    suite: Suite, repo: Path, target: Target, constants: str | None = None
) -> tuple[Suite, tuple[str, ...]]:
    """Leave out problems whose members do not fit what their definition draws; say why.

    Parameters
    ----------
    suite : Suite
    repo : Path
        The checkout.
    target : Target
    constants : str or None
        Name of a file beside each definition that says its sizes; None: the definition does.
    """
    unfit = {}
    for problem in suite.problems:
        if problem.members:
            path = target.problem_path(repo, problem)
            definition = (repo / path).read_bytes()
            sizes = definition if constants is None else (repo / path).with_name(constants)
            why = _unfit(problem, definition, sizes if isinstance(sizes, bytes) else _read(sizes))
            if why is not None:
                unfit[problem.problem] = f"{path} {why}"
    return without(suite, unfit, target.name) if unfit else (suite, ())


def _read(path: Path) -> bytes:
    return path.read_bytes() if path.exists() else b""


def _unfit(problem: ProblemSuite, definition: bytes, sizes: bytes) -> str | None:
    try:
        module, said = ast.parse(definition), ast.parse(sizes)
    except (SyntaxError, ValueError):
        return None  # what no Python can read is refused where it is rendered
    dtype = _other_dtype(module)
    if dtype is not None:
        return f"draws {dtype}, and {problem.dtype} was measured"
    numbers = _classes(said)
    for member in problem.members:
        for recipe in member.values.values():
            classes = recipe.get("classes")
            if classes is not None and classes not in numbers:
                return f"has another number of classes than the {classes} that were measured"
    return None


def _classes(sizes: ast.Module) -> set[object]:
    """Return the numbers that something called by classes is given; all, where nothing is."""
    called: set[object] = set()
    for node in ast.walk(sizes):
        if isinstance(node, ast.Assign):
            pairs = [(ast.unparse(target), node.value) for target in node.targets]
        elif isinstance(node, ast.Dict):
            pairs = [(ast.unparse(k), v) for k, v in zip(node.keys, node.values, strict=True) if k]
        else:
            continue
        called |= {
            value.value
            for name, value in pairs
            if "class" in name.lower() and isinstance(value, ast.Constant)
        }
    return called or {node.value for node in ast.walk(sizes) if isinstance(node, ast.Constant)}


def _other_dtype(module: ast.Module) -> str | None:
    """Return the dtype that ``get_inputs`` names, if it is not that of a suite."""
    for function in module.body:
        if isinstance(function, ast.FunctionDef) and function.name == "get_inputs":
            for node in ast.walk(function):
                if isinstance(node, ast.Attribute) and node.attr in OTHER_DTYPES:
                    return node.attr
    return None
