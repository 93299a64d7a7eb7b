"""What stands beside the headline: denominators, scaled tolerances, nested and locked figures."""

import json
from pathlib import Path

import numpy as np
import pytest

from suiteopt.matrix.oracle import calibrated, fixed
from suiteopt.matrix.store import Matrix
from suiteopt.selection.cases import cases
from suiteopt.selection.question import Objective, ask
from suiteopt.selection.select import select
from suiteopt.validation.controls import hold_out_controls
from suiteopt.validation.crossval import cross_validate
from suiteopt.validation.curve import curve
from suiteopt.validation.locked import locked_rules, members_hash
from suiteopt.validation.published import RULES, mixed
from suiteopt.validation.sensitivity import scaled
from suiteopt.validation.splits import Split
from suiteopt.validation.suites import Coverage
from tests.suiteopt.builders import tiny_matrix

P, Q = "level1/001", "level1/019"
KILLS = {P: [[1, 0], [1, 0], [0, 1], [0, 0]], Q: [[1, 0], [1, 0], [0, 0]]}


def with_witnesses(path: Path, **options: object) -> Matrix:
    """Of P, m1 is not witnessed and m2 shows in no output; Q:m2 is not witnessed, nor killed."""
    mutants = {
        f"{P}:m1": {"witness": "none", "witness_how": ""},
        f"{P}:m2": {"witness_how": "race"},
        f"{Q}:m2": {"witness": "none", "witness_how": ""},
    }
    return tiny_matrix(path, KILLS, mutants=mutants, **options)  # type: ignore[arg-type]


def test_every_denominator_by_hand(tmp_path: Path) -> None:
    own = {P: [True, False, False, False], Q: [False, True, False]}
    matrix = with_witnesses(tmp_path / "m", own=True, own_kills=own)
    found = cross_validate(matrix, 1, repeats=2).as_dict()["denominators"]
    # the suite chosen on the witnessed ones is i0 of P (m0; i1 would do m2) and i0 of Q
    shares = {name: (row["mutants"], row["fitted_share"]) for name, row in found.items()}
    assert shares["witnessed"] == (5, 3 / 5)
    assert shares["output"] == (4, 3 / 4)
    assert shares["witnessed_or_killed"] == (6, 4 / 6)
    assert shares["valid"] == (7, 4 / 7)
    assert shares["macro_problems"] == (5, pytest.approx((1 / 3 + 1) / 2))
    assert found["witnessed"]["own_share"] == found["witnessed"]["first_own_share"] == 2 / 5
    assert found["valid"]["own_share"] == 2 / 7


def test_the_headline_is_the_same_everywhere(tmp_path: Path) -> None:
    matrix = with_witnesses(tmp_path / "m")
    found = cross_validate(matrix, 1).as_dict()
    headline = found["denominators"]["witnessed"]
    assert headline["fitted_share"] == found["fitted_share"] == select(matrix, 1).fitted_share
    assert headline["mutants"] == found["mutants"]


def test_scaled_tolerances(tmp_path: Path) -> None:
    assert scaled(calibrated(10), 3.0).safety == 30.0
    assert scaled(fixed(1e-3), 0.1).tolerance == pytest.approx(1e-4)
    # m1 has an error of 5e-6: 50 times the controls
    matrix = tiny_matrix(tmp_path / "m", {P: [[1], [5e-6]]})
    found = cross_validate(matrix, 1, repeats=1).as_dict()
    assert [row["factor"] for row in found["sensitivity"]] == [0.1, 1 / 3, 1.0, 3.0, 10.0]
    shares = [row["fitted_share"] for row in found["sensitivity"]]
    assert shares == [1.0, 1.0, found["fitted_share"], 1.0, 0.5]
    assert all(row["rejected"] == 0 for row in found["sensitivity"])


def test_a_tighter_tolerance_than_calibrated_rejects_controls(tmp_path: Path) -> None:
    errors = {(f"{P}:serial", f"{P}:i0"): 9e-4}
    matrix = tiny_matrix(tmp_path / "m", {P: [[1], [1]]}, control_error=errors)
    found = cross_validate(matrix, 1, "rms:1e-3", repeats=1).as_dict()["sensitivity"]
    assert [row["rejected"] for row in found] == [1, 1, 0, 0, 0]


def test_nested_safety_is_chosen_without_what_it_judges(tmp_path: Path) -> None:
    errors = {(f"{P}:serial", f"{P}:i0"): 4e-7}
    matrix = tiny_matrix(tmp_path / "m", KILLS, control_error=errors)
    found = cross_validate(matrix, 1, repeats=2).as_dict()["nested"]
    # only P asks for more than 1, so Q is judged at 5 and P at what Q asks for: 1
    assert found["safeties"] == {P: 1.0, Q: 5.0}
    assert found["chosen_safety"] == 5.0
    assert set(found["splits"]) == {"random", "site", "rule"}
    # judged at 1 without its kind, the control that nobody foresaw is rejected on its member
    assert found["controls"]["rejected"] == 1
    assert [row["control"] for row in found["controls"]["rejections"]] == [f"{P}:serial"]
    # at the safety of 10 it is not
    assert cross_validate(matrix, 1, repeats=2).controls.rejected == 0


