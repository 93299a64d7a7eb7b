"""Which cells of an input run at the same time, and how far each has come."""

from dataclasses import dataclass, field

from gpu_eval.campaign.checkpoint import Progress
from gpu_eval.campaign.tasks import CellTask, Subject
from gpu_eval.devices.base import Job, Outcome
from gpu_eval.problems.plan import ResolvedPlan
from suiteopt.matrix.schema import EXCEPTION_STATUSES

MANY_LOST = 2
"""Inputs of a block on which a batch was lost without a culprit before all its cells run one by
one: whoever is fatal only in another's place would cost a context on every input."""


@dataclass
class Cell:
    """A cell that has to be run, once or under several schedules.

    Attributes
    ----------
    row : int
        Of its implementation in the task.
    subject : Subject
    plan : ResolvedPlan
    runs : int
        How often.
    outcomes : list of Outcome
        Of the runs so far.
    """

    row: int
    subject: Subject
    plan: ResolvedPlan
    runs: int
    outcomes: list[Outcome] = field(default_factory=list)

    @property
    def done(self) -> bool:
        """Whether no run is left: nothing is run again after an exception."""
        ended = bool(self.outcomes) and self.outcomes[-1].status in EXCEPTION_STATUSES
        return ended or len(self.outcomes) >= self.runs

    def job(self, schedules: int, deadline: float) -> Job:
        """Return the next run."""
        binary = self.subject.binary
        assert binary is not None
        return Job(binary, self.plan, len(self.outcomes) % schedules, deadline)


def lanes_wanted(task: CellTask, column: int) -> int:
    """Return how many cells of an input may run at the same time.

    A mutant that takes the device along, or writes far outside its outputs, mostly does so on the
    first input of its scope. There each runs by itself: the one costs one lost device and not a
    second one for finding out which of several it was, the other meets no neighbour's memory.
    """
    if task.facts is None or task.inputs[column].id in task.singly:
        return 1
    unexplained = task.singly - {verdict.input for verdict in task.verdicts}
    if len(unexplained) >= MANY_LOST or begins_scope(task, column):
        return 1
    return task.lanes


def begins_scope(task: CellTask, column: int) -> bool:
    """Tell whether an input is the first of a block in its scope."""
    facts, here = task.facts, task.inputs[column]
    if facts is None:
        return False
    return here.scope not in {i.scope for i in task.inputs[:column] if facts[i.id].valid}


def mixes(progress: Progress, subject: Subject) -> bool:
    """Tell whether an implementation may run beside others, as far as is known.

    One that has written outside its outputs may reach a neighbour's; one that was fatal makes
    all of them run again.
    """
    compiled = subject.binary is not None and subject.plan is not None
    fatal = progress.fatal.get(subject.id)
    harmless = subject.id not in progress.outside and (fatal is None or not any(fatal.counts))
    return compiled and harmless
