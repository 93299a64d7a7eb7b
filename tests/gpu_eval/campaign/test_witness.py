"""Witnesses from hand-made cells."""

from typing import Any

import pandas as pd
import pytest

from gpu_eval.campaign.witness import thresholds, verdicts
from suiteopt.matrix.rounding import round_up_12

IMPLEMENTATIONS = pd.DataFrame(
    [
        ("s", "substrate", "", False),
        ("serial", "control", "", False),
        ("blind", "control", "", True),
        ("m", "mutant", "s", False),
    ],
    columns=["implementation", "kind", "substrate", "blind"],
).assign(**{"class": "valid"})

INPUTS = pd.DataFrame(
    [
        ("own", "candidate", "profile", True, 0.0),
        ("w-odd", "witness", "other", True, 1e-7),
        ("w-main", "witness", "profile", True, 1e-7),
        ("w-bad", "witness", "profile", False, 1e-7),
    ],
    columns=["input", "role", "scope", "valid", "floor_rms"],
)


def cell(implementation: str, where: str, error: float | None = 0.0, **more: Any) -> dict[str, Any]:
    return {
        "implementation": implementation,
        "input": where,
        "status": "ok",
        "repeats": 1,
        "disagreed": 0,
        "nan_one": 0,
        "inf_mismatch": 0,
        "truth_rms": error,
        "truth_rms_max": None,
        **more,
    }


CONTROLS = [
    cell("serial", "w-odd", 1e-9),
    cell("serial", "w-main", 2e-7, truth_rms_max=4e-7),
    cell("blind", "w-main", 1.0),
    cell("s", "own", repeats=2),
]


def judge(*cells: dict[str, Any]) -> tuple[str, str, str]:
    frame = pd.DataFrame([*CONTROLS, *cells])
    row = verdicts(IMPLEMENTATIONS, INPUTS, frame).iloc[0]
    return row["witness"], row["witness_how"], row["input"]


def test_thresholds_are_eight_times_control_or_floor() -> None:
    found = thresholds(IMPLEMENTATIONS, INPUTS, pd.DataFrame(CONTROLS))
    assert dict(found) == {"w-odd": pytest.approx(8e-7), "w-main": pytest.approx(3.2e-6)}


@pytest.mark.parametrize(("factor", "expected"), [(0.999, "none"), (1.01, "profile")])
def test_errors_beyond_the_threshold(factor: float, expected: str) -> None:
    error = float(round_up_12([3.2e-6 * factor])[0])
    assert judge(cell("m", "w-main", error))[0] == expected


def test_candidates_and_invalid_inputs_are_no_evidence() -> None:
    assert judge(cell("m", "own", 9.0), cell("m", "w-bad", 9.0)) == ("none", "", "")


def test_the_strongest_scope_counts() -> None:
    assert judge(cell("m", "w-odd", 9.0)) == ("other_shape", "error", "w-odd")
    both = (cell("m", "w-odd", 9.0), cell("m", "w-main", 9.0))
    assert judge(*both) == ("profile", "error", "w-main")


@pytest.mark.parametrize("status", ["crash", "timeout", "launch_error"])
def test_exceptions(status: str) -> None:
    assert judge(cell("m", "w-main", None, status=status)) == ("profile", status, "w-main")


@pytest.mark.parametrize("status", ["out_of_bounds", "unwritten"])
def test_evidence_that_the_output_does_not_show(status: str) -> None:
    assert judge(cell("m", "w-main", status=status)) == ("profile", status, "w-main")


def test_one_sided_nan() -> None:
    found = judge(cell("m", "w-main", None, status="nonfinite", nan_one=1))
    assert found == ("profile", "nonfinite", "w-main")


def test_closed_mutants_are_witnessed_where_they_were_fatal() -> None:
    closed = cell("m", "w-main", None, status="closed")
    assert judge(closed, cell("m", "own", None, status="crash")) == ("profile", "crash", "own")


def test_a_fatal_candidate_alone_is_no_evidence() -> None:
    assert judge(cell("m", "own", None, status="crash"), cell("m", "w-main"))[0] == "none"


def test_races_count_where_the_substrate_is_steady() -> None:
    race = cell("m", "own", repeats=2, disagreed=1)
    assert judge(race) == ("profile", "race", "own")
    unsteady = [{**c, "disagreed": 1} if c["implementation"] == "s" else c for c in CONTROLS]
    found = verdicts(IMPLEMENTATIONS, INPUTS, pd.DataFrame([*unsteady, race]))
    assert found.iloc[0]["witness"] == "none"


def test_mutants_that_are_not_valid_have_no_verdict() -> None:
    table = IMPLEMENTATIONS.copy()
    table.loc[table["implementation"] == "m", "class"] = "duplicate"
    assert verdicts(table, INPUTS, pd.DataFrame(CONTROLS)).empty
