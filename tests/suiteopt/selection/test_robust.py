from pathlib import Path

import numpy as np
import pytest

from suiteopt.errors import UserError
from suiteopt.matrix.store import Matrix
from suiteopt.selection.cases import make_case
from suiteopt.selection.question import Objective, ask
from suiteopt.selection.robust import SCALE, STRENGTHS, choose_strength
from suiteopt.selection.robust_tables import prepare
from suiteopt.selection.select import select
from suiteopt.selection.wishes import Wishes
from suiteopt.validation.crossval import cross_validate
from suiteopt.validation.splits import Split
from tests.suiteopt.builders import site, tiny_matrix

A, B = "level1/001", "level1/002"


def planted(path: Path) -> Matrix:
    """In A, i0 and i1 tie on the two mutants there are; in B, rule r dies by i1's recipe alone."""
    kills = {A: [[1, 0], [0, 1]], B: [[0, 1]] * 6}
    rules = {f"{A}:m0": "q", f"{A}:m1": "r"} | {f"{B}:m{row}": "r" for row in range(6)}
    mutants = {name: {"rules": [rule]} for name, rule in rules.items()}
    inputs = {f"{p}:i{j}": {"value_recipe": f"x{j}"} for p in kills for j in range(2)}
    return tiny_matrix(path, kills, mutants=mutants, inputs=inputs)


def problems_of(matrix: Matrix, budget: int = 1):  # type: ignore[no-untyped-def]
    found = [make_case(matrix, problem, ask(None)) for problem in matrix.problem_ids]
    return prepare(matrix, found, budget)


def test_other_problems_break_a_tie(tmp_path: Path) -> None:
    first, _ = problems_of(planted(tmp_path / "m"))
    everything = first.pool.training(np.ones((1, 8), dtype=np.bool_))
    found = first.best(everything, np.array([[0.0], [1.0]]))[:, 0]
    plain, robust = (first.bank.sets[place] for place in found)
    assert (plain, robust) == ((0,), (1,))  # r is what B is full of, and i1 kills it there


def row_weights(problem, training, strength):  # type: ignore[no-untyped-def]
    """Weight of every mutant, shape (all mutants, folds)."""
    seen = problem.pool.training(training)
    asked = np.full(len(training), strength)
    weights = problem.weights(problem.trained(seen), problem.spread(seen), asked)
    return weights[problem.groups] * seen.seen


def test_weights_are_a_distribution_and_plain_at_strength_nothing(tmp_path: Path) -> None:
    for problem in problems_of(planted(tmp_path / "m")):
        training = np.random.default_rng(0).random((20, 8)) < 0.7
        training[:, [0, 2]] = True
        for strength in STRENGTHS:
            weights = row_weights(problem, training, strength)
            assert np.all(weights >= 0)
            assert np.abs(weights.sum(axis=0) - SCALE).max() <= len(weights)
            assert np.all(weights[~training.T] == 0)  # nothing held out counts
        foreign = np.ones(8, dtype=np.bool_)
        foreign[problem.span] = False
        assert np.all(row_weights(problem, training, 0.0)[foreign] == 0)


def test_at_strength_nothing_choice_is_plain_coverage_with_its_ties(tmp_path: Path) -> None:
    random = np.random.default_rng(3)
    kills = {p: (random.random((9, 5)) < 0.3).astype(int).tolist() for p in (A, B)}
    matrix = tiny_matrix(tmp_path / "m", kills)
    chosen = select(matrix, 2)
    everything = np.ones((1, 18), dtype=np.bool_)
    for problem, part in zip(problems_of(matrix, 2), chosen.problems, strict=True):
        seen = problem.pool.training(everything)
        columns = problem.bank.sets[problem.best(seen, np.zeros((1, 1)))[0, 0]]
        names = {problem.case.instance.inputs[column] for column in columns}
        assert names == set(part.selection.members)


def test_equal_strengths_fall_to_plain_coverage(tmp_path: Path) -> None:
    matrix = tiny_matrix(tmp_path / "m", {A: [[1, 0]] * 4, B: [[1, 0]] * 4})
    choice = choose_strength(
        problems_of(matrix), np.ones((3, 8), dtype=np.bool_), np.arange(8), inner=2
    )
    assert choice.tolist() == [0, 0, 0]


def twins(path: Path) -> Matrix:
    """Two problems whose faults of rule r repeat; few of them in each problem alone.

    Every problem has two mutants of rule q that i0 kills, and two of rule r that i1 kills; four
    further problems have plenty of r, all killed by the recipe of i1.
    """
    kills = {f"level1/{n:03}": [[1, 0], [0, 1], [0, 1]] for n in range(6)}
    mutants = {}
    for n, problem in enumerate(kills):
        for row, rule in enumerate(("q", "r", "r")):
            mutants[f"{problem}:m{row}"] = {
                "rules": [rule],
                "sites": [site(10 * n + row, f"{n}.cu")],
            }
    inputs = {f"{p}:i{j}": {"value_recipe": f"x{j}"} for p in kills for j in range(2)}
    return tiny_matrix(path, kills, mutants=mutants, inputs=inputs)


def test_where_other_problems_know_better_the_objective_wins(tmp_path: Path) -> None:
    found = cross_validate(
        twins(tmp_path / "m"), 1, folds=2, repeats=3, objective=Objective.HELD_OUT
    )
    assert found.objectives is not None
    duel = found.objectives[Split.SITE]
    plain = found.splits[Split.SITE]
    assert plain.held_out_share is not None
    assert sum(duel.plain) / sum(duel.mutants) == pytest.approx(plain.held_out_share)
    assert duel.difference_share is not None
    assert duel.difference_share > 0
    assert sum(duel.strengths.values()) == 6


def test_plain_in_a_duel_is_plain_everywhere(tmp_path: Path) -> None:
    random = np.random.default_rng(5)
    kills = {f"level1/{n:03}": (random.random((8, 4)) < 0.4).astype(int).tolist() for n in range(3)}
    found = cross_validate(
        tiny_matrix(tmp_path / "m", kills), 2, repeats=2, objective=Objective.HELD_OUT
    )
    assert found.objectives is not None
    for split, duel in found.objectives.items():
        for row, plain, mutants in zip(
            found.splits[split].problems, duel.plain, duel.mutants, strict=True
        ):
            assert (plain, mutants) == pytest.approx((row.held_out, row.mutants))


def test_select_says_what_it_was_chosen_by(tmp_path: Path) -> None:
    found = select(planted(tmp_path / "m"), 1, objective=Objective.HELD_OUT).as_dict()
    assert found["objective"] == "held-out"
    assert found["strength"] in STRENGTHS
    assert select(planted(tmp_path / "n"), 1).as_dict()["strength"] is None
    with pytest.raises(UserError, match="budget a problem alone"):
        select(planted(tmp_path / "o"), 1, wishes=Wishes(total=2), objective=Objective.HELD_OUT)