def test_no_nested_figures_without_a_safety(tmp_path: Path) -> None:
    matrix = tiny_matrix(tmp_path / "m", KILLS)
    assert cross_validate(matrix, 1, "fixed:1e-3", repeats=1).nested is None


def test_published_conditions_are_fixed_and_random(tmp_path: Path) -> None:
    matrix = tiny_matrix(tmp_path / "m", KILLS)
    found = cross_validate(matrix, 1, repeats=2)
    row = found.as_dict()["published"]
    fixed_run = cross_validate(matrix, 2, "fixed:0.01", repeats=2)
    assert row["fitted_share"] == fixed_run.fitted_share
    assert row["held_out_share"] == pytest.approx(fixed_run.splits[Split.RANDOM].held_out_share)
    assert (row["published_fitted_share"], row["published_held_out_share"]) == (0.98, 0.948)


def test_families_are_weighted_by_published_rules() -> None:
    assert sum(RULES.values()) == 127
    assert mixed({"arithmetic": 1.0, "boundary": 0.0}) == pytest.approx(5 / 46)
    assert mixed({"precision": 0.5, "semantic": None}) == 0.5
    assert mixed({}) is None


def test_locked_rules_are_scored_by_a_suite_that_never_saw_them(tmp_path: Path) -> None:
    # of P, m2 (killed by i1 alone) and m3 (by nothing) are locked: i0 is chosen and kills neither
    locked = {f"{P}:m2": {"locked": True}, f"{P}:m3": {"locked": True}}
    locked[f"{Q}:m1"] = {"locked": True}
    matrix = tiny_matrix(tmp_path / "m", KILLS, mutants=locked)
    found = locked_rules(
        matrix, ask(None, locked=True), lambda some: Coverage(some, 1, "auto").selections
    )
    assert (found.mutants, found.detected, found.rules) == (3, 1, 3)
    assert (found.open_mutants, found.open_detected) == (4, 3)
    assert found.members == {P: (f"{P}:i0",), Q: (f"{Q}:i0",)}
    row = cross_validate(matrix, 1, repeats=1, locked=True).as_dict()["locked_rules"]
    assert row["detected_share"] == 1 / 3
    assert cross_validate(matrix, 1, repeats=1).locked_rules is None
    assert len(members_hash(found.members)) == 64
    assert members_hash({**found.members, P: ()}) != members_hash(found.members)


def test_a_wider_tolerance_detects_no_more_on_the_curve(tmp_path: Path) -> None:
    errors = [[10.0 ** -(2 + (i + j) % 5) for j in range(3)] for i in range(6)]
    matrix = tiny_matrix(tmp_path / "m", {P: errors, Q: errors})
    points = {point.oracle: point for point in curve(matrix, ask(None), 1)}
    safeties = [p.detected_share for name, p in points.items() if name.startswith("calibrated")]
    tolerances = [p.detected_share for name, p in points.items() if name.startswith("fixed")]
    assert safeties == sorted(safeties, reverse=True)  # type: ignore[type-var]
    assert tolerances == sorted(tolerances)  # type: ignore[type-var]  # the grid tightens
    for name in ("calibrated", "fixed:0.001"):
        plain = select(matrix, 1, name, objective=Objective.COVERAGE)
        assert points[name].detected_share == plain.fitted_share
    found = points["calibrated"]
    question = ask("calibrated")
    suites = Coverage(list(cases(matrix, question)), 1, "auto")
    expected = hold_out_controls(matrix, question, suites.found, suites.choose)
    assert found.controls == expected


def test_the_substrate_split_leaves_one_implementation_out(tmp_path: Path) -> None:
    # the faults of substrate a die by i0, those of b by i1
    mutants = {f"{P}:m{row}": {"substrate": "a" if row < 2 else "b"} for row in range(4)}
    matrix = tiny_matrix(tmp_path / "m", {P: [[1, 0], [1, 0], [0, 1], [0, 1]]}, mutants=mutants)
    found = cross_validate(matrix, 1, repeats=1)
    split = found.splits[Split.SUBSTRATE]
    assert (split.folds, split.held_out_share, split.gap_share) == (2, 0.0, 1.0)


def test_held_out_by_family_adds_up(tmp_path: Path) -> None:
    random = np.random.default_rng(1)
    kills = {p: (random.random((12, 5)) < 0.4).astype(int).tolist() for p in (P, Q)}
    found = cross_validate(tiny_matrix(tmp_path / "m", kills), 2, repeats=3)
    for split in (Split.RANDOM, Split.SITE):
        figures = found.splits[split]
        by_family = figures.by_family
        assert len(by_family) == 6
        mean = sum(share for share in by_family.values() if share is not None) / 6
        assert mean == pytest.approx(figures.held_out_share)  # two of each family a problem
    assert json.dumps(found.as_dict(), allow_nan=False)
