"""Loads tests as the ``eval.py`` of reference-kernels does; see `harness_loader`.

The files of ``task.yml`` are laid side by side, the tests are written as the text that ``eval.py``
reads, and its own function reads them. Without a CUDA device, tensors that the task asks for on
one are made on the CPU.
"""

import importlib
import inspect
import os
import shutil
import sys
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from suiteopt.export.gpumode_yaml import read_yaml
from suiteopt.export.templates import kernelbench_verified_loader as base
from suiteopt.export.templates.harness_loader import Opened, Root, run

MODULES = ("eval", "reference", "task", "utils", "submission", "suiteopt_members")


def open_job(root: Root, job: Mapping[str, Any]) -> Opened:
    """Read the tests back, and generate what they say."""
    directory = os.path.dirname(root.locate(job["hidden_file"]))
    with open(root.locate(job["hidden_file"]), "rb") as handle:
        task = read_yaml(handle.read(), job["hidden_file"])
    scratch = tempfile.mkdtemp(prefix="suiteopt-task-", dir=os.environ.get("TMPDIR"))
    try:
        for item in task["files"]:
            place = os.path.join(scratch, item["name"])
            if item["source"] == "@SUBMISSION@":
                with open(place, "w", encoding="utf-8") as stub:
                    stub.write("def custom_kernel(data):\n    raise NotImplementedError\n")
            else:
                shutil.copyfile(os.path.join(directory, item["source"]), place)
        tests = os.path.join(scratch, "tests.txt")
        with open(tests, "w", encoding="utf-8") as listing:
            listing.write("\n".join(_line(test) for test in task["tests"]) + "\n")
        for name in MODULES:
            sys.modules.pop(name, None)
        with root.importing(scratch):
            harness = importlib.import_module("eval")
            read = harness.get_test_cases
            wants_seed = len(inspect.signature(read).parameters) > 1
            cases = read(tests, None) if wants_seed else read(tests)
            reference_module = importlib.import_module("reference")
    finally:
        shutil.rmtree(scratch, ignore_errors=True)
    own = len(cases) - job["members"]

    def entries() -> Iterator[tuple[int, Sequence[Any]]]:
        for index, case in enumerate(cases):
            with OnThisDevice():
                data = harness.generate_input(**case.args)
            yield index, _inputs(data, reference_module, index >= own)

    def reference(inputs: Sequence[Any], index: int) -> str:
        with OnThisDevice():
            data = harness.generate_input(**cases[index].args)
            return base.run_reference(lambda *_: reference_module.ref_kernel(data), [])

    return Opened(len(cases), entries(), None, reference, unseeded=own, checks_layout=True)


def _line(test: Mapping[str, Any]) -> str:
    return "; ".join(f"{name}: {value}" for name, value in test.items())


def _inputs(data: Any, module: Any, member: bool) -> list[Any]:
    """Return the input tensors; an output buffer beside them is whatever memory held."""
    values = list(data) if isinstance(data, list | tuple) else [data]
    if not member:
        return values
    places = importlib.import_module("suiteopt_members").PLACES.values()
    return [value for index, value in enumerate(values) if index in places or None in places]


class OnThisDevice:
    """Make on the CPU what is asked for on a CUDA device, where there is none."""

    def __enter__(self) -> None:
        """Take the device out of the way."""
        import torch
        from torch.overrides import TorchFunctionMode

        self._generator = torch.Generator
        self._mode: Any = None
        if torch.cuda.is_available():
            return

        class OnCpu(TorchFunctionMode):
            def __torch_function__(
                self, function: Any, types: Any, arguments: Any = (), named: Any = None
            ) -> Any:
                named = dict(named or {})
                if "cuda" in str(named.get("device", "")):
                    named["device"] = "cpu"
                return function(*arguments, **named)

        class CpuGenerator(torch.Generator):
            def __new__(cls, device: Any = "cpu") -> "CpuGenerator":
                return super().__new__(cls, "cpu")  # type: ignore[call-arg]

        torch.Generator = CpuGenerator  # type: ignore[misc]
        self._mode = OnCpu()
        self._mode.__enter__()

    def __exit__(self, *error: Any) -> None:
        """Put everything back."""
        import torch

        if self._mode is not None:
            self._mode.__exit__(*error)
        torch.Generator = self._generator  # type: ignore[misc]


if __name__ == "__main__":
    run(open_job)
