"""The code of ``docs/extend.md``, run."""

import re
import sys
import tomllib
from pathlib import Path
from types import ModuleType

import pytest
import torch

from gpu_eval.mutation.catalogue import ENTRY_POINT_GROUP
from gpu_eval.mutation.rule import Rule
from gpu_eval.problems.loader import load_problem
from gpu_eval.problems.scaffold import new_problem
from gpu_eval.problems.validate import validate
from suiteopt.errors import UserError
from suiteopt.export.target import Target
from suiteopt.inputs import recipes
from suiteopt.matrix.schema import Need

PAGE = (Path(__file__).parents[2] / "docs" / "extend.md").read_text("utf-8")


def block(part: str, language: str = "python") -> str:
    """Return the block of code that holds a text."""
    (found,) = (b for b in re.findall(rf"```{language}\n(.*?)```", PAGE, re.S) if part in b)
    return str(found)


def module(name: str, text: str) -> ModuleType:
    made = ModuleType(name)
    exec(compile(text, name, "exec"), made.__dict__)
    return made


def test_the_problem_and_its_controls(tmp_path: Path) -> None:
    directory = new_problem("my-problem", tmp_path)
    text = (directory / "problem.py").read_text("utf-8")
    reference, in_order = block("def in_order").split("\n\n\n")
    for name, new in (("reference", reference), ("in_order", in_order)):
        text, count = re.subn(
            rf"def {name}\(.*?\n    return [^\n]*\n",
            lambda _, new=new: new.rstrip() + "\n",
            text,
            count=1,
            flags=re.S,
        )
        assert count == 1
    controls = block("def divided_first")
    definitions, listed = controls.split("...\n")
    text = text.replace("PROBLEM = Problem(", definitions + "\n\nPROBLEM = Problem(")
    text, count = re.subn(r"    controls=\(\n.*?\n    \),\n", listed, text, flags=re.S)
    assert count == 1
    text = text.replace("import torch\n", "from dataclasses import replace\n", 1)
    text = text.replace('"rms_norm"', '"l1_norm"')
    (directory / "problem.py").write_text(text, "utf-8")
    kernel = (directory / "kernel.cu").read_text("utf-8").replace("rms_norm", "l1_norm")
    (directory / "kernel.cu").write_text(kernel, "utf-8")
    problem = load_problem(directory / "problem.py")
    validate(problem)
    kinds = {control.name: control.kind for control in problem.controls}
    assert (kinds["divided-first"], kinds["narrow"]) == ("algorithm", "tile")
    tensors = {"x": torch.tensor([[1.0, -3.0], [2.0, 2.0]])}
    wanted = torch.tensor([[0.5, -1.5], [1.0, 1.0]])
    for control in problem.controls:
        if control.run is not None:
            assert torch.allclose(control.run(tensors)["y"], wanted, rtol=1e-4)


def test_values_that_indices_choose() -> None:
    text = block("def value_of").split("...\n")[0]
    made = module("values", f"import torch\nTensors = dict\n{text}")
    x = torch.tensor([[1.0, 3.0, 3.0]])
    places = torch.tensor([[0, 2, 3]])
    values = made.value_of({"x": x}, {"places": places})["places"]
    assert values.dtype is torch.float64
    assert values[0, :2].tolist() == [1.0, 3.0]
    assert values[0, 2].isnan()


def test_the_rule_and_its_test(monkeypatch: pytest.MonkeyPatch) -> None:
    rules = module("my_rules", block("RULES = "))
    monkeypatch.setitem(sys.modules, "my_rules", rules)
    assert all(issubclass(one, Rule) for one in rules.RULES)
    module("test_my_rules", block("def test_quotients")).test_quotients_by_integers_only()
    assert ENTRY_POINT_GROUP in tomllib.loads(block("[project]", "toml"))["project"]["entry-points"]


def test_the_recipe() -> None:
    text = block("def staircase").split("\n\n")[0]
    made: dict[str, object] = {}
    exec(text, recipes.__dict__ | {"made": made}, made)
    chunk = recipes._Chunk(torch.arange(1024), (1024,), 1)
    values = made["staircase"](chunk)  # type: ignore[operator]
    assert values.dtype is torch.float32
    assert values[:17].tolist() == [0.0] * 8 + [1.0] * 8 + [2.0]
    assert (values.max(), values[512]) == (63, 0)


def test_the_target(tmp_path: Path) -> None:
    target = module("my_target", block("class MyBench")).MyBench()
    assert isinstance(target, Target)
    assert target.capabilities.needs == {Need.VALUES}
    with pytest.raises(UserError, match=r"has no bench\.toml"):
        target.recognise(tmp_path)
    (tmp_path / "bench.toml").touch()
    target.recognise(tmp_path)
