from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from suiteopt.errors import UserError
from suiteopt.matrix.oracle import parse_oracle
from suiteopt.matrix.schema import Need, Statistic
from suiteopt.matrix.store import Matrix
from suiteopt.matrix.writer import MatrixWriter
from suiteopt.selection.comparators import (
    any_comparator,
    comparator_of,
    groups_of,
    input_of,
    judged_table,
    parse_any,
)
from suiteopt.selection.constraints import Capabilities
from suiteopt.selection.export import to_suite
from suiteopt.selection.fixed import best_fixed, breakpoints, written_up
from suiteopt.selection.question import ask
from suiteopt.selection.select import select
from suiteopt.selection.settle import settle
from suiteopt.validation.crossval import cross_validate
from tests.suiteopt.builders import SOURCE, cell, header, tiny_matrix

P = "level1/001"


def unequal(path: Path) -> Matrix:
    """Three mutants: one that only max_abs shows on i0, one that only rms shows, one on i1."""
    matrix = tiny_matrix(path, {P: [[0, 0], [0, 0], [0, 1]]}, floor=1e-9)
    cells = matrix.cells(P)
    for mutant, statistic in ((f"{P}:m0", "max_abs"), (f"{P}:m1", "rms")):
        here = (cells["implementation"] == mutant) & (cells["input"] == f"{P}:i0")
        cells.loc[here, statistic] = 1.0
    return with_cells(matrix, cells)


def with_cells(matrix: Matrix, cells: pd.DataFrame) -> Matrix:
    """Write the matrix again with other cells."""
    other = matrix.path.with_name(matrix.path.name + "-other")
    writer = MatrixWriter(other, header())
    writer.write_problems(matrix.problems)
    writer.write_implementations(matrix.implementations)
    writer.write_inputs(matrix.inputs)
    writer.write_source(P, "kernel.cu", SOURCE)
    writer.write_cells(P, cells)
    writer.finish(True)
    return Matrix.open(other)


def test_an_input_is_judged_by_one_comparator_at_most(tmp_path: Path) -> None:
    matrix = unequal(tmp_path / "m")
    found = select(matrix, 2, "any-comparator")
    # i0 shows m0 or m1, never both; i1 shows m2
    assert (found.tally.detected, found.problems[0].selection.bound) == (2, 2)
    members = found.as_dict()["rows"][0]["members"]
    assert sorted(member["input"] for member in members) == [f"{P}:i0", f"{P}:i1"]
    # by the default comparator alone m1 and m2 are seen, which is as good and has smaller ids
    assert select(matrix, 2).tally.detected == 2
    # an input that is barred is barred under every comparator
    only = select(matrix, 2, "any-comparator", exclude=[f"{P}:i0"])
    assert [input_of(name) for name in only.problems[0].selection.members] == [f"{P}:i1"]


def test_columns_and_their_names(tmp_path: Path) -> None:
    matrix = unequal(tmp_path / "m")
    table = judged_table(matrix, P, any_comparator())
    inputs = len(matrix.inputs_of(P))
    assert len(table.inputs) == 7 * inputs == table.kills.shape[1]
    assert table.inputs[:inputs] == tuple(matrix.inputs_of(P)["input"])
    row = table.implementations.index(f"{P}:m0")
    dies = table.kills[[row]].toarray()[0]
    killers = {name for name, dead in zip(table.inputs, dies, strict=True) if dead and "i0" in name}
    assert killers == {f"{P}:i0#max_abs"}
    assert (input_of(f"{P}:i0#max_abs"), comparator_of(f"{P}:i0#max_abs", "any-comparator")) == (
        f"{P}:i0",
        "max_abs",
    )
    assert comparator_of("x", "any-comparator") == "rms"
    assert comparator_of("x", "max_rel") == "max_rel"
    assert groups_of(["a", "b"]) is None
    assert groups_of(["a", "a#rms", "b"]).tolist() == [0, 0, 1]  # type: ignore[union-attr]


def test_a_suite_carries_the_comparator_of_each_member(tmp_path: Path) -> None:
    matrix = unequal(tmp_path / "m")
    chosen = select(matrix, 1, "any-comparator", include=[], exclude=[f"{P}:i1"])
    suite = to_suite(chosen, matrix, "suiteopt select")
    (member,) = suite.problems[0].members
    assert member.input == f"{P}:i0"
    assert member.comparator in {str(statistic) for statistic in Statistic}


def test_cross_validation_of_open_comparators(tmp_path: Path) -> None:
    matrix = unequal(tmp_path / "m")
    found = cross_validate(matrix, 2, "any-comparator", repeats=2).as_dict()
    assert found["fitted_share"] == select(matrix, 2, "any-comparator").fitted_share
    assert found["nested"] is None


def test_names_of_the_oracle() -> None:
    assert parse_any("any-comparator") == any_comparator()
    assert parse_any("any-comparator:3") == any_comparator(3.0)
    assert parse_any("calibrated") is None
    for text in ("any-comparator:0.5", "any-comparator:x", "any-comparator:nan"):
        with pytest.raises(UserError, match="no number of 1 or more"):
            parse_any(text)


