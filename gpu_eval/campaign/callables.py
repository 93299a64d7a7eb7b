"""What torch controls and null mutants give on an input."""

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from gpu_eval.campaign.tasks import Subject
from gpu_eval.devices.base import Case
from gpu_eval.problems.definition import Problem, Tensors
from gpu_eval.problems.nulls import NULLS
from suiteopt.matrix.schema import Kind

if TYPE_CHECKING:
    from torch import Tensor

TOGETHER = 8
"""Callables whose outputs are judged at the same time: each wait for a shared GPU takes
milliseconds, whatever it is for."""

TOGETHER_BYTES = 1 << 29
"""What the outputs of callables that are judged at the same time take together."""


class Callables:
    """The controls and null mutants of a problem that are functions of tensors.

    Parameters
    ----------
    problem : Problem

    Attributes
    ----------
    previous : mapping of str to Tensor, or None
        What a caching allocator would hand the next call: the right answer to the last one.
    """

    def __init__(self, problem: Problem) -> None:
        self._controls = {control.name: control for control in problem.controls}
        self._nulls = {null.name: null for null in NULLS}
        self.previous: Tensors | None = None

    def outputs(self, subject: Subject, case: Case) -> "dict[str, Tensor]":
        """Return what one of them gives, contiguous."""
        if subject.kind == Kind.NULL:
            null = self._nulls[subject.name]
            return null.outputs(case.tensors, case.reference, self.previous)
        import torch

        run = self._controls[subject.name].run
        assert run is not None
        with torch.no_grad():
            outputs = run(case.tensors)
        return {name: output.contiguous() for name, output in outputs.items()}


def is_callable(subject: Subject) -> bool:
    """Tell whether an implementation is a function of tensors, and nothing to launch."""
    return subject.binary is None or subject.plan is None


def in_company(rows: Sequence[int], case: Case) -> Iterator[Sequence[int]]:
    """Divide callables into those whose outputs on a case are judged at the same time."""
    each = sum(output.numel() * output.element_size() for output in case.reference.values())
    most = max(1, min(TOGETHER, TOGETHER_BYTES // max(each, 1)))
    for start in range(0, len(rows), most):
        yield rows[start : start + most]
