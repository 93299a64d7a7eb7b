"""The held-out objective against plain coverage, on faults that neither has seen."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from suiteopt.matrix.store import Matrix
from suiteopt.selection.cases import Case
from suiteopt.selection.robust import STRENGTHS, Problem, choose_strength
from suiteopt.selection.robust_pool import Training
from suiteopt.selection.robust_tables import prepare
from suiteopt.validation.bootstrap import share_interval, sign_flip_p
from suiteopt.validation.figures import share_of
from suiteopt.validation.splits import Folds, Split


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
    matrix: Matrix,
    found: Sequence[Case],
    plans: Mapping[Split, Folds],
    groups: Mapping[Split, NDArray[np.intp]],
    budget: int,
) -> dict[Split, Duel]:
    """Choose by both objectives in every fold, and score both on what the fold holds out.

    The strength of the held-out objective is chosen inside each training set, by folds that hold
    out the same kind of group as the split does.

    Parameters
    ----------
    matrix : Matrix
    found : sequence of Case
    plans : mapping of Split to Folds
    groups : mapping of Split to ndarray of intp, shape (all mutants,)
    budget : int
    """
    problems = prepare(matrix, found, budget)
    return {
        split: _duel(split, plan, problems, groups[split])
        for split, plan in plans.items()
        if len(plan.held)
    }


def _duel(split: Split, plan: Folds, problems: Sequence[Problem], groups: NDArray[np.intp]) -> Duel:
    training = ~plan.held
    choice = choose_strength(problems, training, groups)
    strengths = np.array([np.zeros(len(choice)), np.array(STRENGTHS)[choice]])
    counted = [problem.pool.training(training) for problem in problems[:1]]
    rows = [_of_problem(plan, problem, counted[0], strengths) for problem in problems]
    return Duel(
        split=split,
        problems=tuple(problem.case.problem for problem in problems),
        mutants=tuple(row[0] for row in rows),
        plain=tuple(row[1] for row in rows),
        robust=tuple(row[2] for row in rows),
        strengths={
            strength: int((choice == place).sum()) for place, strength in enumerate(STRENGTHS)
        },
    )


def _of_problem(
    plan: Folds, problem: Problem, training: Training, strengths: NDArray[np.float64]
) -> tuple[float, float, float]:
    """Mutants of a problem a repeat: scored, and those that plain and chosen strength detect."""
    held = plan.held[:, problem.span]
    used = np.asarray(held.any(axis=1) & ~held.all(axis=1))
    if not used.any():
        return 0.0, 0.0, 0.0
    credit = (held * plan.share[problem.span])[used]
    best = problem.best(training.some(used), strengths[:, used])
    plain, robust = (float((credit * problem.bank.detects(sets)).sum()) for sets in best)
    repeats = float(plan.repeats)
    return float(credit.sum()) / repeats, plain / repeats, robust / repeats
