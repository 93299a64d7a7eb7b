"""Refusing members that nobody can have measured: files edited by hand come with odd numbers."""

import math

from suiteopt.errors import UserError
from suiteopt.export.suite_oracle import suite_oracle
from suiteopt.matrix.oracle import Oracle
from suiteopt.protocols import load_oracle
from suiteopt.suite import Member, ProblemSuite, Suite

SEED_LIMIT = 1 << 63
"""What torch's generators and the recipes' int64 arithmetic both take."""

ELEMENT_LIMIT = 1 << 48
"""Elements of the iteration space; far above any memory, far below an overflow of int64."""


def require_sane(member: Member, where: str) -> None:
    """Refuse a seed, shape or tolerance that no measurement has.

    Raises
    ------
    UserError
    """
    again = "give a file that 'suiteopt select -o' wrote"
    if not 0 <= member.seed < SEED_LIMIT:
        raise UserError(f"{where} has the seed {member.seed}, outside 0 to 2^63 - 1; {again}")
    if any(size < 1 for size in member.shape.values()):
        raise UserError(f"{where} has a dimension without elements ({dict(member.shape)}); {again}")
    if math.prod(member.shape.values()) > ELEMENT_LIMIT:
        raise UserError(f"{where} has dimensions beyond any memory ({dict(member.shape)}); {again}")
    if not math.isfinite(member.tolerance):
        raise UserError(f"{where} has an infinite tolerance, at which nothing fails; {again}")


def require_oracle(suite: Suite, theirs: str | None, target: str) -> None:
    """Refuse an oracle that is unknown, or another one than the target's harness applies.

    Raises
    ------
    UserError
    """
    oracle = suite_oracle(suite)
    if theirs is None:
        return
    applied = load_oracle(theirs)
    same = (
        oracle.calibrated == applied.calibrated
        and oracle.comparator == applied.comparator
        and oracle.nonfinite is applied.nonfinite
        and all(_tolerance(oracle, p) == _tolerance(applied, p) for p in suite.problems)
    )
    if not same:
        raise UserError(
            f"the suite was chosen under {suite.oracle}, and {target} judges by {theirs}; run "
            f"'suiteopt select --target {target}' again"
        )


def _tolerance(oracle: Oracle, problem: ProblemSuite) -> float | None:
    return oracle.safety if oracle.calibrated else oracle.fixed_tolerance(problem.dtype)
