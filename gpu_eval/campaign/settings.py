"""What a campaign was asked to do: frozen, written before anything else, read on resume."""

import json
from dataclasses import asdict, dataclass
from pathlib import Path

from gpu_eval.campaign.closing import FATAL_LIMIT, FATAL_LIMIT_CONFIRMING
from suiteopt.errors import UserError


@dataclass(frozen=True)
class Settings:
    """The whole request of a campaign.

    Attributes
    ----------
    profile : str
        Name of a profile (`gpu_eval.campaign.shapes.PROFILES`).
    device : str
        Name of the device as it was resolved (``cpu`` or ``cuda``, never ``auto``).
    problems : tuple of str
        Problem ids, in order; empty means all of the profile.
    levels : tuple of int
        All problems of these levels, whatever the profile's own; empty: no choice by level.
    corpora : tuple of str
        Further corpus directories.
    jobs : int
        Processes that measure at the same time on a device (on each GPU).
    lanes : int
        Cells that each of them runs at the same time, where the device can.
    compilers : int
        Further processes that only compile; where there are none, the others do.
    command : str
        The command line, for the matrix's header.
    suite : str
        JSON text of a suite whose members take the place of the pools (a replay), or empty.
    limits : str
        Name of the profile by whose limits a suite's members grow to the contract's shapes (a
        confirmation); empty: they keep the shapes at which they were measured.
    skipped : tuple of (str, str)
        Implementation and input of cells that are not run, but taken for closed.
    sites : int or None
        Of a suite's problems: at how many sites of a substrate each rule is applied; None for all.
    deadline_floor : float
        Seconds that every run may take, whatever its substrate's own time. Demo cells take
        milliseconds, and the host device counts processor time, which other load does not use up.
    hang_seconds : float
        Seconds past its deadlines after which a worker that does not answer is killed.
    block : int
        Implementations in one shard.
    sass : bool
        Equivalents and duplicates on a CPU are those with equal machine code on a GPU.
    wild : bool
        Whether the wild kernels (`gpu_eval.problems.wild`) run, too.
    """

    profile: str
    device: str
    problems: tuple[str, ...] = ()
    levels: tuple[int, ...] = ()
    corpora: tuple[str, ...] = ()
    jobs: int = 1
    lanes: int = 1
    compilers: int = 0
    command: str = ""
    suite: str = ""
    limits: str = ""
    skipped: tuple[tuple[str, str], ...] = ()
    sites: int | None = None
    deadline_floor: float = 0.25
    hang_seconds: float = 10.0
    block: int = 24
    sass: bool = False
    wild: bool = False

    @property
    def fatal_limit(self) -> int:
        """On how many inputs a mutant crashes or times out before it is closed."""
        return FATAL_LIMIT_CONFIRMING if self.limits else FATAL_LIMIT

    def to_json(self) -> str:
        """Return the JSON text that `from_json` reads."""
        return json.dumps(asdict(self), indent=2, sort_keys=True) + "\n"

    @classmethod
    def from_json(cls, text: str, path: Path) -> "Settings":
        """Read settings back.

        Raises
        ------
        UserError
            If the text is no settings of this version.
        """
        try:
            values = json.loads(text)
            for name in ("problems", "corpora"):
                values[name] = tuple(values[name])
            values["levels"] = tuple(values.get("levels", ()))
            pairs = values.get("skipped", ())
            values["skipped"] = tuple((name, where) for name, where in pairs)
            return cls(**values)
        except (ValueError, TypeError, KeyError) as error:
            raise UserError(
                f"{path} is damaged or comes from another version of gpu-eval; "
                "start the campaign again in an empty directory"
            ) from error
