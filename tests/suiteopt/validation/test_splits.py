import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.model_selection import LeaveOneGroupOut

from suiteopt.validation.splits import (
    Folds,
    label_folds,
    random_folds,
    site_folds,
    site_groups,
)

SITES = st.lists(st.lists(st.integers(0, 12), max_size=3), min_size=4, max_size=40)


def held_once_a_repeat(folds: Folds) -> bool:
    count = len(folds.held) // folds.repeats
    return all(
        np.all(folds.held[start : start + count].sum(axis=0) == 1)
        for start in range(0, len(folds.held), count)
    )


@given(st.lists(st.sampled_from(["a", "b", "c"]), min_size=2, max_size=60), st.integers(2, 5))
def test_random_folds_hold_every_mutant_out_once_a_repeat(strata: list[str], count: int) -> None:
    folds = random_folds([(name,) for name in strata], count, 3)
    assert folds.repeats == 3
    assert held_once_a_repeat(folds)
    assert np.all(folds.share == 1)


def test_random_folds_spread_every_stratum() -> None:
    labels = np.array(["a"] * 50 + ["b"] * 25)
    folds = random_folds([("p", label) for label in labels], 5, 4)
    assert folds.held[:, labels == "a"].sum(axis=1).tolist() == [10] * 20
    assert folds.held[:, labels == "b"].sum(axis=1).tolist() == [5] * 20


def test_small_strata_are_joined_by_problem() -> None:
    # no family of a problem has five mutants, but every problem has
    problems = np.repeat(["p", "q"], 10)
    strata = [(problem, f"f{row % 4}") for row, problem in enumerate(problems)]
    folds = random_folds(strata, 5, 2)
    assert folds.held[:, problems == "p"].sum(axis=1).tolist() == [2] * 10


def test_repeats_differ_and_a_seed_repeats() -> None:
    strata = [("p", "a")] * 30
    folds = random_folds(strata, 5, 20)
    assert len({fold.tobytes() for fold in folds.held}) > 90
    assert np.array_equal(folds.held, random_folds(strata, 5, 20).held)
    assert not np.array_equal(folds.held, random_folds(strata, 5, 20, seed=1).held)


@given(SITES, st.integers(2, 5))
def test_no_site_is_on_both_sides(sites: list[list[int]], count: int) -> None:
    folds = site_folds(site_groups(sites), count, 2)
    for fold in folds.held:
        out = {site for held, own in zip(fold, sites, strict=True) if held for site in own}
        kept = {site for held, own in zip(fold, sites, strict=True) if not held for site in own}
        assert not out & kept
    if len(folds.held):
        assert held_once_a_repeat(folds)


def test_a_merged_duplicate_links_the_sites_of_all_it_was_merged_from() -> None:
    groups = site_groups([["x"], ["y"], ["z"], ["x", "y"], [], []])
    assert groups[0] == groups[1] == groups[3]
    assert len({groups[0], groups[2], groups[4], groups[5]}) == 4


def test_a_rule_leaves_all_problems_at_once() -> None:
    rules = [("r",), ("s",), ("r",), ("r", "s"), ("t",)]
    folds = label_folds(rules)
    assert folds.names == ("r", "s", "t")
    assert folds.held.tolist() == [
        [True, False, True, True, False],
        [False, True, False, True, False],
        [False, False, False, False, True],
    ]
    assert folds.share.tolist() == [1.0, 1.0, 1.0, 0.5, 1.0]


@given(st.lists(st.lists(st.sampled_from("abcd"), min_size=1, max_size=3, unique=True), min_size=1))
def test_a_held_out_rule_is_never_trained_on_and_mutants_weigh_one(rules: list[list[str]]) -> None:
    folds = label_folds(rules)
    for name, fold in zip(folds.names, folds.held, strict=True):
        assert all((name in own) == held for own, held in zip(rules, fold, strict=True))
    if len(folds.held):
        assert np.allclose((folds.held * folds.share).sum(axis=0), 1.0)


def test_with_one_rule_each_it_is_leave_one_group_out() -> None:
    labels = list("abacab")
    folds = label_folds([(label,) for label in labels])
    expected = [test.tolist() for _, test in LeaveOneGroupOut().split(labels, groups=labels)]
    assert [np.flatnonzero(fold).tolist() for fold in folds.held] == expected


@pytest.mark.parametrize(
    "folds",
    [
        random_folds([("a",)], 5, 3),
        site_folds(site_groups([["x"], ["x"]]), 5, 3),
        label_folds([("r",), ("r",)]),
    ],
)
def test_what_cannot_be_split_has_no_folds(folds: Folds) -> None:
    assert folds.held.shape[0] == 0
