"""What kind of value an expression has, inferred from declarations: CUDA trees carry no types."""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from enum import StrEnum

from tree_sitter import Node

from gpu_eval.mutation.parser import walk


class Kind(StrEnum):
    """What rules need to know of a value."""

    FLOAT = "float"
    INTEGER = "integer"
    BOOL = "bool"
    VECTOR = "vector"  # float4 and its kin
    POINTER = "pointer"  # pointers and arrays
    UNKNOWN = "unknown"


class Space(StrEnum):
    """Where the object that a name stands for lives."""

    LOCAL = "local"
    SHARED = "shared"
    GLOBAL = "global"  # behind a kernel's pointer
    PARAMETER = "parameter"  # a scalar parameter of a kernel or function
    CONSTANT = "constant"  # file scope


FLOATS = frozenset({"float", "double", "half", "__half", "__nv_bfloat16"})
_INTEGERS_NAMES = (
    "int unsigned short long char size_t ptrdiff_t int8_t uint8_t int16_t uint16_t int32_t "
    "uint32_t int64_t uint64_t uintptr_t signed"
)
INTEGERS = frozenset(_INTEGERS_NAMES.split())
WIDE = frozenset({"long", "size_t", "ptrdiff_t", "int64_t", "uint64_t"})
FLOAT_VECTORS = frozenset({"float2", "float3", "float4", "double2"})
INTEGER_VECTORS = frozenset({"int2", "int3", "int4", "uint2", "uint3", "uint4", "dim3"})
BUILTIN_VECTORS = frozenset({"threadIdx", "blockIdx", "blockDim", "gridDim"})
SHUFFLES = frozenset({"__shfl_sync", "__shfl_up_sync", "__shfl_down_sync", "__shfl_xor_sync"})
SAME_AS_ARGUMENTS = frozenset(
    {"min", "max", "abs", "__ldg", "atomicAdd", "atomicMax", "atomicExch"}
)
_FLOAT_FUNCTIONS_NAMES = (
    "expf exp2f exp10f expm1f logf log2f log10f log1pf sqrtf rsqrtf cbrtf powf sinf cosf tanf "
    "sinhf coshf tanhf erff erfcf fabsf fmaxf fminf fmaf fmodf floorf ceilf roundf truncf rintf "
    "copysignf exp log sqrt rsqrt pow tanh erf fabs fmax fmin fma floor ceil __expf __logf "
    "__log2f __sinf __cosf __tanf __powf __fdividef __frcp_rn __frsqrt_rn __fsqrt_rn __fmaf_rn "
    "__fadd_rn __fsub_rn __fmul_rn __fdiv_rn __int_as_float __uint_as_float __half2float "
    "__bfloat162float __saturatef"
)
FLOAT_FUNCTIONS = frozenset(_FLOAT_FUNCTIONS_NAMES.split())
_INTEGER_FUNCTIONS_NAMES = (
    "__float_as_int __float_as_uint __popc __clz __ffs __activemask __ballot_sync "
    "__float2int_rd __float2int_rn __float2int_rz __mul24 __umul24"
)
INTEGER_FUNCTIONS = frozenset(_INTEGER_FUNCTIONS_NAMES.split())


@dataclass(frozen=True, slots=True)
class Declared:
    """What a declaration says of a name.

    ``levels`` counts pointers and array dimensions together; ``value`` is the initialiser.
    """

    name: str
    base: str
    levels: int
    space: Space
    node: Node
    value: Node | None = None
    dimensions: int = 0
    wide: bool = False

    @property
    def kind(self) -> Kind:
        """The kind of the object itself."""
        return Kind.POINTER if self.levels else base_kind(self.base)


def base_kind(base: str) -> Kind:
    """Return the kind of a type that is no pointer, by its name."""
    if base in FLOATS:
        return Kind.FLOAT
    if base in INTEGERS:
        return Kind.INTEGER
    if base == "bool":
        return Kind.BOOL
    if base in FLOAT_VECTORS or base in INTEGER_VECTORS:
        return Kind.VECTOR
    return Kind.UNKNOWN


def type_base(node: Node | None) -> str:
    """Return the base name of a type node: ``int`` for ``unsigned int``, ``long`` if wide."""
    if node is None:
        return ""
    words = _text(node).split()
    if "long" in words:
        return "long"
    if "short" in words or "char" in words:
        return "short"
    if node.type == "sized_type_specifier":
        return "double" if "double" in words else "int"
    return words[-1] if words else ""


def declare(declarator: Node, base: str, space: Space, node: Node) -> Declared | None:
    """Read a declarator down to its name; None for what declares no object."""
    levels, dimensions, value = 0, 0, None
    current: Node | None = declarator
    while current is not None:
        match current.type:
            case "identifier" | "field_identifier":
                wide = base in WIDE
                return Declared(_text(current), base, levels, space, node, value, dimensions, wide)
            case "init_declarator":
                value = current.child_by_field_name("value")
            case "pointer_declarator":
                levels += 1
            case "array_declarator":
                levels, dimensions = levels + 1, dimensions + 1
            case "reference_declarator" | "parenthesized_declarator":
                current = next((c for c in current.named_children), None)
                continue
            case _:
                return None
        current = current.child_by_field_name("declarator")
    return None


def declarations(node: Node, function_kind: str) -> list[Declared]:
    """Return what a declaration, field or parameter declares.

    ``function_kind`` is ``kernel``, ``device`` or empty (file scope); a kernel's pointers are
    global memory.
    """
    base = type_base(node.child_by_field_name("type"))
    words = {
        _text(c) for c in node.children if c.type in ("type_qualifier", "storage_class_specifier")
    }
    if "__shared__" in words:
        space = Space.SHARED
    elif node.type in ("parameter_declaration", "optional_parameter_declaration"):
        space = Space.PARAMETER
    else:
        space = Space.LOCAL if function_kind else Space.CONSTANT
    found = []
    for declarator in node.children_by_field_name("declarator"):
        one = declare(declarator, base, space, node)
        if one is None:
            continue
        if space is Space.PARAMETER and one.levels and function_kind == "kernel":
            one = replace(one, space=Space.GLOBAL)
        if base == "auto" and one.value is not None:
            one = replace(one, base=_auto_base(one.value))
        found.append(one)
    return found


def _auto_base(value: Node) -> str:
    """Return the type that ``auto`` stands for where the initialiser names it."""
    for node in walk(value):
        if node.type == "type_descriptor":
            return type_base(node.child_by_field_name("type"))
    return "auto"


def _text(node: Node) -> str:
    return (node.text or b"").decode()


@dataclass(frozen=True)
class Globals:
    """Names that all files of an implementation share."""

    objects: Mapping[str, Declared] = field(default_factory=dict)
    functions: Mapping[str, str] = field(default_factory=dict)  # name -> base of what it returns
    fields: Mapping[str, Declared] = field(default_factory=dict)  # members of structs
    pointees: dict[tuple[str, str], Space] = field(default_factory=dict)
    """(function, pointer parameter) -> where the memory lives that its callers pass."""
    exchanging: frozenset[str] = frozenset()
    """Functions whose threads exchange values, themselves or in what they call."""
