"""A worker's record of what it is doing, readable after its death.

A few bytes in a shared file mapping: writing one costs a microsecond and no system call, and the
page survives the process, however it ends.
"""

import mmap
import struct
import time
from dataclasses import dataclass
from pathlib import Path

# Cells done so far, input (index into the task), deadline, start (monotonic clock), how many cells
# are being run, the first one's subject. It comes last on writing: -1 means that none is being run.
_FORMAT = struct.Struct("<qqddqq")
_NOTHING = (0, 0.0, 0.0, 0)
_IDLE = -1


@dataclass(frozen=True)
class Sighting:
    """What a beacon says.

    Attributes
    ----------
    cells : int
        Cells finished in the current task.
    subject, input : int
        Indices of the running cell, the first of several; ``subject`` is -1 between cells.
    deadline : float
        Seconds that the running cells may take.
    started : float
        When they began (``time.monotonic``, which all processes of a machine share).
    together : int
        How many cells are running at the same time.
    """

    cells: int
    subject: int
    input: int
    deadline: float
    started: float
    together: int = 1

    @property
    def running(self) -> bool:
        """Whether a cell is being run."""
        return self.subject != _IDLE


class Beacon:
    """The record of one worker; the worker writes, the supervisor reads."""

    def __init__(self, path: Path, *, create: bool) -> None:
        if create:
            path.write_bytes(_FORMAT.pack(0, *_NOTHING, _IDLE))
        with path.open("r+b") as handle:
            self._map = mmap.mmap(handle.fileno(), _FORMAT.size)
        self._cells = 0

    def reset(self) -> None:
        """Begin a task: no cell done, none running."""
        self._cells = 0
        _FORMAT.pack_into(self._map, 0, 0, *_NOTHING, _IDLE)

    def idle(self) -> None:
        """Say that no cell is running; the count stays."""
        self.end(0)

    def begin(self, subject: int, cell_input: int, deadline: float, together: int = 1) -> None:
        """Say that a cell starts now, or the first one of several."""
        now = time.monotonic()
        _FORMAT.pack_into(self._map, 0, self._cells, cell_input, deadline, now, together, subject)

    def end(self, cells: int = 1) -> None:
        """Say that the running cell, or so many that need not run, are done."""
        self._cells += cells
        _FORMAT.pack_into(self._map, 0, self._cells, *_NOTHING, _IDLE)

    def read(self) -> Sighting:
        """Return what the record says."""
        cells, cell_input, deadline, started, together, subject = _FORMAT.unpack_from(self._map, 0)
        return Sighting(cells, subject, cell_input, deadline, started, together)

    def close(self) -> None:
        """Drop the mapping."""
        self._map.close()
