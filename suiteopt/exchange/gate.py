"""A gate for continuous integration: when is a check good enough?"""

from dataclasses import dataclass

from suiteopt.audit.detection import Audit
from suiteopt.errors import UserError
from suiteopt.selection.problem_report import Tally

OVERALL = "all problems"
CONTROLS = "correct kernels are accepted"


@dataclass(frozen=True)
class Gate:
    """What is asked of a check.

    Attributes
    ----------
    fail_under : float or None
        Smallest share of faults that it has to detect.
    per_problem : bool
        Whether that is asked of every problem and not of all together.
    no_rejections : bool
        Whether it may reject no correct kernel.
    """

    fail_under: float | None = None
    per_problem: bool = False
    no_rejections: bool = False

    def __post_init__(self) -> None:
        if self.fail_under is not None and not 0 <= self.fail_under <= 1:
            raise UserError(
                f"--fail-under {self.fail_under:g} is no share; give one from 0 to 1, such as 0.95"
            )

        if self.per_problem and self.fail_under is None:
            raise UserError("--per-problem says where --fail-under is asked; add --fail-under")

    def failures(self, audit: Audit) -> dict[str, str]:
        """Return what fails and why, one sentence each: problems, `OVERALL` or `CONTROLS`."""
        found: dict[str, str] = {}
        asked = audit.by_problem if self.per_problem else {OVERALL: audit.tally}
        for name, tally in asked.items():
            if self.fail_under is not None and _share(tally) < self.fail_under:
                found[name] = (
                    f"{audit.protocol} detects {tally.detected} of {tally.mutants} faults of "
                    f"{name} ({_share(tally):.4f}), under {self.fail_under:g}"
                )
        rejected = audit.rejected_controls
        if self.no_rejections and rejected:
            found[CONTROLS] = f"{audit.protocol} rejects {', '.join(rejected)}"
        return found


def _share(tally: Tally) -> float:
    return 1.0 if tally.share is None else tally.share
