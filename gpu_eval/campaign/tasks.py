"""What a supervisor hands to a worker: frozen values with a content key."""

import hashlib
import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from gpu_eval.campaign.closing import FATAL_LIMIT
from gpu_eval.campaign.journal import Verdict
from gpu_eval.campaign.pool_input import PoolInput
from gpu_eval.devices.base import Binary, KernelSource
from gpu_eval.problems.plan import LaunchPlan
from suiteopt.matrix.schema import Kind

TASK_VERSION = 1
"""Part of every key: raised when the meaning of a result file changes."""


@dataclass(frozen=True)
class Subject:
    """An implementation, ready to run.

    Attributes
    ----------
    id : str
    kind : Kind
    name : str
        Name of the torch callable of a control or null; of the substrate otherwise.
    binary, plan : Binary, LaunchPlan or None
        None for torch callables.
    blind : bool
        Of a control that is kept out of every calibration.
    """

    id: str
    kind: Kind
    name: str
    binary: Binary | None = None
    plan: LaunchPlan | None = None
    blind: bool = False


@dataclass(frozen=True)
class InputFacts:
    """What the base task found out about an input.

    Attributes
    ----------
    valid, reason : bool, str
        Whether reference and substrates can do it, and if not, why.
    floors : mapping of str to float
        Rounding-model floor of each own statistic.
    bytes : int
        Of all tensors, outputs included.
    seconds : float
        The slowest substrate's time.
    reference_error : float
        Max d / RMS of the own reference against fp64.
    traits : mapping of str to bool
        What the refereeability flags are made of.
    """

    valid: bool
    reason: str
    floors: Mapping[str, float]
    bytes: int
    seconds: float
    reference_error: float
    traits: Mapping[str, bool] = field(default_factory=dict)


@dataclass(frozen=True)
class CompileTask:
    """Compile some implementations of a problem."""

    key: str
    problem: str
    sources: tuple[KernelSource, ...]


@dataclass(frozen=True)
class CellTask:
    """Run a block of implementations on all inputs of a problem.

    Attributes
    ----------
    key : str
    problem : str
    inputs : tuple of PoolInput
        In the order in which they run, the cheapest first.
    repeated : frozenset of str
        Ids of the inputs that are run under every schedule.
    subjects : tuple of Subject
    facts : mapping of str to InputFacts, or None
        By input; None for the base task, which finds them out.
    own : str
        Id of the benchmark's first own draw; empty if the pool has none.
    deadline_floor : float
    fatal_limit : int
        On how many inputs a mutant (others: `FATAL_LIMIT`) crashes or times out before it is
        closed. It is not in the key, nor is ``skipped``: a cell that runs is the same whatever
        does not.
    skipped : frozenset of (str, str)
        Implementation and input of cells that are not run, but taken for closed.
    verdicts : tuple of Verdict
        Cells that took a worker down: recorded, not run.
    probe : tuple of str and str, or None
        A cell under suspicion, run first and alone; only whether it kills the worker matters.
    fresh : bool
        To be run in a worker that has run nothing else.
    lanes : int
        How many cells of an input may run at the same time, where the device can.
    singly : frozenset of str
        Ids of inputs whose cells run one by one: a worker was lost at several of them at once.
    """

    key: str
    problem: str
    inputs: tuple[PoolInput, ...]
    repeated: frozenset[str]
    subjects: tuple[Subject, ...]
    facts: Mapping[str, InputFacts] | None
    own: str
    deadline_floor: float
    fatal_limit: int = FATAL_LIMIT
    skipped: frozenset[tuple[str, str]] = frozenset()
    verdicts: tuple[Verdict, ...] = ()
    probe: tuple[str, str] | None = None
    fresh: bool = False
    lanes: int = 1
    singly: frozenset[str] = frozenset()

    @property
    def cells(self) -> int:
        """How many cells it gives."""
        return len(self.inputs) * len(self.subjects)


Task = CompileTask | CellTask


def content_key(prefix: str, content: Mapping[str, Any]) -> str:
    """Return a name for a task that is the same for the same content."""
    text = json.dumps({"version": TASK_VERSION, **content}, sort_keys=True, default=str)
    return f"{prefix}-{hashlib.sha256(text.encode()).hexdigest()[:32]}"
