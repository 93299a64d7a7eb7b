"""Which code of a file a launched kernel reaches; faults elsewhere would change nothing."""

from collections.abc import Callable, Iterable, Mapping

from tree_sitter import Node

from gpu_eval.mutation.parser import ParsedFile, walk
from gpu_eval.mutation.tree import function_name

_NAMES = ("identifier", "type_identifier")


def reachable(
    files: Mapping[str, ParsedFile], kernels: Iterable[str]
) -> Callable[[str, int], bool]:
    """Return a test whether an offset of a file, by its name, lies in code that the kernels reach.

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
        return lambda name, offset: True
    reached: set[str] = set()
    while wanted:
        current = wanted.pop()
        reached.add(current)
        for _, node in functions[current]:
            mentioned = {_text(n) for n in walk(node) if n.type in _NAMES}
            wanted |= (mentioned & functions.keys()) - reached
    dead: dict[str, list[tuple[int, int]]] = {name: [] for name in files}
    for function, places in functions.items():
        if function not in reached:
            for file_name, node in places:
                dead[file_name].append((node.start_byte, node.end_byte))
    return lambda name, offset: not any(start <= offset < end for start, end in dead[name])


def _text(node: Node) -> str:
    return (node.text or b"").decode()
