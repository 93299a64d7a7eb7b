"""A problem that draws other inputs in a checkout than were measured is left out alone."""

import json
from pathlib import Path
from typing import Any

import pytest

from suiteopt.export.exporter import export
from suiteopt.export.registry import get_target
from suiteopt.suite import ProblemSuite, Suite
from tests.suiteopt.export.checkouts import (
    calibrated,
    checkout,
    fixed,
    own_member,
    standard_problems,
)
from tests.suiteopt.export.samples import problem, recipe

RELU = {
    "kernelbench": "KernelBench/level1/19_ReLU.py",
    "kernelbench-sidecar": "KernelBench/level1/19_ReLU.py",
    "kernelbench-verified": "KernelBench/level1/19_ReLU.py",
    "multikernelbench": "reference/activation/relu.py",
    "robust-kbench": "tasks/kernelbench/level_1/task_19/func_forward.py",
}
SAMPLES = {"kernelbench-sidecar": "kernelbench"}


def exported(target: str, repo: Path, *parts: ProblemSuite) -> list[str]:
    oracle = get_target(target).tolerance
    made: Suite
    made = calibrated(target, *parts) if oracle is None else fixed(target, oracle, *parts)
    notes = export(made, target, repo).notes
    return [note for note in notes if note.startswith("left out")]


def sample(target: str, tmp_path: Path) -> Path:
    return checkout(SAMPLES.get(target, target).replace("-", "_"), tmp_path)


@pytest.mark.parametrize("target", RELU)
def test_a_definition_in_half_precision_is_left_out(target: str, tmp_path: Path) -> None:
    repo = sample(target, tmp_path)
    place = repo / RELU[target]
    text = place.read_text()
    assert text.count("torch.rand") == 1
    place.write_text(text.replace("torch.rand", "torch.rand(0, dtype=torch.float16), torch.rand"))
    assert exported(target, repo, *standard_problems(parameters=False)) == [
        f"left out level1/019: {RELU[target]} draws float16, and float32 was measured"
    ]


@pytest.mark.parametrize("target", RELU)
def test_class_labels_need_the_number_of_classes_that_was_measured(
    target: str, tmp_path: Path
) -> None:
    repo = sample(target, tmp_path)
    labels: dict[str, Any] = {**recipe("normal"), "structure": "class_ids", "classes": 977}
    matmul, _, norm = standard_problems(parameters=False)
    relu = problem(19, own_member("level1/019:labels", {"x": labels}))
    assert exported(target, repo, matmul, relu, norm) == [
        f"left out level1/019: {RELU[target]} has another number of classes than the 977 that "
        "were measured"
    ]
    place = repo / RELU[target]
    if target == "robust-kbench":
        config = place.with_name("config_forward.json")
        sizes = json.loads(config.read_text())
        for classes, rows, left_out in ((10, 977, 1), (977, 10, 0)):
            sizes["multi_shared_configs"] = [{"num_classes": classes, "batch_size": rows}]
            config.write_text(json.dumps(sizes))
            assert len(exported(target, repo, matmul, relu, norm)) == left_out
    else:
        for text, left_out in (("num_classes = 10\nrows = 977", 1), ("num_classes = 977", 0)):
            place.write_text(f"{place.read_text()}\n{text}\n")
            assert len(exported(target, repo, matmul, relu, norm)) == left_out
