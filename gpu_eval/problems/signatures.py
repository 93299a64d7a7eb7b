"""Signatures of the kernels in a CUDA source, read from its syntax tree."""

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from gpu_eval.problems.plan import ArgumentType
from suiteopt.errors import UserError

if TYPE_CHECKING:
    from tree_sitter import Node

_SCALARS = {
    "int": ArgumentType.INT32,
    "unsigned": ArgumentType.INT32,
    "unsigned int": ArgumentType.INT32,
    "int32_t": ArgumentType.INT32,
    "uint32_t": ArgumentType.INT32,
    "long long": ArgumentType.INT64,
    "long long int": ArgumentType.INT64,
    "unsigned long long": ArgumentType.INT64,
    "int64_t": ArgumentType.INT64,
    "uint64_t": ArgumentType.INT64,
    "size_t": ArgumentType.INT64,
    "float": ArgumentType.FLOAT,
}


@dataclass(frozen=True, slots=True)
class Parameter:
    """A kernel's parameter: its text, and its type (None if plans cannot pass such a thing)."""

    text: str
    type: ArgumentType | None


@dataclass(frozen=True, slots=True)
class Signature:
    """A ``__global__`` function and where it stands."""

    kernel: str
    path: Path
    line: int
    parameters: tuple[Parameter, ...]


@dataclass(frozen=True, slots=True)
class Include:
    """A quoted ``#include``."""

    name: str
    path: Path
    line: int


@dataclass(frozen=True, slots=True)
class SourceFacts:
    """What a launch plan must know of a source file."""

    signatures: tuple[Signature, ...]
    includes: tuple[Include, ...]


def read_source(path: Path, text: str) -> SourceFacts:
    """Parse a CUDA source.

    Parameters
    ----------
    path : Path
        Where it comes from, for messages.
    text : str

    Raises
    ------
    UserError
        If the grammar cannot read it whole, or a kernel is a template; with file and line.
    """
    from gpu_eval.mutation.parser import parse, walk

    root = parse(str(path), text).tree.root_node
    signatures: list[Signature] = []
    includes: list[Include] = []
    for node in walk(root):
        if node.type == "function_definition" and any(
            child.type == "__global__" for child in node.children
        ):
            signatures.append(_signature(node, path))
        elif node.type == "preproc_include":
            target = node.child_by_field_name("path")
            if target is not None and target.type == "string_literal":
                includes.append(Include(_text(target).strip('"'), path, _line(node)))
    return SourceFacts(tuple(signatures), tuple(includes))


def _signature(node: "Node", path: Path) -> Signature:
    declarator = _descend(node.child_by_field_name("declarator"))
    name = declarator.child_by_field_name("declarator") if declarator is not None else None
    listing = declarator.child_by_field_name("parameters") if declarator is not None else None
    if name is None or listing is None:
        raise UserError(f"{path}:{_line(node)}: a __global__ function without name or parameters")
    kernel = _text(name)
    if node.parent is not None and node.parent.type == "template_declaration":
        raise UserError(
            f"{path}:{_line(node)}: kernel '{kernel}' is a template; plans launch plain kernels"
        )
    parameters = tuple(_parameter(child) for child in _declarations(listing))
    return Signature(kernel, path, _line(node), parameters)


def _declarations(listing: "Node") -> Iterator["Node"]:
    for child in listing.named_children:
        if child.type.endswith("parameter_declaration") and _text(child) != "void":
            yield child


def _parameter(node: "Node") -> Parameter:
    text = " ".join(_text(node).split())
    declarator = node.child_by_field_name("declarator")
    if declarator is not None and declarator.type != "identifier":
        inner = declarator.child_by_field_name("declarator")
        single = inner is None or inner.type == "identifier"
        pointer = declarator.type in ("pointer_declarator", "abstract_pointer_declarator")
        return Parameter(text, ArgumentType.POINTER if pointer and single else None)
    kind = node.child_by_field_name("type")
    return Parameter(text, _SCALARS.get(" ".join(_text(kind).split())) if kind else None)


def _descend(node: "Node | None") -> "Node | None":
    while node is not None and node.type != "function_declarator":
        node = node.child_by_field_name("declarator")
    return node


def _line(node: "Node") -> int:
    return int(node.start_point[0]) + 1


def _text(node: "Node") -> str:
    return (node.text or b"").decode()
