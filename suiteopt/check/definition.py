"""What both child processes do with a problem's file, as its benchmark's harness does it."""

import sys
import types
from pathlib import Path
from typing import Any

INIT_SEED = 42
"""Under which the harness draws a model's arguments and weights, and the seeds of its trials."""


def new_namespace(name: str) -> dict[str, Any]:
    """Return the namespace of a new module, which is found by its name."""
    module = types.ModuleType(name)
    sys.modules[name] = module
    return module.__dict__


def execute(path: Path, namespace: dict[str, Any]) -> None:
    """Execute a file under its own path, which Triton reads a kernel's text from."""
    namespace["__file__"] = str(path)
    exec(compile(path.read_bytes(), str(path), "exec", dont_inherit=True), namespace)


def init_arguments(namespace: dict[str, Any], device: str) -> list[Any]:
    """Return a model's arguments, drawn under the seed for them."""
    import torch

    torch.manual_seed(INIT_SEED)
    return [cast(value, device) for value in namespace["get_init_inputs"]()]


def build(model: Any, arguments: list[Any], device: str) -> Any:
    """Return an instance of a model in float32, its weights drawn under the seed for them.

    It stays in training mode, as in the harness: normalisation uses the batch's statistics.
    """
    import torch

    with torch.no_grad():
        torch.manual_seed(INIT_SEED)
        return model(*arguments).to(device=device, dtype=torch.float32)


def cast(value: Any, device: str) -> Any:
    """Move a value as the harness does: every tensor, integers too, becomes float32."""
    import torch

    return value.to(device=device, dtype=torch.float32) if torch.is_tensor(value) else value
