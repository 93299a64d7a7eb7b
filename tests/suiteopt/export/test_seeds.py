"""Private seeds: derived, repeatable, and judged by what they detect."""

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from suiteopt.errors import UserError
from suiteopt.export.checkout import Checkout
from suiteopt.export.exporter import export
from suiteopt.export.finding import Finding, Verdict
from suiteopt.export.manifest import read_manifest
from suiteopt.export.present import read_export
from suiteopt.export.private import check_private_seeds, interval
from suiteopt.export.registry import get_target
from suiteopt.export.seeds import PrivateSeeds, reseed
from suiteopt.matrix.store import Matrix
from tests.suiteopt.builders import tiny_matrix
from tests.suiteopt.export.samples import copy_sample, member, problem, recipe, suite

SECRET = "correct horse battery"


def test_seeds_follow_from_the_secret_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    published = suite()
    monkeypatch.setenv("EVAL_SECRET", SECRET)
    one, where = reseed(published, "EVAL_SECRET")
    assert reseed(published, "EVAL_SECRET") == (one, where)
    monkeypatch.setenv("EVAL_SECRET", SECRET + "!")
    other, elsewhere = reseed(published, "EVAL_SECRET")
    assert where.variable == elsewhere.variable == "EVAL_SECRET"
    assert where.commitment != elsewhere.commitment
    assert SECRET not in one.to_json() + where.commitment
    seeds = [[m.seed for p in s.problems for m in p.members] for s in (published, one, other)]
    assert len({*seeds[0], *seeds[1], *seeds[2]}) == len({*seeds[0]}) + 2 * one.members
    assert all(0 <= seed < 1 << 63 for seed in seeds[1])
    assert one.problems[0].members[0].values == published.problems[0].members[0].values


@pytest.mark.parametrize("secret", [None, "short"])
def test_a_missing_or_short_secret_is_refused(
    monkeypatch: pytest.MonkeyPatch, secret: str | None
) -> None:
    monkeypatch.delenv("EVAL_SECRET", raising=False)
    if secret is not None:
        monkeypatch.setenv("EVAL_SECRET", secret)
    with pytest.raises(UserError, match="a secret of at least 16 is needed"):
        reseed(suite(), "EVAL_SECRET")


def test_the_manifest_says_where_seeds_come_from(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    repo = copy_sample(tmp_path)
    monkeypatch.setenv("EVAL_SECRET", SECRET)
    chosen, seeds = reseed(suite(), "EVAL_SECRET")
    target = get_target("kernelbench-verified")
    export(chosen, target, repo, seeds=seeds)
    manifest = read_export(Checkout(repo), target)
    assert manifest is not None
    assert manifest.seeds == seeds == PrivateSeeds("EVAL_SECRET", seeds.commitment)
    assert read_manifest(manifest.to_json(), "m") == manifest
    assert export(chosen, target, repo, seeds=seeds).changed == ()
    assert export(suite(), target, repo).changed != ()


def found(matrix: Matrix, replay: Matrix, *inputs: str) -> list[Finding]:
    values = {name: recipe("lattice", width=3) for name in ("a", "b")}
    members = tuple(
        replace(member(f"level1/001:{name}", values), tolerance=1e-3) for name in inputs
    )
    chosen = suite(problem(1, *members), matrix_id=matrix.id)
    return list(check_private_seeds(chosen, matrix, replay))


def test_detection_within_the_interval_is_reproduced(tmp_path: Path) -> None:
    matrix = tiny_matrix(tmp_path / "matrix")
    (finding,) = found(matrix, tiny_matrix(tmp_path / "replay"), "i0", "i1")
    assert finding.verdict is Verdict.REPRODUCED
    assert "under private seeds" in finding.what


def test_a_replay_without_a_member_proves_nothing(tmp_path: Path) -> None:
    matrix = tiny_matrix(tmp_path / "matrix")
    (finding,) = found(matrix, matrix, "i0", "absent")
    assert finding.verdict is Verdict.UNPROVED


def test_lost_detection_and_rejected_controls_fail(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from suiteopt.export import private

    matrix, replay = tiny_matrix(tmp_path / "matrix"), tiny_matrix(tmp_path / "replay")
    names = [f"m{number}" for number in range(40)]
    answers = {
        id(matrix): (dict.fromkeys(names, True), {}),
        id(replay): (
            {name: number < 30 for number, name in enumerate(names)},
            {"level1/001:i0": ("control",)},
        ),
    }
    monkeypatch.setattr(private, "_detected", lambda _, source: answers[id(source)])
    kills, controls = found(matrix, replay, "i0")
    assert kills.verdict is controls.verdict is Verdict.FAILED
    assert "30 of 40 mutants under private seeds, 40 under the published" in kills.what
    assert "rejects what is correct: control" in controls.what


def test_the_interval_is_wilsons() -> None:
    # Wilson (1927) for 40 of 50, by hand: centre and half width with z = 1.959964.
    z, n, p = 1.959964, 50, 0.8
    centre = (p + z * z / (2 * n)) / (1 + z * z / n)
    half = z / (1 + z * z / n) * np.sqrt(p * (1 - p) / n + z * z / (4 * n * n))
    assert interval(40, 50) == pytest.approx((centre - half, centre + half), abs=1e-6)
