import numpy as np
import pytest

from suiteopt.selection.instance import make_instance
from suiteopt.selection.objective import score
from suiteopt.selection.parts import credit, keep_columns
from tests.suiteopt.selection.instances import instance_of


def test_columns_are_put_in_the_order_of_their_ids() -> None:
    instance = make_instance(
        "p", ["m"], ["b", "a"], [[True, False]], slack_decades=[[2.0, 9.0]], costs=[3, 4]
    )
    assert instance.inputs == ("a", "b")
    assert instance.kills.tolist() == [[False, True]]
    assert instance.slack.tolist() == [[0, 2000]]  # no kill, no slack
    assert instance.costs.tolist() == [4, 3]


def test_slack_is_whole_bounded_and_never_negative() -> None:
    instance = instance_of([[1, 1, 1, 1]], slack_decades=[[0.0129, np.inf, -1.0, np.nan]])
    assert instance.slack.tolist() == [[12, 6000, 0, 0]]


def test_crediting_a_column_turns_its_kills_into_given_ones() -> None:
    instance = instance_of([[1, 1], [1, 0], [0, 1]], slack_decades=[[3, 1], [2, 0], [0, 1]])
    credited = credit(instance, [0])
    assert credited.inputs == ("i1",)
    assert credited.given.tolist() == [1, 1, 0]
    assert credited.given_slack.tolist() == [3000, 2000, 0]
    assert score(credited, (0,)) == score(instance, (0, 1))


def test_ceiling_counts_given_kills_and_the_total_counts_all() -> None:
    instance = instance_of([[0, 1], [0, 0], [0, 0]], given=[0, 1, 0], weights=[2, 3, 4])
    assert (instance.ceiling, instance.total) == (5, 9)
    assert keep_columns(instance, [0]).ceiling == 3


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"weights": [0]}, "positive"),
        ({"weights": [1.5]}, "whole"),
        ({"costs": [-1, 0]}, "not negative"),
        ({"weights": [1, 1]}, "whole"),
    ],
)
def test_nonsense_is_refused(options: dict[str, list[float]], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        instance_of([[1, 0]], **options)


def test_names_must_fit_the_table() -> None:
    with pytest.raises(ValueError, match="shape"):
        make_instance("p", ["m"], ["a"], [[1, 0]])
    with pytest.raises(ValueError, match="unique"):
        make_instance("p", ["m"], ["a", "a"], [[1, 0]])
