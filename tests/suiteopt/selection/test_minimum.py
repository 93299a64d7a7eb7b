from itertools import product

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from suiteopt.errors import UserError
from suiteopt.selection.constraints import Constraints
from suiteopt.selection.instance import Instance
from suiteopt.selection.minimum import (
    allocate,
    minimum_each,
    minimum_overall,
    required_weight,
)
from suiteopt.selection.result import Proof
from tests.suiteopt.selection.instances import brute_force, instance_of, instances

# one input detects 3 of 5, two detect 4, three all
STAIRS = [[1, 0, 0], [1, 0, 0], [1, 0, 0], [0, 1, 0], [0, 0, 1]]


@pytest.mark.parametrize(("required", "members"), [(1, 1), (3, 1), (4, 2), (5, 3)])
def test_the_fewest_inputs_of_one_problem(required: int, members: int) -> None:
    found = minimum_each(instance_of(STAIRS), required, 3)
    assert (found.members, found.at_least, found.status) == (members, members, Proof.PROVED)
    assert found.selections[0].detected >= required


def test_nothing_is_bought_where_given_inputs_are_enough() -> None:
    found = minimum_each(instance_of([[1, 0], [0, 1]], given=[1, 0]), 1, 2)
    assert (found.members, found.at_least, found.selections[0].members) == (0, 0, ())


def test_what_cannot_be_reached_is_refused_with_the_ceiling() -> None:
    with pytest.raises(UserError, match=r"4 of 5 mutants.*5 are required"):
        minimum_each(instance_of(STAIRS), 5, 2)
    with pytest.raises(UserError, match=r"1 mutants is what 2 inputs.*2 are required"):
        minimum_overall([instance_of([[1], [0]])], 2, 2)


@pytest.mark.parametrize(("share", "weight"), [(0.98, 98), (1.0, 100), (0.981, 99), (0.3, 30)])
def test_a_share_is_a_weight_rounded_up(share: float, weight: int) -> None:
    assert required_weight(share, 100) == weight


@pytest.mark.parametrize("share", [0.0, -0.1, 1.1, float("nan")])
def test_a_share_outside_its_range_is_refused(share: float) -> None:
    with pytest.raises(UserError, match="is not a share"):
        required_weight(share, 10)


def test_over_all_problems_inputs_go_where_they_detect_most() -> None:
    # first: 3, 4, 5 by one, two, three inputs; second: 2, 3; together 8 by (3, 2)
    second = instance_of([[1, 0], [1, 0], [0, 1]])
    for required, sizes in ((3, (1, 0)), (5, (1, 1)), (6, (2, 1)), (8, (3, 2))):
        found = minimum_overall([instance_of(STAIRS), second], required, 3)
        assert tuple(len(s.members) for s in found.selections) == sizes
        assert (found.members, found.status) == (sum(sizes), Proof.PROVED)


def test_forced_inputs_are_paid_for_even_where_they_help_little() -> None:
    found = minimum_overall(
        [instance_of(STAIRS), instance_of([[1, 0], [1, 0], [0, 1]])],
        3,
        3,
        constraints=[Constraints(), Constraints(include=frozenset({"i1"}))],
    )
    assert [s.members for s in found.selections] == [("i0",), ("i1",)]


@given(
    st.lists(
        st.lists(st.integers(0, 6), min_size=1, max_size=4).map(sorted), min_size=1, max_size=4
    ),
    st.integers(0, 20),
)
def test_allocation_is_brute_force(curves: list[list[int]], required: int) -> None:
    sizes = [
        s
        for s in product(*(range(len(curve)) for curve in curves))
        if sum(curve[size] for curve, size in zip(curves, s, strict=True)) >= required
    ]
    found = allocate(curves, required)
    if not sizes:
        assert found is None
        return
    assert found in sizes
    assert found is not None
    assert sum(found) == min(sum(s) for s in sizes)
    detected = sum(curve[size] for curve, size in zip(curves, found, strict=True))
    assert detected == max(
        sum(curve[size] for curve, size in zip(curves, s, strict=True))
        for s in sizes
        if sum(s) == sum(found)
    )


@settings(max_examples=40)
@given(instances(rows=6, columns=5), st.integers(1, 10))
def test_the_minimum_is_the_first_size_that_brute_force_reaches(
    instance: Instance, required: int
) -> None:
    reached = [brute_force(instance, size)[1].detected for size in range(6)]
    enough = [size for size, detected in enumerate(reached) if detected >= required]
    if not enough:
        with pytest.raises(UserError):
            minimum_each(instance, required, 5)
        return
    found = minimum_each(instance, required, 5)
    assert found.members == found.at_least == enough[0]
