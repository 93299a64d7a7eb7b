"""What a benchmark's own models call the parameters that problems name here.

A fused problem has its convolution's ``bias`` and one more that is added behind it; the benchmark's
model calls these ``conv.bias`` and ``bias``, so that names alone would take one for the other. The
table was made by giving both sides the same values under every assignment whose shapes fit, and
comparing what they compute.
"""

import json
from collections.abc import Mapping
from functools import cache
from importlib.resources import files

from suiteopt.suite import Suite

FILE = "parameter_names.json"
UNREAD: Mapping[tuple[str, str], tuple[str, ...]] = {("kernelbench", "level2/026"): ("bias",)}
"""Parameters of a benchmark's models that nothing reads, and no definition here has."""


@cache
def _table() -> Mapping[str, Mapping[str, Mapping[str, str]]]:
    table: Mapping[str, Mapping[str, Mapping[str, str]]] = json.loads(
        (files("suiteopt") / "data" / FILE).read_bytes()
    )
    return table


def parameter_names(problem: str, benchmark: str) -> Mapping[str, str]:
    """Return a problem's parameters as a benchmark's model calls them; none where it is unknown.

    Parameters
    ----------
    problem : str
        Its id, such as ``level2/001``.
    benchmark : str
    """
    return _table().get(benchmark, {}).get(problem, {})


def names_of(suite: Suite) -> dict[str, dict[str, str]]:
    """Return the names that an exported suite needs: of all its problems that have any."""
    return {
        one.problem: dict(names)
        for one in suite.problems
        if one.members and (names := parameter_names(one.problem, one.benchmark))
    }


def unread_of(suite: Suite) -> dict[str, list[str]]:
    """Return the parameters of an exported suite's models that nothing reads."""
    return {
        one.problem: list(UNREAD[one.benchmark, one.problem])
        for one in suite.problems
        if one.members and (one.benchmark, one.problem) in UNREAD
    }
