"""What couples problems or counts more than heads, by CP-SAT: costs, repeated kills, families.

One model over all problems. A cover variable a class of mutants with equal killers; limits on
inputs a problem, inputs in all, bytes and time; a mutant may have to be killed several times; and
instead of a budget, a detection can be required of each family. One worker, a fixed seed and
deterministic time, so that answers repeat; the own greedy incumbent is hinted whole and never
given up for a worse solution.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from importlib.metadata import version

from suiteopt.errors import UserError
from suiteopt.selection.joint_model import JointModel
from suiteopt.selection.joint_search import (
    Ask,
    Part,
    by_group,
    detected,
    greedy,
    inputs_in,
    meets,
    within,
    without_idle,
)
from suiteopt.selection.limits import Limits
from suiteopt.selection.parts import columns_of

__all__ = ["CP_SAT", "Ask", "Joint", "Part", "solve_joint"]

CP_SAT = "cp-sat"


@dataclass(frozen=True)
class Joint:
    """A joint answer.

    Attributes
    ----------
    columns : tuple of tuple of int
        Ascending, one a part.
    value, bound : int
        Detection and what no answer exceeds; or inputs and what no answer goes below.
    version : str
        Of the solver.
    """

    columns: tuple[tuple[int, ...], ...]
    value: int
    bound: int
    version: str

    @property
    def proved(self) -> bool:
        """Whether the bound is reached."""
        return self.value == self.bound


def solve_joint(parts: Sequence[Part], ask: Ask, limits: Limits | None = None) -> Joint:
    """Solve a joint question.

    Raises
    ------
    UserError
        If inputs that must be included break a limit, or a required detection is out of reach.
    """
    fixed = [columns_of(p.instance, sorted(p.rules.include), "include") for p in parts]
    if not within(parts, ask, fixed):
        raise UserError(
            "the inputs that must be included exceed the limits by themselves; "
            "raise a limit or include fewer"
        )
    incumbent = greedy(parts, ask, fixed)
    model = JointModel(parts, ask, fixed)
    found, bound = model.solve(incumbent, limits or Limits())
    candidates = [c for c in (incumbent, found) if c is not None and meets(parts, ask, c)]
    if not candidates:
        raise UserError(_out_of_reach(parts, ask))
    lean = [without_idle(parts, ask, columns, fixed) for columns in candidates]
    if ask.required:
        best = min(lean, key=inputs_in)
        value, bound = inputs_in(best), min(bound, inputs_in(best))
    else:
        best = max(lean, key=lambda columns: detected(parts, ask, columns))
        value = detected(parts, ask, best)
        bound = max(bound, value)
    return Joint(tuple(tuple(sorted(c)) for c in best), value, bound, version("ortools"))


def _out_of_reach(parts: Sequence[Part], ask: Ask) -> str:
    whole = [[*range(len(part.instance.inputs))] for part in parts]
    reached = by_group(parts, ask, whole)
    for group, weight in sorted(ask.required.items()):
        if reached[group] < weight:
            return (
                f"{reached[group]} mutants of {group} is all that the whole pool detects, {weight} "
                "are required; lower --detect or widen the pool"
            )
    return "no suite within the budget was found to detect what is required; raise --budget"
