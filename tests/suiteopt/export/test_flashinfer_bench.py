"""Workloads and their tensors, read back by safetensors and, where it is there, by the package."""

import importlib.util
import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from suiteopt.errors import UserError
from suiteopt.export.exporter import export, remove
from suiteopt.export.flashinfer_bench import FlashInferBench
from suiteopt.export.verify import verify
from suiteopt.inputs import recipes
from suiteopt.suite import Member, ProblemSuite, Suite
from tests.suiteopt.export.checkouts import calibrated, checkout, own_member
from tests.suiteopt.export.samples import recipe, tree

torch = pytest.importorskip("torch")
safetensors = pytest.importorskip("safetensors.torch")

TARGET = "flashinfer-bench"


def norm(name: str = "offset", **changes: Any) -> Member:
    made = own_member(
        f"rms_h64:{name}",
        {"x": recipe(name)},
        {"weight": recipe("away", sixteenths=20)},
        tolerance=1e-2,
        comparator="either_or",
        shape={"rows": 3, "hidden": 64},
    )
    return replace(made, **changes)


def made(*members: Member, **changes: Any) -> Suite:
    problem = ProblemSuite(
        problem="rms_h64",
        benchmark=TARGET,
        level=0,
        name="rms_h64",
        dtype="float32",
        members=members,
        mutants=5,
        detected=5,
    )
    return replace(calibrated(TARGET, replace(problem, **changes)), oracle="flashinfer-bench")


def test_workloads_name_tensors_that_are_the_recipes(tmp_path: Path) -> None:
    repo = checkout("flashinfer", tmp_path)
    before = tree(repo)
    export(made(norm(), norm("ramp")), TARGET, repo)
    first = tree(repo)
    lines = (repo / "workloads/suiteopt/rms_h64.jsonl").read_text().splitlines()
    documents = [json.loads(line) for line in lines]
    assert len({document["workload"]["uuid"] for document in documents}) == 2
    workload = documents[0]["workload"]
    assert documents[0]["definition"] == "rms_h64"
    assert documents[0]["solution"] is None
    assert workload["axes"] == {"rows": 3}
    tensors = safetensors.load_file(repo / workload["inputs"]["x"]["path"])
    x = recipes.build(recipe("offset"), (3, 64), 7, "x")
    weight = recipes.build(recipe("away", sixteenths=20), (64,), 7, "weight")
    assert torch.equal(tensors["x"], x)
    assert torch.equal(tensors["weight"], weight)
    remove(repo)
    assert tree(repo) == before
    export(made(norm(), norm("ramp")), TARGET, repo)
    assert tree(repo) == first


def test_verify_asks_the_package_or_says_that_it_is_not_there(tmp_path: Path) -> None:
    repo = checkout("flashinfer", tmp_path)
    export(made(norm()), TARGET, repo)
    report = verify(repo)
    assert report.failed == ()
    if importlib.util.find_spec("flashinfer_bench") is None:
        assert any("own package is needed" in finding.what for finding in report.unproved)
        assert report.members == 0
    else:
        assert report.members == 1


@pytest.mark.parametrize(
    ("suite", "what"),
    [
        (lambda: made(norm(shape={"rows": 3, "hidden": 63})), "hidden = 63, which is 64"),
        (lambda: made(norm(shape={"hidden": 64})), "how long the axis rows is"),
        (lambda: made(norm(), name="other"), "no definition named other"),
        (lambda: made(norm(), benchmark="kernelbench"), "a problem of 'kernelbench'"),
        (lambda: made(norm(parameters={})), "the definition rms_h64 takes x, weight"),
        (lambda: made(norm(shape={"rows": 10**7, "hidden": 64})), "MB, and 256 are allowed"),
        (lambda: made(norm(values={"x": recipe("own")})), "another distribution"),
        (lambda: made(norm(), dtype="float16"), "carries float32 only"),
    ],
)
def test_what_does_not_fit_a_definition_is_refused(tmp_path: Path, suite: Any, what: str) -> None:
    repo = checkout("flashinfer", tmp_path)
    before = tree(repo)
    with pytest.raises(UserError, match=what):
        export(suite(), FlashInferBench(), repo)
    assert tree(repo) == before
