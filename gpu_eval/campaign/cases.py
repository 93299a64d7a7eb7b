"""Inputs made ready to run: tensors, the own reference, the truth in fp64."""

from collections import OrderedDict
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

from gpu_eval.campaign.own_draw import seeded
from gpu_eval.campaign.pool import realise
from gpu_eval.campaign.pool_input import PoolInput, derived_seed
from gpu_eval.devices.base import Case
from gpu_eval.problems.definition import Problem

if TYPE_CHECKING:
    from torch import Tensor

CACHE_BYTES = 512 * 2**20
"""How many bytes of ready cases a worker keeps; a demo problem needs about ten MiB."""


class InvalidInputError(Exception):
    """The reference cannot do an input; the message says why."""


@dataclass(frozen=True)
class Prepared:
    """A case with its cost in bytes (inputs, parameters and outputs in their own dtype)."""

    case: Case
    bytes: int


class CaseFactory:
    """Makes the cases of one problem, each once while they fit.

    Parameters
    ----------
    problem : Problem
    torch_device : str
        Where references are computed.
    limit : int
        Bytes of cases to keep; the least recently used go first.
    """

    def __init__(self, problem: Problem, torch_device: str, limit: int = CACHE_BYTES) -> None:
        self._problem = problem
        self._torch_device = torch_device
        self._limit = limit
        self._held = 0
        self._kept: OrderedDict[str, Prepared] = OrderedDict()

    def get(self, pool_input: PoolInput) -> Prepared:
        """Return an input's case.

        Raises
        ------
        InvalidInputError
            If the reference raises, or is non-finite where the truth is finite, or the truth
            lies beyond the range of the output's dtype.
        """
        found = self._kept.get(pool_input.id)
        if found is not None:
            self._kept.move_to_end(pool_input.id)
            return found
        prepared = self._prepare(pool_input)
        self._kept[pool_input.id] = prepared
        # Truth weighs twice its output; the factor 3 covers both references and the tensors.
        self._held += 3 * prepared.bytes
        while self._held > self._limit and len(self._kept) > 1:
            _, dropped = self._kept.popitem(last=False)
            self._held -= 3 * dropped.bytes
        return prepared

    def drop(self, pool_input: PoolInput) -> None:
        """Let go of an input's case, so that it is made anew."""
        dropped = self._kept.pop(pool_input.id, None)
        if dropped is not None:
            self._held -= 3 * dropped.bytes

    def clear(self) -> None:
        """Let go of every case."""
        self._kept.clear()
        self._held = 0

    def reference(self, tensors: Mapping[str, "Tensor"]) -> dict[str, "Tensor"]:
        """Return the benchmark's own outputs, contiguous.

        Raises
        ------
        InvalidInputError
            If the reference raises.
        """
        import torch

        try:
            with torch.no_grad():
                outputs = self._problem.reference(tensors)
        except torch.OutOfMemoryError:
            raise  # says nothing about the input
        except Exception as error:
            reason = " ".join(f"{type(error).__name__}: {error}".split())[:200]
            raise InvalidInputError(f"the reference raises {reason}") from error
        return {name: output.contiguous() for name, output in outputs.items()}

    def _prepare(self, pool_input: PoolInput) -> Prepared:
        tensors = realise(self._problem, pool_input, self._torch_device)
        # A reference that draws at random (dropout in training mode) draws the same again when an
        # interrupted campaign makes the case anew; the truth draws other numbers all the same.
        with seeded(derived_seed("reference", self._problem.id, pool_input.id)):
            reference = self.reference(tensors)
            truth = self.reference({name: _to_double(tensor) for name, tensor in tensors.items()})
        for name, output in reference.items():
            _check_finite(name, output, truth[name])
        size = sum(t.numel() * t.element_size() for t in (*tensors.values(), *reference.values()))
        case = Case(
            case_key(self._problem, pool_input),
            tensors,
            reference,
            truth,
            self._problem.value_of,
        )
        return Prepared(case, size)


def case_key(problem: Problem, pool_input: PoolInput) -> str:
    """Return the name under which a session knows an input of a problem."""
    return f"{problem.id}|{pool_input.id}"


def no_tf32() -> None:
    """Switch TF32 off for references: the policy that the matrix's header states."""
    import torch

    torch.backends.cuda.matmul.allow_tf32 = False
    torch.backends.cudnn.allow_tf32 = False


def _to_double(tensor: "Tensor") -> "Tensor":
    return tensor.double() if tensor.is_floating_point() else tensor


def _check_finite(name: str, reference: "Tensor", truth: "Tensor") -> None:
    import torch

    if not reference.is_floating_point():
        return
    finite = torch.isfinite(truth)
    beyond = finite & (truth.abs() > torch.finfo(reference.dtype).max)
    lost = finite & ~torch.isfinite(reference)
    is_beyond, is_lost = torch.stack([beyond.any(), lost.any()]).tolist()
    if is_beyond:
        raise InvalidInputError(f"the truth of '{name}' lies beyond the range of its dtype")
    if is_lost:
        raise InvalidInputError(f"the reference of '{name}' is non-finite where the truth is not")
