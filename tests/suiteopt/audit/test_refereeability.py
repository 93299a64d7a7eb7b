import math
from pathlib import Path
from typing import Any

import pytest

from suiteopt.audit.referee_reasons import Defect
from suiteopt.audit.refereeability import Referee, refereeability
from suiteopt.matrix.schema import Statistic, Status
from suiteopt.protocols import load_protocol
from tests.suiteopt.audit.made import P, made_matrix

S = Statistic
DRAWS = tuple(f"own-{j}" for j in range(5))


def referee(path: Path, cells: dict[str, Any], **problem: Any) -> Referee:
    matrix = made_matrix(path, cells, problem=problem)
    (found,) = refereeability(matrix, load_protocol("kernelbench"))
    return found


def own(value: Any, **others: Any) -> dict[str, Any]:
    return {**dict.fromkeys(DRAWS, value), **others}


def test_a_sound_problem(tmp_path: Path) -> None:
    cells = {"null:zeros": own(1.0), "c": own(1e-7), "m": own(1.0)}
    found = referee(tmp_path / "m", cells)
    assert found.reasons == ()
    assert found.refereeable(1e-2)
    assert found.refereeable(1e-6)
    assert found.as_dict([1e-2])["refereeable"] == {"0.01": True}


def test_zeros_that_pass_and_the_input_that_stops_them(tmp_path: Path) -> None:
    """A null passes from the largest of its draws' critical tolerances on: all must accept it."""
    cells = {
        "null:zeros": {**own(2e-3), "own-3": 4e-3, "hot": 0.9, "hot@prime": 5.0, "weak": 5e-3},
        "c": own(1e-7, **{"hot": 1e-6, "hot@prime": 0.0, "weak": 0.0}),
    }
    inputs = {"hot@prime": {"needs": ["values", "shapes"]}}
    matrix = made_matrix(tmp_path / "m", cells, inputs=inputs)
    (found,) = refereeability(matrix, load_protocol("kernelbench"))
    (reason,) = found.reasons
    assert (reason.defect, reason.subject) == (Defect.NULL_PASSES, "zeros")
    assert reason.lowest == pytest.approx(4e-3, rel=1e-3)
    assert reason.highest == math.inf
    # An input at the contract's shape is preferred to a stronger one at another.
    assert reason.fix.startswith(f"add the input {P}:hot, on which it is rejected up to 0.9")
    assert not found.refereeable(1e-2)
    assert found.refereeable(1e-3)


def test_an_input_on_which_correct_kernels_fail_is_no_cure(tmp_path: Path) -> None:
    cells = {
        "null:zeros": own({S.ALLCLOSE_CANDIDATE: 1e-3, S.RMS: 1.5}, hot=0.9),
        "c": own(1e-7, hot=0.5),
    }
    (reason,) = referee(tmp_path / "m", cells).reasons
    assert reason.fix == "compare relative to the RMS of the output, where it is off by 1.5"


def test_what_nothing_cures(tmp_path: Path) -> None:
    cells = {"null:copy-input": own(0.0, hot=0.0), "c": own(0.0, hot=0.0)}
    (reason,) = referee(tmp_path / "m", cells).reasons
    assert "no input of the pool tells it from the reference" in reason.fix
    assert reason.lowest == 0.0
    assert "at every tolerance" in reason.detail


def test_a_null_that_fails_outright_is_stopped(tmp_path: Path) -> None:
    cells = {"null:nan": own(Status.CRASH), "c": own(0.0)}
    assert referee(tmp_path / "m", cells).reasons == ()


def test_a_correct_kernel_that_is_rejected(tmp_path: Path) -> None:
    cells = {"null:zeros": own(1.0), "c-serial": {**own(1e-7), "own-2": 3e-5}}
    found = referee(tmp_path / "m", cells)
    (reason,) = found.reasons
    assert (reason.defect, reason.subject) == (Defect.CONTROL_REJECTED, f"{P}:c-serial")
    assert [found.refereeable(t) for t in (1e-4, 1e-5)] == [True, False]


@pytest.mark.parametrize(
    ("flag", "defect", "holds", "not_at"),
    [
        ("constant", Defect.CONSTANT, 1e-6, None),
        ("near_zero", Defect.NEAR_ZERO, 1e-2, 1e-3),
        ("random_reference", Defect.RANDOM_REFERENCE, 1e-6, None),
        ("reference_fails", Defect.REFERENCE_FAILS, 1e-6, None),
        ("reference_beyond_tolerance", Defect.REFERENCE_INEXACT, 1e-4, 1e-3),
    ],
)
def test_the_flags_of_a_matrix(
    tmp_path: Path, flag: str, defect: Defect, holds: float, not_at: float | None
) -> None:
    cells = {"null:zeros": own(1.0), "c": own(1e-7)}
    found = referee(tmp_path / "m", cells, **{flag: True})
    (reason,) = found.reasons
    assert reason.defect == defect
    assert reason.fix
    assert not found.refereeable(holds)
    assert not_at is None or found.refereeable(not_at)


def test_a_single_number_that_depends_on_the_input_is_no_constant(tmp_path: Path) -> None:
    """A loss is one number: all its elements are equal, and it changes from draw to draw."""
    sizes = dict(zip(DRAWS, (0.16, 0.15, 0.29, 0.19, 0.17), strict=True))
    zeros = {
        draw: {S.MAX_ABS: size, S.RMS: 1.0, S.ALLCLOSE_CANDIDATE: 1.0}
        for draw, size in sizes.items()
    }
    assert (
        referee(tmp_path / "m", {"null:zeros": zeros, "c": own(0.0)}, constant=True).reasons == ()
    )
    same = dict.fromkeys(DRAWS, zeros["own-0"])
    found = referee(tmp_path / "n", {"null:zeros": same, "c": own(0.0)}, constant=True)
    assert [reason.defect for reason in found.reasons] == [Defect.CONSTANT]
