"""Tolerances that were calibrated at shorter reductions than those they will be applied at.

The worst correct way to add up n numbers is the further off, the more there are. A tolerance that
was calibrated at a part of the length is therefore too tight for the whole, and right kernels are
rejected by it. A fixed tolerance does not depend on where a member was measured; a member with a
shape of its own is run at that shape.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from suiteopt.export.suite_oracle import suite_oracle
from suiteopt.suite import CONTRACT_SHAPE, FULL_REDUCTION, Suite

HOST_DEVICE = "host"
SHOWN = 6
"""Problems that the warning names."""


@dataclass(frozen=True)
class Shortened:
    """Members of a problem whose tolerances were calibrated at shorter reductions.

    Attributes
    ----------
    problem : str
    reduction_ratio : float
        The smallest, as a part of the contract's length.
    members : tuple of str
        Ids of the inputs.
    """

    problem: str
    reduction_ratio: float
    members: tuple[str, ...]

    def __str__(self) -> str:
        return f"{self.problem} ({share(self.reduction_ratio)})"

    def to_json(self) -> dict[str, Any]:
        """Return it as JSON's own types."""
        return {
            "problem": self.problem,
            "reduction_ratio": self.reduction_ratio,
            "members": list(self.members),
        }


def shortened(suite: Suite) -> tuple[Shortened, ...]:
    """Return where a suite's tolerances are too tight for the benchmark's reductions.

    Raises
    ------
    UserError
        If the suite's oracle is unknown.
    """
    if not suite_oracle(suite).calibrated:
        return ()
    found = []
    for problem in suite.problems:
        short = [
            member
            for member in problem.members
            if member.reduction_ratio < FULL_REDUCTION and member.shape_recipe == CONTRACT_SHAPE
        ]
        if short:
            ratio = min(member.reduction_ratio for member in short)
            ids = tuple(member.input for member in short)
            found.append(Shortened(problem.problem, ratio, ids))
    return tuple(found)


def warning(found: Sequence[Shortened]) -> str:
    """Return the sentence for people."""
    named = ", ".join(str(one) for one in found[:SHOWN])
    more = f" and {len(found) - SHOWN} more" if len(found) > SHOWN else ""
    return (
        f"the tolerances of {named}{more} were calibrated at that part of the benchmark's "
        "reductions, and rounding errors grow with the length: right kernels may be rejected at "
        "full length; choose on a matrix of 'gpu-eval run --profile contract', measure the members "
        "again with 'gpu-eval confirm --raised FILE', or choose with --oracle fixed:<tolerance>"
    )


def unrecorded(suite: Suite) -> bool:
    """Whether a suite from before these lengths were written down may be such a one."""
    full = all(
        member.reduction_ratio == FULL_REDUCTION
        for problem in suite.problems
        for member in problem.members
    )
    return full and suite.matrix_device == HOST_DEVICE and suite_oracle(suite).calibrated


def share(ratio: float) -> str:
    """Return a ratio as people say it: 1/8192, or 0.75."""
    times = round(1 / ratio)
    return f"1/{times}" if abs(times * ratio - 1.0) < 1e-9 else f"{ratio:.2g}"
