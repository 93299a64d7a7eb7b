"""What targets share whose harness judges by ``torch.allclose(reference, candidate)``."""

from collections.abc import Mapping
from typing import Any, ClassVar

from suiteopt.errors import UserError
from suiteopt.export.options import positive
from suiteopt.export.target import Target
from suiteopt.matrix.schema import Need, Statistic
from suiteopt.selection.constraints import Capabilities
from suiteopt.suite import ProblemSuite, Suite


class FixedOracleTarget(Target):
    """A target with one tolerance for all.

    Parameters
    ----------
    tolerance : float or None
        ``atol`` and ``rtol`` that the harness will be run at; None: the published ones.
    """

    published: ClassVar[float]
    carried: ClassVar[frozenset[Need]] = frozenset({Need.VALUES})
    own_first: ClassVar[bool] = False

    def __init__(self, tolerance: float | None = None) -> None:
        self._tolerance = positive("tolerance", self.published if tolerance is None else tolerance)

    @property
    def capabilities(self) -> Capabilities:
        """What the class says; any number of members."""
        return Capabilities(
            needs=self.carried,
            oracle=f"fixed:{self._tolerance:g}",
            member_limit=None,
            own_first=self.own_first,
            draws=self.draws,
        )

    @property
    def comparator(self) -> Statistic:
        """``torch.allclose(reference, candidate)``."""
        return Statistic.ALLCLOSE_CANDIDATE

    @property
    def tolerance(self) -> float:
        """``atol`` and ``rtol`` of the check."""
        return self._tolerance

    @property
    def options(self) -> Mapping[str, Any]:
        """The options in force."""
        return {"tolerance": self._tolerance}


def without(suite: Suite, missing: dict[str, str], target: str) -> tuple[Suite, tuple[str, ...]]:
    """Leave problems out of a suite, with a sentence each.

    Parameters
    ----------
    suite : Suite
    missing : dict
        Problem to why it cannot be exported.
    target : str

    Raises
    ------
    UserError
        If nothing is left.
    """
    from dataclasses import replace

    kept: tuple[ProblemSuite, ...] = tuple(
        problem for problem in suite.problems if problem.problem not in missing
    )
    notes = tuple(f"left out {problem}: {why}" for problem, why in missing.items())
    if not any(problem.members for problem in kept):
        raise UserError(f"the checkout has none of the suite's problems for {target}: {notes[0]}")
    return replace(suite, problems=kept), notes
