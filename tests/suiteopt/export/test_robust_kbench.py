"""Configuration lists, read by the sample's own class; both models get the member's parameters."""

import importlib.util
import json
import sys
from pathlib import Path
from typing import Any

import pytest

from suiteopt.errors import UserError
from suiteopt.export.exporter import export, remove
from suiteopt.export.verify import verify
from suiteopt.suite import Suite
from tests.suiteopt.export.checkouts import checkout, fixed, own_member, standard_problems
from tests.suiteopt.export.samples import problem, recipe, tree

torch = pytest.importorskip("torch")

TARGET = "robust-kbench"
TASK = "tasks/kernelbench/level_1/task_40"


def made() -> Suite:
    return fixed(TARGET, 1e-5, *standard_problems(parameters=True))


def module(path: Path) -> Any:
    spec = importlib.util.spec_from_file_location(path.stem, path)
    assert spec is not None
    assert spec.loader is not None
    loaded = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(loaded)
    return loaded


def accepts(repo: Path, function: Any, config: str) -> list[bool]:
    """Do what the harness's forward check does, one trial a configuration."""
    task = module(repo / TASK / "func_forward.py")
    configs = module(repo / "robust_kbench/config_task.py").ConfigTask(
        str(repo / TASK), config_fname=config
    )
    verdicts = []
    for init, inputs, _ in zip(*configs.get_configs(), strict=True):
        torch.manual_seed(3)
        values = task.get_inputs(**inputs)
        torch.manual_seed(3)
        reference = task.Model(**init)
        torch.manual_seed(3)
        model = task.Model(**init)
        expected, got = reference(*values), model(*values, fn=function)
        verdicts.append(torch.allclose(expected, got, atol=1e-5, rtol=1e-5))
    return verdicts


def right(x: Any, weight: Any, bias: Any) -> Any:
    return torch.nn.functional.layer_norm(x, weight.shape, weight, bias, 1e-5)


def scale_deleted(x: Any, weight: Any, bias: Any) -> Any:
    return torch.nn.functional.layer_norm(x, weight.shape, None, None, 1e-5)


def test_members_reach_inputs_and_parameters(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sys, "dont_write_bytecode", True)
    repo = checkout("robust_kbench", tmp_path)
    assert accepts(repo, scale_deleted, "config_forward.json") == [True]
    export(made(), TARGET, repo)
    assert accepts(repo, scale_deleted, "config_hardened.json") == [True, True, False]
    assert accepts(repo, right, "config_hardened.json") == [True, True, True]
    assert accepts(repo, scale_deleted, "config_forward.json") == [True]
    config = json.loads((repo / TASK / "config_hardened.json").read_text())
    assert config["single_shared_configs"][1:] == [
        {"num_features": 4, "dim1": 8, "dim2": 8, "member": number} for number in (1, 2)
    ]


def test_export_verifies_and_goes_without_a_trace(tmp_path: Path) -> None:
    repo = checkout("robust_kbench", tmp_path)
    before = tree(repo)
    export(made(), TARGET, repo)
    again = export(made(), TARGET, repo)
    assert (again.changed, again.created) == ((), ())
    report = verify(repo)
    assert report.failed == ()
    assert (report.members, report.originals) == (4, 3)
    remove(repo)
    assert tree(repo) == before


def test_another_task_of_the_number_is_left_out_and_own_draws_are_refused(tmp_path: Path) -> None:
    repo = checkout("robust_kbench", tmp_path)
    values = {"x": recipe("normal")}
    convolution = problem(50, own_member("level1/050:n", values))
    report = export(
        fixed(TARGET, 1e-5, *standard_problems(parameters=False), convolution), TARGET, repo
    )
    assert any("left out level1/050" in note for note in report.notes)
    assert report.members == 4
    with pytest.raises(UserError, match="none of the suite's problems"):
        export(fixed(TARGET, 1e-5, convolution), TARGET, repo)
    scaled = problem(19, own_member("m", {"x": recipe("scaled", factor=3.0)}))
    with pytest.raises(UserError, match="draws from another distribution"):
        export(fixed(TARGET, 1e-5, scaled), TARGET, repo)
