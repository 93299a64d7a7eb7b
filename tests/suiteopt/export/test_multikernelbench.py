"""Input groups through the sample's own check, in a process at its root as the benchmark runs."""

import json
import subprocess
import sys
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from suiteopt.export.exporter import export, remove
from suiteopt.export.verify import verify
from suiteopt.suite import Suite
from tests.suiteopt.export.checkouts import (
    BAD,
    GOOD,
    checkout,
    fixed,
    own_member,
    standard_problems,
)
from tests.suiteopt.export.samples import problem, recipe, tree

torch = pytest.importorskip("torch")

TARGET = "multikernelbench"

DRIVER = """
import json, sys
import torch
from utils.correctness import check, timed_inputs
from utils.utils import get_prompt, get_ref_src_path

answers = {}
for name, (op, candidate) in json.load(sys.stdin).items():
    path = get_ref_src_path(op)
    answers[name] = check(candidate, path)
context = {}
path = get_ref_src_path("relu")
exec(f"__file__ = {path!r}\\n" + open(path).read(), context)
torch.manual_seed(5)
timed = timed_inputs(context)[0]
torch.manual_seed(5)
own = context["get_inputs"]()[0]
answers["timing"] = bool(torch.equal(timed, own))
answers["prompt"] = get_prompt("relu")
print(json.dumps(answers))
"""

OPS = {1: "square_matrix_multiplication", 19: "relu", 40: "layer_norm"}


def made() -> Suite:
    return fixed(TARGET, 1e-4, *standard_problems(parameters=False))


def check(repo: Path) -> dict[str, Any]:
    candidates = {f"good {number}": (OPS[number], text) for number, text in GOOD.items()}
    candidates |= {name: (OPS[number], text) for name, (number, text) in BAD.items()}
    done = subprocess.run(
        [sys.executable, "-B", "-c", DRIVER],
        cwd=repo,
        input=json.dumps(candidates),
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    answers: dict[str, Any] = json.loads(done.stdout)
    return answers


def test_groups_reject_what_draws_accepted(tmp_path: Path) -> None:
    repo = checkout("multikernelbench", tmp_path)
    before = check(repo)
    assert all(before.values())
    export(made(), TARGET, repo)
    after = check(repo)
    rejected = {name for name, good in after.items() if not good}
    # The scale is at the identity here: this harness carries no parameters.
    assert rejected == {"identity relu", "early exit on zeros", "one-pass variance"}
    assert after["timing"]
    assert after["prompt"] == before["prompt"]


def test_export_verifies_and_goes_without_a_trace(tmp_path: Path) -> None:
    repo = checkout("multikernelbench", tmp_path)
    before = tree(repo)
    export(made(), TARGET, repo)
    report = verify(repo)
    assert report.failed == ()
    assert (report.members, report.originals) == (4, 15)
    remove(repo)
    assert tree(repo) == before


def test_another_problem_of_the_name_is_found_out(tmp_path: Path) -> None:
    repo = checkout("multikernelbench", tmp_path)
    parameters = dict.fromkeys(("weight", "bias"), recipe("benchmark"))
    other = problem(50, own_member("level1/050:n", {"x": recipe("normal")}, parameters))
    absent = problem(23, own_member("level1/023:n", {"x": recipe("normal")}))
    report = export(fixed(TARGET, 1e-4, other, absent), TARGET, repo)
    assert any("left out level1/023: no references" in note for note in report.notes)
    found = verify(repo).failed
    assert any("it is another problem of the same name" in finding.what for finding in found)


def test_problems_of_one_name_are_left_out_and_the_others_exported(tmp_path: Path) -> None:
    repo = checkout("multikernelbench", tmp_path)
    matmul, relu, norm = standard_problems(parameters=False)
    twin = replace(relu, problem="level1/063", name="63_ReLU")
    report = export(fixed(TARGET, 1e-4, matmul, relu, twin, norm), TARGET, repo)
    assert [note for note in report.notes if note.startswith("left out")] == [
        "left out level1/019: reference/activation/relu.py could be level1/063 as well by its name",
        "left out level1/063: reference/activation/relu.py could be level1/019 as well by its name",
    ]
    assert report.members == 3
    assert verify(repo).failed == ()


def test_a_problem_whose_name_starts_with_a_digit_has_a_reference(tmp_path: Path) -> None:
    repo = checkout("multikernelbench", tmp_path)
    matmul = repo / "reference/matmul/square_matrix_multiplication.py"
    matmul.rename(matmul.with_name("three_dim_tensor_matrix_multiplication.py"))
    part = standard_problems(parameters=False)[0]
    named = replace(part, problem="level1/010", name="10_3D_tensor_matrix_multiplication")
    report = export(fixed(TARGET, 1e-4, named), TARGET, repo)
    assert "suiteopt_reference/matmul/three_dim_tensor_matrix_multiplication.py" in report.created
