"""The forms of `suiteopt select` and `suiteopt recommend`, in process."""

import json
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from suiteopt.cli.main import app
from suiteopt.errors import UserError
from tests.suiteopt.builders import tiny_matrix

P, Q = "level1/001", "level1/019"
KILLS = {P: [[1, 0, 0], [0, 1, 0], [0, 1, 1]], Q: [[0, 1], [0, 1], [1, 1]]}


@pytest.fixture(scope="module")
def matrix(tmp_path_factory: pytest.TempPathFactory) -> str:
    path = tmp_path_factory.mktemp("matrix") / "m"
    tiny_matrix(path, KILLS, own=True)
    return str(path)


def run(*arguments: str) -> str:
    done = CliRunner().invoke(app, list(arguments))
    if done.exception is not None:
        raise done.exception
    return str(done.stdout)


def answer(*arguments: str) -> dict[str, Any]:
    found: dict[str, Any] = json.loads(run(*arguments, "--json"))
    return found


def test_two_inputs_a_problem_unless_something_else_bounds_the_suite(matrix: str) -> None:
    plain = answer("select", "--matrix", matrix)
    assert (plain["budget"], plain["total_budget"], plain["fitted_share"]) == (2, None, 1.0)
    total = answer("select", "--matrix", matrix, "--total-budget", "2")
    assert (total["members"], total["fitted_share"], total["status"]) == (2, 5 / 6, "proved")
    one = answer("select", "--matrix", matrix, "--total-budget", "2", "--budget", "1")
    assert (one["members"], one["budget"]) == (2, 1)


def test_bytes_milliseconds_and_repeated_kills(matrix: str) -> None:
    assert answer("select", "--matrix", matrix, "--max-bytes", "256")["bytes"] <= 256
    assert answer("select", "--matrix", matrix, "--max-ms", "2.5")["milliseconds"] <= 2.5
    twice = answer("select", "--matrix", matrix, "--kills", "2")
    assert (twice["kills"], twice["fitted_share"]) == (2, 2 / 6)


def test_the_fewest_inputs_by_problem_family_and_overall(matrix: str) -> None:
    for scope, members in (("problem", 2), ("family", 1), ("overall", 1)):
        found = answer("select", "--matrix", matrix, "--detect", "0.5", "--per", scope)
        assert (found["required_of"], found["members"]) == (scope, members), scope
        assert found["at_least"] == members


def test_extending_a_suite_keeps_its_members(matrix: str, tmp_path: Path) -> None:
    first = tmp_path / "first.json"
    run("select", "--matrix", matrix, "--budget", "1", "--exclude", f"{P}:i1", "-o", str(first))
    before = json.loads(first.read_text())
    kept = {m["input"] for part in before["problems"] for m in part["members"]}
    found = answer("select", "--matrix", matrix, "--budget", "2", "--extend", str(first))
    members = {m["input"] for row in found["rows"] for m in row["members"]}
    assert kept <= members
    with pytest.raises(UserError, match="must be included"):
        run("select", "--matrix", matrix, "--total-budget", "1", "--extend", str(first))


def test_review_of_a_protocol_a_suite_and_the_pool(matrix: str, tmp_path: Path) -> None:
    own = answer("select", "--matrix", matrix, "--review", "kernelbench")
    assert [len(row["inputs"]) for row in own["rows"]] == [5, 5]
    suite = tmp_path / "suite.json"
    run("select", "--matrix", matrix, "-o", str(suite))
    chosen = answer("select", "--matrix", matrix, "--review", str(suite))
    assert [row["detected"] for row in chosen["rows"]] == [3, 3]
    assert "losing a fault" in run("select", "--matrix", matrix, "--review", "pool")
    with pytest.raises(UserError):
        run("select", "--matrix", matrix, "--review", str(tmp_path / "missing.json"))


def test_oracles_that_the_matrix_settles(matrix: str) -> None:
    for oracle in ("best-fixed", "calibrated:held-out", "any-comparator"):
        found = answer("select", "--matrix", matrix, "--oracle", oracle)
        assert found["fitted_share"] == 1.0
        assert found["false_rejections"] == 0


def test_recommend(matrix: str) -> None:
    found = answer("recommend", "--matrix", matrix, "--budget", "1")
    assert set(found) >= {"recipes", "left_out_share", "own_share", "best_share", "rows", "status"}
    assert len(found["recipes"]) == 1
    assert "had no say" in run("recommend", "--matrix", matrix)
