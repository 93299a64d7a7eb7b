"""Runs kernels through the ``eval_kernel_against_ref`` of one KernelBench checkout.

In a process of its own: ``python -m experiments.kernelbench_harness ORDER REPORT``. ORDER is JSON:
``{"repo", "device", "kernels": [{"name", "path", "backend", "definition", "trials"}]}``. REPORT
gets one JSON object a line, two a kernel (it began, it ended), so that a process that dies has said
where.

The harness is run as it stands. Its utilities import clients of language models, which no check
uses: where these are not installed, empty modules take their place, and the report names them. On
a processor (for trying this out) what the harness asks of a CUDA device does nothing.
"""

import importlib
import importlib.util
import json
import sys
import time
import types
from pathlib import Path
from typing import Any
from unittest import mock

CLIENTS = {"openai": "OpenAI", "litellm": "completion"}


class OnProcessor:
    """torch, with a CUDA device that is the processor."""

    def __init__(self, torch: Any) -> None:
        self._torch = torch
        self.cuda = mock.MagicMock()
        self.cuda.is_available.return_value = True

    def __getattr__(self, name: str) -> Any:
        return getattr(self._torch, name)


def main(order_path: str, report_path: str) -> None:
    """Judge every kernel of an order."""
    order = json.loads(Path(order_path).read_text(encoding="utf-8"))
    replaced = replace_clients()
    sys.path.insert(0, str(Path(order["repo"]) / "src"))
    import torch

    harness: Any = importlib.import_module("kernelbench.eval")
    if not Path(str(harness.__file__)).is_relative_to(order["repo"]):
        raise SystemExit(f"another KernelBench is installed and was loaded: {harness.__file__}")
    device = torch.device(order["device"])
    if device.type != "cuda":
        harness.torch = OnProcessor(torch)
        harness.graceful_eval_cleanup = lambda *_: None
    with Path(report_path).open("a", encoding="utf-8") as report:
        for kernel in order["kernels"]:
            say(report, event="begin", kernel=kernel["name"], clients_replaced=replaced)
            started = time.perf_counter()
            try:
                found = judge(harness, kernel, device)
            except Exception as error:
                found = {"failed": f"{type(error).__name__}: {error}"[:500]}
            seconds = round(time.perf_counter() - started, 2)
            say(report, event="end", kernel=kernel["name"], seconds=seconds, **found)
            if device.type == "cuda":
                torch.cuda.empty_cache()


def judge(harness: Any, kernel: dict[str, Any], device: Any) -> dict[str, Any]:
    """Return what the harness says of a kernel."""
    result = harness.eval_kernel_against_ref(
        Path(kernel["definition"]).read_text(encoding="utf-8"),
        Path(kernel["path"]).read_text(encoding="utf-8"),
        num_correct_trials=kernel["trials"],
        device=device,
        backend=kernel["backend"],
    )
    if result is None:
        return {"failed": "the harness gave no result (it found a lock file)"}
    known = {name: text(value) for name, value in result.metadata.items()}
    return {"compiled": result.compiled, "accepted": result.correctness, "metadata": known}


def text(value: Any) -> Any:
    """Return what JSON takes of a piece of metadata."""
    if isinstance(value, dict):
        return {str(key): str(one)[:300] for key, one in value.items()}
    return value if isinstance(value, bool | int | float) else str(value)[:500]


def replace_clients() -> list[str]:
    """Put empty modules where clients of language models are missing; return their names."""
    missing = [name for name in CLIENTS if importlib.util.find_spec(name) is None]
    for name in missing:
        module = types.ModuleType(name)
        setattr(module, CLIENTS[name], None)
        sys.modules[name] = module
    return missing


def say(report: Any, **event: Any) -> None:
    report.write(json.dumps(event) + "\n")
    report.flush()


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2])
