import json
from pathlib import Path

import numpy as np
import pytest

from suiteopt.errors import UserError
from suiteopt.matrix.schema import Need
from suiteopt.selection.constraints import Capabilities
from suiteopt.selection.select import select
from suiteopt.validation.crossval import cross_validate
from suiteopt.validation.splits import Split
from tests.suiteopt.builders import site, tiny_matrix

P, Q = "level1/001", "level1/019"

# Two expressions, two rules, four mutants. Input i0 kills the edits of the first expression
# (m0, m1), i1 those of the second (m2, m3); each rule edits both expressions once.
PLANTED = {P: [[1, 0], [1, 0], [0, 1], [0, 1]]}
EDITS = {
    f"{P}:m0": {"sites": [site(1)], "rules": ["r"], "family": "arithmetic"},
    f"{P}:m1": {"sites": [site(1)], "rules": ["s"], "family": "boundary"},
    f"{P}:m2": {"sites": [site(2)], "rules": ["r"], "family": "arithmetic"},
    f"{P}:m3": {"sites": [site(2)], "rules": ["s"], "family": "boundary"},
}


def test_a_gap_that_is_known_by_hand(tmp_path: Path) -> None:
    found = cross_validate(tiny_matrix(tmp_path / "m", PLANTED, mutants=EDITS), 1)
    # one input detects two of four; which one is decided by bytes: i0
    assert found.fitted_share == 0.5
    assert found.problems[0].members == (f"{P}:i0",)
    # without the edits of one expression the input for the other is chosen: all against none
    by_site = found.splits[Split.SITE]
    assert (by_site.held_out_share, by_site.gap_share) == (0.0, 1.0)
    assert by_site.stability_share == pytest.approx(0.4871794871794872)
    # without one rule either input kills one of two trained on; i0 again, half of those held out
    by_rule = found.splits[Split.RULE]
    assert (by_rule.held_out_share, by_rule.gap_share) == (0.5, 0.0)
    assert by_rule.stability_share == 1.0
    primary = found.as_dict()["splits"]["site"]
    assert primary["oracle_share"] == 1.0  # the other input kills the whole fold
    assert primary["random_share"] == 0.5  # one of two inputs
    assert primary["lift_share"] == -1.0
    assert primary["fitted_minus_held_out_share"] == 0.5
    assert primary["folds"] == 40


def test_a_suite_that_generalises_has_no_gap(tmp_path: Path) -> None:
    matrix = tiny_matrix(tmp_path / "m", {P: [[1, 0]] * 4}, mutants=EDITS)
    found = cross_validate(matrix, 1)
    for split in (Split.RANDOM, Split.SITE, Split.RULE, Split.FAMILY):
        assert found.splits[split].held_out_share == 1.0
        assert found.splits[split].gap_share == 0.0


def test_a_brief_one_has_the_same_shares(tmp_path: Path) -> None:
    matrix = tiny_matrix(tmp_path / "m", PLANTED, mutants=EDITS)
    whole, brief = (cross_validate(matrix, 1, brief=short).as_dict() for short in (False, True))
    left_out = ("nested", "published", "sensitivity", "objectives")
    assert any(whole[key] for key in left_out)
    assert not any(brief[key] for key in left_out)
    for key in ("fitted_share", "splits", "denominators", "controls", "rows"):
        assert brief[key] == whole[key]


def test_json_has_the_keys_that_others_script_against(tmp_path: Path) -> None:
    found = cross_validate(tiny_matrix(tmp_path / "m", own=True), 2).as_dict()
    assert set(found) >= {
        "problems",
        "fitted_share",
        "splits",
        "baselines",
        "controls",
        "stability_share",
    }
    assert set(found["splits"]) >= {"random", "site", "rule"}
    for split in found["splits"].values():
        assert set(split) >= {"held_out_share", "gap_share", "interval", "sign_flip_p"}
        assert split["interval"] is None  # under 20 problems
    assert set(found["baselines"]) >= {"random_share", "own_share", "oracle_share"}
    assert set(found["controls"]) >= {"held_out", "rejected", "bound_share"}
    assert len(found["rows"]) == 2  # every problem is shown
    assert json.loads(json.dumps(found, allow_nan=False)) == found


def test_the_same_question_has_the_same_answer(tmp_path: Path) -> None:
    first = cross_validate(tiny_matrix(tmp_path / "a"), 2)
    assert first == cross_validate(tiny_matrix(tmp_path / "b"), 2)


def test_fitted_is_what_select_says(tmp_path: Path) -> None:
    matrix = tiny_matrix(tmp_path / "m")
    assert cross_validate(matrix, 2).fitted_share == select(matrix, 2).fitted_share


def random_matrix(path: Path, problems: int, seed: int = 0, **options: object) -> object:
    random = np.random.default_rng(seed)
    kills = {
        f"level1/{number:03}": (random.random((12, 6)) < 0.35).astype(int).tolist()
        for number in range(problems)
    }
    own = {name: (random.random(12) < 0.3).tolist() for name in kills}
    return tiny_matrix(path, kills, own=True, own_kills=own, **options)  # type: ignore[arg-type]


def test_held_out_stays_under_the_ceiling_and_all_over_one_denominator(tmp_path: Path) -> None:
    found = cross_validate(random_matrix(tmp_path / "m", 3), 2)  # type: ignore[arg-type]
    for split, figures in found.splits.items():
        if split == Split.SUBSTRATE:  # one substrate a problem: every fold would empty it
            assert [row.excluded for row in figures.problems] == [1, 1, 1]
            continue
        for row, whole in zip(figures.problems, found.problems, strict=True):
            assert row.mutants == pytest.approx(12)
            assert row.held_out <= row.ceiling + 1e-9
            assert row.random == pytest.approx(whole.random)
        assert sum(row.mutants for row in figures.problems) == pytest.approx(found.mutants)
    baselines = found.as_dict()["baselines"]
    own = sum(row.own or 0 for row in found.problems) / found.mutants
    assert baselines["own_share"] == own == found.splits[Split.SITE].own_share


