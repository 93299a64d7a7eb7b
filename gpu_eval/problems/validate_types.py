"""Refusing definitions whose fields are not of their types, before anything computes with them."""

from collections.abc import Mapping
from types import MappingProxyType
from typing import Any

from gpu_eval.problems.definition import (
    Control,
    Dimension,
    DimensionKind,
    ParameterSpec,
    Problem,
    Structure,
    Substrate,
    TensorSpec,
)
from gpu_eval.problems.locate import Definition
from suiteopt.matrix.schema import OperationClass

_WORDS: Mapping[type, str] = MappingProxyType(
    {str: "text", int: "an integer", bool: "True or False"}
)

_TUPLES: Mapping[str, type] = MappingProxyType(
    {
        "dimensions": Dimension,
        "inputs": TensorSpec,
        "outputs": TensorSpec,
        "parameters": ParameterSpec,
        "substrates": Substrate,
        "controls": Control,
    }
)
_FIELDS: Mapping[type, Mapping[str, type]] = MappingProxyType(
    {
        Problem: {
            "benchmark": str,
            "level": int,
            "name": str,
            "operation_class": OperationClass,
            "reduction_length": str,
            "work": str,
            "held": str,
            "rounds": bool,
        },
        Dimension: {
            "name": str,
            "size": int,
            "kind": DimensionKind,
            "tile": int,
            "minimum": int,
        },
        TensorSpec: {"name": str, "dtype": str, "structure": Structure},
        ParameterSpec: {"name": str},
        Substrate: {"name": str, "source": str},
        Control: {"name": str, "kind": str},
    }
)


def check_types(problem: Problem, definition: Definition) -> None:
    """Check what a problem is made of, part by part.

    Raises
    ------
    UserError
        At the first field that is of another type.
    """
    _check_fields(problem, Problem, "the problem", definition)
    for field, wanted in _TUPLES.items():
        parts = getattr(problem, field)
        if not isinstance(parts, tuple | list):
            raise definition.error(f"'{field}' is {parts!r}; give a tuple", field)
        for part in parts:
            if not isinstance(part, wanted):
                raise definition.error(
                    f"'{field}' holds {part!r}; give one {wanted.__name__}(...) each", field
                )
            _check_fields(part, wanted, f"a {wanted.__name__}", definition)


def _check_fields(part: Any, declared: type, what: str, definition: Definition) -> None:
    for field, wanted in _FIELDS[declared].items():
        value = getattr(part, field)
        # True is an int to Python, and no size.
        if not isinstance(value, wanted) or (wanted is int and isinstance(value, bool)):
            name = str(getattr(part, "name", ""))
            words = _WORDS.get(wanted, f"a member of {wanted.__name__}")
            raise definition.error(
                f"{field} of {what} is {value!r}; it must be {words}", name, declared.__name__
            )
