"""Linear algebra on one thread.

Selection and validation multiply thousands of tables of a thousand rows by a few dozen columns.
Threads that share such a product wait for each other longer than they compute: to cross-validate
six thousand faults took 13 s of CPU time on one thread and 27 s on two. Problems that share
nothing can be worked on side by side instead.
"""

import os
from collections.abc import Callable, Iterable
from concurrent.futures import ThreadPoolExecutor
from functools import wraps
from typing import ParamSpec, TypeVar

from threadpoolctl import threadpool_limits

P = ParamSpec("P")
R = TypeVar("R")
T = TypeVar("T")

MOST = 4
"""Problems at a time: each has tables of some megabytes, and memory is soon what they wait for."""


def one_thread(function: Callable[P, R]) -> Callable[P, R]:
    """Let a function's matrix products run on the thread that asks for them."""

    @wraps(function)
    def alone(*args: P.args, **kwargs: P.kwargs) -> R:
        with threadpool_limits(limits=1, user_api="blas"):
            return function(*args, **kwargs)

    return alone


def side_by_side(function: Callable[[T], R], items: Iterable[T]) -> list[R]:
    """Return a function's results in order; numpy lets other threads go on while it computes."""
    threads = min(MOST, len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else 1)
    if threads < 2:
        return [function(item) for item in items]
    with ThreadPoolExecutor(threads) as pool:
        return list(pool.map(function, items))
