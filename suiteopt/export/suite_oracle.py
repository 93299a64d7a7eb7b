"""What judges a suite, and each of its members."""

from dataclasses import replace

from suiteopt.matrix.oracle import Oracle
from suiteopt.protocols import load_oracle
from suiteopt.selection.comparators import ANY, parse_any
from suiteopt.suite import Member, Suite


def suite_oracle(suite: Suite) -> Oracle:
    """Return the oracle that a suite was chosen under; its comparator may be an open one.

    Raises
    ------
    UserError
        If there is no such oracle.
    """
    return parse_any(suite.oracle) or load_oracle(suite.oracle)


def member_oracle(oracle: Oracle, member: Member) -> Oracle:
    """Return what judges a member: where the comparator was left open, its own takes the place."""
    return replace(oracle, comparator=member.comparator) if oracle.comparator == ANY else oracle
