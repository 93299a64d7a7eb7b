"""What judges a suite, and each of its members."""

import math
from dataclasses import replace

from suiteopt.matrix.kill import KillTable, kill_table
from suiteopt.matrix.oracle import Oracle
from suiteopt.matrix.store import Matrix
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


def is_raised(table: KillTable, member: Member) -> bool:
    """Tell whether a suite gives a member another tolerance than its calibrated oracle does.

    A confirmation raises it where the benchmark's shapes need more (`suiteopt.export.raised`). A
    fixed tolerance is the benchmark's own, and nobody else's.

    Parameters
    ----------
    table : KillTable
        Of the member's oracle on the suite's matrix.
    member : Member
    """
    if not table.oracle.calibrated:
        return False
    given = table.tolerances[table.inputs.index(member.input)]
    return not math.isclose(member.tolerance, given, rel_tol=1e-9)


def raised_tolerances(suite: Suite, matrix: Matrix) -> dict[str, float]:
    """Return the tolerances that a suite gives members where its matrix would give another.

    Parameters
    ----------
    suite : Suite
    matrix : Matrix
        The one that it was chosen on; on another one its tolerances are worked out anew.

    Returns
    -------
    dict of str to float
        By input, in units of the member's comparator.
    """
    oracle = suite_oracle(suite)
    if suite.matrix_id != matrix.id or not oracle.calibrated:
        return {}
    found: dict[str, float] = {}
    for problem in suite.problems:
        tables: dict[str, KillTable] = {}
        for member in problem.members:
            own = member_oracle(oracle, member)
            if own.comparator not in tables:
                tables[own.comparator] = kill_table(matrix, problem.problem, own)
            table = tables[own.comparator]
            if member.input in table.inputs and is_raised(table, member):
                found[member.input] = member.tolerance
    return found
