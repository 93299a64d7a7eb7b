"""How far a problem of a campaign has come."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field

from gpu_eval.campaign.equivalence import Classified
from gpu_eval.campaign.implementations import Implementation
from gpu_eval.campaign.plan import ProblemPlan
from gpu_eval.campaign.tasks import CellTask, InputFacts, Subject
from gpu_eval.devices.base import Binary


@dataclass
class ProblemState:
    """How far a problem has come."""

    plan: ProblemPlan
    binaries: dict[str, Binary] = field(default_factory=dict)
    compiling: int = 0
    originals: str = ""
    base: CellTask | None = None
    facts: dict[str, InputFacts] | None = None
    classified: tuple[Classified, ...] = ()
    blocks: list[CellTask] = field(default_factory=list)
    unfinished: int = 0

    @property
    def whole(self) -> bool:
        """Whether every cell is there."""
        return bool(self.classified) and not self.unfinished

    @property
    def cells(self) -> int:
        """Cells that the problem will have, as far as is known."""
        inputs = len(self.plan.order)
        if self.classified:
            return inputs * sum(c.runs for c in self.classified)
        return inputs * len(self.plan.implementations)


def subject_of(implementation: Implementation, binaries: Mapping[str, Binary]) -> Subject:
    """Return what a worker needs to run an implementation."""
    source = implementation.source
    control = implementation.control
    return Subject(
        id=implementation.id,
        kind=implementation.kind,
        name=implementation.name,
        binary=None if source is None else binaries[source.id],
        plan=implementation.plan,
        blind=control is not None and control.blind,
    )


def cell_tasks(state: ProblemState) -> Iterator[CellTask]:
    """Yield the tasks whose cells make up a problem's part of the matrix."""
    if state.base is not None:
        yield state.base
    yield from state.blocks
