import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

from suiteopt.audit.intervals import IntervalMethod, cluster_interval
from suiteopt.validation.bootstrap import PROBLEMS_FOR_INTERVAL, share_interval


def test_equal_problems_give_the_mean_of_shares_with_students_t() -> None:
    """With equal sizes the linearised ratio is the mean, its error that of a mean."""
    shares = np.array([0.4, 0.5, 0.6, 0.7])
    found = cluster_interval(100 * shares, np.full(4, 100))
    assert found is not None
    half = stats.t.ppf(0.975, 3) * shares.std(ddof=1) / 2
    assert found.low == pytest.approx(0.55 - half)
    assert found.high == pytest.approx(0.55 + half)
    assert (found.method, found.problems) == (IntervalMethod.CLUSTER_T, 4)


def test_many_problems_are_resampled() -> None:
    rng = np.random.default_rng(1)
    wholes = rng.integers(20, 60, PROBLEMS_FOR_INTERVAL)
    parts = rng.binomial(wholes, 0.7)
    found = cluster_interval(parts, wholes)
    assert found is not None
    assert found.method == IntervalMethod.BOOTSTRAP
    assert (found.low, found.high) == share_interval(parts, wholes)


def test_one_problem_says_nothing_and_empty_ones_do_not_count() -> None:
    assert cluster_interval([3], [5]) is None
    assert cluster_interval([3, 0], [5, 0]) is None
    found = cluster_interval([3, 0, 4], [5, 0, 5])
    assert found is not None
    assert found.problems == 2


def test_two_unlike_problems_leave_everything_open() -> None:
    found = cluster_interval([0, 10], [10, 10])
    assert found is not None
    assert found.as_list() == [0.0, 1.0]


def test_a_difference_may_be_negative() -> None:
    found = cluster_interval([-2, -4, -3], [10, 10, 10], lowest=-1.0)
    assert found is not None
    assert -1.0 <= found.low < -0.3 < found.high < 0.0


@settings(deadline=None)
@given(st.lists(st.tuples(st.integers(0, 30), st.integers(0, 30)), min_size=2, max_size=12))
def test_an_interval_holds_the_share(problems: list[tuple[int, int]]) -> None:
    parts = np.array([min(pair) for pair in problems])
    wholes = np.array([max(pair) for pair in problems])
    found = cluster_interval(parts, wholes)
    if (wholes > 0).sum() < 2:
        assert found is None
        return
    assert found is not None
    assert 0.0 <= found.low <= parts.sum() / wholes.sum() + 1e-12
    assert parts.sum() / wholes.sum() - 1e-12 <= found.high <= 1.0
