"""A job for `gpu_eval.devices.sanitized`, written to a directory."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from gpu_eval.compilation.labelled import Labelled
from gpu_eval.devices.sanitized import JOB, PROGRESS
from gpu_eval.problems.plan import ArgumentType, ResolvedLaunch, ResolvedPlan

if TYPE_CHECKING:
    from torch import Tensor

CODES = {
    ArgumentType.POINTER: "P",
    ArgumentType.INT32: "i",
    ArgumentType.INT64: "q",
    ArgumentType.FLOAT: "f",
}
"""How pycuda calls the types of arguments."""


@dataclass(frozen=True)
class SanitizerSubject:
    """An implementation to be watched.

    Attributes
    ----------
    number : int
        The one it was compiled under.
    labelled : Labelled
    plan : ResolvedPlan
    """

    number: int
    labelled: Labelled
    plan: ResolvedPlan


class JobDirectory:
    """The files of one input and of the implementations that run on it.

    Parameters
    ----------
    path : Path
        An empty directory.
    tensors : mapping of str to Tensor
        Inputs and parameters, on the CPU.
    outputs : mapping of str to int
        Bytes of each output.
    ordinal : int
        Which GPU.
    """

    def __init__(
        self,
        path: Path,
        tensors: "Mapping[str, Tensor]",
        outputs: Mapping[str, int],
        ordinal: int = 0,
    ) -> None:
        import torch

        self.path = path
        self._ordinal = ordinal
        self._buffers: dict[str, dict[str, Any]] = {}
        for index, (name, tensor) in enumerate(tensors.items()):
            content = tensor.detach().contiguous().reshape(-1).view(torch.uint8).numpy()
            file = f"input-{index}.bin"
            content.tofile(path / file)
            self._buffers[name] = {"bytes": content.nbytes, "file": file}
        for name, size in outputs.items():
            self._buffers[name] = {"bytes": size}

    @property
    def progress(self) -> Path:
        """Where the program says how far it is."""
        return self.path / PROGRESS

    def write(self, subjects: Sequence[SanitizerSubject]) -> None:
        """Write down what is to be run, and forget how far an earlier run came."""
        self.progress.unlink(missing_ok=True)
        job = {
            "ordinal": self._ordinal,
            "buffers": self._buffers,
            "subjects": [self._described(subject) for subject in subjects],
        }
        (self.path / JOB).write_text(json.dumps(job))

    def _described(self, subject: SanitizerSubject) -> dict[str, Any]:
        file = f"{subject.number}.cubin"
        if not (self.path / file).exists():
            (self.path / file).write_bytes(subject.labelled.cubin)
        workspaces = {
            w.name: {"bytes": max(w.elements, 0) * 4, "zeroed": w.zeroed}
            for w in subject.plan.workspaces
        }
        launches = [_launch(launch, subject.labelled) for launch in subject.plan.launches]
        return {
            "number": subject.number,
            "cubin": file,
            "workspaces": workspaces,
            "launches": launches,
        }


def _launch(launch: ResolvedLaunch, labelled: Labelled) -> dict[str, Any]:
    return {
        "kernel": labelled.names[launch.kernel],
        "grid": launch.grid,
        "block": launch.block,
        "shared": launch.shared,
        "codes": "".join(CODES[argument.type] for argument in launch.arguments),
        "values": [argument.value for argument in launch.arguments],
    }
