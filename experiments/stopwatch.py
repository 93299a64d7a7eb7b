"""Wall time of a call."""

import time
from collections.abc import Callable
from typing import Any


def timed(call: Callable[[], Any]) -> tuple[Any, float]:
    """Return what a call gives, and its seconds."""
    started = time.perf_counter()
    result = call()
    return result, time.perf_counter() - started
