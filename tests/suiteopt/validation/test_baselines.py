from itertools import combinations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from suiteopt.selection.instance import Instance
from suiteopt.validation.baselines import lift, random_detection
from tests.suiteopt.selection.instances import instance_of, instances


@given(instances(), st.integers(1, 8))
def test_the_closed_form_is_the_mean_over_all_suites(instance: Instance, budget: int) -> None:
    columns = range(len(instance.inputs))
    suites = list(combinations(columns, min(budget, len(columns))))
    killed = [instance.kills[:, list(suite)].any(axis=1) | (instance.given > 0) for suite in suites]
    assert random_detection(instance, budget) == pytest.approx(np.mean(killed, axis=0))


def test_by_hand() -> None:
    # of 4 inputs, 2 at random: a single killer is drawn half the time, two of them 5 of 6 times
    instance = instance_of([[1, 0, 0, 0], [1, 1, 0, 0], [0, 0, 0, 0], [1, 1, 1, 0]])
    assert random_detection(instance, 2).tolist() == pytest.approx([0.5, 5 / 6, 0.0, 1.0])


def test_lift() -> None:
    assert lift(0.8, 0.5, 0.9) == pytest.approx(0.75)
    assert lift(0.4, 0.5, 0.9) == pytest.approx(-0.25)
    assert lift(0.9, 0.9, 0.9) is None
