"""Linear algebra on one thread.

Selection and validation multiply thousands of tables of a thousand rows by a few dozen columns.
Threads that share such a product wait for each other longer than they compute: to cross-validate
six thousand faults took 13 s of CPU time on one thread and 27 s on two.
"""

from collections.abc import Callable
from functools import wraps
from typing import ParamSpec, TypeVar

from threadpoolctl import threadpool_limits

P = ParamSpec("P")
R = TypeVar("R")


def one_thread(function: Callable[P, R]) -> Callable[P, R]:
    """Let a function's matrix products run on the thread that asks for them."""

    @wraps(function)
    def alone(*args: P.args, **kwargs: P.kwargs) -> R:
        with threadpool_limits(limits=1, user_api="blas"):
            return function(*args, **kwargs)

    return alone