# i0 is safe from 1e-6 up and shows m0; i1 is safe from 1e-3 up and shows m1, whose error is 1e-2;
# m2 has an error of 1e-5 on i0
FIXED = {P: [[1e-4, 0.0], [0.0, 1e-2], [1e-5, 0.0]]}
RISKY = {(f"{P}:serial", f"{P}:i1"): 1e-3, (f"{P}:serial", f"{P}:i0"): 1e-6}


def test_the_best_fixed_tolerance_is_the_best_of_all(tmp_path: Path) -> None:
    matrix = tiny_matrix(tmp_path / "m", FIXED, control_error=RISKY)
    question = ask("fixed:0")
    points = breakpoints(matrix, question.oracle)
    assert len(points) == 2
    # at 1e-3 both inputs may be chosen, and only m1 dies; at 1e-6 only i0: m0 and m2
    best = best_fixed(matrix, question, 2)
    assert best.tolerance == pytest.approx(1e-6, rel=1e-3)
    assert select(matrix, 2, "best-fixed").tally.detected == 2
    for tolerance in np.logspace(-6, 0, 10) * 1.01:
        assert select(matrix, 2, f"fixed:{tolerance:.4g}").tally.detected <= 2


def test_no_calibrating_control_is_rejected_at_the_best_fixed_tolerance(tmp_path: Path) -> None:
    matrix = tiny_matrix(tmp_path / "m", FIXED, control_error=RISKY)
    found = select(matrix, 2, "best-fixed")
    assert found.false_rejections == 0
    question = settle(matrix, "best-fixed", 2)
    assert parse_oracle(question.oracle.name) == question.oracle  # the name says it all


def test_the_tolerance_is_chosen_again_in_every_fold(tmp_path: Path) -> None:
    matrix = tiny_matrix(tmp_path / "m", FIXED, control_error=RISKY)
    found = cross_validate(matrix, 2, "best-fixed", repeats=2)
    assert len(found.tolerances) == 2
    assert list(found.tolerances) == sorted(found.tolerances, reverse=True)
    rule = found.splits[found.primary.split]
    # without m0 or m2 one mutant is detected at either tolerance and the larger one is taken, which
    # misses what was left out; without m1 the smaller one is taken, and m1 is not seen
    assert rule.held_out_share == 0.0
    assert found.fitted_share == 2 / 3


def test_a_kind_that_is_judged_has_no_say_in_the_tolerance(tmp_path: Path) -> None:
    matrix = tiny_matrix(tmp_path / "m", FIXED, control_error=RISKY)
    question = ask("fixed:0")
    # without the serial control nothing is above 1e-7, and both inputs may be chosen there
    assert breakpoints(matrix, question.oracle, "serial").tolist() == pytest.approx(
        [1e-7], rel=1e-3
    )
    tight = best_fixed(matrix, question, 2, without_kind="serial")
    assert tight.tolerance == pytest.approx(1e-7, rel=1e-3)
    controls = cross_validate(matrix, 2, "best-fixed", repeats=1).controls
    rejected = {(row.kind, row.rejected) for row in controls.rows}
    assert ("serial", 2) in rejected  # nobody foresaw it
    assert {row.rejected for row in controls.rows if row.kind != "serial"} == {0}


def test_a_tolerance_that_rejects_the_substrate_is_too_tight(tmp_path: Path) -> None:
    # the correct kernel itself is off by 1e-4 on i0, more than any control there
    matrix = tiny_matrix(tmp_path / "m", FIXED, control_error=RISKY)
    own = [cell(f"{P}:cuda", f"{P}:i0", 1e-4), cell(f"{P}:cuda", f"{P}:i1", 1e-7)]
    other = with_cells(matrix, pd.concat([matrix.cells(P), pd.DataFrame(own)], ignore_index=True))
    table = judged_table(other, P, ask("fixed:1e-6").oracle)
    assert not table.choosable[table.inputs.index(f"{P}:i0")]
    assert best_fixed(other, ask("fixed:0"), 2).tolerance == pytest.approx(1e-3, rel=1e-3)
    assert [i for p in select(other, 2, "best-fixed").problems for i in p.selection.members] == [
        f"{P}:i1"
    ]


def test_a_matrix_without_controls_has_no_best_fixed_tolerance(tmp_path: Path) -> None:
    matrix = tiny_matrix(tmp_path / "m", FIXED, controls=())
    with pytest.raises(UserError, match="needs controls"):
        select(matrix, 1, "best-fixed")


def test_a_target_with_its_own_oracle_takes_no_other(tmp_path: Path) -> None:
    matrix = tiny_matrix(tmp_path / "m", FIXED)
    target = Capabilities(frozenset({Need.VALUES}), "fixed:0.001", None, own_first=False)
    for oracle in ("best-fixed", "any-comparator", "calibrated:held-out"):
        with pytest.raises(UserError, match="judges by its own oracle"):
            select(matrix, 1, oracle, capabilities=target)


@pytest.mark.parametrize("value", [0.0, 1e-7, 1.23456789e-3, 5.480825e-07, 2.0, 123456789.0])
def test_tolerances_are_written_up(value: float) -> None:
    written = written_up(value)
    assert value <= written <= value * (1 + 1e-5)
    assert float(f"{written:g}") == written
