"""How candidates are judged, and where their processes work."""

import tempfile
from dataclasses import dataclass


@dataclass(frozen=True)
class Settings:
    """How candidates are judged.

    Attributes
    ----------
    device : str
        ``auto``, ``cpu``, ``cuda`` or ``cuda:<n>``.
    load_seconds, run_seconds : float
        For executing a candidate's file (compilers run then) and for one configuration.
    max_bytes : int or None
        Of one configuration's inputs; None: a sixth of the machine's memory.
    """

    device: str = "auto"
    load_seconds: float = 600.0
    run_seconds: float = 60.0
    max_bytes: int | None = None


def scratch(what: str) -> "tempfile.TemporaryDirectory[str]":
    """Return a directory that goes when its user is done, whatever a candidate left in it."""
    return tempfile.TemporaryDirectory(prefix=f"suiteopt-{what}-", ignore_cleanup_errors=True)
