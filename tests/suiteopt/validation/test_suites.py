"""The suites of the held-out objective in folds: nothing that is held out has a say."""

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from suiteopt.matrix.store import Matrix
from suiteopt.selection.case import spans
from suiteopt.selection.cases import Case, cases
from suiteopt.selection.question import ask
from suiteopt.selection.robust import STRENGTHS
from suiteopt.selection.strength import BLOCKS
from suiteopt.validation.scores import to_choose
from suiteopt.validation.splits import Folds, label_folds, random_folds
from suiteopt.validation.suites import HeldOut, InFolds
from tests.suiteopt.selection.test_default_objective import mixed


def plans(found: list[Case]) -> dict[str, Folds]:
    strata = [(case.problem,) for case in found for _ in case.families]
    rules = [rules for case in found for rules in case.rules]
    homes = [(f"{case.problem} {row % 3}",) for case in found for row in range(len(case.families))]
    return {
        "five folds": random_folds(strata, 5, 2),
        "two folds": random_folds(strata, 2, 3),
        "a rule": label_folds(rules),
        "a third of a problem": label_folds(homes),
    }


def chosen_with(path: Path, found: list[Case], plan: Folds) -> tuple[InFolds, HeldOut]:
    suites = HeldOut(Matrix.open(path), found, 2, "auto")
    (inside,) = suites.in_folds([to_choose(plan, found)])
    assert inside is not None
    return inside, suites


@pytest.mark.parametrize("name", ["five folds", "two folds", "a rule", "a third of a problem"])
@pytest.mark.parametrize("seed", range(3))
def test_nothing_held_out_has_a_say(tmp_path: Path, name: str, seed: int) -> None:
    matrix = mixed(tmp_path / "m", seed)
    found = list(cases(matrix, ask(None)))
    plan = plans(found)[name]
    assert name != "a third of a problem" or len(plan.held) > BLOCKS
    before, suites = chosen_with(matrix.path, found, plan)
    fold = seed % len(plan.held)
    # the mutants of one fold die on everything else than they did, as their own and as foreign ones
    altered = []
    for case, span in zip(found, spans(found), strict=True):
        out = plan.held[fold, span]
        kills = np.where(out[:, None], ~case.instance.kills, case.instance.kills)
        instance = replace(case.instance, kills=kills)
        dense = case.table.kills.toarray()
        rows = case.rows_of(case.table)
        dense[rows] = np.where(out[:, None], ~dense[rows], dense[rows])
        table = replace(case.table, kills=type(case.table.kills)(dense))
        altered.append(replace(case, instance=instance, table=table))
    after, others = chosen_with(matrix.path, altered, plan)
    assert before.strengths[fold] == after.strengths[fold]
    assert set(before.strengths) <= set(STRENGTHS)
    for place, case in enumerate(found):
        used = to_choose(plan, found).used[place]
        assert len(before.sets[place]) == used.sum()
        if used[fold]:
            position = int(used[:fold].sum())
            sets = [
                whole.fitted.problems[place].bank.sets[inside.sets[place][position]]
                for whole, inside in ((suites, before), (others, after))
            ]
            assert sets[0] == sets[1], case.problem


def test_choosing_anew_under_the_same_tolerances_changes_nothing(tmp_path: Path) -> None:
    matrix = mixed(tmp_path / "m", 1)
    found = list(cases(matrix, ask(None)))
    suites = HeldOut(matrix, found, 2, "auto")
    for case, chosen in zip(found, suites.selections, strict=True):
        assert suites.choose(case, case.instance) == chosen.members
        assert tuple(suites.choose(case, replace(case.instance))) == chosen.members