def test_sign_flips_compare_with_own_draws(tmp_path: Path) -> None:
    kills = {f"level1/{number:03}": [[1, 0]] * 4 + [[0, 0]] for number in range(4)}
    own = {name: [True, False, False, False, False] for name in kills}
    found = cross_validate(tiny_matrix(tmp_path / "m", kills, own=True, own_kills=own), 1)
    # held out: 4 of 5 everywhere, own draws 1 of 5: all four differ, in one direction
    for split in (Split.RANDOM, Split.SITE):
        assert found.splits[split].held_out_share == pytest.approx(4 / 5)
        assert found.splits[split].sign_flip_p == 2 / 16
    assert found.as_dict()["baselines"]["own_share"] == pytest.approx(1 / 5)


def test_intervals_appear_from_twenty_problems_up(tmp_path: Path) -> None:
    found = cross_validate(random_matrix(tmp_path / "m", 20), 1, repeats=2)  # type: ignore[arg-type]
    site_split = found.splits[Split.SITE]
    held, gap = site_split.held_out_share, site_split.gap_share
    assert held is not None
    assert gap is not None
    assert site_split.interval is not None
    assert site_split.gap_interval is not None
    assert site_split.interval[0] < held < site_split.interval[1]
    assert site_split.gap_interval[0] < gap < site_split.gap_interval[1]
    assert site_split.sign_flip_p is None


def test_a_fold_that_would_empty_a_problem_is_excluded_and_counted(tmp_path: Path) -> None:
    # all edits of Q are of one expression and by one rule
    edits = {f"{Q}:m{row}": {"sites": [site(9, "q.cu")], "rules": ["q"]} for row in range(2)}
    matrix = tiny_matrix(
        tmp_path / "m", {**PLANTED, Q: [[1, 0], [1, 0]]}, mutants={**EDITS, **edits}
    )
    found = cross_validate(matrix, 1, repeats=3)
    by_site = found.splits[Split.SITE]
    assert [row.excluded for row in by_site.problems] == [0, 3]
    assert [row.mutants for row in by_site.problems] == [4, 0]
    assert by_site.problems[1].held_out_share is None
    assert by_site.held_out_share == 0.0  # over P alone
    assert found.splits[Split.RULE].problems[1].excluded == 1


def test_one_expression_in_a_shared_header_leaves_both_problems(tmp_path: Path) -> None:
    def matrix_with(files: dict[str, str], path: Path) -> object:
        edits = {
            f"{problem}:m{row}": {"sites": [site(row, files[problem])]}
            for problem in (P, Q)
            for row in range(2)
        }
        return tiny_matrix(path, {P: [[1, 0], [0, 1]], Q: [[1, 0], [0, 1]]}, mutants=edits)

    # tiny_matrix stores one text as kernel.cu of both problems: the same source
    shared = cross_validate(
        matrix_with({P: "kernel.cu", Q: "kernel.cu"}, tmp_path / "a"),  # type: ignore[arg-type]
        1,
        repeats=1,
    )
    assert shared.splits[Split.SITE].folds == 2
    apart = cross_validate(
        matrix_with({P: "a.cu", Q: "b.cu"}, tmp_path / "b"),  # type: ignore[arg-type]
        1,
        repeats=1,
    )
    assert apart.splits[Split.SITE].folds == 4


def test_own_draws_are_credited_where_the_harness_runs_them(tmp_path: Path) -> None:
    matrix = tiny_matrix(
        tmp_path / "m", PLANTED, mutants=EDITS, own=True, own_kills={P: [True, True, False, False]}
    )
    target = Capabilities(frozenset({Need.VALUES}), None, None, own_first=True)
    found = cross_validate(matrix, 1, capabilities=target)
    assert found.fitted_share == 1.0
    # the fold of m2, m3 is lost, for nothing that is trained on needs i1; m0 and m1 are safe
    assert found.splits[Split.SITE].held_out_share == 0.5
    assert found.as_dict()["baselines"]["own_share"] == 0.5


def test_refusals(tmp_path: Path) -> None:
    matrix = tiny_matrix(tmp_path / "m")
    with pytest.raises(UserError, match="give at least 1"):
        cross_validate(matrix, 0)
    with pytest.raises(UserError, match="at least 2 folds"):
        cross_validate(matrix, 1, folds=1)
    planted = tiny_matrix(tmp_path / "p", PLANTED, mutants=EDITS)
    groups = cross_validate(planted, 1, repeats=1).splits[Split.SITE].folds
    assert groups < 5  # the default is lowered to what there is, a wish is not
    with pytest.raises(UserError, match=f"7 folds are more than the {groups} groups .* --folds"):
        cross_validate(planted, 1, folds=7)
    with pytest.raises(UserError, match="has 1 mutants that count"):
        cross_validate(tiny_matrix(tmp_path / "n", {P: [[1]]}), 1)


def test_where_nothing_can_be_chosen_there_is_nothing_to_validate(tmp_path: Path) -> None:
    matrix = tiny_matrix(tmp_path / "m", controls=())
    with pytest.raises(UserError, match=r"can be chosen .+: their controls say"):
        cross_validate(matrix, 2)
