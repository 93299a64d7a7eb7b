from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from suiteopt.selection.enumerate import enumerate_best
from suiteopt.selection.instance import Instance
from suiteopt.selection.parts import keep_rows
from suiteopt.validation.refit import refit
from tests.suiteopt.selection.instances import instance_of, instances


def folds_of(instance: Instance, seed: int, count: int = 4) -> np.ndarray:
    return np.random.default_rng(seed).random((count, len(instance.mutants))) < 0.4


@settings(deadline=None)
@given(instances(), st.integers(1, 3), st.integers(0, 99))
def test_what_is_chosen_is_the_optimum_of_the_training_mutants(
    instance: Instance, budget: int, seed: int
) -> None:
    folds = folds_of(instance, seed)
    found = refit(instance, folds, budget, "auto")
    for fold, columns, killed, ceiling in zip(
        folds, found.chosen, found.killed, found.ceiling, strict=True
    ):
        assert columns == enumerate_best(keep_rows(instance, np.flatnonzero(~fold)), budget)[0]
        expected = (instance.given > 0) | instance.kills[:, list(columns)].any(axis=1)
        assert killed.tolist() == expected.tolist()
        held_out = keep_rows(instance, np.flatnonzero(fold))
        assert ceiling == enumerate_best(held_out, budget)[1].detected
        assert int(instance.weights[fold & killed].sum()) <= ceiling


@pytest.mark.parametrize("solver", ["auto", "cp-sat"])
def test_one_by_one_gives_what_all_at_once_gives(
    solver: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    random = np.random.default_rng(4)
    instance = instance_of(random.random((30, 10)) < 0.3)
    folds = folds_of(instance, 1)
    at_once = refit(instance, folds, 2, "auto")
    monkeypatch.setattr("suiteopt.validation.refit.BANK_CELLS", 0)
    one_by_one = refit(instance, folds, 2, solver)
    assert one_by_one.ceiling.tolist() == at_once.ceiling.tolist()
    training = (at_once.killed & ~folds).sum(axis=1)
    assert (one_by_one.killed & ~folds).sum(axis=1).tolist() == training.tolist()
    if solver == "auto":
        assert one_by_one.chosen == at_once.chosen
        assert np.array_equal(one_by_one.single, at_once.single)


@given(instances(rows=8), st.integers(1, 3), st.integers(0, 99))
def test_held_out_mutants_have_no_say(instance: Instance, budget: int, seed: int) -> None:
    folds = folds_of(instance, seed, 1)
    kills, slack = instance.kills.copy(), instance.slack.copy()
    kills[folds[0]] = ~kills[folds[0]]
    slack[folds[0]] = 5000
    other = replace(instance, kills=kills, slack=slack)
    assert (
        refit(instance, folds, budget, "auto").chosen == refit(other, folds, budget, "auto").chosen
    )
