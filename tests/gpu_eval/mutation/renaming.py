"""The sources of an implementation under other names: what rules may not go by."""

from collections.abc import Mapping
from pathlib import PurePath

from tree_sitter import Node

from gpu_eval.mutation.parser import ParsedFile, parse_all, walk

EPSILON = "eps"
"""The one word in a name that rules know, wherever it stands: ``eps``, ``kEps``, ``epsilon``."""


def renamed(files: Mapping[str, str]) -> dict[str, str]:
    """Give the files, and every variable and function they declare, names that say nothing.

    Files and lines stay in order. Names that macros mention, members and types keep theirs; an
    epsilon stays one.
    """
    parsed = parse_all(files)
    declared = {name for file in parsed.values() for name in _declared(file)}
    macros = {word for file in parsed.values() for word in _macro_words(file)}
    # From the last to the first: what came first in the alphabet does not any more.
    free = sorted(declared - macros, reverse=True)
    names = {
        name: f"{EPSILON if EPSILON in name.lower() else 'name'}_{number:04}"
        for number, name in enumerate(free)
    }
    return {
        f"file_{number}{PurePath(name).suffix}": _replaced(file, names)
        for number, (name, file) in enumerate(parsed.items())
    }


def _declared(file: ParsedFile) -> set[str]:
    found = set()
    for node in walk(file.tree.root_node):
        inner = node.children_by_field_name("declarator")
        if node.type == "reference_declarator":
            inner = node.named_children
        found |= {_text(child) for child in inner if child.type == "identifier"}
    return found


def _macro_words(file: ParsedFile) -> set[str]:
    text = ""
    for node in walk(file.tree.root_node):
        if node.type in ("preproc_def", "preproc_function_def"):
            text += " " + _text(node)
    return set("".join(c if c.isalnum() or c == "_" else " " for c in text).split())


def _replaced(file: ParsedFile, names: Mapping[str, str]) -> str:
    pieces, position = [], 0
    for node in walk(file.tree.root_node):
        if node.type == "identifier" and _text(node) in names:
            pieces += [file.data[position : node.start_byte], names[_text(node)].encode()]
            position = node.end_byte
    return b"".join([*pieces, file.data[position:]]).decode()


def _text(node: Node) -> str:
    return (node.text or b"").decode()
