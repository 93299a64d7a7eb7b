"""Which objective chooses where none is asked for, and that everything that judges follows."""

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from typer.testing import CliRunner

from suiteopt.cli.main import app
from suiteopt.errors import UserError
from suiteopt.importers.write import write_matrix
from suiteopt.matrix import pieces
from suiteopt.matrix.store import Matrix
from suiteopt.selection import default_objective, robust_tables
from suiteopt.selection.question import Objective
from suiteopt.selection.select import select
from suiteopt.selection.wishes import Wishes
from suiteopt.validation.crossval import cross_validate
from tests.suiteopt.builders import site, tiny_matrix
from tests.suiteopt.importers.test_write import kill_map

A, B = "level1/001", "level1/002"


def mixed(path: Path, seed: int = 0, count: int = 4, **changes: Any) -> Matrix:
    """Some problems of two operation classes with faults of four rules, all killed at random."""
    random = np.random.default_rng(seed)
    names = [f"level1/{n + 1:03}" for n in range(count)]
    kills = {p: (random.random((8, 5)) < 0.35).astype(int).tolist() for p in names}
    mutants = {
        f"{p}:m{row}": {
            "rules": [str(random.choice(["q", "r", "s", "t"]))],
            "sites": [site(10 * row, f"{p[-3:]}.cu")],
        }
        for p in names
        for row in range(8)
    }
    about: dict[str, Any] = {
        "mutants": mutants,
        "inputs": {f"{p}:i{j}": {"value_recipe": f"x{j}"} for p in names for j in range(5)},
        "problems": {
            p: {"operation_class": "norm" if n % 2 else "matmul"} for n, p in enumerate(names)
        },
    }
    return tiny_matrix(path, kills, **(about | changes))


@pytest.fixture(scope="module")
def path(tmp_path_factory: pytest.TempPathFactory) -> str:
    where = tmp_path_factory.mktemp("matrix") / "m"
    mixed(where, own=True)
    return str(where)


def run(*arguments: str) -> str:
    done = CliRunner().invoke(app, list(arguments))
    if done.exception is not None:
        raise done.exception
    return str(done.stdout)


def test_a_budget_a_problem_is_chosen_by_the_held_out_objective(path: str) -> None:
    for words in ((), ("--budget", "1"), ("--oracle", "fixed:1e-3"), ("--denominator", "valid")):
        found = json.loads(run("select", "--matrix", path, *words, "--json"))
        assert (found["objective"], found["objective_reason"]) == ("held-out", None), words
        assert found["strength"] is not None
    text = run("select", "--matrix", path)
    assert "chosen by the held-out objective, strength" in text
    assert "chosen by coverage  (" in run("select", "--matrix", path, "--objective", "coverage")


BEYOND = [
    "--detect 0.5",
    "--detect 0.5 --per family",
    "--total-budget 3",
    "--total-budget 3 --budget 2",
    "--max-bytes 100000",
    "--max-ms 1000",
    "--kills 2",
    f"--include {A}:i1",
    f"--exclude {A}:i1",
    "--extend SUITE",
]


@pytest.mark.parametrize("words", [*BEYOND, "--solver greedy", "--oracle best-fixed"])
def test_what_the_held_out_objective_does_not_do_is_done_by_coverage(
    words: str, path: str, tmp_path: Path
) -> None:
    suite = tmp_path / "suite.json"
    run("select", "--matrix", path, "--budget", "1", "-o", str(suite))
    asked = ("select", "--matrix", path, *words.replace("SUITE", str(suite)).split())
    found = json.loads(run(*asked, "--json"))
    assert (found["objective"], found["strength"]) == ("coverage", None)
    assert found["objective_reason"]
    assert f"chosen by coverage: {found['objective_reason']}" in run(*asked)
    same = json.loads(run(*asked, "--objective", "coverage", "--json"))
    unsaid = {"objective_reason": None, "seconds": 0}
    assert found | unsaid == same | unsaid
    if words in BEYOND:
        with pytest.raises(UserError, match="budget a problem alone"):
            run(*asked, "--objective", "held-out")


@pytest.mark.parametrize(
    ("changes", "reason"),
    [
        ({"count": 1}, "no other problem"),
        ({"mutants": {f"level1/00{n}:m{r}": {"rules": ["q"]} for n in range(1, 5)
                      for r in range(8)}}, "of one class"),
        ({"problems": {A: {"operation_class": ""}}}, f"operation class of {A} is not known"),
        ({"mutants": {f"{B}:m3": {"sites": []}}}, f"classes of some faults of {B}"),
        ({"mutants": {f"{A}:m3": {"rules": []}}}, f"classes of some faults of {A}"),
    ],
)  # fmt: skip
def test_without_classes_coverage_chooses(
    changes: dict[str, Any], reason: str, tmp_path: Path
) -> None:
    matrix = mixed(tmp_path / "m", **changes)
    found = select(matrix, 2)
    assert found.objective == Objective.COVERAGE
    assert reason in str(found.objective_reason)
    assert [p.selection.optima for p in found.problems] == [
        p.selection.optima for p in select(matrix, 2, objective=Objective.COVERAGE).problems
    ]
    validated = cross_validate(matrix, 2, repeats=1)
    assert (validated.objective, validated.objective_reason) == (
        found.objective,
        found.objective_reason,
    )
    assert validated.objectives is None


