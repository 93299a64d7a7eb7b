import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

from suiteopt.validation.bootstrap import RESAMPLES, share_interval, sign_flip_p, upper_bound


@pytest.mark.parametrize(
    ("events", "trials", "expected"),
    [
        (0, 6, 1 - 0.05 ** (1 / 6)),
        (0, 59, 1 - 0.05 ** (1 / 59)),  # the smallest n that shows a share below 5%
        (1, 10, 0.394163),
        (3, 1131, 0.006840),
        (10, 10, 1.0),
    ],
)
def test_clopper_pearson(events: int, trials: int, expected: float) -> None:
    assert upper_bound(events, trials) == pytest.approx(expected, abs=5e-6)


@given(st.integers(1, 60), st.data())
def test_the_bound_is_the_beta_quantile(trials: int, data: st.DataObject) -> None:
    events = data.draw(st.integers(0, trials - 1))
    expected = stats.beta.ppf(0.95, events + 1, trials - events)
    assert upper_bound(events, trials) == pytest.approx(expected, rel=1e-6)


def test_no_trial_no_bound() -> None:
    assert upper_bound(0, 0) is None


@pytest.mark.parametrize(
    ("differences", "p"),
    [
        ([0.1], 1.0),
        ([0.1] * 6, 2 / 64),
        ([0.1, 0.2, 0.3, 0.4, -0.05], 4 / 32),  # two of 32 sums reach 0.95, and their mirrors
        ([0.1, -0.1], 1.0),
    ],
)
def test_sign_flips_by_hand(differences: list[float], p: float) -> None:
    assert sign_flip_p(differences) == pytest.approx(p)


@settings(max_examples=25, deadline=None)
@given(st.lists(st.integers(-6, 6).filter(bool), min_size=2, max_size=9))
def test_sign_flips_are_the_exact_permutation_test(values: list[int]) -> None:
    expected = stats.permutation_test(
        (np.array(values, dtype=float),),
        lambda sample, axis: np.mean(sample, axis=axis),
        permutation_type="samples",
        vectorized=True,
        n_resamples=2**10,
    )
    assert sign_flip_p(values) == pytest.approx(expected.pvalue)


def test_problems_without_a_difference_change_nothing() -> None:
    assert sign_flip_p([0.1, 0.0, 0.3, 0.2, 0.0]) == sign_flip_p([0.1, 0.3, 0.2]) == 0.25
    assert sign_flip_p([0.0, 0.0]) is None


def test_intervals_and_tests_change_places_at_twenty_problems() -> None:
    few, many = [0.1] * 19, [0.1] * 20
    assert share_interval([8] * 19, [10] * 19) is None
    assert sign_flip_p(few) == pytest.approx(2 / 2**19)
    assert share_interval([8] * 20, [10] * 20) == (0.8, 0.8)
    assert sign_flip_p(many) is None


def test_an_interval_holds_the_share_and_has_the_width_of_a_mean() -> None:
    random = np.random.default_rng(0)
    parts = random.integers(0, 11, 200)
    interval = share_interval(parts, [10] * 200)
    assert interval is not None
    low, high = interval
    mean, error = parts.mean() / 10, parts.std(ddof=1) / 10 / np.sqrt(200)
    assert low == pytest.approx(mean - 1.96 * error, abs=0.005)
    assert high == pytest.approx(mean + 1.96 * error, abs=0.005)


def test_problems_weigh_by_their_mutants() -> None:
    # one huge problem: with probability (1 - 1/20)^20 = 0.36 a resample lacks it
    interval = share_interval([0] + [1] * 19, [1000] + [1] * 19)
    assert interval is not None
    assert interval[0] < 0.02
    assert interval[1] == 1.0


def test_the_same_seed_sees_the_same_resamples_and_there_are_enough() -> None:
    random = np.random.default_rng(1)
    parts, wholes = random.integers(5, 11, 30), np.full(30, 10)
    held, missed = share_interval(parts, wholes), share_interval(wholes - parts, wholes)
    assert held is not None
    assert missed is not None
    assert held == pytest.approx((1 - missed[1], 1 - missed[0]))
    assert RESAMPLES >= 2000
