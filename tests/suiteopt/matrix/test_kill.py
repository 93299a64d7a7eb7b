import math
from dataclasses import replace
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from suiteopt.errors import UserError
from suiteopt.matrix import pieces
from suiteopt.matrix import reading as reading_module
from suiteopt.matrix.kill import (
    REFEREE_LIMIT,
    SLACK_LIMIT,
    calibrated_tolerances,
    calibrating_controls,
    kill_table,
    matrix_kills,
)
from suiteopt.matrix.oracle import Nonfinite, fixed, parse_oracle
from suiteopt.matrix.rounding import round_up_12
from suiteopt.matrix.schema import (
    CLOSING_STATUSES,
    EXCEPTION_STATUSES,
    FATAL_STATUSES,
    Kind,
    ShapeScope,
    Statistic,
    Status,
)
from suiteopt.matrix.store import Matrix
from suiteopt.matrix.writer import MatrixWriter
from tests.suiteopt.builders import CONTROLS, SURVIVED, cell, header, tiny_matrix

P = "level1/001"
SERIAL, PAIRWISE, CHUNKED = (f"{P}:{kind}" for kind in CONTROLS)
I0, I1, I2 = f"{P}:i0", f"{P}:i1", f"{P}:i2"
FIXED = parse_oracle("fixed:1e-2")
CALIBRATED = parse_oracle("calibrated")


def with_cells(matrix: Matrix, rows: list[dict[str, object]]) -> Matrix:
    """Put cells in the place of those with the same ids."""
    frame = matrix.cells(P).astype({"implementation": str, "input": str, "status": str})
    keys = {(row["implementation"], row["input"]) for row in rows}
    pairs = zip(frame["implementation"], frame["input"], strict=True)
    kept = frame[[pair not in keys for pair in pairs]]
    writer = MatrixWriter(matrix.path, header())
    writer.write_cells(P, pd.DataFrame([*kept.to_dict("records"), *rows]))
    writer.finish(True)
    return Matrix.open(matrix.path)


