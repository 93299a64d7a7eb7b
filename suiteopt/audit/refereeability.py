"""Which problems a check can referee at all: from which tolerance on, why not, and the cure."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from suiteopt.audit.ceiling import TOLERANCES
from suiteopt.audit.critical import critical_table
from suiteopt.audit.evidence import output_rms
from suiteopt.audit.referee_reasons import Reason, controls, flags, nulls
from suiteopt.errors import UserError
from suiteopt.matrix.store import Matrix
from suiteopt.protocols import Protocol, judged_problems


@dataclass(frozen=True)
class Referee:
    """Whether one problem can be refereed by a protocol's inputs.

    Attributes
    ----------
    problem, name, dtype : str
    shape : str
        As measured.
    scope : str
        How that shape stands to the contract.
    reasons : tuple of Reason
    """

    problem: str
    name: str
    dtype: str
    shape: str
    scope: str
    reasons: tuple[Reason, ...]

    def refereeable(self, tolerance: float) -> bool:
        """Whether no reason holds at a tolerance."""
        return not any(reason.holds(tolerance) for reason in self.reasons)

    def as_dict(self, tolerances: Sequence[float]) -> dict[str, Any]:
        """JSON form."""
        return {
            "problem": self.problem,
            "name": self.name,
            "dtype": self.dtype,
            "shape": self.shape,
            "scope": self.scope,
            "refereeable": {f"{t:g}": self.refereeable(t) for t in tolerances},
            "reasons": [
                {
                    "reason": str(reason.defect),
                    "subject": reason.subject,
                    "from_tolerance": reason.lowest,
                    "below_tolerance": reason.highest,
                    "detail": reason.detail,
                    "fix": reason.fix,
                }
                for reason in self.reasons
            ],
        }


def refereeability(
    matrix: Matrix, protocol: Protocol, tolerances: Sequence[float] = TOLERANCES
) -> tuple[Referee, ...]:
    """Say of every problem whether a protocol's inputs and comparator can referee it.

    Problems that lack an input of the protocol are left out: see `judged_problems`.

    Parameters
    ----------
    matrix : Matrix
    protocol : Protocol
        Its inputs and its comparator are used, its own tolerance is not.
    tolerances : sequence of float
        The loosest is how far a null is looked for, the tightest how far a control is.

    Raises
    ------
    UserError
        If every problem lacks an input of the protocol, or the matrix its statistics.
    """
    found = []
    for problem, inputs in judged_problems(matrix, protocol).inputs.items():
        oracle = protocol.oracle
        table = critical_table(matrix, problem, oracle.comparator, oracle.nonfinite)
        row = matrix.problem(problem)
        first = matrix.inputs_of(problem).set_index("input").loc[inputs[0]]
        reasons = [
            *flags(row, output_rms(matrix, problem)[table.columns(inputs)]),
            *nulls(matrix, table, inputs, max(tolerances)),
            *controls(table, inputs, min(tolerances)),
        ]
        found.append(
            Referee(
                problem=problem,
                name=str(row["name"]),
                dtype=str(row["dtype"]),
                shape=str(first["shape"]),
                scope=str(first["scope"]),
                reasons=tuple(reasons),
            )
        )
    if not found:
        raise UserError(
            f"the matrix at {matrix.path} has no measured problem; finish it with `gpu-eval resume`"
        )
    return tuple(found)
