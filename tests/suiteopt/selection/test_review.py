from pathlib import Path

import pytest

from suiteopt.errors import UserError
from suiteopt.selection.cases import make_case
from suiteopt.selection.question import ask
from suiteopt.selection.review import review, review_matrix
from tests.suiteopt.builders import tiny_matrix

P = "level1/001"
# i0 kills m0 alone; i1 and i2 kill the same; i3 kills part of what i1 kills
KILLS = {P: [[1, 0, 0, 0], [0, 1, 1, 1], [0, 1, 1, 0]]}


def test_who_is_needed_redundant_and_dominated(tmp_path: Path) -> None:
    matrix = tiny_matrix(tmp_path / "m", KILLS)
    case = make_case(matrix, P, ask(None))
    found = review(matrix, case, case.instance.inputs)
    rows = {row.input.removeprefix(f"{P}:"): row for row in found.inputs}
    assert rows["i0"].sole == (f"{P}:m0",)
    assert not rows["i0"].redundant
    assert [rows[name].redundant for name in ("i1", "i2", "i3")] == [True, True, True]
    assert rows["i1"].dominated_by is None  # i2 kills the same, is dearer and has the larger id
    assert rows["i2"].dominated_by == rows["i3"].dominated_by == f"{P}:i1"
    assert found.removable == (f"{P}:i2", f"{P}:i3")
    assert (found.mutants, found.detected) == (3, 3)


def test_what_is_removable_loses_nothing(tmp_path: Path) -> None:
    matrix = tiny_matrix(tmp_path / "m", KILLS)
    case = make_case(matrix, P, ask(None))
    whole = review(matrix, case, case.instance.inputs)
    rest = [name for name in case.instance.inputs if name not in whole.removable]
    assert review(matrix, case, rest).detected == whole.detected
    assert review(matrix, case, rest).removable == ()


def test_own_draws_that_repeat_each_other(tmp_path: Path) -> None:
    matrix = tiny_matrix(tmp_path / "m", KILLS, own=True, own_kills={P: [True, True, False]})
    (found,) = review_matrix(matrix, ask(None), "kernelbench")
    assert len(found.inputs) == 5
    assert len(found.removable) == 4
    assert all(row.redundant and row.kills == 2 for row in found.inputs)


def test_unknown_inputs_are_refused(tmp_path: Path) -> None:
    matrix = tiny_matrix(tmp_path / "m", KILLS)
    with pytest.raises(UserError, match="no input 'x'"):
        review(matrix, make_case(matrix, P, ask(None)), ["x"])
