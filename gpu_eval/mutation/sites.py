"""What rules see of a source file: nodes by type, kinds of expressions, edits by byte range."""

from collections import defaultdict
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from tree_sitter import Node

from gpu_eval.mutation import kinds
from gpu_eval.mutation.inference import infer
from gpu_eval.mutation.kinds import Declared, Globals, Kind, Space
from gpu_eval.mutation.opaque import OPAQUE, skipped_children
from gpu_eval.mutation.parser import ParsedFile
from gpu_eval.mutation.tree import arguments, call_name, function_name, is_kernel

LOOPS = ("for_statement", "while_statement", "do_statement")
_SCOPES = (*LOOPS, "compound_statement", "function_definition", "lambda_expression", "if_statement")
_DECLARATIONS = ("declaration", "parameter_declaration", "optional_parameter_declaration")
_TIGHT_PARENTS = (
    "binary_expression unary_expression cast_expression pointer_expression subscript_expression "
    "field_expression conditional_expression"
)
_ATOM_TYPES = (
    "identifier number_literal call_expression subscript_expression field_expression "
    "parenthesized_expression true false"
)
_CLOSED_PARENTS = frozenset(_TIGHT_PARENTS.split())
_ATOMS = frozenset(_ATOM_TYPES.split())


@dataclass(frozen=True, slots=True, order=True)
class Edit:
    """One replacement: the bytes from ``start`` to ``end`` become ``after``."""

    start: int
    end: int
    after: str


