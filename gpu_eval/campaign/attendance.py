"""Whether the workers were there: what a campaign's wall-clock time went into beside its tasks."""

from collections import Counter
from dataclasses import dataclass, field


@dataclass
class Attendance:
    """Counts and seconds of the workers that measure, since the campaign was started or resumed.

    Of as many as may measure at the same time every second belongs to a task that was done, to one
    that was interrupted, to nobody because no worker was ready, or to nobody because there was
    nothing to do.

    Attributes
    ----------
    started, ready : int
        Processes started, and those that came as far as taking tasks.
    starting : float
        Seconds from start to ready, of all of them; most of them stand by meanwhile.
    lost : Counter of str
        Ends of workers at a task, by how they ended: a ``cell`` (its outcome is known), a
        ``batch`` of cells (nobody is blamed yet), ``between`` cells, or a ``death`` of the
        process.
    done : float
        Worker-seconds at tasks from when they were handed out until they were done.
    interrupted : dict of str to float
        Worker-seconds at tasks until their worker ended, by how it ended; ``stopped``: with the
        campaign. Those of base tasks, of which nothing is kept, have ``base`` before the word.
    short : float
        Worker-seconds in which there was work but no worker was ready for it.
    waiting : float
        Worker-seconds in which there was no task to hand out.
    """

    started: int = 0
    ready: int = 0
    starting: float = 0.0
    lost: Counter[str] = field(default_factory=Counter)
    done: float = 0.0
    interrupted: dict[str, float] = field(default_factory=dict)
    short: float = 0.0
    waiting: float = 0.0
    _since: float | None = None

    def came(self, seconds: float) -> None:
        """Take in a worker that is ready, so many seconds after its start."""
        self.ready += 1
        self.starting += seconds

    def ended(self, how: str, seconds: float, base: bool) -> None:
        """Take in a task that was interrupted after so many seconds, and how."""
        name = f"base {how}" if base else how
        self.interrupted[name] = self.interrupted.get(name, 0.0) + seconds

    def look(self, now: float, missing: int, waiting: int = 0) -> None:
        """Take in how many workers are missing, and for how many there is nothing to do.

        It counts from the last look on.
        """
        if self._since is not None:
            self.short += missing * (now - self._since)
            self.waiting += waiting * (now - self._since)
        self._since = now

    def as_dict(self) -> dict[str, float | dict[str, float]]:
        """Return the figures, seconds to a tenth."""
        return {
            "started": self.started,
            "ready": self.ready,
            "starting": round(self.starting, 1),
            "lost": dict(sorted(self.lost.items())),
            "done": round(self.done, 1),
            "interrupted": {
                how: round(seconds, 1) for how, seconds in sorted(self.interrupted.items())
            },
            "short": round(self.short, 1),
            "waiting": round(self.waiting, 1),
        }
