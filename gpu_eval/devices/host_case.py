"""A case of the host device: its tensors in an arena, its references beside it."""

import ctypes
from collections import OrderedDict
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from gpu_eval.devices.base import Case
from gpu_eval.devices.host_arguments import BoundPlan
from gpu_eval.devices.host_library import BufferRole, BufferSpecification
from gpu_eval.devices.integer_outputs import has_integer_outputs
from gpu_eval.problems.plan import ResolvedPlan
from suiteopt.errors import UserError

if TYPE_CHECKING:
    from torch import Tensor


class Arena:
    """Buffers in the library's memory, each between slack and guards.

    Parameters
    ----------
    library : ctypes.CDLL
    specifications : list of BufferSpecification

    Attributes
    ----------
    handle : int or None
        None once it has been freed.
    addresses : dict of str to int
    bytes : int
        Of the buffers alone.

    Raises
    ------
    UserError
        If there is no memory or address space.
    """

    def __init__(self, library: ctypes.CDLL, specifications: list[BufferSpecification]) -> None:
        self._library = library
        array = (BufferSpecification * max(1, len(specifications)))(*specifications)
        self.handle: int | None = library.hostgpu_arena(array, len(specifications))
        if not self.handle:
            raise UserError(
                f"the host device is out of memory: {library.hostgpu_error().decode()}; "
                "run with smaller shapes or lift the limit on address space (ulimit -v)"
            )
        self.addresses = {
            s.name.decode(): int(library.hostgpu_address(self.handle, i))
            for i, s in enumerate(specifications)
        }
        self.bytes = sum(s.bytes for s in specifications)

    def free(self) -> None:
        """Unmap everything; what points into it must not be used again."""
        if self.handle:
            self._library.hostgpu_arena_free(self.handle)
            self.handle = None


@dataclass
class BoundCase:
    """A case in its arena. Outputs come after inputs, in the order of the reference.

    Attributes
    ----------
    case, arena : Case, Arena
    references, truths : dict of str to Tensor
        What the library compares with, on the CPU.
    integers : bool
        Whether the outputs are integers, which `gpu_eval.devices.integer_outputs` judges.
    """

    case: Case
    arena: Arena
    references: dict[str, "Tensor"]
    truths: dict[str, "Tensor"]
    integers: bool = False
    plans: OrderedDict[tuple[str, str, ResolvedPlan], tuple[BoundPlan, Arena | None]] = field(
        default_factory=OrderedDict
    )

    def free(self) -> None:
        """Free the arena and forget the plans that point into it."""
        self.plans.clear()
        self.arena.free()


def bind_case(library: ctypes.CDLL, case: Case) -> BoundCase:
    """Copy a case's inputs into an arena and check that its outputs can be judged.

    Raises
    ------
    UserError
        If an output is neither float32 nor an integer of 4 or 8 bytes, its truth does not fit, or
        two tensors share a name.
    """
    import torch

    integers = has_integer_outputs(case)
    tensors = {name: on_cpu(tensor) for name, tensor in case.tensors.items()}
    references = {name: on_cpu(tensor) for name, tensor in case.reference.items()}
    truths = {name: on_cpu(tensor) for name, tensor in case.truth.items()}
    for name, reference in references.items():
        truth = truths.get(name)
        judged = (torch.int32, torch.int64) if integers else (torch.float32,)
        if reference.dtype not in judged:
            raise UserError(
                f"output '{name}' has dtype {dtype_name(reference)}; the host device judges "
                "float32, int32 and int64 outputs only"
            )
        wanted = reference.dtype if integers else torch.float64
        if truth is None or truth.dtype != wanted or truth.shape != reference.shape:
            article = "an int" if integers else "a float"
            bits = 8 * wanted.itemsize
            raise UserError(f"output '{name}' needs {article}{bits} truth of the reference's shape")
        if integers:
            # The library sees words; what they are worth is judged outside, so that this truth
            # only has to be as long as they are.
            truths[name] = torch.zeros(_bytes(reference) // 4, dtype=torch.float64)
        if name in tensors:
            raise UserError(f"'{name}' is the name of both an input and an output")
    specifications = [
        BufferSpecification(
            name.encode(), BufferRole.INPUT, _bytes(tensor), tensor.data_ptr(), None, None
        )
        for name, tensor in tensors.items()
    ]
    specifications += [
        BufferSpecification(
            name.encode(),
            BufferRole.OUTPUT,
            _bytes(reference),
            None,
            reference.data_ptr(),
            truths[name].data_ptr(),
        )
        for name, reference in references.items()
    ]
    return BoundCase(case, Arena(library, specifications), references, truths, integers)


def on_cpu(tensor: "Tensor") -> "Tensor":
    """Return the tensor contiguous and on the CPU."""
    return tensor.detach().to("cpu").contiguous()


def _bytes(tensor: "Tensor") -> int:
    return int(tensor.numel() * tensor.element_size())


def dtype_name(tensor: "Tensor") -> str:
    """Return a tensor's dtype as its plain name."""
    return str(tensor.dtype).removeprefix("torch.")


def shown(tensor: "Tensor") -> str:
    """Return a tensor's dtype and shape for a message."""
    return f"{dtype_name(tensor)} of shape {tuple(tensor.shape)}"
