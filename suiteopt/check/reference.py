"""The problem's own model: what it drew, and what it gives with that or a member's parameters."""

import contextlib
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from suiteopt.check.answering import sentence
from suiteopt.check.case import CannotJudgeError
from suiteopt.check.definition import build, init_arguments
from suiteopt.export.templates.hardened_inputs import Member, flattened, named_tensors


class ReferenceModel:
    """A reference, built as its definition says.

    Parameters
    ----------
    namespace : mapping of str to object
        Of the definition, executed.
    device : str

    Attributes
    ----------
    drawn : dict of str to Tensor
        The parameters that its constructor drew, on the CPU.
    """

    def __init__(self, namespace: dict[str, Any], device: str) -> None:
        self._device = device
        self._model = build(namespace["Model"], init_arguments(namespace, device), device)
        self.drawn = {
            name: parameter.detach().cpu().clone()
            for name, parameter in self._model.named_parameters()
        }

    @property
    def shapes(self) -> dict[str, list[int]]:
        """Shapes of parameters and buffers, by name."""
        return {name: list(t.shape) for name, t in named_tensors(self._model).items()}

    def parameter(self, wanted: str, member: Member) -> tuple[str, Any]:
        """Return the parameter that a member means, with its full name."""
        return member.parameter(self._model, wanted)

    @contextlib.contextmanager
    def given(self, values: Mapping[str, Any]) -> Iterator[None]:
        """Give the reference a member's parameters for a while."""
        import torch

        known = named_tensors(self._model)
        former = {name: known[name].detach().clone() for name in values}
        with torch.no_grad():
            for name, tensor in values.items():
                known[name].copy_(tensor)
            try:
                yield
            finally:
                for name, tensor in former.items():
                    known[name].copy_(tensor)

    def expected(self, inputs: Sequence[Any], seed: int, *, tf32: bool) -> list[Any]:
        """Return what the reference gives, on the CPU.

        Raises
        ------
        CannotJudgeError
            If it fails.
        """
        import torch

        torch.backends.cudnn.allow_tf32 = tf32
        # Copies: a reference may work in place, and a candidate gets what the reference got.
        moved = [v.to(self._device, copy=True) if torch.is_tensor(v) else v for v in inputs]
        try:
            with torch.no_grad():
                torch.manual_seed(seed)
                return [tensor.cpu() for tensor in flattened(self._model(*moved))]
        except Exception as error:
            raise CannotJudgeError(f"the reference fails: {sentence(error)}") from error
        finally:
            if self._device != "cpu":
                torch.cuda.empty_cache()
