"""Helpers change who does something, and nothing else."""

import os

import pytest

from gpu_eval.campaign.spread import spread
from suiteopt.errors import MissingExtraError

FATAL = 7
WRONG = 5


def square(number: int) -> tuple[int, int]:
    """Return a square, and the process that made it; one number ends that."""
    if number == FATAL:
        os._exit(1)
    return number * number, os.getpid()


def refuse(number: int) -> int:
    """Refuse what is too large, with an error that no pipe takes."""
    if number >= WRONG:
        raise MissingExtraError(f"package-{number}", "eval")
    return number


@pytest.mark.parametrize("helpers", [0, 1, 3])
def test_results_come_in_the_order_of_the_items(helpers: int) -> None:
    numbers = [3, 1, 4, 1, 6, 9, 2]
    found = spread(numbers, square, square, helpers)
    assert [value for value, _ in found] == [n * n for n in numbers]
    here = {process == os.getpid() for _, process in found}
    assert here == {helpers < 2}


def test_what_a_lost_helper_had_is_done_here() -> None:
    numbers = [1, FATAL, 2, 3]
    found = spread(numbers, lambda n: (n * n, os.getpid()), square, 2)
    assert [value for value, _ in found] == [1, 49, 4, 9]
    assert found[1][1] == os.getpid() != found[0][1]


def test_all_helpers_may_be_lost() -> None:
    numbers = [FATAL, FATAL, FATAL, 2, 3]
    found = spread(numbers, lambda n: (n * n, os.getpid()), square, 2)
    assert [value for value, _ in found] == [49, 49, 49, 4, 9]


@pytest.mark.parametrize("helpers", [0, 3])
def test_the_first_exception_is_raised_as_it_would_be_here(helpers: int) -> None:
    with pytest.raises(MissingExtraError, match="'package-5'"):
        spread([1, 2, 5, 8, 3, 9], refuse, refuse, helpers)


def test_nothing_is_nothing() -> None:
    assert spread([], refuse, refuse, 4) == []
