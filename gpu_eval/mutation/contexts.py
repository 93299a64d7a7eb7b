"""Contexts of all files of an implementation, with the names that they share."""

from collections.abc import Mapping

from gpu_eval.mutation import kinds
from gpu_eval.mutation.kinds import Declared, Globals, Space
from gpu_eval.mutation.parser import ParsedFile
from gpu_eval.mutation.sites import SourceContext
from gpu_eval.mutation.tree import arguments, call_name, function_name

_CALL_DEPTH = 3  # calls from calls whose pointer arguments are followed


def gather_globals(files: Mapping[str, ParsedFile]) -> Globals:
    """Collect what the files of an implementation declare at file scope."""
    objects: dict[str, Declared] = {}
    functions: dict[str, str] = {}
    fields: dict[str, Declared] = {}
    for file in files.values():
        pending = [file.tree.root_node]
        while pending:
            node = pending.pop()
            if node.type == "function_definition":
                functions[function_name(node)] = kinds.type_base(node.child_by_field_name("type"))
            elif node.type == "field_declaration":
                fields |= {d.name: d for d in kinds.declarations(node, "")}
            elif node.type == "declaration":
                objects |= {d.name: d for d in kinds.declarations(node, "")}
            else:
                pending.extend(node.named_children)
    return Globals(objects, functions, fields)


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
