"""What a campaign will cost on a GPU, from shapes alone: nothing is compiled or run."""

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass

from gpu_eval.campaign.cell_cost import (
    held_elements,
    output_elements,
    seconds,
    tensor_elements,
)
from gpu_eval.campaign.plan import CampaignPlan, ProblemPlan
from gpu_eval.campaign.pool_input import PoolInput
from gpu_eval.problems.definition import Problem
from gpu_eval.problems.tensors import dimensions
from suiteopt.matrix.schema import ShapeScope

ESTIMATED_FOR = "an NVIDIA H200"


@dataclass(frozen=True)
class Estimate:
    """What one problem asks of a GPU.

    Attributes
    ----------
    problem : str
    inputs, contract_scope : int
        All of them, and those whose reductions have the contract's length.
    implementations, cells : int
        Before equal ones are left out.
    largest_bytes : int
        Device memory of the largest input with its pristine copy, outputs, both references.
    seconds : float
        Of all cells, one after the other.
    """

    problem: str
    inputs: int
    contract_scope: int
    implementations: int
    cells: int
    largest_bytes: int
    seconds: float


def estimate(plan: CampaignPlan, skipped: Iterable[tuple[str, str]] = ()) -> tuple[Estimate, ...]:
    """Return the estimate of each problem of a campaign.

    Parameters
    ----------
    plan : CampaignPlan
    skipped : iterable of (str, str)
        Implementation and input of cells that are left out.
    """
    left_out = frozenset(skipped)
    return tuple(_problem(problem, left_out) for problem in plan.problems)


def cell_seconds(problem: Problem, pool_input: PoolInput) -> float:
    """Return what one cell takes on an input."""
    return seconds(problem, dimensions(problem, pool_input.shape))


def case_bytes(problem: Problem, pool_input: PoolInput) -> int:
    """Return the device memory of an input that is ready to run, without temporaries."""
    sizes = dimensions(problem, pool_input.shape)
    outputs = output_elements(problem, sizes)
    held = held_elements(problem, sizes) - outputs
    return 4 * (2 * (tensor_elements(problem, sizes) - outputs) + 4 * outputs + 2 * held)


def planned_seconds(plan: ProblemPlan) -> float:
    """Return what all cells of a problem take, one after the other."""
    return len(plan.implementations) * sum(cell_seconds(plan.problem, i) for i in plan.order)


def _problem(plan: ProblemPlan, skipped: frozenset[tuple[str, str]]) -> Estimate:
    each = len(plan.implementations)
    names = {implementation.id for implementation in plan.implementations}
    left_out = Counter(on for name, on in skipped if name in names)
    cells = {i.id: each - left_out[i.id] for i in plan.order}
    return Estimate(
        problem=plan.id,
        inputs=len(plan.order),
        contract_scope=sum(i.scope is ShapeScope.CONTRACT for i in plan.order),
        implementations=each,
        cells=sum(cells.values()),
        largest_bytes=max(case_bytes(plan.problem, i) for i in plan.order),
        seconds=sum(cells[i.id] * cell_seconds(plan.problem, i) for i in plan.order),
    )
