"""Whether a task's model has the parameters that a suite sets, read from its text.

A task of robust-kbench has a model of its own, which may call its parameters as nobody else does.
The text is parsed and never executed.
"""

import ast
from collections.abc import Iterator

from suiteopt.export.parameter_names import parameter_names
from suiteopt.export.templates.hardened_inputs import name_among
from suiteopt.suite import BENCHMARK_RECIPE, ProblemSuite


def unknown_parameter(source: bytes, problem: ProblemSuite) -> str | None:
    """Return a parameter that members set and a task's model does not have for certain.

    Parameters
    ----------
    source : bytes
        The file that defines ``Model``.
    problem : ProblemSuite

    Returns
    -------
    str or None
        None, too, where the model consists of other modules, whose parameters the text does not
        name, and where the text is no Python: whatever loads it says so.
    """
    known = _kept_by_model(source)
    if known is None:
        return None
    names = parameter_names(problem.problem, problem.benchmark)
    for member in problem.members:
        for wanted, recipe in member.parameters.items():
            if recipe["name"] != BENCHMARK_RECIPE and name_among(known, wanted, names) is None:
                return wanted
    return None


def _kept_by_model(source: bytes) -> tuple[str, ...] | None:
    """Return what a model assigns to itself, arguments apart; None if some of it are modules."""
    try:
        tree = ast.parse(source)
    except (SyntaxError, ValueError):
        return None
    models = [n for n in tree.body if isinstance(n, ast.ClassDef) and n.name == "Model"]
    kept: dict[str, None] = {}
    for model in models:
        for name, value in _assigned_to_self(model):
            if _is_module(value):
                return None
            if not isinstance(value, ast.Name | ast.Constant):
                kept[name] = None
    return tuple(kept) if models else None


def _assigned_to_self(model: ast.ClassDef) -> Iterator[tuple[str, ast.expr]]:
    for node in ast.walk(model):
        if isinstance(node, ast.Assign):
            for target in node.targets:
                if isinstance(target, ast.Attribute) and ast.unparse(target.value) == "self":
                    yield target.attr, node.value


def _is_module(value: ast.expr) -> bool:
    """Whether an expression makes a module of torch: ``nn.Linear(...)``, but no parameter."""
    call = value.func if isinstance(value, ast.Call) else None
    if not isinstance(call, ast.Attribute) or call.attr in {"Parameter", "Buffer"}:
        return False
    return ast.unparse(call.value) in {"nn", "torch.nn"}
