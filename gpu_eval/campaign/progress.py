"""How far a campaign is: a bar on a terminal, plain lines elsewhere, nothing where not wanted."""

import sys
import time
from abc import ABC, abstractmethod
from collections.abc import Callable
from datetime import timedelta
from types import TracebackType
from typing import Self

from rich.console import Console
from rich.progress import (
    BarColumn,
    Progress,
    ProgressColumn,
    SpinnerColumn,
    Task,
    TextColumn,
)
from rich.table import Column
from rich.text import Text

LINE_SECONDS = 10.0


class Reporter(ABC):
    """Told how far a campaign is. A context manager."""

    @abstractmethod
    def stage(self, text: str) -> None:
        """Say what begins now."""

    @abstractmethod
    def cells(self, done: int, total: int, before: int = 0) -> None:
        """Say how many cells are done, of how many as far as is known.

        ``before`` of them are an earlier sitting's, and say nothing of how fast this one is.
        """

    @abstractmethod
    def note(self, text: str) -> None:
        """Say something that is worth a line of its own."""

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        return None


class Silent(Reporter):
    """Says nothing."""

    def stage(self, text: str) -> None:
        """Say nothing."""

    def cells(self, done: int, total: int, before: int = 0) -> None:
        """Say nothing."""

    def note(self, text: str) -> None:
        """Say nothing."""


class Lines(Reporter):
    """One plain line at every stage and every ten seconds: for logs."""

    def __init__(
        self, write: Callable[[str], object], clock: Callable[[], float] = time.monotonic
    ) -> None:
        self._write = write
        self._clock = clock
        self._first: tuple[float, int] | None = None
        self._last = clock()

    def stage(self, text: str) -> None:
        """Write the stage's name."""
        self._write(f"gpu-eval: {text}\n")

    def cells(self, done: int, total: int, before: int = 0) -> None:
        """Write a line if the last is ten seconds old."""
        now = self._clock()
        if self._first is None:
            self._first = (now, done - before)
        if now - self._last < LINE_SECONDS:
            return
        self._last = now
        rate = cell_rate(self._first, (now, done - before))
        left = f"{(total - done) / rate:.0f} s left" if rate > 0 else "time left unknown"
        self._write(f"gpu-eval: {done} of {total} cells, {rate:.0f} cells/s, {left}\n")

    def note(self, text: str) -> None:
        """Write a line."""
        self._write(f"gpu-eval: {text}\n")


def cell_rate(first: tuple[float, int], now: tuple[float, int]) -> float:
    """Return cells per second between two moments (time, cells done)."""
    seconds, cells = now[0] - first[0], now[1] - first[1]
    return cells / seconds if seconds > 0 else 0.0


class _Rate(ProgressColumn):
    """Cells per second of this sitting."""

    def render(self, task: Task) -> Text:
        """Return the rate, once it is known."""
        speed = task.fields.get("rate", 0.0)
        return Text(f"{speed:.0f} cells/s" if speed > 0 else "")


class _Left(ProgressColumn):
    """Time left at that rate."""

    def render(self, task: Task) -> Text:
        """Return hours, minutes and seconds, once the rate is known."""
        speed = task.fields.get("rate", 0.0)
        if not speed > 0 or task.total is None:
            return Text("-:--:--")
        return Text(str(timedelta(seconds=int(max(task.total - task.completed, 0) / speed))))


class Bar(Reporter):
    """A bar with rate and time left."""

    def __init__(self, console: Console) -> None:
        self._progress = Progress(
            SpinnerColumn(),
            TextColumn("{task.description}"),
            # Narrow enough for a terminal of 80 columns.
            BarColumn(bar_width=16),
            TextColumn("{task.completed:.0f}/{task.total:.0f} cells"),
            _Rate(table_column=Column(no_wrap=True)),
            _Left(),
            TextColumn("left"),
            console=console,
            transient=True,
        )
        self._task = self._progress.add_task("", total=1, rate=0.0)
        self._first: tuple[float, int] | None = None

    def __enter__(self) -> Self:
        self._progress.start()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._progress.stop()

    def stage(self, text: str) -> None:
        """Show the stage beside the bar."""
        self._progress.update(self._task, description=text)

    def cells(self, done: int, total: int, before: int = 0) -> None:
        """Move the bar."""
        now = (time.monotonic(), done - before)
        self._first = self._first or now
        rate = cell_rate(self._first, now)
        self._progress.update(self._task, completed=done, total=max(total, 1), rate=rate)

    def note(self, text: str) -> None:
        """Print a line above the bar."""
        self._progress.console.print(text, highlight=False, markup=False)


def reporter(console: Console | None = None) -> Reporter:
    """Return a bar if standard error is a terminal, plain lines otherwise."""
    console = console or Console(stderr=True, highlight=False)
    if console.is_terminal:
        return Bar(console)
    return Lines(_write_line)


def _write_line(text: str) -> None:
    sys.stderr.write(text)
    sys.stderr.flush()