def test_what_is_too_large_to_table_falls_to_coverage_unless_asked_for(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    matrix = mixed(tmp_path / "m")
    with monkeypatch.context() as patch:
        patch.setattr(robust_tables, "BANK_CELLS", 50)
        found = select(matrix, 2)
        assert found.objective == Objective.COVERAGE
        assert "too many suites of up to 2 inputs" in str(found.objective_reason)
        assert cross_validate(matrix, 2, repeats=1).objective == Objective.COVERAGE
        for ask_for in (select, cross_validate):
            with pytest.raises(UserError, match="give a smaller --budget or --objective coverage"):
                ask_for(matrix, 2, objective=Objective.HELD_OUT)
    with monkeypatch.context() as patch:
        patch.setattr(default_objective, "SUITES", 15)  # of five inputs at most two: 16
        assert select(matrix, 1).objective == Objective.HELD_OUT
        assert "too many suites" in str(select(matrix, 2).objective_reason)
        assert select(matrix, 2, objective=Objective.HELD_OUT).strength is not None
    monkeypatch.setattr(pieces, "LARGE_CELLS", -1)
    found = select(matrix, 2)
    assert (found.objective, str(found.objective_reason)) == (
        Objective.COVERAGE,
        f"{A} is too large to table its suites",
    )


def test_a_foreign_matrix_is_chosen_from_by_coverage(tmp_path: Path) -> None:
    matrix = write_matrix(kill_map([[1, 2], [2, 1]]), "p", tmp_path / "m", "")
    found = select(matrix, 1)
    assert found.objective == Objective.COVERAGE
    assert "another tool's matrix" in str(found.objective_reason)


def test_without_another_wish_a_budget_is_needed(tmp_path: Path) -> None:
    matrix = mixed(tmp_path / "m")
    assert select(matrix, None, wishes=Wishes(total=3)).objective == Objective.COVERAGE
    with pytest.raises(UserError, match="nothing bounds"):
        select(matrix, None)


@pytest.mark.parametrize("objective", [None, *Objective])
@pytest.mark.parametrize("oracle", [None, "fixed:1e-3", "any-comparator"])
@pytest.mark.parametrize("seed", range(3))
def test_cross_validation_judges_the_suites_that_select_gives(
    tmp_path: Path, objective: Objective | None, oracle: str | None, seed: int
) -> None:
    matrix = mixed(tmp_path / "m", seed)
    chosen = select(matrix, 2, oracle, objective=objective)
    validated = cross_validate(matrix, 2, oracle, repeats=1, objective=objective)
    assert (validated.objective, validated.strength) == (chosen.objective, chosen.strength)
    members = {part.problem: part.selection.members for part in chosen.problems}
    assert {row.problem: row.members for row in validated.problems} == members
    assert validated.fitted_share == chosen.fitted_share


def test_cross_validation_says_what_chose(path: str) -> None:
    common = ("crossval", "--matrix", path, "--repeats", "2")
    found = json.loads(run(*common, "--json"))
    assert (found["objective"], found["objective_reason"]) == ("held-out", None)
    assert set(found["objectives"]) == set(found["splits"])
    text = run(*common)
    assert "chosen by the held-out objective, strength" in text
    assert "; 2 repeats" in text
    plain = json.loads(run(*common, "--objective", "coverage", "--json"))
    assert (plain["objective"], plain["objectives"], plain["strength"]) == ("coverage", None, None)
    fixed = json.loads(run(*common, "--oracle", "best-fixed", "--json"))
    assert (fixed["objective"], fixed["objectives"]) == ("coverage", None)
    with pytest.raises(UserError, match="chosen by coverage; leave --objective held-out out"):
        run(*common, "--oracle", "best-fixed", "--objective", "held-out")
    greedy = json.loads(run(*common, "--solver", "greedy", "--json"))
    assert greedy["objective"] == "coverage"
    curve = json.loads(run("crossval", "--matrix", path, "--curve", "--json"))
    assert curve["objective"] == "coverage"
    assert "chosen by coverage" in run("crossval", "--matrix", path, "--curve")


def test_where_nothing_counts_nothing_is_chosen(tmp_path: Path) -> None:
    matrix = mixed(
        tmp_path / "m",
        mutants={
            f"{p}:m{row}": {"rules": ["qr"[row % 2]]}
            | ({"witness": "none", "witness_how": ""} if p == A else {})
            for p in (A, B, "level1/003", "level1/004")
            for row in range(8)
        },
    )
    for objective in (None, *Objective):
        found = select(matrix, 2, objective=objective)
        assert [len(part.selection.members) > 0 for part in found.problems] == [
            False, True, True, True,
        ]  # fmt: skip
