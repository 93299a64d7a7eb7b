from itertools import product
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from suiteopt.errors import UserError
from suiteopt.selection.constraints import Constraints
from suiteopt.selection.instance import Instance
from suiteopt.selection.select import select
from suiteopt.selection.total import spend
from suiteopt.selection.wishes import Wishes
from tests.suiteopt.builders import tiny_matrix
from tests.suiteopt.selection.instances import brute_force, instance_of, instances


@settings(max_examples=40)
@given(
    st.lists(instances(rows=6, columns=4), min_size=1, max_size=3),
    st.integers(1, 8),
    st.integers(1, 4),
)
def test_a_total_budget_is_brute_force_over_sizes(
    found: list[Instance], total: int, limit: int
) -> None:
    curves = [[brute_force(i, size)[1].detected for size in range(limit + 1)] for i in found]
    best = max(
        sum(curve[size] for curve, size in zip(curves, sizes, strict=True))
        for sizes in product(range(limit + 1), repeat=len(found))
        if sum(sizes) <= total
    )
    answer = spend(found, total, limit)
    assert sum(s.detected for s in answer.selections) == best == answer.bound
    assert sum(len(s.members) for s in answer.selections) <= total
    assert all(len(s.members) <= limit for s in answer.selections)


def test_inputs_go_where_they_detect_most_even_where_curves_are_not_concave() -> None:
    # alone neither input of the second detects what both do not; the first gains 3 by one
    first = instance_of([[1, 0], [1, 0], [1, 0], [0, 1]])
    second = instance_of([[1, 0], [0, 1]])
    answer = spend([first, second], 2)
    assert [len(s.members) for s in answer.selections] == [2, 0]
    assert sum(s.detected for s in answer.selections) == 4


def test_included_inputs_are_paid_for() -> None:
    rules = [Constraints(), Constraints(include=frozenset({"i1"}))]
    parts = [instance_of([[1, 0], [1, 1]]), instance_of([[1, 0], [1, 0]])]
    answer = spend(parts, 2, constraints=rules)
    assert [s.members for s in answer.selections] == [("i0",), ("i1",)]
    with pytest.raises(UserError, match="must be included"):
        spend(parts, 1, constraints=[rules[1], rules[1]])
    with pytest.raises(UserError, match="give at least 1"):
        spend(parts, 0)


P, Q = "level1/001", "level1/019"
KILLS = {P: [[1, 0, 0], [0, 1, 0], [0, 1, 1]], Q: [[0, 1], [0, 1], [1, 1]]}


def chosen(path: Path, budget: int | None, **wishes: object) -> dict[str, object]:
    matrix = tiny_matrix(path, KILLS)
    return select(matrix, budget, wishes=Wishes(**wishes)).as_dict()  # type: ignore[arg-type]


def test_select_with_a_total_budget(tmp_path: Path) -> None:
    found = chosen(tmp_path / "m", None, total=2)
    assert (found["members"], found["bound"], found["status"]) == (2, 5, "proved")
    assert found["fitted_share"] == 5 / 6
    assert found["total_budget"] == 2


def test_select_within_bytes_and_milliseconds(tmp_path: Path) -> None:
    # inputs of the builder cost 64, 128, 192 bytes and 1, 2, 3 ms
    found = chosen(tmp_path / "m", None, max_bytes=256)
    assert (found["bytes"], found["fitted_share"], found["status"]) == (256, 5 / 6, "proved")
    found = chosen(tmp_path / "n", None, max_ms=1.0)
    assert (found["milliseconds"], found["fitted_share"]) == (pytest.approx(1.0), 1 / 6)


def test_select_for_repeated_kills(tmp_path: Path) -> None:
    found = chosen(tmp_path / "m", 2, times=2)
    # P: only the third mutant has two killers; Q: too
    assert (found["fitted_share"], found["kills"], found["status"]) == (2 / 6, 2, "proved")


def test_select_the_fewest_by_family(tmp_path: Path) -> None:
    # families by row: arithmetic, boundary, indexing; all killed by i0, i1 of P and i1 of Q
    found = chosen(tmp_path / "m", 3, detect=1.0, scope="family")
    assert (found["members"], found["at_least"], found["status"]) == (3, 3, "proved")
    found = chosen(tmp_path / "n", 3, detect=0.5, scope="family")
    assert (found["members"], found["at_least"]) == (1, 1)


@pytest.mark.parametrize(
    ("wishes", "message"),
    [
        ({"times": 0}, "no detection"),
        ({"max_bytes": 0}, "buys nothing"),
        ({"detect": 0.5, "total": 3}, "leave --total-budget"),
        ({"detect": 0.5, "times": 2}, "by family alone"),
    ],
)
def test_wishes_that_contradict_each_other(wishes: dict[str, object], message: str) -> None:
    with pytest.raises(UserError, match=message):
        Wishes(**wishes)  # type: ignore[arg-type]


def test_something_has_to_bound_the_suite(tmp_path: Path) -> None:
    with pytest.raises(UserError, match="nothing bounds"):
        select(tiny_matrix(tmp_path / "m", KILLS), None)


def test_curves_end_where_nothing_more_is_detected() -> None:
    answer = spend([instance_of(np.ones((3, 4)))], 4)
    assert [len(s.members) for s in answer.selections] == [1]
