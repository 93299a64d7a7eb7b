"""What targets share whose members bring their own comparator and tolerance."""

from suiteopt.export.shortened import unrecorded
from suiteopt.export.target import Target
from suiteopt.matrix.schema import Need
from suiteopt.selection.constraints import Capabilities
from suiteopt.suite import Suite


class OwnOracleTarget(Target):
    """A target that carries comparator and tolerance of every member, and any number of them."""

    carried: frozenset[Need] = frozenset({Need.VALUES, Need.PARAMETERS, Need.NONFINITE})
    own_first: bool = False

    @property
    def capabilities(self) -> Capabilities:
        """What the class says; no oracle of its own, no limit."""
        return Capabilities(self.carried, oracle=None, member_limit=None, own_first=self.own_first)

    def notes(self, suite: Suite) -> tuple[str, ...]:
        """Say where the tolerances come from, if that is not where they will be applied.

        Where the suite knows at what part of the reductions, the report says that (`shortened`).
        """
        if not unrecorded(suite):
            return ()
        return (
            "the members' tolerances were measured on the host at shortened shapes, and errors "
            "grow with the reduction: measure the suite at the benchmark's own shapes before "
            "kernels are judged by it",
        )

    @property
    def comparator(self) -> None:
        """Each member brings its own."""
        return None

    @property
    def tolerance(self) -> None:
        """Each member brings its own."""
        return None
