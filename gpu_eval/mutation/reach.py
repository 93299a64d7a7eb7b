"""Which code of a file a launched kernel reaches; faults elsewhere would change nothing."""

from collections.abc import Callable, Iterable, Mapping

from tree_sitter import Node

from gpu_eval.mutation.parser import ParsedFile, walk
from gpu_eval.mutation.tree import function_name


def reachable(
    files: Mapping[str, ParsedFile], kernels: Iterable[str], name: str
) -> Callable[[int], bool]:
    """Return a test whether an offset of a file lies in code that the kernels reach.

    Reaching goes by names: a function is reached if a reached one mentions its name. Code outside
    functions always counts; so does everything if a kernel's definition is not in sight.
    """
    functions: dict[str, list[tuple[str, Node]]] = {}
    for file_name, file in files.items():
        for node in walk(file.tree.root_node):
            if node.type == "function_definition":
                functions.setdefault(function_name(node), []).append((file_name, node))
    wanted = set(kernels)
    if not wanted <= functions.keys():
        return lambda offset: True
    reached: set[str] = set()
    while wanted:
        current = wanted.pop()
        reached.add(current)
        for _, node in functions[current]:
            mentioned = {_text(n) for n in walk(node) if n.type == "identifier"}
            mentioned |= {_text(n) for n in walk(node) if n.type == "type_identifier"}
            wanted |= (mentioned & functions.keys()) - reached
    dead = [
        (node.start_byte, node.end_byte)
        for function, places in functions.items()
        for file_name, node in places
        if file_name == name and function not in reached
    ]
    return lambda offset: not any(start <= offset < end for start, end in dead)


def _text(node: Node) -> str:
    return (node.text or b"").decode()
