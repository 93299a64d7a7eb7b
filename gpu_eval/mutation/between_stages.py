"""Which rules make the faults between the stages of a fused kernel or of several launches."""

from collections.abc import Mapping
from types import MappingProxyType

BETWEEN_STAGES: Mapping[str, tuple[str, ...]] = MappingProxyType(
    {
        "a stage left out": (
            "function-left-out",
            "element-stage-left-out",
            "launch-bypassed",
            "stage-left-out",
            "clamp-removed",
            "launch-left-out",
        ),
        "two stages in the wrong order": (
            "function-order-swapped",
            "calls-exchanged",
            "epilogue-order-swapped",
            "launch-order-swapped",
            "update-order-swapped",
        ),
        "an epilogue along the wrong axis": (
            "read-along-other-axis",
            "read-first-element",
            "division-modulo-swapped",
        ),
        "a bias or scale never read": (
            "element-stage-left-out",
            "parameter-unread",
            "stage-left-out",
            "term-dropped",
        ),
        "a residual or operand of the wrong tensor": (
            "read-other-tensor",
            "launch-tensor-of-equal-size",
            "launch-pointer-aliased",
            "launch-pointers-swapped",
        ),
        "statistics of the wrong group": (
            "statistics-of-other-group",
            "read-plus-one",
            "stride-of-other-extent",
        ),
        "half precision between stages": (
            "result-fp16",
            "result-bf16",
            "store-fp16",
            "store-bf16",
            "load-fp16",
            "load-bf16",
        ),
    }
)
"""A kind of fault -> the rules that make it, those that look for stages first."""


def between_stages() -> str:
    """Return the section of ``docs/rules.md`` on these faults."""
    lines = [
        "## Faults between stages",
        "",
        "A fused kernel is a chain of stages: a product or convolution, an epilogue, a norm. What "
        "goes wrong where one ends and the next begins, in the kernel or in the launch plan:",
        "",
        "| fault | rules |",
        "|---|---|",
        *(f"| {fault} | {', '.join(rules)} |" for fault, rules in BETWEEN_STAGES.items()),
    ]
    return "\n".join(lines) + "\n"
