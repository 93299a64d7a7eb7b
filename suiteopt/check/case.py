"""A configuration, as the referee holds it."""

from dataclasses import dataclass
from typing import Any

from suiteopt.check.wire import describe, size_of
from suiteopt.export.templates.hardened_inputs import flattened


class CannotJudgeError(Exception):
    """A configuration that says nothing of a candidate, and why."""


@dataclass(frozen=True)
class Case:
    """A configuration: inputs, what a right kernel returns, and the parameters it has then.

    ``parameters`` are all of the reference's; ``required`` names those that the member sets.
    """

    inputs: list[Any]
    expected: list[Any]
    parameters: dict[str, Any]
    required: list[str]

    @property
    def bytes(self) -> int:
        """Bytes of inputs and expected outputs."""
        return size_of([describe(tensor) for tensor in (*flattened(self.inputs), *self.expected)])
