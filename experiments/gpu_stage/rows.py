"""What a part of the benchmark found: rows of one table."""

import time
from dataclasses import asdict, dataclass
from typing import Any


@dataclass(frozen=True)
class Row:
    """One line of the table.

    Attributes
    ----------
    item : int
        Which promise of the stage it is about.
    what : str
    measured : float or None
        None: not measured here, and `note` says why.
    unit : str
    target : float or None
        What `measured` should reach.
    at_least : bool
        Whether the target is a lower bound; otherwise an upper one.
    note : str
    """

    item: int
    what: str
    measured: float | None
    unit: str = ""
    target: float | None = None
    at_least: bool = True
    note: str = ""

    @property
    def met(self) -> bool | None:
        """Whether the target is met; None where there is none, or nothing was measured."""
        if self.measured is None or self.target is None:
            return None
        return self.measured >= self.target if self.at_least else self.measured <= self.target

    def as_dict(self) -> dict[str, Any]:
        """Return everything, `met` included."""
        return {**asdict(self), "met": self.met}


@dataclass(frozen=True)
class Options:
    """How large the benchmark is.

    Attributes
    ----------
    device : str
        ``cuda``; ``cpu`` tries out all that needs no GPU, and its figures mean nothing.
    problems : int
        Whose mutants are compiled.
    seconds : float
        What a part may take; it is ended after that.
    cores : int
    """

    device: str
    problems: int
    seconds: float
    cores: int


class Clock:
    """Seconds since it was made."""

    def __init__(self) -> None:
        self._began = time.perf_counter()

    @property
    def seconds(self) -> float:
        """Return them."""
        return time.perf_counter() - self._began
