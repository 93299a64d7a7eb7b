from itertools import combinations

from hypothesis import given
from hypothesis import strategies as st

from suiteopt.selection.enumerate import enumerate_best
from suiteopt.selection.instance import Instance
from suiteopt.selection.objective import score
from suiteopt.selection.reduce import drop_dominated, merge_rows
from tests.suiteopt.selection.instances import instance_of, instances


@given(instances(rows=10, columns=4))
def test_merging_rows_keeps_detection_and_second_kills_of_every_set(instance: Instance) -> None:
    merged = merge_rows(instance)
    idle = ~instance.kills.any(axis=1)
    given_once = int(instance.weights[idle & (instance.given >= 1)].sum())
    given_twice = int(instance.weights[idle & (instance.given >= 2)].sum())
    for count in range(len(instance.inputs) + 1):
        for columns in combinations(range(len(instance.inputs)), count):
            before, after = score(instance, columns), score(merged, columns)
            assert before.detected == after.detected + given_once
            assert before.twice == after.twice + given_twice


def test_equal_rows_become_one_heavy_row() -> None:
    merged = merge_rows(instance_of([[1, 0], [0, 1], [1, 0], [0, 0]], weights=[1, 2, 3, 4]))
    assert merged.kills.tolist() == [[True, False], [False, True]]
    assert merged.weights.tolist() == [4, 2]


@given(instances(columns=6), st.integers(1, 3))
def test_dropping_dominated_columns_keeps_the_lexicographic_optimum(
    instance: Instance, budget: int
) -> None:
    small, kept = drop_dominated(instance, budget)
    columns, value, _ = enumerate_best(small, budget)
    best, top, _ = enumerate_best(instance, budget)
    assert value == top
    assert tuple(int(kept[column]) for column in columns) == best


@given(instances(columns=6), st.integers(1, 3))
def test_one_dominator_is_enough_for_detection_alone(instance: Instance, budget: int) -> None:
    small, _ = drop_dominated(instance, 1)
    assert enumerate_best(small, budget)[1].detected == enumerate_best(instance, budget)[1].detected


def test_one_dominator_is_not_enough_for_second_kills() -> None:
    # i0 dominates i1, but the pair of both kills m0 twice and i2 adds nothing
    instance = instance_of([[1, 1, 0], [1, 0, 0]])
    assert enumerate_best(instance, 2)[0] == (0, 1)
    assert drop_dominated(instance, 1)[0].inputs == ("i0",)
    assert "i1" in drop_dominated(instance, 2)[0].inputs


def test_a_dearer_or_safer_column_is_not_dominated() -> None:
    dearer = instance_of([[1, 1], [0, 1]], costs=[1, 2])
    assert drop_dominated(dearer, 1)[0].inputs == ("i0", "i1")
    safer = instance_of([[1, 1], [0, 1]], slack_decades=[[2, 1], [0, 1]])
    assert drop_dominated(safer, 1)[0].inputs == ("i0", "i1")


def test_more_slack_does_not_make_up_for_a_larger_id() -> None:
    # i1 and i2 are safer than i0, but beside either of them that does not show
    instance = instance_of([[1, 1, 1]], slack_decades=[[0, 1, 1]])
    assert enumerate_best(instance, 2)[0] == (0, 1)
    assert "i0" in drop_dominated(instance, 2)[0].inputs


def test_of_equal_columns_the_smaller_id_stays() -> None:
    assert drop_dominated(instance_of([[1, 1, 1]]), 1)[0].inputs == ("i0",)
