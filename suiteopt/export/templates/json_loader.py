"""Loads an exported suite as a harness with ten lines does; see `harness_loader`.

There are no problems here, so values are made at a stated shape: same bits twice, every dtype and
recipe. Layout and reference are the harness's.
"""

import importlib.util
from collections.abc import Iterator, Mapping
from typing import Any

from suiteopt.export.templates.harness_loader import Opened, Root, run

SHAPE = (64, 64)
"""Square: a symmetric or triangular matrix has no other."""


def open_job(root: Root, job: Mapping[str, Any]) -> Opened:
    """Load the package with its own module."""
    spec = importlib.util.spec_from_file_location(
        "hardened_inputs", root.locate("hardened/hardened_inputs.py")
    )
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    problem = module.load(root.locate("hardened"))[job["problem"]]
    return Opened(count=len(problem), configurations=_members(problem))


def _members(problem: Any) -> Iterator[tuple[int, list[Any]]]:
    import torch

    for index, member in enumerate(problem):
        names = list(member.values)
        yield (
            index,
            member.inputs(
                lambda names=names: [torch.rand(SHAPE) for _ in names],
                names,
                shapes=dict.fromkeys(names, SHAPE),
            ),
        )


if __name__ == "__main__":
    run(open_job)
