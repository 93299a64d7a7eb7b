"""Whether the workers were there: what a campaign's wall-clock time went into beside its tasks."""

from collections import Counter
from dataclasses import dataclass, field


@dataclass
class Attendance:
    """Counts and seconds of the workers that measure, since the campaign was started or resumed.

    Attributes
    ----------
    started, ready : int
        Processes started, and those that came as far as taking tasks.
    starting : float
        Seconds from start to ready, of all of them.
    lost : Counter of str
        Ends of workers at a task, by how they ended: a ``cell`` (its outcome is known), a
        ``batch`` of cells (nobody is blamed yet), ``between`` cells, or a ``death`` of the
        process.
    short : float
        Worker-seconds in which there was work but no worker was ready for it.
    """

    started: int = 0
    ready: int = 0
    starting: float = 0.0
    lost: Counter[str] = field(default_factory=Counter)
    short: float = 0.0
    _since: float | None = None

    def came(self, seconds: float) -> None:
        """Take in a worker that is ready, so many seconds after its start."""
        self.ready += 1
        self.starting += seconds

    def look(self, now: float, missing: int) -> None:
        """Take in how many workers are missing at a moment; it counts from the last look on."""
        if self._since is not None:
            self.short += missing * (now - self._since)
        self._since = now

    def as_dict(self) -> dict[str, float | dict[str, int]]:
        """Return the figures, seconds to a tenth."""
        return {
            "started": self.started,
            "ready": self.ready,
            "starting": round(self.starting, 1),
            "lost": dict(sorted(self.lost.items())),
            "short": round(self.short, 1),
        }
