"""Where the time of a worker goes, by what it was doing."""

import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from enum import StrEnum


class Phase(StrEnum):
    """What a worker can be doing; every second belongs to one of these, or to none."""

    OPEN = "open"
    """Taking the device."""
    INPUTS = "inputs"
    """Making tensors, both references, and binding them."""
    FACTS = "facts"
    """What the base task finds out about an input besides running implementations."""
    CONTROLS = "controls"
    """Torch controls and null mutants, their comparison included."""
    KERNELS = "kernels"
    """Compiled implementations: poison, launches, comparison, reading the result."""
    INTACT = "intact"
    """Seeing whether inputs and references are still what they were."""


class Phases:
    """A stopwatch that knows phases; one inside another takes its time from that one.

    Parameters
    ----------
    before : mapping of str to float
        Seconds by phase that count already.
    """

    def __init__(self, before: Mapping[str, float] | None = None) -> None:
        self.seconds: dict[str, float] = dict(before or {})
        self._now: Phase | None = None
        self._since = 0.0

    @contextmanager
    def __call__(self, phase: Phase) -> Iterator[None]:
        """Count what happens inside as time of a phase."""
        outer = self._now
        self._turn(phase)
        try:
            yield
        finally:
            self._turn(outer)

    def _turn(self, phase: Phase | None) -> None:
        now = time.perf_counter()
        if self._now is not None:
            self.seconds[self._now] = self.seconds.get(self._now, 0.0) + now - self._since
        self._now, self._since = phase, now


def added(parts: "list[Mapping[str, float]]") -> dict[str, float]:
    """Add up seconds by phase, rounded to milliseconds, in the order of the names."""
    names = sorted({name for part in parts for name in part})
    return {name: round(sum(part.get(name, 0.0) for part in parts), 3) for name in names}
