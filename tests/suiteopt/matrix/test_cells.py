"""Cells as they are stored keep the promise of the minimum and the maximum."""

import math

import numpy as np
import pandas as pd
from hypothesis import given
from hypothesis import strategies as st

from suiteopt.matrix.cells import stored_cells
from suiteopt.matrix.rounding import round_up_12

finite = st.floats(min_value=0, max_value=1e300, allow_subnormal=True)
range_of_repeats = st.tuples(finite | st.just(math.inf), finite | st.just(math.inf)).map(sorted)


@given(st.lists(range_of_repeats, min_size=1, max_size=8), finite)
def test_a_stable_kill_is_real_and_an_accepted_control_was_always_right(
    ranges: list[list[float]], tolerance: float
) -> None:
    ids = pd.Index([f"m{j}" for j in range(len(ranges))])
    frame = pd.DataFrame(
        {
            "implementation": ids,
            "input": "i",
            "status": "ok",
            "rms": [low for low, _ in ranges],
            "rms_max": [high for _, high in ranges],
        }
    )
    stored = stored_cells(frame, ids, pd.Index(["i"]))
    low = stored["rms"].to_numpy(dtype=np.float64)
    high = np.where(stored["rms_max"].isna(), low, stored["rms_max"].to_numpy(dtype=np.float64))
    threshold = float(round_up_12(tolerance))
    for (exact_low, exact_high), kept_low, kept_high in zip(ranges, low, high, strict=True):
        assert exact_low <= kept_low <= kept_high
        assert exact_high <= kept_high
        if kept_low > threshold:
            assert exact_low > tolerance
        if kept_high <= tolerance:
            assert exact_high <= tolerance


def test_storing_what_was_stored_changes_nothing() -> None:
    rng = np.random.default_rng(0)
    ids = pd.Index([f"m{j}" for j in range(50)])
    low = 10.0 ** rng.uniform(-9, 3, 50)
    frame = pd.DataFrame(
        {"implementation": ids[::-1], "input": "i", "status": "ok", "rms": low, "rms_max": 2 * low}
    )
    once = stored_cells(frame, ids, pd.Index(["i"]))
    twice = stored_cells(once, ids, pd.Index(["i"]))
    pd.testing.assert_frame_equal(once, twice)
    assert once["implementation"].tolist() == ids.tolist()
