"""The candidate's process: executes a candidate's file and runs it on inputs that others made.

Run as ``python -m suiteopt.check.runner FD``. Whatever the candidate does to this process, all that
leaves it are the bytes of its outputs. The candidate sees what it sees in its benchmark: the
definition's namespace, arguments and weights drawn under the seed 42, training mode, no gradients.
"""

import contextlib
import os
import resource
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from suiteopt.check.answering import Answer, serve
from suiteopt.check.definition import build, execute, init_arguments, new_namespace
from suiteopt.check.wire import checked, describe, read, size_of, write
from suiteopt.export.templates.hardened_inputs import match_parameter, named_tensors

SMALLEST_FILE = 1 << 30
"""Bytes that a file may have at least: compilers leave large ones."""


class ParameterMismatchError(Exception):
    """A parameter of the reference that the candidate does not have for certain."""


class Runner:
    """A candidate, loaded once and run on one configuration after another."""

    def __init__(self) -> None:
        self._model: Any = None
        self._device = "cpu"

    def answer(self, request: Mapping[str, Any]) -> Answer:
        """Do what a request asks: ``load`` or ``run``."""
        return self._load(request) if request["op"] == "load" else self._run(request)

    def _load(self, request: Mapping[str, Any]) -> Answer:
        self._device = request["device"]
        _limit(self._device, int(request["file_bytes"]))
        namespace = new_namespace("suiteopt_candidate")
        execute(Path(request["reference"]), namespace)
        arguments = init_arguments(namespace, self._device)
        execute(Path(request["candidate"]), namespace)
        if "ModelNew" not in namespace:
            return {"error": "it defines no class ModelNew"}
        self._model = build(namespace["ModelNew"], arguments, self._device)
        return {"loaded": True}

    def _run(self, request: Mapping[str, Any]) -> Answer:
        import torch

        torch.backends.cudnn.allow_tf32 = bool(request["tf32"])
        inputs = _given(request["inputs"], self._device)
        try:
            pairs = self._parameters(request["parameters"])
        except ParameterMismatchError as error:
            return {"parameters": str(error)}
        with torch.no_grad(), _set_for_a_while(pairs):
            torch.manual_seed(request["seed"])
            tensors = _flat(self._model(*inputs))
            if self._device != "cpu":
                torch.cuda.synchronize()
            header = [describe(tensor) for tensor in tensors]
            # What is far too large cannot be right, and its header says so.
            if size_of(checked(header)) <= request["most_bytes"]:
                write(Path(request["output"]), tensors)
        lacks = bool(request["parameters"]["required"]) and not pairs
        return {"outputs": header, "bare": lacks}

    def _parameters(self, given: Mapping[str, Any]) -> list[tuple[Any, Any]]:
        """Return what the member sets, with its values; set now what the benchmark draws."""
        import torch

        names = given["names"]
        if not names:
            return []
        values = read(Path(given["file"]), checked(given["header"]))
        own = dict(self._model.named_parameters())
        # Without tensors of its own it heeds no parameters; its outputs show whether it ought.
        bare = not named_tensors(self._model)
        shapes = _Shapes({name: torch.Size(shape) for name, shape in given["all"].items()})
        pairs = []
        for name, tensor in zip(names, values, strict=True):
            if name in given["required"] and bare:
                continue
            if name in given["required"]:
                try:
                    target = match_parameter(shapes, name, self._model, given["member"])
                except RuntimeError as error:
                    raise ParameterMismatchError(str(error).removeprefix("suiteopt: ")) from error
                pairs.append((target, tensor))
            elif name in own and own[name].shape == tensor.shape:
                own[name].data.copy_(tensor)
        return pairs


class _Shape:
    def __init__(self, shape: Any) -> None:
        self.shape = shape


class _Shapes:
    """Stands for the reference where only its parameters' names and shapes are looked at."""

    def __init__(self, shapes: Mapping[str, Any]) -> None:
        self._shapes = {name: _Shape(shape) for name, shape in shapes.items()}

    def named_parameters(self) -> dict[str, _Shape]:
        return self._shapes

    def named_buffers(self) -> dict[str, _Shape]:
        return {}


@contextlib.contextmanager
def _set_for_a_while(pairs: Sequence[tuple[Any, Any]]) -> Iterator[None]:
    """Give targets their values, and what they had afterwards; without gradients."""
    former = [(target, target.detach().clone()) for target, _ in pairs]
    try:
        for target, tensor in pairs:
            target.copy_(tensor)
        yield
    finally:
        for target, tensor in former:
            target.copy_(tensor)


def _given(inputs: Mapping[str, Any], device: str) -> list[Any]:
    tensors = iter(read(Path(inputs["file"]), checked(inputs["header"])))
    return [
        next(tensors).to(device) if item == "tensor" else item["value"] for item in inputs["items"]
    ]


def _flat(output: Any) -> list[Any]:
    import torch

    if isinstance(output, torch.Tensor):
        return [output]
    if isinstance(output, list | tuple):
        return [tensor for item in output for tensor in _flat(item)]
    raise TypeError(f"forward returned {type(output).__name__} where a tensor should be")


def _limit(device: str, file_bytes: int) -> None:
    """Bound what the candidate may write, and on the CPU what memory it may take."""
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    _lower(resource.RLIMIT_FSIZE, max(file_bytes, SMALLEST_FILE))
    # Where memory runs out all the same, it is this process that goes.
    with contextlib.suppress(OSError):
        Path("/proc/self/oom_score_adj").write_text("1000", encoding="ascii")
    if device == "cpu":  # a GPU's driver reserves more addresses than there is memory
        _lower(resource.RLIMIT_AS, os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES"))


def _lower(what: int, wanted: int) -> None:
    _, hard = resource.getrlimit(what)
    most = wanted if hard == resource.RLIM_INFINITY else min(wanted, hard)
    with contextlib.suppress(OSError, ValueError):  # not every system limits everything
        resource.setrlimit(what, (most, most))


def main() -> None:
    """Import torch, say that this is done, and answer."""
    import torch  # noqa: F401  (importing it is not the candidate's time)

    serve(Runner().answer)


if __name__ == "__main__":
    main()
