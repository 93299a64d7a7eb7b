import math
from pathlib import Path

import pytest

from suiteopt.audit.ceiling import ceilings
from suiteopt.errors import UserError
from suiteopt.matrix.schema import Status
from tests.suiteopt.audit.made import P, made_matrix
from tests.suiteopt.builders import tiny_matrix


def scaled(factor: float) -> dict[str, object]:
    return {"values": {"A": {"name": "scaled", "version": 1, "arguments": {"factor": factor}}}}


def test_where_controls_begin_to_be_rejected(tmp_path: Path) -> None:
    errors = {
        "c-serial": {"own-x3": 2e-6, "own-x30": 5e-4, "own-x1000": 0.5, "few": 0.0},
        "c-tile": {"own-x3": 5e-7, "own-x30": 2e-5, "own-x1000": 2e-5, "few": Status.CRASH},
        "m": {"own-x3": 1.0, "own-x30": 1.0, "own-x1000": 1.0, "few": 1.0},
    }
    inputs = {f"own-x{factor:g}": scaled(factor) for factor in (3, 30, 1000)}
    found = ceilings(made_matrix(tmp_path / "m", errors, inputs=inputs))
    own = ("own draw", "benchmark")
    assert [c.setting.scale for c in found.families[own]] == [3, 30, 1000]
    assert [c.rejected(1e-4) for c in found.families[own]] == [0, 1, 1]
    assert [c.rejected(1e-6) for c in found.families[own]] == [1, 2, 2]
    assert found.families[own][1].critical == pytest.approx(5e-4, rel=1e-3)
    assert found.families[own][1].worst_control == f"{P}:c-serial"
    scales = {t: found.safe(own, t) for t in found.tolerances}
    assert {t: c and c.setting.scale for t, c in scales.items()} == {
        1e-2: 30,
        1e-3: 30,
        1e-4: 3,
        1e-5: 3,
        1e-6: None,
    }
    # A control that crashes is rejected at every tolerance.
    assert found.families["few", "benchmark"][0].critical == math.inf
    assert found.safe(("few", "benchmark"), 1e-2) is None
    row = next(r for r in found.as_dict()["families"] if r["family"] == "own draw")
    assert row["safe"]["0.01"] == {"setting": "own-x30", "scale": 30.0}
    assert row["settings"][1]["rejected"]["0.0001"] == 1


def test_a_safe_scale_above_an_unsafe_one_is_not_safe(tmp_path: Path) -> None:
    """A gap in what was measured is no permission: everything below has to be safe."""
    inputs = {f"own-x{factor:g}": scaled(factor) for factor in (3, 30)}
    matrix = made_matrix(tmp_path / "m", {"c": {"own-x3": 1.0, "own-x30": 0.0}}, inputs=inputs)
    assert ceilings(matrix).safe(("own draw", "benchmark"), 1e-2) is None


def test_other_shapes_and_witnesses_stay_out(tmp_path: Path) -> None:
    matrix = made_matrix(tmp_path / "m", {"c": {"few": 0.0, "few@prime": 1.0, "witness-0": 1.0}})
    found = ceilings(matrix)
    assert list(found.families) == [("few", "benchmark")]
    assert found.safe(("few", "benchmark"), 1e-6) is not None


def test_a_matrix_without_controls(tmp_path: Path) -> None:
    matrix = tiny_matrix(tmp_path / "m", {P: [[1]]}, controls=())
    with pytest.raises(UserError, match="no cells of controls"):
        ceilings(matrix)
