"""Finding processes that left their group, by the environment that they were started with (Linux).

A process may leave its group, its session and its parent; what it inherits from a child is the
name of the child's own directory, as ``TMPDIR``.
"""

import contextlib
import os
import signal
import time
from pathlib import Path

_TURNS = 25
_PAUSE = 0.02


def started_at(number: int) -> int:
    """Return when a process started, in the kernel's ticks; 0 where that cannot be told."""
    with contextlib.suppress(OSError, ValueError, IndexError):
        # The command's name, in brackets, may hold anything; the 22nd field comes after it.
        text = Path(f"/proc/{number}/stat").read_text(encoding="utf-8", errors="replace")
        return int(text.rpartition(")")[2].split()[19])
    return 0


def kill_stragglers(directory: Path, since: int) -> None:
    """Kill the processes whose ``TMPDIR`` is a directory of this check's own.

    Parameters
    ----------
    directory : Path
    since : int
        Older processes are let alone; see `started_at`.
    """
    marker = b"\0TMPDIR=" + os.fsencode(directory) + b"\0"
    for _ in range(_TURNS):
        again = False
        for place in Path("/proc").glob("[0-9]*"):
            number = int(place.name)
            if number == os.getpid() or started_at(number) < since:
                continue
            with contextlib.suppress(OSError):
                environment = (place / "environ").read_bytes()
                if marker in b"\0" + environment:
                    os.kill(number, signal.SIGKILL)
                    again = True  # what it started meanwhile is seen in the next turn
                elif not environment and os.readlink(place / "exe"):
                    again = True  # between fork and the program's start there is none to be seen
        if not again:
            return
        time.sleep(_PAUSE)
