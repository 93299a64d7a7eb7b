"""The closed form of the blind band against the comparators themselves."""

import math
from pathlib import Path

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

from suiteopt.audit.band_model import OutputScale, band, linear_law, root_law
from suiteopt.audit.blind_band import blind_band
from suiteopt.errors import UserError
from suiteopt.matrix.schema import Statistic
from suiteopt.protocols import load_protocol
from tests.suiteopt.audit.made import P, made_matrix

S = Statistic


def accepts(comparator: str, t: float, ref: NDArray[np.float64], error: float) -> bool:
    """Compare out = (1 + error) ref with ref element by element, as the comparator is defined."""
    out = (1 + error) * ref
    d, size = np.abs(out - ref), np.abs(ref)
    name, _, text = comparator.partition("@")
    r = float(text) if text else 1.0
    if name == S.ALLCLOSE_CANDIDATE:
        return bool((d <= t + r * t * np.abs(out)).all())
    if name == S.ALLCLOSE_REFERENCE:
        return bool((d <= t + r * t * size).all())
    if name == S.MAX_ABS:
        return bool((d <= t).all())
    if name == S.MAX_REL:
        return bool((d <= t * size).all())
    if name == S.EITHER_OR:
        return bool(((d <= t) | (d <= t * size)).all())
    if name == S.GLOBAL:
        return bool((d <= t + t * size.max()).all())
    return bool((d <= t * np.sqrt(np.square(ref).mean())).all())


COMPARATORS = [str(s) for s in list(S)[:7]] + ["allclose_candidate@0.1", "allclose_reference@10"]


@pytest.mark.parametrize("comparator", COMPARATORS)
@settings(deadline=None)
@given(
    ref=st.lists(st.floats(-1e3, 1e3, allow_subnormal=False), min_size=1, max_size=6),
    tolerance=st.sampled_from([1e-2, 1e-3, 1e-4]),
)
def test_the_band_is_where_acceptance_ends(
    comparator: str, ref: list[float], tolerance: float
) -> None:
    values = np.array(ref)
    assume(np.abs(values).max() > 1e-3)
    rms = float(np.sqrt(np.square(values).mean()))
    largest = float(np.abs(values).max())
    edge = band(comparator, tolerance, OutputScale(largest, largest / rms))
    assert accepts(comparator, tolerance, values, edge * (1 - 1e-6))
    assert not accepts(comparator, tolerance, values, edge * (1 + 1e-6))


def test_small_outputs_hide_everything() -> None:
    """An output of 4e-6, as a softmax over 393,216 terms has, passes as zeros at 1e-4."""
    assert band(S.ALLCLOSE_CANDIDATE, 1e-4, OutputScale(4e-6, 1.5)) > 1
    assert band(S.RMS, 1e-4, OutputScale(4e-6, 1.5)) == pytest.approx(1e-4 / 1.5)
    assert band(S.MAX_ABS, 1e-4, OutputScale(0.0, 1.0)) == math.inf
    with pytest.raises(ValueError, match="no comparator against the own reference"):
        band(S.TRUTH_RMS, 1e-4, OutputScale(1.0, 1.0))


def test_the_two_laws() -> None:
    assert root_law(4096) == pytest.approx(64 * 2.0**-24)
    assert linear_law(4096) == pytest.approx(4096 * 2.0**-24)


def off(relative: float, largest: float = 9.0, rms: float = 3.0) -> dict[str, float]:
    """Return the statistics of out = (1 + relative) ref."""
    d = relative * largest
    return {
        S.ALLCLOSE_CANDIDATE: d / (1 + (1 + relative) * largest),
        S.MAX_ABS: d,
        S.MAX_REL: relative,
        S.RMS: d / rms,
        S.TRUTH_RMS_ERROR: relative,
    }


DRAWS = tuple(f"own-{j}" for j in range(5))


def everywhere(columns: object) -> dict[str, object]:
    return dict.fromkeys(DRAWS, columns)


def sample(path: Path, **inputs: object):  # type: ignore[no-untyped-def]
    cells = {
        "null:zeros": everywhere({S.MAX_ABS: 9.0, S.RMS: 3.0}),
        "m-small": everywhere(off(0.004)),
        "m-close": everywhere(off(0.011)),
        "m-far": everywhere(off(0.0113)),
        "m-uneven": everywhere({S.MAX_REL: 0.5, S.TRUTH_RMS_ERROR: 0.02, **off(0.0) | {}}),
        "c-serial": everywhere({S.RMS: 2e-6}),
    }
    changes = {name: dict(inputs) for name in DRAWS}
    return made_matrix(path, cells, inputs=changes, floor=1e-6)  # type: ignore[arg-type]


def test_measured_faults_bracket_the_band(tmp_path: Path) -> None:
    """t (1 + M) / (M (1 - t)) with t = 0.01 and M = 9 is 0.01122."""
    found = blind_band(sample(tmp_path / "m"), load_protocol("kernelbench-v0.1"))
    (row,) = found.rows
    assert row.band == pytest.approx(0.01 * 10 / (9 * 0.99), rel=1e-3)
    assert (row.accepted_by, row.rejected_by) == (f"{P}:m-close", f"{P}:m-far")
    assert row.accepted is not None
    assert row.rejected is not None
    assert row.accepted <= row.band <= row.rejected
    assert (row.length, row.terms) == (64, 0)
    assert row.control == pytest.approx(2e-6, rel=1e-3)
    assert row.times_control == pytest.approx(row.band / row.control)
    assert row.floor == pytest.approx(1e-6)
    assert row.as_dict()["root_law"] == pytest.approx(8 * 2.0**-24)
    assert found.slopes == {"matmul": None}  # one length is no line


def test_shortened_reductions_say_nothing(tmp_path: Path) -> None:
    matrix = sample(tmp_path / "m", scope="profile", reduction_ratio=0.25)
    with pytest.raises(UserError, match=r"has no full-length cells for kernelbench, so it says"):
        blind_band(matrix, load_protocol("kernelbench"))
