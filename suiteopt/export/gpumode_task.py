"""What a task of reference-kernels takes, carries and checks, read without executing it."""

import ast
import posixpath
import re
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from suiteopt.errors import UserError
from suiteopt.export.forward import named_so
from suiteopt.export.gpumode_yaml import read_yaml
from suiteopt.export.patching import function_named, parse

DEFAULT_RELATIVE, DEFAULT_ABSOLUTE = 1e-5, 1e-8
"""Of ``match_reference`` in the task sets' ``utils.py``."""


@dataclass(frozen=True)
class Task:
    """A task.

    Attributes
    ----------
    yaml, reference : bytes
        The files as they were before any export.
    tests : list of dict
    parameters, required : tuple of str
        Of ``generate_input``, all and those without a default.
    used : frozenset of str
        Those that its body uses.
    grammar : str
        The regular expression by which ``eval.py`` reads one field.
    tolerances : tuple of float or None
        ``atol`` and ``rtol`` of the check; None where it is code of its own.
    unpacked : tuple of str
        Names that the reference gives the parts of its data; empty where it takes it whole.
    """

    yaml: bytes
    reference: bytes
    tests: list[dict[str, Any]]
    parameters: tuple[str, ...]
    required: tuple[str, ...]
    used: frozenset[str]
    grammar: str
    tolerances: tuple[float, float] | None
    unpacked: tuple[str, ...]

    def carries(self, name: str, value: Any) -> bool:
        """Whether a field arrives as it is: an integer, by the harness's own pattern."""
        return (
            isinstance(value, int)
            and not isinstance(value, bool)
            and re.fullmatch(self.grammar, f"{name}: {value}") is not None
        )

    def idle_fields(self) -> set[str]:
        """Return fields of the tests that are there which change nothing, or arrive as words."""
        return {
            name
            for test in self.tests
            for name, value in test.items()
            if name not in self.used or isinstance(value, bool)
        }

    def places(self, names: tuple[str, ...], where: str) -> dict[str, int | None]:
        """Return where in the data each tensor is; None where the data is the tensor.

        Raises
        ------
        UserError
            If that cannot be told.
        """
        if not self.unpacked and len(names) == 1:
            return {names[0]: None}
        places = {name: named_so(name, self.unpacked) for name in names}
        if None in places.values():
            raise UserError(
                f"the suite has the tensors {', '.join(names)}, and the reference of {where} "
                f"unpacks {', '.join(self.unpacked) or 'nothing'}: which is which cannot be told"
            )
        return places


def read_task(
    repo: Path, tests: str, reference: str, original: Callable[[str], bytes | None]
) -> Task:
    """Read a task.

    Raises
    ------
    UserError
        If a file is missing or has not the form that the harness needs.
    """
    yaml, source = original(tests), original(reference)
    if yaml is None or source is None:
        raise UserError(f"{repo} has no {tests if yaml is None else reference}")
    document = read_yaml(yaml, tests)
    module = parse(source, reference)
    generate = function_named(module, "generate_input")
    if generate is None:
        raise UserError(f"{reference} defines no function generate_input")
    arguments = [argument.arg for argument in (*generate.args.args, *generate.args.kwonlyargs)]
    plain = len(generate.args.args) - len(generate.args.defaults)
    used = {node.id for node in ast.walk(generate) if isinstance(node, ast.Name)}
    return Task(
        yaml=yaml,
        reference=source,
        tests=[dict(test) for test in document.get("tests", ())],
        parameters=tuple(arguments),
        required=tuple(argument.arg for argument in generate.args.args[:plain]),
        used=frozenset(used & set(arguments)),
        grammar=_grammar(repo, posixpath.dirname(tests), document),
        tolerances=_tolerances(module),
        unpacked=_unpacked(module),
    )


def _grammar(repo: Path, directory: str, document: dict[str, Any]) -> str:
    sources = [item["source"] for item in document.get("files", ()) if item["name"] == "eval.py"]
    path = posixpath.normpath(f"{directory}/{sources[0]}") if sources else ""
    if not path or not (repo / path).exists():
        raise UserError(f"{directory} names no eval.py, so how its tests are read is not known")
    for node in ast.walk(parse((repo / path).read_bytes(), path)):
        if (
            isinstance(node, ast.Assign)
            and isinstance(node.targets[0], ast.Name)
            and node.targets[0].id == "match"
            and isinstance(node.value, ast.Constant)
            and isinstance(node.value.value, str)
        ):
            return node.value.value
    raise UserError(f"{path} has no pattern for the fields of a test that suiteopt knows")


def _tolerances(module: ast.Module) -> tuple[float, float] | None:
    for node in module.body:
        if (
            isinstance(node, ast.Assign)
            and isinstance(node.targets[0], ast.Name)
            and node.targets[0].id == "check_implementation"
            and isinstance(node.value, ast.Call)
            and isinstance(node.value.func, ast.Name)
            and node.value.func.id == "make_match_reference"
        ):
            given = {word.arg: word.value for word in node.value.keywords}
            if not all(isinstance(value, ast.Constant) for value in given.values()):
                return None
            read = {name: ast.literal_eval(value) for name, value in given.items()}
            return (
                float(read.get("atol", DEFAULT_ABSOLUTE)),
                float(read.get("rtol", DEFAULT_RELATIVE)),
            )
    return None


def _unpacked(module: ast.Module) -> tuple[str, ...]:
    """Return the names to which the reference assigns the parts of its argument."""
    reference = function_named(module, "ref_kernel")
    if reference is None or not reference.args.args:
        return ()
    data = reference.args.args[0].arg
    for node in ast.walk(reference):
        if (
            isinstance(node, ast.Assign)
            and isinstance(node.value, ast.Name)
            and node.value.id == data
            and isinstance(node.targets[0], ast.Tuple)
        ):
            return tuple(
                part.id if isinstance(part, ast.Name) else "" for part in node.targets[0].elts
            )
    return ()
