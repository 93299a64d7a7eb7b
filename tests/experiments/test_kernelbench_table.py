"""What is said of known kernels: words, tables, and several runs made one."""

import json
from pathlib import Path
from typing import Any

import pytest

from experiments import kernelbench_before_after as experiment
from experiments import kernelbench_copies
from experiments import kernelbench_table as tables
from suiteopt.errors import UserError

ROOT = Path(__file__).parents[2]
RESULT = ROOT / "experiments/results/kernelbench-before-after.json"


def judged(kernel: str, copy: str, accepted: bool, trials: int = 5) -> dict[str, Any]:
    return {
        "kernel": kernel,
        "problem": f"level1/{kernel[:3]}",
        "right": "_right_" in kernel,
        "copy": copy,
        "accepted": accepted,
        "compiled": True,
        "metadata": {},
        "trials": trials,
    }


def missing(kernel: str, copy: str, why: str = "not run: the time was up") -> dict[str, Any]:
    row = judged(kernel, copy, True)
    return {**{key: row[key] for key in ("kernel", "problem", "right", "copy")}, "failed": why}


def run(*rows: dict[str, Any], **changes: Any) -> dict[str, Any]:
    suite = {"copy": "s", "hash": "1", "command": "suiteopt select -k 2 -o /a/b.json"}
    about = {"device": "d", "torch": "2", "revision": "abcdefgh", "suites": [suite]}
    return {**about, **changes, "results": list(rows)}


def merged(tmp_path: Path, *documents: dict[str, Any]) -> dict[str, Any]:
    paths = [tmp_path / f"{number}.json" for number in range(len(documents))]
    for path, document in zip(paths, documents, strict=True):
        path.write_text(json.dumps(document))
    output = tmp_path / "all.json"
    experiment.main(["--merge", *map(str, paths), "-o", str(output)])
    found: dict[str, Any] = json.loads(output.read_text())
    assert output.with_suffix(".md").read_text() == tables.markdown(found)
    return found


def test_a_result_beats_none_in_either_order(tmp_path: Path) -> None:
    one = run(
        judged("019_right_a_torch", "before", True), missing("019_right_a_torch", "s"),
        missing("019_wrong_b_torch", "s"),
    )  # fmt: skip
    two = run(
        missing("019_right_a_torch", "before"), judged("019_right_a_torch", "s", True, 1),
        missing("019_wrong_b_torch", "s", "the process died with exit code 7"),
    )  # fmt: skip
    found = merged(tmp_path, one, two)
    assert merged(tmp_path, two, one) == found
    assert tables.rows(found) == [
        ["level1/019", "right_a_torch", "accepted", "accepted"],
        ["level1/019", "wrong_b_torch", "not run", "the process died with exit code 7"],
    ]
    assert found["suites"][0]["command"] == "suiteopt select -k 2"
    assert list(tables.counts(found)) == [
        "before: 1 of 1 right kernels accepted, 0 of 0 wrong kernels rejected, 1 not run",
        "s: 1 of 1 right kernels accepted, 0 of 0 wrong kernels rejected, "
        "1 the process died with exit code 7",
    ]
    assert tables.trials(found) == "Trials: 5; 1 for level1/019 s."


@pytest.mark.parametrize(
    ("changes", "accepted", "match"),
    [
        ({"device": "e"}, True, "has device e, and .* has d"),
        ({"revision": "x"}, True, "merge runs of one kind"),
        ({"suites": [{"copy": "s", "hash": "2", "command": ""}]}, True, "another suite under"),
        ({}, False, "says that s gives 019_right_a_torch 'rejected'"),
    ],
)
def test_runs_that_are_no_parts_of_one_are_refused(
    changes: dict[str, Any], accepted: bool, match: str, tmp_path: Path
) -> None:
    one = run(judged("019_right_a_torch", "s", True))
    two = run(judged("019_right_a_torch", "s", accepted), **changes)
    with pytest.raises(UserError, match=match):
        merged(tmp_path, one, two)
    assert not (tmp_path / "all.json").exists()


def test_what_is_no_result_is_refused(tmp_path: Path) -> None:
    (tmp_path / "no.json").write_text("[]")
    for name in ("no.json", "none.json"):
        with pytest.raises(UserError, match="is no result of a run"):
            tables.read(tmp_path / name)


def test_a_suite_without_members_is_another_thing_than_a_run_that_was_not() -> None:
    rows = [
        judged("019_right_a_torch", "before", True),
        judged("023_right_b_torch", "before", True),
    ]
    known = {"copy": "s", "hash": "1", "command": "", "problems": ["level1/019"]}
    assert tables.rows(run(*rows, suites=[known])) == [
        ["level1/019", "right_a_torch", "accepted", "not run"],
        ["level1/023", "right_b_torch", "accepted", "no members"],
    ]


def test_one_mistake_in_several_languages_is_one_row_that_says_where_they_differ() -> None:
    found = run(
        judged("040_wrong_a_cuda", "before", True), judged("040_wrong_a_torch", "before", True),
        judged("040_wrong_a_cuda", "s", True), judged("040_wrong_a_torch", "s", False),
    )  # fmt: skip
    assert tables.condensed(found) == [
        ["level1/040", "wrong a (torch, cuda)", "accepted", "accepted (cuda), rejected (torch)"]
    ]


def test_what_is_shown_is_what_was_measured() -> None:
    document = tables.read(RESULT)
    assert RESULT.with_suffix(".md").read_text("utf-8") == tables.markdown(document)
    table = tables.markdown_table(document)
    assert table in (ROOT / "docs/targets.md").read_text("utf-8")
    names = {kernel.name for kernel in kernelbench_copies.known()}
    assert {kernel for kernel, _ in tables.kernels(document)} <= names
