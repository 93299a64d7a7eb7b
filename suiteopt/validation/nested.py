"""Figures with the safety chosen outside of what is judged.

The safety of calibrated tolerances is shared by all problems, so it is chosen and judged on
different ones: the faults of a problem are judged at the safety that the controls of the *other*
problems ask for, and a control of some kind at the safety that the other kinds of the other
problems ask for. Inside, faults are held out by folds and calibration is done without the kind
that is judged, as everywhere.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from suiteopt.matrix.oracle import Oracle
from suiteopt.matrix.store import Matrix
from suiteopt.selection.cases import Case, make_case
from suiteopt.selection.comparators import ANY
from suiteopt.selection.question import Question
from suiteopt.selection.safety import SAFETIES, SafetyChooser, held_out_kinds
from suiteopt.validation.controls import HeldOutControls, hold_out_controls
from suiteopt.validation.figures import SplitFigures, share_of
from suiteopt.validation.splits import Split
from suiteopt.validation.suites import Choose


@dataclass(frozen=True)
class Nested:
    """What is left when no choice of the safety sees what is judged.

    Attributes
    ----------
    safeties : mapping of str to float
        Of each problem, chosen without it.
    chosen : float
        The safety that all problems together ask for.
    fitted, mutants : int
    splits : mapping of Split to SplitFigures
    controls : HeldOutControls
    grid : tuple of (float, int, int)
        Safety, inputs on which a kind was left out, and how often it was rejected there.
    """

    safeties: Mapping[str, float]
    chosen: float
    fitted: int
    mutants: int
    splits: Mapping[Split, SplitFigures]
    controls: HeldOutControls
    grid: tuple[tuple[float, int, int], ...]

    def as_dict(self) -> dict[str, Any]:
        """JSON form."""
        return {
            "safeties": dict(self.safeties),
            "chosen_safety": self.chosen,
            "grid": [
                {"safety": safety, "held_out": trials, "rejected": rejected}
                for safety, trials, rejected in self.grid
            ],
            "fitted_share": share_of(self.fitted, self.mutants),
            "splits": {
                str(split): {
                    "held_out_share": figures.held_out_share,
                    "gap_share": figures.gap_share,
                }
                for split, figures in self.splits.items()
            },
            "controls": self.controls.as_dict(),
        }


SplitAll = Callable[[Sequence[Case]], tuple[int, Mapping[Split, SplitFigures]]]
"""Chooses for cases whose mutants are those of the headline, in the same order: how many of all
mutants the suites detect, and what they are worth on what they were not chosen on."""


def nested(
    matrix: Matrix,
    question: Question,
    found: Sequence[Case],
    choose: Choose,
    split_all: SplitAll,
    controls: HeldOutControls | None = None,
) -> Nested | None:
    """Choose the safety anew for whatever is judged.

    Parameters
    ----------
    matrix, question, found, choose
        As `hold_out_controls` takes them.
    split_all : callable
    controls : HeldOutControls, optional
        What the question's oracle gave; it is not measured twice.

    Returns
    -------
    Nested or None
        None where there is no safety to choose, or nothing to choose it by.
    """
    if not question.oracle.calibrated or question.oracle.comparator == ANY or len(found) < 2:
        return None
    kinds = tuple(
        held_out_kinds(matrix, case.problem, question.oracle, block=case.block) for case in found
    )
    if not any(part.trials.any() for part in kinds):
        return None
    chooser = SafetyChooser(kinds)
    safeties = {case.problem: chooser.choose(case.problem) for case in found}
    cases = [
        case
        if safeties[case.problem] == question.oracle.safety
        else make_case(
            matrix,
            case.problem,
            _with(question, safeties[case.problem]),
            block=case.block,
            like=case,
        )
        for case in found
    ]

    def oracle_for(problem: str, kind: str) -> Oracle:
        return replace(question.oracle, safety=chooser.choose(problem, kind))

    fitted, splits = split_all(cases)
    return Nested(
        safeties=safeties,
        chosen=chooser.choose(),
        fitted=fitted,
        mutants=sum(case.instance.total for case in cases),
        splits=splits,
        controls=hold_out_controls(matrix, question, found, choose, oracle_for, before=controls),
        grid=tuple(
            (
                safety,
                sum(int(part.trials.sum()) for part in kinds),
                sum(int(part.rejected[:, place].sum()) for part in kinds),
            )
            for place, safety in enumerate(SAFETIES)
        ),
    )


def _with(question: Question, safety: float) -> Question:
    return replace(question, oracle=replace(question.oracle, safety=safety))
