"""Contexts of all files of an implementation, with the names that they share."""

from collections.abc import Mapping

from tree_sitter import Node

from gpu_eval.mutation import kinds
from gpu_eval.mutation.kinds import Declared, Globals, Space
from gpu_eval.mutation.parser import ParsedFile, walk
from gpu_eval.mutation.sites import SourceContext
from gpu_eval.mutation.tree import arguments, call_name, function_name

_CALL_DEPTH = 3  # calls from calls whose pointer arguments are followed


def gather_globals(files: Mapping[str, ParsedFile]) -> Globals:
    """Collect what the files of an implementation declare at file scope."""
    objects: dict[str, Declared] = {}
    functions: dict[str, str] = {}
    fields: dict[str, Declared] = {}
    words: dict[str, set[str]] = {}
    for file in files.values():
        pending = [file.tree.root_node]
        while pending:
            node = pending.pop()
            if node.type == "function_definition":
                functions[function_name(node)] = kinds.type_base(node.child_by_field_name("type"))
                words.setdefault(function_name(node), set()).update(_words(node))
            elif node.type == "field_declaration":
                fields |= {d.name: d for d in kinds.declarations(node, "")}
            elif node.type == "declaration":
                objects |= {d.name: d for d in kinds.declarations(node, "")}
            else:
                pending.extend(node.named_children)
    return Globals(objects, functions, fields, exchanging=_exchanging(words))


def _words(function: Node) -> set[str]:
    """Return the names and qualifiers that a function's text holds."""
    leaves = (n for n in walk(function) if not n.children)
    return {(n.text or b"").decode() for n in leaves}


def _exchanging(words: Mapping[str, set[str]]) -> frozenset[str]:
    """Return the functions that hold a shuffle, a barrier or shared memory, or call such a one."""
    marks = ("__shfl", "__sync", "__shared__", "__ballot", "atomic")
    found = {name for name, held in words.items() if any(w.startswith(marks) for w in held)}
    while more := {n for n, held in words.items() if n not in found and held & found}:
        found |= more
    return frozenset(found)


def build_contexts(files: Mapping[str, ParsedFile]) -> dict[str, SourceContext]:
    """Index every file of an implementation, names shared among them."""
    shared = gather_globals(files)
    contexts = {name: SourceContext(file, shared) for name, file in files.items()}
    parameters: dict[str, list[Declared]] = {}
    for context in contexts.values():
        for function in context.nodes("function_definition"):
            parameters[function_name(function)] = context.parameters(function)
    for _ in range(_CALL_DEPTH):
        for context in contexts.values():
            for call in context.nodes("call_expression"):
                name = call_name(call)
                for declared, given in zip(parameters.get(name, ()), arguments(call), strict=False):
                    space = context.space(given) if declared.levels else None
                    if space in (Space.SHARED, Space.GLOBAL, Space.LOCAL):
                        shared.pointees.setdefault((name, declared.name), space)
    return contexts
