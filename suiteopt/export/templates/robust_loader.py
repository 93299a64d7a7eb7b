"""Loads tasks with robust-kbench's own classes; see `harness_loader`."""

import importlib.util
import json
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from suiteopt.export.templates import kernelbench_verified_loader as base
from suiteopt.export.templates.harness_loader import Opened, Root, layout_of, run

CONFIG = "config_hardened.json"


def open_job(root: Root, job: Mapping[str, Any]) -> Opened:
    """Read the configurations as the harness does, and make what each entry says."""
    directory = job["hidden_file"].rpartition("/")[0]
    task = _module("func_forward", root.locate(job["problem_file"]))
    config_task = _module("config_task", root.locate("robust_kbench/config_task.py"))
    configs = config_task.ConfigTask(root.locate(directory), config_fname=CONFIG)
    inits, inputs, _ = configs.get_configs()
    own = len(inputs) - job["members"]
    with open(root.locate(f"{directory}/config_forward.json"), encoding="utf-8") as handle:
        shared = json.load(handle)["single_shared_configs"]
    if any("member" in config for config in inputs[:own]) or not shared:
        raise RuntimeError("the task's own configurations do not come first")
    layout = layout_of(lambda: task.get_inputs(**inputs[0]))

    def entries() -> Iterator[tuple[int, Sequence[Any]]]:
        for index, config in enumerate(inputs):
            yield index, task.get_inputs(**config)

    def reference(values: Sequence[Any], index: int) -> str:
        import torch

        state = torch.get_rng_state()
        model = task.Model(**inits[index])
        torch.set_rng_state(state)
        return base.run_reference(model, list(values))

    return Opened(
        len(inputs),
        entries(),
        layout,
        reference,
        unseeded=own,
        size=2 * sum(item["bytes"] for item in layout),
    )


def _module(name: str, path: str) -> Any:
    spec = importlib.util.spec_from_file_location(name, path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


if __name__ == "__main__":
    run(open_job)
