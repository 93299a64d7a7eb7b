"""What no fault may touch in a source: types, macros, attributes, sizes, conditions of macros."""

from tree_sitter import Node

_OPAQUE_TYPES = (
    "preproc_def preproc_function_def preproc_call preproc_include launch_bounds comment "
    "static_assert_declaration template_parameter_list template_argument_list type_descriptor "
    "field_declaration_list enumerator_list gnu_asm_expression attribute_declaration "
    "alignas_qualifier type_qualifier"
)
OPAQUE = frozenset(_OPAQUE_TYPES.split())
"""Types of nodes that are not looked into."""

_SKIPPED_FIELDS = {
    "array_declarator": ("size",),
    "preproc_if": ("condition",),
    "preproc_elif": ("condition",),
    "preproc_ifdef": ("name",),
    "case_statement": ("value",),
}


def skipped_children(node: Node) -> set[int]:
    """Return the children of a node that no fault may touch."""
    found = (node.child_by_field_name(name) for name in _SKIPPED_FIELDS.get(node.type, ()))
    return {child.id for child in found if child is not None}
