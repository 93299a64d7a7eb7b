"""A case on a CUDA device, and its references as the comparison reads them."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from gpu_eval.devices.base import Case
from gpu_eval.devices.integer_outputs import has_integer_outputs
from gpu_eval.problems.plan import ResolvedPlan
from suiteopt.errors import UserError

if TYPE_CHECKING:
    from torch import Tensor


@dataclass(frozen=True)
class BoundCase:
    """A case whose tensors lie on the device.

    Integer outputs are compared as pairs of words, which finds what was not written and hashes
    the bits; `gpu_eval.devices.integer_outputs` says what they are worth.
    """

    case: Case
    integers: bool
    words: "Mapping[str, Tensor]"
    word_truth: "Mapping[str, Tensor]"

    @property
    def inputs(self) -> "Mapping[str, Tensor]":
        """Inputs and parameters."""
        return self.case.tensors

    @property
    def reference(self) -> "Mapping[str, Tensor]":
        """Outputs of the benchmark's own reference."""
        return self.case.reference

    @property
    def tensors(self) -> "list[Tensor]":
        """Everything that lies on the device, each tensor once."""
        groups = (self.case.tensors, self.case.reference, self.case.truth, self.word_truth)
        return list({t.data_ptr(): t for group in groups for t in group.values()}.values())

    @property
    def nbytes(self) -> int:
        """How many bytes they take."""
        return sum(nbytes(tensor) for tensor in self.tensors)

    def sizes(self, plan: ResolvedPlan) -> dict[str, int]:
        """Return the bytes of every buffer that a run of a plan needs, by name."""
        sizes = {name: nbytes(tensor) for name, tensor in self.inputs.items()}
        sizes |= {name: nbytes(tensor) for name, tensor in self.reference.items()}
        return sizes | {w.name: w.elements * 4 for w in plan.workspaces}


def on_device(case: Case) -> BoundCase:
    """Copy a case's tensors to the device, those that are not there.

    Raises
    ------
    UserError
        If an output has a dtype that is not judged.
    """
    inputs = {name: upload(tensor) for name, tensor in case.tensors.items()}
    reference = {name: upload(tensor) for name, tensor in case.reference.items()}
    truth = {name: upload(tensor) for name, tensor in case.truth.items()}
    integers = has_integer_outputs(case)
    if not integers:
        truth = {name: tensor.double() for name, tensor in truth.items()}
    return bound(replace(case, tensors=inputs, reference=reference, truth=truth), integers)


def bound(case: Case, integers: bool) -> BoundCase:
    """Return a case that lies where it is run, ready to compare."""
    import torch

    if not integers:
        return BoundCase(case, integers, dict(case.reference), dict(case.truth))
    words = {n: t.reshape(-1).view(torch.float32) for n, t in case.reference.items()}
    # Whatever the words are as floats, what is said of them as floats is thrown away.
    zeros = {n: torch.zeros_like(w, dtype=torch.float64) for n, w in words.items()}
    return BoundCase(case, integers, words, zeros)


def check_dtypes(case: Case) -> None:
    """Refuse outputs that are not judged.

    Raises
    ------
    UserError
        If one is neither float32 nor integer.
    """
    if has_integer_outputs(case):
        return
    for name, tensor in case.reference.items():
        if str(tensor.dtype) != "torch.float32":
            raise UserError(
                f"output '{name}' is {tensor.dtype}; the cuda device judges float32 and integers"
            )


def upload(tensor: "Tensor") -> "Tensor":
    """Return a contiguous copy on the device, or the tensor itself where it is one."""
    return tensor.detach().contiguous().to("cuda")


def nbytes(tensor: "Tensor") -> int:
    """Return the bytes of a tensor's buffer: whole words."""
    return -(-tensor.numel() * tensor.element_size() // 4) * 4
