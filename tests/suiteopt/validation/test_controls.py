from pathlib import Path

import numpy as np
import pytest

from suiteopt.selection.cases import make_case
from suiteopt.selection.question import ask
from suiteopt.validation import controls
from suiteopt.validation.controls import hold_out_controls
from suiteopt.validation.crossval import cross_validate
from suiteopt.validation.suites import Coverage
from tests.suiteopt.builders import tiny_matrix

P, Q = "level1/001", "level1/019"
# i0 is the best input of both problems: with one member it is the suite
KILLS = {P: [[1, 0], [1, 0], [0, 1]], Q: [[1, 0], [1, 0], [0, 1]]}


def test_controls_that_agree_are_never_rejected(tmp_path: Path) -> None:
    found = cross_validate(tiny_matrix(tmp_path / "m", KILLS), 1).controls
    # three kinds of one control each, two problems, one member
    assert (found.held_out, found.rejected) == (6, 0)
    assert (found.problems, found.problems_rejected) == (2, 0)
    assert found.bound_share == pytest.approx(1 - 0.05 ** (1 / 2))


def test_a_kind_that_is_unlike_the_others_is_rejected_when_left_out(tmp_path: Path) -> None:
    # on i0 the serial control errs by 1e-3: it is what makes the tolerance there 1e-2
    error = {(f"{P}:serial", f"{P}:i0"): 1e-3}
    found = cross_validate(tiny_matrix(tmp_path / "m", KILLS, control_error=error), 1).controls
    assert (found.held_out, found.rejected) == (6, 1)
    assert (found.problems, found.problems_rejected) == (2, 1)
    assert found.bound_share == pytest.approx(0.974679, abs=1e-6)  # 1 of 2
    rejected = [row for row in found.rows if row.rejected]
    assert [(row.control, row.kind) for row in rejected] == [(f"{P}:serial", "serial")]
    assert (rejected[0].pool_cells, rejected[0].pool_rejected) == (2, 1)


def test_the_suite_is_chosen_anew_without_the_kind(tmp_path: Path) -> None:
    # with serial, the tolerance on i0 is 10 and nothing dies there; without it i0 wins
    error = {(f"{P}:serial", f"{P}:i0"): 1.0}
    matrix = tiny_matrix(tmp_path / "m", {P: KILLS[P]}, control_error=error)
    found = cross_validate(matrix, 1)
    assert found.problems[0].members == (f"{P}:i1",)
    rejected = [row for row in found.controls.rows if row.rejected]
    assert [row.control for row in rejected] == [f"{P}:serial"]


def test_blind_controls_are_judged_by_the_whole_calibration(tmp_path: Path) -> None:
    blind = f"{P}:chunked"
    matrix = tiny_matrix(
        tmp_path / "m",
        {P: KILLS[P]},
        control_error={(blind, f"{P}:i0"): 1e-3},
        implementations={blind: {"blind": True}},
    )
    found = cross_validate(matrix, 1).controls.as_dict()
    assert (found["held_out"], found["rejected"]) == (3, 1)
    assert (found["blind_held_out"], found["blind_rejected"]) == (1, 1)
    assert found["rejections"] == [
        {"problem": P, "control": blind, "kind": "blind", "rejected": 1, "cells": 1}
    ]


def test_the_only_kind_is_not_left_out(tmp_path: Path) -> None:
    matrix = tiny_matrix(tmp_path / "m", {P: KILLS[P]}, controls=("serial",))
    found = cross_validate(matrix, 1).controls
    assert (found.held_out, found.bound_share) == (0, None)


@pytest.mark.parametrize("seed", range(4))
def test_what_a_kind_has_no_say_in_is_not_judged_again_and_is_the_same(
    tmp_path: Path, seed: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    random = np.random.default_rng(seed)
    kinds = ("serial", "pairwise", "tree")
    # under a floor of 1e-4 a control at 1e-7 has no say, and one at 1e-2 has
    error = {(f"{P}:{kind}", f"{P}:i{j}"): float(random.choice([1e-7, 1e-7, 1e-2]))
             for kind in kinds for j in range(4)}  # fmt: skip
    rows = (random.random((6, 4)) < 0.5).astype(int).tolist()
    matrix = tiny_matrix(tmp_path / "m", {P: rows}, controls=kinds, control_error=error, floor=1e-4)
    question = ask(None)
    found = [make_case(matrix, P, question)]
    choose = Coverage(found, 1, "auto").choose
    judged = []
    table = controls.judged_table

    def counted(*args, **kwargs):  # type: ignore[no-untyped-def]
        judged.append(kwargs["controls"])
        return table(*args, **kwargs)

    monkeypatch.setattr(controls, "judged_table", counted)
    short = hold_out_controls(matrix, question, found, choose)
    worst = np.array([[error[f"{P}:{kind}", f"{P}:i{j}"] for j in range(4)] for kind in kinds])
    matters = sum(
        not np.array_equal(np.delete(worst, row, axis=0).max(axis=0), worst.max(axis=0))
        for row in range(3)
    )
    assert len(judged) == matters
    monkeypatch.setattr(controls, "_alike", lambda *_: False)
    assert hold_out_controls(matrix, question, found, choose) == short
    assert len(judged) == matters + 3
