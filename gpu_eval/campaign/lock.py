"""One campaign a directory: a lock that dies with the process that holds it."""

import fcntl
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from suiteopt.errors import UserError


@contextmanager
def locked(path: Path) -> Iterator[None]:
    """Hold an exclusive lock on a file.

    The kernel drops it when the process ends in any way, so that a killed campaign leaves no
    stale lock behind. Worker processes do not inherit it: Python's descriptors close on exec.

    Raises
    ------
    UserError
        If another process holds it.
    """
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.open("a") as handle:
        try:
            fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            raise UserError(
                f"another gpu-eval process is at work in {path.parent.parent}; "
                "wait until it has ended, or choose another --output"
            ) from None
        yield
