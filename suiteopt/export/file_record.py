"""What one process reports of an exported file that it loads."""

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any


@dataclass(frozen=True)
class Step:
    """How far loading is.

    Attributes
    ----------
    problem : str
        Whose file is being loaded.
    number, problems : int
        How many files were begun, of how many.
    done, configurations : int
        How many of its configurations were looked at, and how many there are; 0 before it is known.
    turn : int
        0 or 1: everything is loaded twice.
    """

    problem: str
    number: int
    problems: int
    done: int
    configurations: int
    turn: int


Progress = Callable[[Step], None]


@dataclass
class FileRecord:
    """What one process saw of one exported file.

    Attributes
    ----------
    members : int
        How many there should be, the last ones of the file.
    count : int or None
        What ``len()`` said; None where it did not load.
    seen, left_out : dict
        Position in the file to what was seen, and to (bytes needed, bytes allowed).
    error : str
        Why it did not load, or did not load to its end.
    memory : str
        What was said when the memory was used up, so that the rest was not looked at.
    absent : str
        Which package of the harness is not installed, so that nothing could be loaded.
    generator_unchanged : bool
    """

    members: int
    count: int | None = None
    seen: dict[int, dict[str, Any]] = field(default_factory=dict)
    left_out: dict[int, tuple[int, int]] = field(default_factory=dict)
    error: str = ""
    memory: str = ""
    absent: str = ""
    generator_unchanged: bool = True

    @property
    def kept(self) -> int:
        """How many configurations come before the members; 0 where nobody can tell."""
        return 0 if self.count is None else self.count - self.members

    @property
    def configurations(self) -> dict[int, dict[str, Any]]:
        """What was seen, members from 0 and original configurations below."""
        return {index - self.kept: event for index, event in self.seen.items()}

    @property
    def skipped(self) -> dict[int, tuple[int, int]]:
        """What was left out, members from 0 and original configurations below."""
        return {index - self.kept: size for index, size in self.left_out.items()}


def step_of(events: list[dict[str, Any]], before: int, problems: int, turn: int) -> Step:
    """Return how far a loader is by what it has reported."""
    begun = [event["problem"] for event in events if event["event"] == "begin"]
    problem = str(begun[-1])
    own = [event for event in events if event["problem"] == problem]
    counts = [int(event["count"]) for event in own if event["event"] == "count"]
    done = sum(event["event"] in ("configuration", "skipped") for event in own)
    return Step(problem, before + len(begun), problems, done, max(counts, default=0), turn)


def note(record: FileRecord, event: dict[str, Any]) -> None:
    """Take an event of the process into the record of its file."""
    kind = event["event"]
    if kind == "count":
        record.count = event["count"]
    elif kind == "configuration":
        record.seen[event["index"]] = event
    elif kind == "skipped":
        record.left_out[event["index"]] = (event["bytes"], event["most"])
    elif kind == "absent":
        record.absent = event["what"]
    elif kind == "error":
        record.error = event["error"]
    elif kind == "memory":
        record.memory = event["error"]
    elif kind == "end":
        record.generator_unchanged = event["generator_unchanged"]
