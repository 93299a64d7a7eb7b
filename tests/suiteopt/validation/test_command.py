"""What `suiteopt crossval` prints beside the splits, in process."""

import json
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from suiteopt.cli.main import app
from suiteopt.matrix.store import Matrix
from tests.suiteopt.builders import tiny_matrix

P, Q = "level1/001", "level1/019"
KILLS = {P: [[1, 0], [1, 0], [0, 1], [0, 0]], Q: [[1, 0], [1, 0], [0, 0]]}
LOCKED = {f"{P}:m2": {"locked": True}, f"{Q}:m1": {"locked": True}}


def run(*arguments: str) -> str:
    done = CliRunner().invoke(app, list(arguments))
    if done.exception is not None:
        raise done.exception
    return str(done.stdout)


@pytest.fixture
def path(tmp_path: Path) -> str:
    tiny_matrix(tmp_path / "m", KILLS, own=True, mutants=LOCKED)
    return str(tmp_path / "m")


def test_keys_and_lines(path: str) -> None:
    common = ("crossval", "--budget", "1", "--repeats", "2", "--matrix", path)
    found: dict[str, Any] = json.loads(run(*common, "--objective", "held-out", "--json"))
    assert set(found) >= {
        "nested", "denominators", "dominators", "sensitivity", "published", "locked_rules",
        "objectives", "flaky_cells", "tolerances_tried",
    }  # fmt: skip
    assert found["locked_rules"] is None
    assert set(found["splits"]) == {"random", "site", "rule", "family", "substrate"}
    text = run(*common, "--objective", "held-out")
    for words in ("denominator", "dominators", "published conditions", "scaled tolerances",
                  "held-out objective"):  # fmt: skip
        assert words in text
    assert Matrix.open(path).meta.ledger == ()


def test_opening_locked_rules_leaves_a_line(path: str) -> None:
    text = run("crossval", "--budget", "1", "--repeats", "2", "--matrix", path, "--open-locked")
    assert "locked rules: 50.0% of 2 faults" in text
    (entry,) = Matrix.open(path).meta.ledger
    assert entry["result"]["locked_rules"]["mutants"] == 2
    assert len(entry["suite"]) == 64
    assert entry["commit"]


def test_the_curve(path: str) -> None:
    found = json.loads(run("crossval", "--budget", "1", "--matrix", path, "--curve", "--json"))
    oracles = [point["oracle"] for point in found["curve"]]
    assert "calibrated" in oracles
    assert "fixed:0.0001" in oracles
    assert "of the pool" in run("crossval", "--budget", "1", "--matrix", path, "--curve")
