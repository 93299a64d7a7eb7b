import math

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from suiteopt.matrix.rounding import SIGNIFICANT_BITS, round_up_12

TINY = float(np.finfo(np.float32).tiny)
MAX = float(np.finfo(np.float32).max)
LAST = 2.0**128 - 2.0 ** (128 - SIGNIFICANT_BITS)  # largest float32 with 12 significant bits

non_negative = st.floats(min_value=0, allow_nan=False, allow_infinity=True, width=64)


def rounded(value: float) -> float:
    return float(round_up_12(value))


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        (0.0, 0.0),
        (-0.0, 0.0),
        (1.0, 1.0),
        (1.0 + 2.0**-11, 1.0 + 2.0**-11),
        (1.0 + 2.0**-12, 1.0 + 2.0**-11),
        (math.nextafter(1.0, 2.0), 1.0 + 2.0**-11),
        (math.nextafter(2.0, 1.0), 2.0),
        (0.75, 0.75),
        (5e-324, TINY),
        (TINY / 2, TINY),
        (TINY, TINY),
        (math.nextafter(TINY, 1.0), TINY * (1 + 2.0**-11)),
        (LAST, LAST),
        (math.nextafter(LAST, math.inf), math.inf),
        (MAX, math.inf),
        (1e300, math.inf),
        (math.inf, math.inf),
    ],
)
def test_known_values(value: float, expected: float) -> None:
    assert rounded(value) == expected


@given(non_negative)
@example(5e-324)
@example(TINY)
@example(MAX)
@example(1e308)
def test_up_and_not_far(value: float) -> None:
    result = rounded(value)
    assert result >= value
    if TINY <= value <= LAST:
        assert result <= value * (1 + 2.0**-11)
    if math.isfinite(result) and result > 0:
        mantissa, _ = math.frexp(result)
        assert mantissa * 2**SIGNIFICANT_BITS == math.floor(mantissa * 2**SIGNIFICANT_BITS)
        assert result >= TINY
    assert rounded(result) == result


@given(non_negative, non_negative)
@example(5e-324, 1e-323)
@example(MAX, 1e300)
@example(0.0, 5e-324)
def test_monotone_so_no_kill_is_invented_and_no_rejection_missed(x: float, t: float) -> None:
    if x <= t:
        assert rounded(x) <= rounded(t)
    if rounded(x) > rounded(t):
        assert x > t
    if x > t:
        assert rounded(x) > t


@given(st.floats(min_value=TINY, max_value=1e30))
def test_what_is_missed_lies_within_the_band(t: float) -> None:
    beyond = math.nextafter(t * (1 + 2.0**-11) ** 2, math.inf)
    assert rounded(beyond) > rounded(t)


def test_arrays_keep_their_shape() -> None:
    values = np.array([[0.0, 1e-40], [math.pi, math.inf]])
    result = round_up_12(values)
    assert result.dtype == np.float32
    assert result.shape == (2, 2)
    assert result[0, 1] == np.float32(TINY)
    assert round_up_12(np.empty((0, 3))).shape == (0, 3)


@pytest.mark.parametrize("value", [-1e-300, -1.0, -math.inf, math.nan])
def test_refuses_what_is_no_critical_tolerance(value: float) -> None:
    with pytest.raises(ValueError, match="neither negative nor NaN"):
        round_up_12(value)
