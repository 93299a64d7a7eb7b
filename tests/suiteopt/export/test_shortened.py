"""Tolerances calibrated at shorter reductions are warned of wherever a suite is used."""

import json
import re
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from suiteopt.cli.main import app
from suiteopt.export.exporter import export
from suiteopt.export.own_oracle import OwnOracleTarget
from suiteopt.export.registry import get_target
from suiteopt.export.shortened import Shortened, share, shortened, unrecorded, warning
from suiteopt.export.verify import verify
from suiteopt.suite import ProblemSuite, Suite
from tests.suiteopt.builders import DEFAULT_KILLS, tiny_matrix
from tests.suiteopt.export import checkouts

SENTENCE = "were calibrated at that part of the benchmark's reductions"


def at(part: ProblemSuite, *ratios: float, **changes: Any) -> ProblemSuite:
    members = zip(part.members, ratios, strict=True)
    return replace(
        part, members=tuple(replace(m, reduction_ratio=r, **changes) for m, r in members)
    )


@pytest.fixture
def parts() -> tuple[ProblemSuite, ...]:
    return checkouts.standard_problems(parameters=True)


def suite_of(parts: tuple[ProblemSuite, ...], ratio: float, target: str | None = None) -> Suite:
    shorter = tuple(
        at(p, *[ratio] * len(p.members)) if "040" in p.problem else p for p in parts
    )  # fmt: skip
    return checkouts.calibrated(target, *shorter)


def test_calibrated_members_at_the_benchmarks_own_shapes_count(
    parts: tuple[ProblemSuite, ...],
) -> None:
    (norm,) = (part for part in parts if "040" in part.problem)
    ids = tuple(member.input for member in norm.members)
    found = shortened(suite_of(parts, 1 / 8192))
    assert found == (Shortened("level1/040", 1 / 8192, ids),)
    assert warning(found).startswith(f"the tolerances of level1/040 (1/8192) {SENTENCE}")
    assert shortened(suite_of(parts, 1.0)) == ()
    assert shortened(suite_of(parts, 1.25)) == ()
    assert shortened(replace(suite_of(parts, 0.1), oracle="fixed:0.0001")) == ()
    own_shape = at(norm, *[0.1] * len(norm.members), shape_recipe="prime")
    assert shortened(checkouts.calibrated(None, own_shape)) == ()
    assert shortened(replace(suite_of(parts, 0.1), oracle="any-comparator"))


def test_the_smallest_part_is_named_and_long_lists_are_cut() -> None:
    many = [Shortened(f"level1/{n:03d}", 0.5**n, ()) for n in range(1, 10)]
    said = warning(many)
    assert "level1/001 (1/2), level1/002 (1/4)" in said
    assert "level1/006 (1/64) and 3 more were" in said
    assert [share(ratio) for ratio in (0.75, 1 / 3, 0.3047, 3e-5)] == [
        "0.75",
        "1/3",
        "0.3",
        "3e-05",
    ]


def test_a_suite_keeps_the_length_and_an_old_reader_may_ignore_it(
    parts: tuple[ProblemSuite, ...],
) -> None:
    suite = suite_of(parts, 0.125)
    document = json.loads(suite.to_json())
    assert document["format"]["minor"] == 1
    assert Suite.from_json(suite.to_json()) == suite
    assert json.loads(suite_of(parts, 1.0).to_json())["format"]["minor"] == 0
    assert "reduction_ratio" not in suite_of(parts, 1.0).to_json()


def test_a_suite_from_before_says_so_where_it_may_matter(parts: tuple[ProblemSuite, ...]) -> None:
    host = replace(suite_of(parts, 1.0), matrix_device="host")
    assert unrecorded(host)
    assert not unrecorded(replace(host, oracle="fixed:0.001"))
    assert not unrecorded(replace(suite_of(parts, 0.1), matrix_device="host"))
    target = get_target("kernelbench-sidecar")
    assert isinstance(target, OwnOracleTarget)
    assert any("measured on the host" in note for note in target.notes(host))
    assert not any("on the host" in note for note in target.notes(suite_of(parts, 0.1)))


def test_export_and_verify_say_it(tmp_path: Path, parts: tuple[ProblemSuite, ...]) -> None:
    suite = suite_of(parts, 1 / 512, "json")
    suite.save(tmp_path / "suite.json")
    words = ["export", str(tmp_path / "suite.json"), "--to", "json", "--repo", str(tmp_path)]
    told = CliRunner().invoke(app, words)
    assert told.exit_code == 0, told.output
    assert f"warning: the tolerances of level1/040 (1/512) {SENTENCE}" in told.stderr
    again = CliRunner().invoke(app, [*words, "--dry-run", "--json"])
    said = json.loads(again.stdout)["shortened"]
    assert [(one["problem"], one["reduction_ratio"]) for one in said] == [("level1/040", 1 / 512)]
    findings = verify(tmp_path, target="json").unproved
    listed = [one for one in findings if one.check == "tolerance"]
    assert [one.where for one in listed] == said[0]["members"]
    assert all(SENTENCE in one.what for one in listed)


def test_an_export_at_full_length_says_nothing(
    tmp_path: Path, parts: tuple[ProblemSuite, ...]
) -> None:
    assert export(suite_of(parts, 1.0, "json"), "json", tmp_path).shortened == ()


@pytest.mark.parametrize(("more", "warned"), [([], True), (["--oracle", "fixed:1e-2"], False)])
def test_select_for_a_target_says_it(more: list[str], warned: bool, tmp_path: Path) -> None:
    lengths = {"level1/001": 1 / 64, "level1/019": 1.0}
    inputs = {f"{name}:i{n}": {"reduction_ratio": lengths[name]} for name in lengths
              for n in range(len(DEFAULT_KILLS[name][0]))}  # fmt: skip
    matrix = tiny_matrix(tmp_path / "m", inputs=inputs)
    words = ["select", "-k", "1", "--matrix", str(matrix.path), "--json", *more]
    plain = CliRunner().invoke(app, words)
    told = CliRunner().invoke(app, [*words, "--target", "json"])
    assert (plain.exit_code, told.exit_code) == (0, 0), plain.output + told.output
    assert SENTENCE not in plain.stderr
    assert bool(re.search(SENTENCE, told.stderr)) is warned
    found = [one["problem"] for one in json.loads(told.stdout)["shortened"]]
    assert found == (["level1/001"] if warned else [])