@pytest.fixture(params=("at once", "in pieces"), autouse=True)
def reading(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """Every test twice: cells of a large problem are read three at a time."""
    if request.param == "in pieces":
        monkeypatch.setattr(pieces, "LARGE_CELLS", -1)
        monkeypatch.setattr(reading_module, "ROWS_AT_ONCE", 3)


def test_rows_and_columns(tmp_path: Path) -> None:
    matrix = tiny_matrix(
        tmp_path / "m",
        {P: [[1, 0], [0, 1], [1, 1], [0, 0], [1, 0]]},
        own=True,
        mutants={
            f"{P}:m1": {"class": "duplicate", "duplicate_of": f"{P}:m0"},
            f"{P}:m2": {"class": "stillborn"},
            f"{P}:m4": {"locked": True},
        },
    )
    table = kill_table(matrix, P, FIXED)
    names = ["m0", "m3", "zeros", *CONTROLS]
    assert table.implementations == tuple(f"{P}:{name}" for name in names)
    assert table.kinds == (Kind.MUTANT,) * 2 + (Kind.NULL,) + (Kind.CONTROL,) * 3
    assert table.inputs == tuple(matrix.inputs_of(P)["input"])
    assert len(table.inputs) == 2 + 5 + 3 + 1
    for sparse in (table.kills, table.ran, table.slack):
        assert sparse.shape == (6, 11)
    assert table.kills.dtype == np.bool_
    assert table.ran.dtype == np.bool_
    assert table.slack.dtype == np.float32
    assert table.kills.format == table.ran.format == table.slack.format == "csr"
    assert table.tolerances.dtype == np.float64
    assert table.rows(Kind.NULL).tolist() == [2]
    asked = kill_table(matrix, P, FIXED, include_locked=True)
    assert f"{P}:m4" in asked.implementations
    assert len(asked.implementations) == 7


def test_kills_of_a_hand_made_matrix(tmp_path: Path) -> None:
    matrix = tiny_matrix(tmp_path / "m", {P: [[1, 0, 0], [0.05, 0.005, 1]]})
    mutants = slice(0, 2)
    kills = kill_table(matrix, P, FIXED).kills.toarray()[mutants, :3]
    assert kills.tolist() == [[True, False, False], [True, False, True]]
    kills = kill_table(matrix, P, fixed(1e-3)).kills.toarray()[mutants, :3]
    assert kills.tolist() == [[True, False, False], [True, True, True]]
    kills = kill_table(matrix, P, fixed(0.5)).kills.toarray()[mutants, :3]
    assert kills.tolist() == [[True, False, False], [False, False, True]]


def test_absent_cells_are_not_run_and_never_survived(tmp_path: Path) -> None:
    matrix = tiny_matrix(tmp_path / "m", {P: [[1, None, 0], [None, None, None], [0, 0, 0]]})
    for oracle in (FIXED, CALIBRATED):
        table = kill_table(matrix, P, oracle)
        assert table.kills.toarray()[:2, :3].tolist() == [[True, False, False], [False] * 3]
        assert table.ran.toarray()[:3, :3].tolist() == [
            [True, False, True],
            [False, False, False],
            [True, True, True],
        ]
        assert table.incomplete[:3].tolist() == [True, True, False]
        assert table.slack.toarray()[1, :3].tolist() == [0, 0, 0]


EXPECTED = [  # status, error, killed at 1e-2
    (Status.OK, 1.0, True),
    (Status.OK, 1e-3, False),
    (Status.NONFINITE, 1e-3, False),
    (Status.OUT_OF_BOUNDS, 1.0, True),
    (Status.OUT_OF_BOUNDS, 1e-3, False),
    (Status.UNWRITTEN, 1.0, True),
    (Status.UNWRITTEN, 1e-3, False),
    (Status.CRASH, None, True),
    (Status.TIMEOUT, None, True),
    (Status.LAUNCH_ERROR, None, True),
    (Status.CLOSED, None, True),
    (Status.DECIDED, None, True),
]


@pytest.mark.parametrize(("status", "error", "killed"), EXPECTED)
def test_statuses(tmp_path: Path, status: Status, error: float | None, killed: bool) -> None:
    matrix = tiny_matrix(tmp_path / "m", {P: [[0]]})
    row = cell(f"{P}:m0", I0, status if error is None else error) | {"status": str(status)}
    table = kill_table(with_cells(matrix, [row]), P, FIXED)
    assert bool(table.kills.toarray()[0, 0]) is killed
    assert bool(table.ran.toarray()[0, 0]) is True
    assert (table.slack.toarray()[0, 0] > 0) == killed


def test_the_table_of_statuses_is_whole() -> None:
    assert {status for status, _, _ in EXPECTED} == set(Status) - {Status.INVALID}


@pytest.mark.parametrize("text", ["fixed:1e30", "rms:1e30", "truth_rms:0", "max_abs:7"])
@pytest.mark.parametrize("status", sorted(EXCEPTION_STATUSES))
def test_an_exception_kills_under_every_oracle(tmp_path: Path, status: Status, text: str) -> None:
    matrix = tiny_matrix(tmp_path / "m", {P: [[status]]})
    table = kill_table(matrix, P, parse_oracle(text))
    assert table.kills.toarray()[0, 0]
    assert table.slack.toarray()[0, 0] == SLACK_LIMIT


def test_a_harness_that_sees_canaries(tmp_path: Path) -> None:
    matrix = tiny_matrix(tmp_path / "m", {P: [[0]]})
    row = cell(f"{P}:m0", I0, 0) | {"status": "out_of_bounds"}
    matrix = with_cells(matrix, [row])
    assert not kill_table(matrix, P, FIXED).kills.toarray()[0, 0]
    seeing = replace(FIXED, fatal=EXCEPTION_STATUSES | {Status.OUT_OF_BOUNDS})
    assert kill_table(matrix, P, seeing).kills.toarray()[0, 0]


def test_an_invalid_input_is_never_a_kill(tmp_path: Path) -> None:
    kills = {P: [[1, 1], [Status.CRASH, 1], [Status.INVALID, Status.INVALID]]}
    matrix = tiny_matrix(
        tmp_path / "m", kills, inputs={I0: {"valid": False, "invalid_reason": "reference raises"}}
    )
    table = kill_table(matrix, P, FIXED)
    assert not table.kills.toarray()[:, 0].any()
    assert not table.ran.toarray()[:, 0].any()
    assert not table.control_rejections[:, 0].any()
    assert table.choosable.tolist() == [False, True, False]
    assert table.kills.toarray()[:3, 1].tolist() == [True, True, False]
    assert table.ran.toarray()[2].tolist() == [False, False, True]


def test_a_cell_of_which_nothing_was_measured_is_not_known(tmp_path: Path) -> None:
    matrix = tiny_matrix(tmp_path / "m", {P: [[0]]})
    row = cell(f"{P}:m0", I0, 0, rms=math.nan) | {"status": "out_of_bounds"}
    matrix = with_cells(matrix, [row])
    assert not kill_table(matrix, P, CALIBRATED).ran.toarray()[0, 0]
    assert kill_table(matrix, P, FIXED).ran.toarray()[0, 0]


def test_closed_says_nothing_of_other_shapes_unless_one_of_them_was_fatal(tmp_path: Path) -> None:
    crash, closed = Status.CRASH, Status.CLOSED
    matrix = tiny_matrix(
        tmp_path / "m",
        {P: [[crash, closed, closed, closed], [closed, closed, crash, closed]]},
        inputs={I2: {"scope": "other"}, f"{P}:i3": {"scope": "other"}},
    )
    for oracle in (FIXED, CALIBRATED):
        table = kill_table(matrix, P, oracle)
        columns = [table.inputs.index(f"{P}:i{j}") for j in range(4)]
        kills, ran = table.kills.toarray()[:2], table.ran.toarray()[:2]
        assert kills[0, columns].tolist() == [True, True, False, False]
        assert kills[1, columns].tolist() == [True, True, True, True]
        assert ran[:, columns].tolist() == kills[:, columns].tolist()  # the others did not run


@pytest.mark.parametrize("status", sorted(FATAL_STATUSES))
@pytest.mark.parametrize("scope", sorted(ShapeScope))
def test_a_refused_launch_speaks_for_its_shape_alone(
    tmp_path: Path, status: Status, scope: ShapeScope
) -> None:
    same, other = {"N": 1}, {"N": 2}
    shapes = [{"N": 16}, same, same, other]
    inputs = {f"{P}:i{j}": {"scope": scope, "shape": shapes[j]} for j in (1, 2, 3)}
    closed = Status.CLOSED
    matrix = tiny_matrix(tmp_path / "m", {P: [[1, status, closed, closed]]}, inputs=inputs)
    for oracle in (FIXED, CALIBRATED):
        table = kill_table(matrix, P, oracle)
        columns = [table.inputs.index(f"{P}:i{j}") for j in range(4)]
        kills = table.kills.toarray()[0, columns].tolist()
        assert kills == [True, True, True, status in CLOSING_STATUSES]
        assert table.ran.toarray()[0, columns].tolist() == kills


def test_a_crash_beside_a_refused_launch_closes_as_ever(tmp_path: Path) -> None:
    row = [Status.LAUNCH_ERROR, Status.CRASH, Status.CLOSED]
    inputs = {f"{P}:i{j}": {"scope": "contract", "shape": {"N": j}} for j in range(3)}
    matrix = tiny_matrix(tmp_path / "m", {P: [row]}, inputs=inputs)
    table = kill_table(matrix, P, FIXED)
    assert table.kills.toarray()[0, [table.inputs.index(f"{P}:i{j}") for j in range(3)]].all()


def test_decided_is_a_kill_up_to_a_tenth_and_refused_above(tmp_path: Path) -> None:
    matrix = tiny_matrix(tmp_path / "m", {P: [[1]]}, own=True, own_kills={P: [Status.DECIDED]})
    matrix = with_cells(matrix, [cell(f"{P}:m0", f"{P}:own-0", True)])
    for tolerance in (0.0, 1e-4, 0.1):
        table = kill_table(matrix, P, fixed(tolerance))
        own = [table.inputs.index(f"{P}:own-{j}") for j in range(5)]
        assert table.kills.toarray()[0, own].all()
        assert table.ran.toarray()[0, own].all()
        assert (table.slack.toarray()[0, own] > 0).all()
    for text in ("fixed:0.11", "rms:1"):
        with pytest.raises(UserError) as caught:
            kill_table(matrix, P, parse_oracle(text))
        message = str(caught.value)
        assert message.startswith(f"{text} cannot be answered on {P}:own-1, where its tolerance")
        assert message.endswith("were not run on it; use a tolerance up to 0.1")
    # A tolerance that controls need, and nobody chose: what was not run is no kill there.
    table = kill_table(matrix, P, parse_oracle("calibrated:1e7"))
    later = [table.inputs.index(f"{P}:own-{j}") for j in range(1, 5)]
    assert (table.tolerances[later] > 0.1).all()
    assert not table.kills.toarray()[0, later].any()
    assert not table.ran.toarray()[0, later].any()
    no_decided = tiny_matrix(tmp_path / "n", {P: [[1]]}, own=True)
    assert kill_table(no_decided, P, fixed(0.11)).kills.toarray()[0, 0]


def test_decided_where_no_tolerance_is_in_force_is_not_known(tmp_path: Path) -> None:
    own = f"{P}:own-1"
    matrix = tiny_matrix(
        tmp_path / "m",
        {P: [[1]]},
        own=True,
        own_kills={P: [Status.DECIDED]},
        control_error={(SERIAL, own): Status.CRASH},
    )
    table = kill_table(matrix, P, CALIBRATED)
    j = table.inputs.index(own)
    assert table.tolerances[j] == math.inf
    assert not table.kills.toarray()[0, j]
    assert not table.ran.toarray()[0, j]


NONFINITE = [  # counts, fails by torch, equal_nan, finite_output
    ({}, False, False, False),
    ({"nan_both": 1, "nonfinite_output": 1}, True, False, True),
    ({"nan_one": 1, "nonfinite_output": 1}, True, True, True),
    ({"nan_one": 1}, True, True, False),  # NaN in the reference alone
    ({"inf_mismatch": 1, "nonfinite_output": 1}, True, True, True),
    ({"inf_mismatch": 1}, True, True, False),  # a finite output against an infinite reference
    ({"nonfinite_output": 3}, False, False, True),  # equal infinities
]


@pytest.mark.parametrize(("counts", "torch", "equal_nan", "finite_output"), NONFINITE)
def test_the_policy_for_nonfinite_values_is_chosen_at_query_time(
    tmp_path: Path, counts: dict[str, int], torch: bool, equal_nan: bool, finite_output: bool
) -> None:
    matrix = tiny_matrix(tmp_path / "m", {P: [[0]]})
    rows = [cell(name, I0, 0, **counts) | {"status": "nonfinite"} for name in (f"{P}:m0", SERIAL)]
    matrix = with_cells(matrix, rows)
    for policy, fails in (
        (Nonfinite.TORCH, torch),
        (Nonfinite.EQUAL_NAN, equal_nan),
        (Nonfinite.FINITE_OUTPUT, finite_output),
    ):
        table = kill_table(matrix, P, replace(FIXED, nonfinite=policy))
        assert bool(table.kills.toarray()[0, 0]) is fails
        assert bool(table.control_rejections[0, 0]) is fails
        assert bool(table.choosable[0]) is not fails
        assert table.slack.toarray()[0, 0] == (SLACK_LIMIT if fails else 0)
        calibrated = kill_table(matrix, P, replace(CALIBRATED, nonfinite=policy))
        assert math.isinf(calibrated.tolerances[0]) is fails
        assert bool(calibrated.choosable[0]) is not fails
        assert bool(calibrated.kills.toarray()[0, 0]) is fails
        assert calibrated.ran.toarray()[0, 0], "a kill is known, whatever the tolerance"


def test_a_kill_is_stable_by_the_minimum_a_control_accepted_by_the_maximum(tmp_path: Path) -> None:
    matrix = tiny_matrix(tmp_path / "m", {P: [[0, 0, 0]]})
    flaky = {"allclose_candidate": 1e-3, "allclose_candidate_max": 1.0}
    rows = [
        cell(f"{P}:m0", I0, 0, **flaky),
        cell(f"{P}:m0", I1, 0, allclose_candidate=0.5, allclose_candidate_max=1.0),
        cell(f"{P}:m0", I2, 0, nan_one=0, nan_one_max=5),
        cell(SERIAL, I0, 0, **flaky),
        cell(SERIAL, I1, 0, nan_one=0, nan_one_max=5),
    ]
    table = kill_table(with_cells(matrix, rows), P, FIXED)
    assert table.kills.toarray()[0, :3].tolist() == [False, True, False]
    assert table.ran.toarray()[0, :3].all()
    assert table.control_rejections[0, :3].tolist() == [True, True, False]
    assert table.choosable[:3].tolist() == [False, False, True]
    assert table.slack.toarray()[0, 1] == pytest.approx(math.log10(50), abs=1e-3)


def test_no_kill_invented_and_no_rejection_missed_at_the_threshold(tmp_path: Path) -> None:
    """An exact error just above the tolerance: a rejection for sure, a kill only if stored says."""
    tolerance = 1e-3
    errors = [tolerance, math.nextafter(tolerance, 1), tolerance * (1 + 2.0**-9)]
    control_error = {(SERIAL, f"{P}:i{j}"): error for j, error in enumerate(errors)}
    matrix = tiny_matrix(tmp_path / "m", {P: [errors]}, control_error=control_error)
    table = kill_table(matrix, P, fixed(tolerance))
    assert float(round_up_12(tolerance)) > tolerance
    assert table.kills.toarray()[0, :3].tolist() == [False, False, True]
    assert table.control_rejections[0, :3].tolist() == [True, True, True]


def test_calibrated_tolerances_are_the_worst_control_times_safety(tmp_path: Path) -> None:
    matrix = tiny_matrix(
        tmp_path / "m",
        {P: [[0.01, 0.01, 0.01]]},
        control_error={(SERIAL, I0): 1e-3, (PAIRWISE, I0): 2.0**-8, (CHUNKED, I1): 2.0**-20},
        floor=2.0**-13,
    )
    tolerances = calibrated_tolerances(matrix, P, CALIBRATED)
    assert tolerances[:3].tolist() == [10 * 2.0**-8, 2.0**-13, 2.0**-13]
    tolerances = calibrated_tolerances(matrix, P, parse_oracle("calibrated:512"))
    assert tolerances[:2].tolist() == [2.0, 512 * 2.0**-20]
    table = kill_table(matrix, P, CALIBRATED)
    assert table.kills.toarray()[0, :3].tolist() == [False, True, True]
    assert table.choosable[:3].all()
    assert not table.control_rejections.any()


def test_the_maximum_over_repeats_of_a_control_calibrates(tmp_path: Path) -> None:
    matrix = tiny_matrix(tmp_path / "m", {P: [[1]]})
    matrix = with_cells(matrix, [cell(SERIAL, I0, 0, rms=2.0**-10, rms_max=2.0**-6)])
    assert calibrated_tolerances(matrix, P, CALIBRATED)[0] == 10 * 2.0**-6


def test_controls_held_out_do_not_calibrate_and_are_judged(tmp_path: Path) -> None:
    matrix = tiny_matrix(tmp_path / "m", {P: [[0.01, 0.01]]}, control_error={(SERIAL, I0): 1e-2})
    whole = kill_table(matrix, P, CALIBRATED)
    assert not whole.control_rejections.any()
    assert whole.kills.toarray()[0, :2].tolist() == [False, True]
    held = kill_table(matrix, P, CALIBRATED, controls=[PAIRWISE, CHUNKED])
    assert held.controls == (SERIAL, PAIRWISE, CHUNKED)
    assert held.calibrating.tolist() == [False, True, True]
    assert held.control_rejections[:, 0].tolist() == [True, False, False]
    assert held.kills.toarray()[0, :2].tolist() == [True, True]
    assert held.choosable[:2].all(), "a control that does not calibrate forbids no input"
    with pytest.raises(UserError, match="level1/001 has no control 'nobody'"):
        kill_table(matrix, P, CALIBRATED, controls=["nobody"])


def test_without_calibrating_controls_nothing_can_be_said(tmp_path: Path) -> None:
    matrix = tiny_matrix(tmp_path / "m", {P: [[1, Status.CRASH]]})
    table = kill_table(matrix, P, CALIBRATED, controls=[])
    assert np.isinf(table.tolerances).all()
    assert not table.choosable.any()
    assert table.kills.toarray()[0, :2].tolist() == [False, True]
    assert table.ran.toarray()[0, :2].tolist() == [False, True]
    fixed_table = kill_table(matrix, P, FIXED, controls=[])
    assert fixed_table.choosable[:2].all()
    without = tiny_matrix(tmp_path / "n", {P: [[1, 0]]}, controls=())
    assert kill_table(without, P, FIXED).choosable.tolist() == [True, True, False]
    invalid = tiny_matrix(tmp_path / "o", {P: [[1, 0]]}, controls=(), inputs={I0: {"valid": False}})
    assert kill_table(invalid, P, FIXED).choosable.tolist() == [False, True, False]
    assert not kill_table(without, P, CALIBRATED).choosable.any()


def test_a_control_that_was_not_run_on_an_input_is_no_evidence(tmp_path: Path) -> None:
    matrix = tiny_matrix(
        tmp_path / "m",
        {P: [[1, 1]]},
        controls=("serial", "pairwise"),
        control_error={(SERIAL, I0): None, (PAIRWISE, I0): None, (SERIAL, I1): None},
    )
    table = kill_table(matrix, P, CALIBRATED)
    assert table.tolerances[0] == math.inf
    assert table.tolerances[1] == 10 * float(round_up_12(SURVIVED))
    assert table.choosable[:2].tolist() == [False, True]
    assert table.control_ran[:, :2].tolist() == [[False, False], [False, True]]
    assert kill_table(matrix, P, FIXED).choosable[:2].tolist() == [False, True]


def test_an_input_whose_calibrated_tolerance_says_nothing_is_not_chosen(tmp_path: Path) -> None:
    # 10 times the worst control: a hair within an eighth, an eighth exactly, and beyond it.
    errors = {I0: 0.0124, I1: 0.0125, I2: 0.0126}
    kills: dict[str, list[list[float | Status | None]]] = {P: [[1, 1, 1]]}
    matrix = tiny_matrix(
        tmp_path / "m", kills, control_error={(SERIAL, i): error for i, error in errors.items()}
    )
    table = kill_table(matrix, P, CALIBRATED)
    assert (table.tolerances[:3] <= REFEREE_LIMIT).tolist() == table.choosable[:3].tolist()
    assert table.choosable[[0, 2]].tolist() == [True, False]
    assert table.kills.toarray()[0, :3].all(), "what it kills is told all the same"
    assert not table.control_rejections.any()
    # What a target fixes is its own affair, and max_abs is in units of the output.
    assert kill_table(matrix, P, fixed(0.5)).choosable[:3].all()
    absolute = replace(CALIBRATED, comparator=Statistic.MAX_ABS)
    assert kill_table(matrix, P, absolute).choosable[:3].all()


def test_which_controls_calibrate(tmp_path: Path) -> None:
    kinds = ("serial", "eager", "secret")
    rows = {f"{P}:eager": {"identical": True}, f"{P}:secret": {"blind": True}}
    rounding = tiny_matrix(tmp_path / "a", {P: [[1]]}, controls=kinds, implementations=rows)
    assert calibrating_controls(rounding, P, CALIBRATED) == (f"{P}:serial",)
    truth = parse_oracle("truth_rms:1e-3")
    assert calibrating_controls(rounding, P, truth) == (f"{P}:serial", f"{P}:eager")
    exact = tiny_matrix(
        tmp_path / "b",
        {P: [[1]]},
        controls=kinds,
        implementations=rows,
        problems={P: {"rounds": False}},
    )
    assert calibrating_controls(exact, P, CALIBRATED) == (f"{P}:serial", f"{P}:eager")


def test_tolerance_zero_kills_any_difference(tmp_path: Path) -> None:
    """Where nothing rounds, controls agree to the bit and the floor is 0."""
    matrix = tiny_matrix(
        tmp_path / "m",
        {P: [[5e-324], [0.0]]},
        control_error=0.0,
        floor=0.0,
        problems={P: {"rounds": False}},
    )
    table = kill_table(matrix, P, CALIBRATED)
    assert table.tolerances[0] == 0.0
    assert table.kills.toarray()[:2, 0].tolist() == [True, False]
    assert table.slack.toarray()[:2, 0].tolist() == [SLACK_LIMIT, 0]
    assert table.choosable[0]


def test_an_input_on_which_a_calibrating_control_is_rejected_cannot_be_chosen(
    tmp_path: Path,
) -> None:
    matrix = tiny_matrix(
        tmp_path / "m", {P: [[1, 1, 1]]}, control_error={(SERIAL, I0): 0.1, (SERIAL, I1): 0.005}
    )
    assert kill_table(matrix, P, FIXED).choosable.tolist() == [False, True, True, False]
    assert kill_table(matrix, P, fixed(1e-3)).choosable.tolist() == [False, False, True, False]
    assert kill_table(matrix, P, fixed(0.5)).choosable.tolist() == [True, True, True, False]


def test_own_draws_and_witnesses_are_not_choosable(tmp_path: Path) -> None:
    matrix = tiny_matrix(tmp_path / "m", {P: [[1]]}, own=True, witness_inputs=2)
    table = kill_table(matrix, P, FIXED)
    chosen = {name for name, yes in zip(table.inputs, table.choosable, strict=True) if yes}
    assert chosen == {I0, f"{P}:own-0", f"{P}:own-x3", f"{P}:own-x0.01", f"{P}:own-x-1"}


def test_slack_is_decades_above_the_tolerance(tmp_path: Path) -> None:
    matrix = tiny_matrix(tmp_path / "m", {P: [[1.0, 100.0, math.inf, 0.0]]})
    slack = kill_table(matrix, P, FIXED).slack.toarray()[0, :4]
    assert slack.tolist() == pytest.approx([2, 4, SLACK_LIMIT, 0], abs=1e-5)


def test_a_comparator_or_ratio_that_is_not_stored_is_refused(tmp_path: Path) -> None:
    matrix = tiny_matrix(tmp_path / "m")
    with pytest.raises(UserError) as caught:
        kill_table(matrix, P, parse_oracle("allclose_candidate@0.1:1e-3"))
    assert "has no column 'allclose_candidate@0.1'; this matrix cannot answer" in str(caught.value)


def test_a_ratio_that_is_stored_is_answered(tmp_path: Path) -> None:
    """max d / (1 + r |out|) at r = 0.1: atol = 1e-3, rtol = 1e-4."""
    writer = MatrixWriter(tmp_path / "m", header(ratios=[0.1]))
    writer.write_problems(pd.DataFrame({"problem": [P]}))
    writer.write_implementations(
        pd.DataFrame({"implementation": ["a", "b"], "problem": P, "kind": "mutant"})
    )
    writer.write_inputs(pd.DataFrame({"input": ["i"], "problem": P, "role": "candidate"}))
    cells = [
        cell(name, "i", 0, **{"allclose_candidate@0.1": error})
        for name, error in (("a", 2e-3), ("b", 5e-4))
    ]
    writer.write_cells(P, pd.DataFrame(cells))
    writer.finish(True)
    table = kill_table(Matrix.open(tmp_path / "m"), P, parse_oracle("allclose_candidate@0.1:1e-3"))
    assert table.kills.toarray()[:, 0].tolist() == [True, False]
    with pytest.raises(ValueError, match=r"no column 'allclose_candidate@0\.2'"):
        writer.write_cells(P, pd.DataFrame([cell("a", "i", 0, **{"allclose_candidate@0.2": 1.0})]))


def test_problems_come_one_after_the_other(tmp_path: Path) -> None:
    matrix = tiny_matrix(tmp_path / "m")
    tables = matrix_kills(matrix, CALIBRATED)
    assert next(tables).problem == "level1/001"
    assert [table.problem for table in tables] == ["level1/019"]
