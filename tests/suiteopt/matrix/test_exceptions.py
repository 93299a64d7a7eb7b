"""Which closed cells are kills: the rule, cell by cell."""

from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from suiteopt.matrix.kill import kill_table
from suiteopt.matrix.layout import number_shapes
from suiteopt.matrix.oracle import calibrated
from suiteopt.matrix.schema import CLOSING_STATUSES, ShapeScope, Status
from tests.suiteopt.builders import tiny_matrix

P = "level1/001"
ENDED = (Status.CRASH, Status.TIMEOUT, Status.LAUNCH_ERROR)
CELLS = st.sampled_from([True, False, *ENDED, Status.CLOSED, Status.CLOSED, Status.CLOSED])
INPUTS = st.tuples(st.sampled_from(list(ShapeScope)), st.integers(1, 3))


def is_kill(row: tuple[bool | Status, ...], inputs: list[tuple[ShapeScope, int]], at: int) -> bool:
    """Say what the matrix format says of a closed cell, in its words."""
    scope, size = inputs[at]
    shape = (scope is ShapeScope.OTHER, size)
    others = [(cell, (s is ShapeScope.OTHER, n)) for cell, (s, n) in zip(row, inputs, strict=True)]
    if any(cell is Status.LAUNCH_ERROR and here == shape for cell, here in others):
        return True
    on_alike = [cell for cell, here in others if here[0] == shape[0]]
    if any(cell in CLOSING_STATUSES for cell in on_alike):
        return True
    return scope is not ShapeScope.OTHER and Status.LAUNCH_ERROR not in on_alike


def test_a_shape_is_the_same_in_whatever_order_of_keys() -> None:
    texts = ['{"M": 2, "N": 1}', '{"N": 1,"M": 2}', '{"M": 1, "N": 2}', "{}", '{"M": 2}']
    numbers = number_shapes(texts).tolist()
    assert numbers[0] == numbers[1]
    assert sorted(numbers[1:]) == [0, 1, 2, 3]
    assert number_shapes([]).tolist() == []


@settings(
    max_examples=40, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
@given(
    rows=st.lists(st.tuples(*[CELLS] * 5), min_size=1, max_size=4),
    inputs=st.lists(INPUTS, min_size=5, max_size=5),
)
def test_closed_cells_are_kills_where_the_format_says_so(
    tmp_path_factory: pytest.TempPathFactory,
    rows: list[tuple[bool | Status, ...]],
    inputs: list[tuple[ShapeScope, int]],
) -> None:
    about = {
        # An input of another shape than the contract's has none of its sizes.
        f"{P}:i{column}": {
            "scope": scope,
            "shape": {"N": size + 10 * (scope is ShapeScope.OTHER)},
        }
        for column, (scope, size) in enumerate(inputs)
    }
    path: Path = tmp_path_factory.mktemp("matrix") / "m"
    table = kill_table(tiny_matrix(path, {P: rows}, inputs=about), P, calibrated())
    kills, ran = table.kills.toarray(), table.ran.toarray()
    rows_of = {name: place for place, name in enumerate(table.implementations)}
    columns_of = {name: place for place, name in enumerate(table.inputs)}
    for number, row in enumerate(rows):
        for column, cell in enumerate(row):
            if cell is Status.CLOSED:
                at = rows_of[f"{P}:m{number}"], columns_of[f"{P}:i{column}"]
                assert kills[at] == ran[at] == is_kill(row, inputs, column)
