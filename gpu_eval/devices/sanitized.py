"""What compute-sanitizer watches: a small program that launches kernels and compares nothing.

``python -m gpu_eval.devices.sanitized DIRECTORY`` runs the implementations that ``job.json`` lists,
one after the other in one context. There is no arena here: every buffer is an allocation of its
own and exactly as large as it has to be, and outputs and unzeroed workspaces are left as they come,
so that an access beyond a buffer, or a read before the first write, is what the tool takes it for.
Neither torch nor a comparison runs, so every report is about the implementations.

How far it is goes line by line into the file ``progress``, not to standard output, which the tool
shares.
"""

import contextlib
import json
import os
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np

JOB = "job.json"
PROGRESS = "progress"

OK = "ok"
LAUNCH_ERROR = "launch_error"
CRASH = "crash"


class Progress:
    """Lines of JSON, each written at once."""

    def __init__(self, path: Path) -> None:
        self._file = os.open(path, os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o600)

    def say(self, **content: Any) -> None:
        """Write a line."""
        os.write(self._file, (json.dumps(content) + "\n").encode())


def main(directory: Path) -> None:
    """Run a job."""
    import pycuda.driver as driver

    progress = Progress(directory / PROGRESS)
    progress.say(pid=os.getpid())
    job = json.loads((directory / JOB).read_text())
    driver.init()
    context = driver.Device(job["ordinal"]).make_context()
    try:
        for subject in job["subjects"]:
            number = subject["number"]
            progress.say(begin=number)
            status, message = _run(driver, directory, job["buffers"], subject)
            progress.say(end=number, status=status, message=message)
            if status != OK and _is_lost(driver):
                progress.say(lost=number)
                break
    finally:
        # A context that is still there when the interpreter ends aborts it; a dead one may not
        # be left in order.
        with contextlib.suppress(driver.Error):
            context.pop()
            context.detach()


def _run(
    driver: Any, directory: Path, tensors: Mapping[str, Any], subject: Mapping[str, Any]
) -> tuple[str, str]:
    try:
        with _allocated(driver, directory, {**tensors, **subject["workspaces"]}) as addresses:
            module = driver.module_from_buffer((directory / subject["cubin"]).read_bytes())
            try:
                for launch in subject["launches"]:
                    _launch(driver, module, launch, addresses)
            except Exception as error:  # whatever refuses a launch, nothing of it ran
                return LAUNCH_ERROR, _sentence(error)
            driver.Context.synchronize()
    except driver.Error as error:
        return CRASH, _sentence(error)
    return OK, ""


@contextmanager
def _allocated(
    driver: Any, directory: Path, buffers: Mapping[str, Any]
) -> Iterator[dict[str, int]]:
    """Allocate every buffer; one with a file is filled from it, a zeroed one with zeros."""
    held: dict[str, Any] = {}
    try:
        for name, buffer in buffers.items():
            held[name] = driver.mem_alloc(max(buffer["bytes"], 1))
            if buffer["bytes"] and buffer.get("file"):
                content = np.memmap(directory / buffer["file"], np.uint8, "r")
                driver.memcpy_htod(held[name], content)
            elif buffer["bytes"] and buffer.get("zeroed"):
                driver.memset_d8(held[name], 0, buffer["bytes"])
        yield {name: int(allocation) for name, allocation in held.items()}
    finally:
        for allocation in held.values():
            with contextlib.suppress(driver.Error):
                allocation.free()


def _launch(
    driver: Any, module: Any, launch: Mapping[str, Any], addresses: Mapping[str, int]
) -> None:
    function = module.get_function(launch["kernel"])
    if launch["shared"] > 48 * 1024:
        attribute = driver.function_attribute.MAX_DYNAMIC_SHARED_SIZE_BYTES
        function.set_attribute(attribute, launch["shared"])
    values = [
        addresses[value] if code == "P" else value
        for code, value in zip(launch["codes"], launch["values"], strict=True)
    ]
    function.prepare(launch["codes"])
    grid, block = tuple(launch["grid"]), tuple(launch["block"])
    function.prepared_call(grid, block, *values, shared_size=launch["shared"])


def _is_lost(driver: Any) -> bool:
    """Tell whether nothing more can run in this context."""
    try:
        driver.Context.synchronize()
        driver.mem_alloc(4).free()
    except driver.Error:
        return True
    return False


def _sentence(error: Exception) -> str:
    return " ".join(f"{type(error).__name__}: {error}".split())[:200]


if __name__ == "__main__":
    main(Path(sys.argv[1]))
