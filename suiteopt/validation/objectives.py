"""The held-out objective against plain coverage, on faults that neither has seen."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from suiteopt.selection.case import Case, spans
from suiteopt.selection.robust import STRENGTHS
from suiteopt.validation.bootstrap import share_interval, sign_flip_p
from suiteopt.validation.figures import SplitFigures, share_of
from suiteopt.validation.refit import Refitter
from suiteopt.validation.scores import used_folds
from suiteopt.validation.splits import Folds, Split
from suiteopt.validation.suites import InFolds


@dataclass(frozen=True)
class Duel:
    """Both objectives on the same folds of one split; counts of mutants a repeat.

    Attributes
    ----------
    split : Split
    problems : tuple of str
    mutants, plain, robust : tuple of float
        By problem: scored, and held-out ones that either detects.
    strengths : mapping of float to int
        How many folds chose each strength.
    """

    split: Split
    problems: tuple[str, ...]
    mutants: tuple[float, ...]
    plain: tuple[float, ...]
    robust: tuple[float, ...]
    strengths: Mapping[float, int]

    @property
    def differences(self) -> list[float]:
        """Robust minus plain, by problem, in mutants."""
        return [b - a for a, b in zip(self.plain, self.robust, strict=True)]

    @property
    def difference_share(self) -> float | None:
        """Mean over mutants."""
        return share_of(sum(self.differences), sum(self.mutants))

    @property
    def interval(self) -> tuple[float, float] | None:
        """Paired bootstrap interval over problems; None under 20 of them."""
        return share_interval(self.differences, self.mutants)

    @property
    def sign_flip_p(self) -> float | None:
        """Exact paired test under 20 problems; None where no problem differs."""
        return sign_flip_p(
            [d / m for d, m in zip(self.differences, self.mutants, strict=True) if m]
        )

    @property
    def verdict(self) -> str:
        """``better``, ``worse`` or ``no difference shown``, at the 5% level."""
        interval, p = self.interval, self.sign_flip_p
        shown = (p is not None and p <= 0.05) or (
            interval is not None and (interval[0] > 0 or interval[1] < 0)
        )
        if not shown or not self.difference_share:
            return "no difference shown"
        return "better" if self.difference_share > 0 else "worse"

    def as_dict(self) -> dict[str, Any]:
        """JSON form."""
        interval = self.interval
        return {
            "plain_share": share_of(sum(self.plain), sum(self.mutants)),
            "held_out_objective_share": share_of(sum(self.robust), sum(self.mutants)),
            "difference_share": self.difference_share,
            "interval": None if interval is None else list(interval),
            "sign_flip_p": self.sign_flip_p,
            "verdict": self.verdict,
            "strengths": {f"{key:g}": count for key, count in self.strengths.items()},
            "rows": [
                {
                    "problem": name,
                    "plain_share": share_of(plain, mutants),
                    "held_out_objective_share": share_of(robust, mutants),
                }
                for name, mutants, plain, robust in zip(
                    self.problems, self.mutants, self.plain, self.robust, strict=True
                )
            ],
        }


def compare_objectives(
    plans: Mapping[Split, Folds],
    found: Sequence[Case],
    refitters: Sequence[Refitter],
    figures: Mapping[Split, SplitFigures],
    chosen: Mapping[Split, InFolds],
) -> dict[Split, Duel]:
    """Choose by plain coverage too in every fold, and score both on what the fold holds out.

    Parameters
    ----------
    plans : mapping of Split to Folds
    found : sequence of Case
    refitters : sequence of Refitter
        One a case.
    figures : mapping of Split to SplitFigures
        What the suites of the held-out objective are worth.
    chosen : mapping of Split to InFolds
        Its suites.
    """
    return {
        split: _duel(split, plan, found, refitters, figures[split], chosen[split].strengths)
        for split, plan in plans.items()
        if len(plan.held)
    }


def _duel(
    split: Split,
    plan: Folds,
    found: Sequence[Case],
    refitters: Sequence[Refitter],
    figures: SplitFigures,
    strengths: NDArray[np.float64],
) -> Duel:
    plain = []
    for span, refitter in zip(spans(found), refitters, strict=True):
        held = plan.held[:, span]
        used = used_folds(held)
        credit = held[used] * plan.share[span]
        hits = float((credit * refitter.plain(held[used])).sum()) if used.any() else 0.0
        plain.append(hits / plan.repeats)
    return Duel(
        split=split,
        problems=tuple(row.problem for row in figures.problems),
        mutants=tuple(row.mutants for row in figures.problems),
        plain=tuple(plain),
        robust=tuple(row.held_out for row in figures.problems),
        strengths={strength: int((strengths == strength).sum()) for strength in STRENGTHS},
    )
