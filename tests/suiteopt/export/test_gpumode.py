"""Tests of a task: the fields that arrive, the bytes that stay, and what would change nothing."""

import importlib
import sys
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from suiteopt.errors import UserError
from suiteopt.export.exporter import export, remove
from suiteopt.export.gpumode_yaml import read_yaml, with_items
from suiteopt.export.verify import verify
from suiteopt.suite import Member, ProblemSuite, Suite
from tests.suiteopt.export.checkouts import calibrated, checkout, own_member
from tests.suiteopt.export.samples import recipe, tree

torch = pytest.importorskip("torch")
pytest.importorskip("ruamel.yaml")

TARGET = "gpumode"
TASK = "problems/small/scan_py"


def scan(name: str, **changes: Any) -> Member:
    made = own_member(
        f"small/scan_py:{name}",
        {"x": recipe(name)},
        tolerance=1e-3,
        comparator="allclose_reference",
        shape={"size": 65},
        shape_recipe="prime",
        needs=("values", "shapes"),
    )
    return replace(made, **changes)


def task(*members: Member, name: str = "small/scan_py") -> ProblemSuite:
    return ProblemSuite(
        problem=name,
        benchmark="gpumode",
        level=0,
        name=name,
        dtype="float32",
        members=members,
        mutants=9,
        detected=9,
    )


def made(*members: Member, name: str = "small/scan_py") -> Suite:
    oracle = "allclose_reference:0.001"
    return replace(calibrated(TARGET, task(*members, name=name)), oracle=oracle)


def test_tests_are_added_and_every_other_byte_stays(tmp_path: Path) -> None:
    repo = checkout("gpumode", tmp_path)
    before = (repo / TASK / "task.yml").read_text().splitlines()
    report = export(made(scan("normal"), scan("ramp")), TARGET, repo)
    after = (repo / TASK / "task.yml").read_text().splitlines()
    added = [line for line in after if line not in before]
    assert added == [
        '  - {"name": "suiteopt_members.py", "source": "suiteopt_members.py"}',
        '  - {"size": 65, "seed": 1, "member": 1}',
        '  - {"size": 65, "seed": 2, "member": 2}',
    ]
    assert [line for line in after if line not in added] == before
    assert any("fields that change nothing: sparse" in note for note in report.notes)


def test_the_tasks_own_reader_gets_members_and_the_check_sees_the_fault(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    repo = checkout("gpumode", tmp_path)
    task_file = repo / TASK / "task.yml"
    # A scan that forgets the sign of what it adds passes on positive inputs only.
    task_file.write_text(task_file.read_text().replace(', "sparse": "yes"', ""))
    export(made(scan("few"), scan("zeros-denormals")), TARGET, repo)
    report = verify(repo)
    assert report.failed == ()
    assert (report.members, report.originals) == (2, 2)
    monkeypatch.setattr(sys, "dont_write_bytecode", True)
    monkeypatch.syspath_prepend(str(repo / TASK))
    monkeypatch.syspath_prepend(str(repo / "problems/small"))
    from suiteopt.export.templates.gpumode_loader import MODULES, OnThisDevice

    harness = importlib.import_module("eval")
    document = read_yaml(task_file.read_bytes(), "task.yml")
    listing = tmp_path / "tests.txt"
    listing.write_text(
        "\n".join("; ".join(f"{k}: {v}" for k, v in test.items()) for test in document["tests"])
    )
    cases = harness.get_test_cases(str(listing), None)

    def skips_ties(data: Any) -> Any:
        x, _ = data
        if len(torch.unique(x)) == len(x):
            return torch.cumsum(x.double(), 0).float()
        return torch.zeros_like(x)

    def right(data: Any) -> Any:
        return torch.cumsum(data[0], 0)

    with OnThisDevice():
        assert harness.run_testing(skips_ties, cases[:2])[0]
        assert not harness.run_testing(skips_ties, cases)[0]
        assert harness.run_testing(right, cases)[0]
    for name in MODULES:
        sys.modules.pop(name, None)


def test_export_goes_without_a_trace(tmp_path: Path) -> None:
    repo = checkout("gpumode", tmp_path)
    before = tree(repo)
    export(made(scan("normal")), TARGET, repo)
    assert export(made(scan("normal")), TARGET, repo).changed == ()
    remove(repo)
    assert tree(repo) == before


@pytest.mark.parametrize(
    ("member", "name", "what"),
    [
        (scan("normal", shape={"length": 9}), "small/scan_py", "the field would change nothing"),
        (
            scan("normal", shape={"size": 9, "mode": 1}),
            "small/scale_py",
            "takes mode and never uses it",
        ),
        (scan("normal", shape={}), "small/scan_py", "does not say size"),
        (scan("normal", tolerance=1e-4), "small/scan_py", "atol 0.001 and rtol 0.001; select with"),
        (scan("normal", values={"y": recipe("normal")}), "small/scan_py", "which is which"),
        (scan("normal", values={"x": recipe("own")}), "small/scan_py", "another distribution"),
        (scan("normal"), "small/none_py", "has no task small/none_py"),
    ],
)
def test_what_would_change_nothing_is_refused(
    tmp_path: Path, member: Member, name: str, what: str
) -> None:
    repo = checkout("gpumode", tmp_path)
    before = tree(repo)
    with pytest.raises(UserError, match=what):
        export(made(member, name=name), TARGET, repo)
    assert tree(repo) == before


def test_lists_that_are_not_one_item_a_line_are_left_alone() -> None:
    with pytest.raises(UserError, match="not one item a line"):
        with_items(b"tests:\n  - size: 1\n    seed: 2\n", "t", {"tests": [{"size": 3}]})
    with pytest.raises(UserError, match="no list 'tests'"):
        with_items(b"tests: []\n", "t", {"tests": [{"size": 3}]})
    with pytest.raises(UserError, match="is no YAML"):
        with_items(b"a: [", "t", {"tests": [{"size": 3}]})
    assert with_items(b"a:\n- 1", "t", {"a": [{"b": 2}]}) == b'a:\n- 1\n- {"b": 2}\n'
