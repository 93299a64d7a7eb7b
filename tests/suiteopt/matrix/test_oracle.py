import pytest

from suiteopt.errors import UserError
from suiteopt.matrix.oracle import Nonfinite, Oracle, parse_oracle
from suiteopt.matrix.schema import EXCEPTION_STATUSES, STATISTICS, Count, Statistic

PROTOCOL = Oracle("a-protocol", "either_or", by_dtype={"float32": 1e-3, "float16": 1e-2})


def test_fixed_is_torchs_own_check() -> None:
    oracle = parse_oracle("fixed:1e-2")
    assert oracle.comparator == Statistic.ALLCLOSE_CANDIDATE
    assert oracle.tolerance == 0.01
    assert oracle.nonfinite == Nonfinite.TORCH
    assert oracle.fatal == EXCEPTION_STATUSES
    assert not oracle.calibrated
    assert oracle.name == "fixed:0.01"
    assert parse_oracle(oracle.name) == oracle


@pytest.mark.parametrize("statistic", STATISTICS)
def test_any_comparator_at_a_tolerance(statistic: Statistic) -> None:
    oracle = parse_oracle(f"{statistic}:0.003")
    assert oracle.comparator == statistic
    assert oracle.fixed_tolerance("float32") == 0.003
    assert oracle.judges_truth == statistic.startswith("truth")
    assert parse_oracle(oracle.name) == oracle


def test_a_stored_ratio() -> None:
    oracle = parse_oracle("allclose_reference@0.10:1e-3")
    assert oracle.comparator == "allclose_reference@0.1"
    assert parse_oracle(oracle.name) == oracle


def test_calibrated() -> None:
    default = parse_oracle("calibrated")
    assert (default.safety, default.comparator) == (10.0, Statistic.RMS)
    assert default.calibrated
    assert default.tolerance is None
    assert parse_oracle("calibrated:30").safety == 30
    assert parse_oracle("calibrated:10") == default
    assert parse_oracle("calibrated:1").safety == 1
    with pytest.raises(ValueError, match="a tolerance for each input"):
        default.fixed_tolerance("float32")


def test_a_protocol_by_name_with_a_tolerance_a_dtype() -> None:
    oracle = parse_oracle("a-protocol", {"a-protocol": PROTOCOL})
    assert oracle is PROTOCOL
    assert oracle.fixed_tolerance("float32") == 1e-3
    assert oracle.fixed_tolerance("float16") == 1e-2
    with pytest.raises(UserError, match="no tolerance for float64; it has one for float16, float"):
        oracle.fixed_tolerance("float64")


@pytest.mark.parametrize(
    "text", ["", "fixed", "ulps:3", "strict", "allclose_candidate", "max_abs@0.1:1", "rms@x:1"]
)
def test_unknown_ones_list_the_known(text: str) -> None:
    with pytest.raises(UserError) as caught:
        parse_oracle(text, {"a-protocol": PROTOCOL})
    message = str(caught.value)
    assert f"there is no oracle {text!r}" in message
    for known in ("fixed:<tolerance>", "calibrated", *STATISTICS, "a-protocol"):
        assert known in message
    assert "\n" not in message


@pytest.mark.parametrize("number", ["", "x", "-1e-3", "nan", "inf", "1e-2:3"])
def test_numbers_that_make_no_sense(number: str) -> None:
    for head in ("fixed", "rms", "calibrated"):
        with pytest.raises(UserError, match=r"is no tolerance; give one that is zero or more"):
            parse_oracle(f"{head}:{number}")


@pytest.mark.parametrize("safety", ["0", "0.5", "0.999"])
def test_a_safety_below_one_would_reject_its_own_controls(safety: str) -> None:
    with pytest.raises(UserError, match="below 1, which would reject the controls"):
        parse_oracle(f"calibrated:{safety}")


def test_policies() -> None:
    assert Nonfinite.TORCH.failing == (Count.NAN_BOTH, Count.NAN_ONE, Count.INF_MISMATCH)
    assert Nonfinite.EQUAL_NAN.failing == (Count.NAN_ONE, Count.INF_MISMATCH)
    assert Nonfinite.FINITE_OUTPUT.failing == (Count.NONFINITE_OUTPUT,)


def test_an_oracle_is_one_thing() -> None:
    with pytest.raises(ValueError, match="one tolerance"):
        Oracle("x", "rms")
    with pytest.raises(ValueError, match="one tolerance"):
        Oracle("x", "rms", tolerance=1.0, safety=3.0)
    with pytest.raises(ValueError, match="under every oracle"):
        Oracle("x", "rms", tolerance=1.0, fatal=frozenset())