class SourceContext:
    """One parsed file, indexed once for all rules.

    Only code that a fault may touch is indexed: bodies of macros, conditions of the preprocessor,
    types, template lists, array sizes and static assertions are not.

    Parameters
    ----------
    file : ParsedFile
    shared : Globals
        Names declared at file scope, here or in the other files of the implementation.
    """

    def __init__(self, file: ParsedFile, shared: Globals) -> None:
        self.file = file
        self.globals = shared
        self._nodes: dict[str, list[Node]] = defaultdict(list)
        self._parents: dict[int, Node] = {}
        self._scopes: dict[int, dict[str, Declared]] = defaultdict(dict)
        self._kinds: dict[int, Kind] = {}
        self._index(file.tree.root_node, "")

    def _index(self, node: Node, function_kind: str) -> None:
        if node.type == "function_definition":
            function_kind = "kernel" if is_kernel(node) else "device"
        elif node.type == "lambda_expression":
            function_kind = "device"
        if node.type in _DECLARATIONS and function_kind:
            for declared in kinds.declarations(node, function_kind):
                self._scopes[self._scope_id(node)][declared.name] = declared
        self._nodes[node.type].append(node)
        skipped = skipped_children(node)
        for child in node.children:
            self._parents[child.id] = node
            if child.type not in OPAQUE and child.id not in skipped:
                self._index(child, function_kind)

    def _scope_id(self, node: Node) -> int:
        return next((a.id for a in self.ancestors(node) if a.type in _SCOPES), 0)

    # -- the tree ---------------------------------------------------------------------------

    def nodes(self, *types: str) -> list[Node]:
        """Return the indexed nodes of these types in source order."""
        found = [node for kind in types for node in self._nodes.get(kind, ())]
        return sorted(found, key=lambda n: (n.start_byte, -n.end_byte)) if len(types) > 1 else found

    def parent(self, node: Node) -> Node | None:
        """Return the node directly above."""
        return self._parents.get(node.id)

    def ancestors(self, node: Node) -> Iterator[Node]:
        """Yield the nodes above, the nearest first."""
        above = self._parents.get(node.id)
        while above is not None:
            yield above
            above = self._parents.get(above.id)

    def function(self, node: Node) -> Node | None:
        """Return the function definition around a node."""
        return next((a for a in self.ancestors(node) if a.type == "function_definition"), None)

    def loops(self, node: Node) -> list[Node]:
        """Return the loops around a node, innermost first."""
        return [a for a in self.ancestors(node) if a.type in LOOPS]

    def text(self, node: Node) -> str:
        """Return the source text of a node."""
        return self.file.text(node.start_byte, node.end_byte)

    def inside(self, node: Node, outer: Node) -> bool:
        """Return whether a node lies inside another (or is it)."""
        return outer.start_byte <= node.start_byte and node.end_byte <= outer.end_byte

    # -- names and kinds --------------------------------------------------------------------

    def lookup(self, identifier: Node) -> Declared | None:
        """Return the declaration that a name refers to."""
        name = self.text(identifier)
        for above in self.ancestors(identifier):
            declared = self._scopes.get(above.id, {}).get(name)
            if declared is not None:
                return declared
        return self.globals.objects.get(name)

    def visible(self, node: Node) -> dict[str, Declared]:
        """Return the local names visible at a node, the nearest declaration of each."""
        found: dict[str, Declared] = {}
        for above in self.ancestors(node):
            for name, declared in self._scopes.get(above.id, {}).items():
                if declared.node.start_byte < node.start_byte:
                    found.setdefault(name, declared)
        return found

    def parameters(self, function: Node) -> list[Declared]:
        """Return the parameters of a function, in order."""
        names = self._scopes.get(function.id, {}).values()
        return [d for d in names if d.space in (Space.PARAMETER, Space.GLOBAL)]

    def integer_parameters(self, node: Node) -> list[str]:
        """Return the names of the integer parameters of the function around a node, in order."""
        function = self.function(node)
        if function is None:
            return []
        return [d.name for d in self.parameters(function) if d.kind is Kind.INTEGER]

    def root(self, node: Node) -> Node | None:
        """Return the identifier that an lvalue or pointer expression starts from."""
        match node.type:
            case "identifier":
                return node
            case "subscript_expression" | "field_expression" | "pointer_expression":
                inner = node.child_by_field_name("argument")
                return self.root(inner) if inner is not None else None
            case "parenthesized_expression":
                return self.root(node.named_children[0]) if node.named_children else None
            case "cast_expression":
                value = node.child_by_field_name("value")
                return self.root(value) if value is not None else None
            case "call_expression" if call_name(node) in ("reinterpret_cast", "static_cast"):
                inner_arguments = arguments(node)
                return self.root(inner_arguments[0]) if inner_arguments else None
            case "binary_expression":
                sides = [node.child_by_field_name(f) for f in ("left", "right")]
                pointers = [s for s in sides if s is not None and self.kind(s) is Kind.POINTER]
                return self.root(pointers[0]) if len(pointers) == 1 else None
        return None

    def space(self, node: Node) -> Space | None:
        """Return where the object of an lvalue lives; local pointers are followed."""
        return self._space(node, 0)

    def _space(self, node: Node, depth: int) -> Space | None:
        name = self.root(node)
        declared = self.lookup(name) if name is not None else None
        if declared is None or depth > 8:
            return None
        if declared.space is Space.PARAMETER and declared.levels:
            function = self.function(name) if name is not None else None
            key = (function_name(function) if function is not None else "", declared.name)
            return self.globals.pointees.get(key, Space.PARAMETER)
        local_pointer = declared.levels > declared.dimensions and declared.space is Space.LOCAL
        if local_pointer and declared.value is not None:
            return self._space(declared.value, depth + 1) or declared.space
        return declared.space

    def kind(self, node: Node | None) -> Kind:
        """Return the kind of an expression's value."""
        if node is None:
            return Kind.UNKNOWN
        if node.id not in self._kinds:
            self._kinds[node.id] = Kind.UNKNOWN  # while it refers to itself
            self._kinds[node.id] = infer(self, node)
        return self._kinds[node.id]

    def is_float(self, node: Node | None) -> bool:
        """Return whether an expression is known to be a floating-point number."""
        return self.kind(node) is Kind.FLOAT

    def is_integer(self, node: Node | None) -> bool:
        """Return whether an expression is known to be an integer."""
        return self.kind(node) is Kind.INTEGER

    # -- edits ------------------------------------------------------------------------------

    def substitute(self, site: Node, replacements: Mapping[Node, str]) -> str:
        """Return the text of a node with some of the nodes below it replaced."""
        pieces, position = [], site.start_byte
        for node in sorted(replacements, key=lambda n: n.start_byte):
            pieces.append(self.file.text(position, node.start_byte))
            pieces.append(replacements[node])
            position = node.end_byte
        pieces.append(self.file.text(position, site.end_byte))
        return "".join(pieces)

    def edit(self, site: Node, after: str, *, atomic: bool = True) -> Edit:
        """Return the edit that replaces a node.

        With ``atomic`` False the new text binds more loosely than the old one may have, and is
        put in parentheses where it stands inside a larger expression.
        """
        above = self.parent(site)
        if not atomic and above is not None and above.type in _CLOSED_PARENTS:
            index = above.type == "subscript_expression" and above.children[0].id != site.id
            after = after if index else f"({after})"
        return Edit(site.start_byte, site.end_byte, after)

    def swap(self, site: Node, replacements: Mapping[Node, str]) -> Edit:
        """Return the edit of a node in which some nodes below it are replaced."""
        return Edit(site.start_byte, site.end_byte, self.substitute(site, replacements))

    def wrapped(self, node: Node) -> str:
        """Return the text of an expression, in parentheses where it needs them in a product."""
        text = self.text(node)
        return text if node.type in _ATOMS else f"({text})"
