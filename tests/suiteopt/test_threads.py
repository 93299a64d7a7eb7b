"""Products are multiplied by one thread inside, and by as many as before outside."""

import numpy as np
import pytest
from threadpoolctl import threadpool_info, threadpool_limits

from suiteopt.selection.select import select
from suiteopt.threads import one_thread, side_by_side
from suiteopt.validation.crossval import cross_validate
from suiteopt.validation.curve import curve


def threads() -> set[int]:
    return {pool["num_threads"] for pool in threadpool_info() if pool["user_api"] == "blas"}


@one_thread
def inside(value: int) -> tuple[int, set[int]]:
    """Say what is in force."""
    return value, threads()


def test_one_thread_inside_and_as_before_behind_it() -> None:
    assert np.dot(np.ones(2), np.ones(2)) == 2
    with threadpool_limits(limits=2, user_api="blas"):
        before = threads()
        assert inside(3) == (3, {1})
        assert threads() == before
    assert inside.__doc__ == "Say what is in force."


def test_what_multiplies_is_marked() -> None:
    assert all(hasattr(function, "__wrapped__") for function in (select, cross_validate, curve))


def test_side_by_side_keeps_the_order_and_what_went_wrong() -> None:
    assert side_by_side(lambda number: number * 2, range(20)) == list(range(0, 40, 2))
    with pytest.raises(ZeroDivisionError):
        side_by_side(lambda number: 1 // number, range(3))
