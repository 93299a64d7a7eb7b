from collections.abc import Mapping, Sequence
from dataclasses import replace
from fractions import Fraction
from itertools import combinations
from pathlib import Path

import numpy as np
import pytest

from suiteopt.errors import UserError
from suiteopt.matrix.store import Matrix
from suiteopt.selection.cases import Case, make_case
from suiteopt.selection.question import Objective, ask
from suiteopt.selection.robust import SCALE, STEPS, STRENGTHS
from suiteopt.selection.robust_tables import prepare
from suiteopt.selection.select import select
from suiteopt.selection.strength import choose_strength
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
    matrix = twins(tmp_path / "m")
    found = cross_validate(matrix, 1, folds=2, repeats=3, objective=Objective.HELD_OUT)
    assert found.objectives is not None
    duel = found.objectives[Split.SITE]
    coverage = cross_validate(matrix, 1, folds=2, repeats=3, objective=Objective.COVERAGE)
    for shares, whole in ((duel.plain, coverage), (duel.robust, found)):
        share = whole.splits[Split.SITE].held_out_share
        assert share is not None
        assert sum(shares) / sum(duel.mutants) == pytest.approx(share)
    assert duel.difference_share is not None
    assert duel.difference_share > 0
    assert sum(duel.strengths.values()) == 6


def test_plain_in_a_duel_is_plain_everywhere(tmp_path: Path) -> None:
    random = np.random.default_rng(5)
    kills = {f"level1/{n:03}": (random.random((8, 4)) < 0.4).astype(int).tolist() for n in range(3)}
    matrix = tiny_matrix(tmp_path / "m", kills)
    found = cross_validate(matrix, 2, repeats=2, objective=Objective.HELD_OUT)
    coverage = cross_validate(matrix, 2, repeats=2, objective=Objective.COVERAGE)
    assert coverage.objectives is None
    assert found.objectives is not None
    for split, duel in found.objectives.items():
        for row, plain, mutants in zip(
            coverage.splits[split].problems, duel.plain, duel.mutants, strict=True
        ):
            assert (plain, mutants) == pytest.approx((row.held_out, row.mutants))


def test_select_says_what_it_was_chosen_by(tmp_path: Path) -> None:
    found = select(planted(tmp_path / "m"), 1, objective=Objective.HELD_OUT).as_dict()
    assert found["objective"] == "held-out"
    assert found["strength"] in STRENGTHS
    plain = select(planted(tmp_path / "n"), 1, objective=Objective.COVERAGE).as_dict()
    assert (plain["objective"], plain["strength"]) == ("coverage", None)
    with pytest.raises(UserError, match="budget a problem alone"):
        select(planted(tmp_path / "o"), 1, wishes=Wishes(total=2), objective=Objective.HELD_OUT)


def worth(
    found: Mapping[str, Case],
    kind: Mapping[str, str],
    problem: str,
    chosen: Sequence[int],
    strength: float,
) -> Fraction:
    """The objective from its description, mutant by mutant, all of them trained on.

    Every mutant has one rule, every input a recipe of its own place, so that kills of other
    problems are read at the same places.
    """
    kills = {p: case.instance.kills for p, case in found.items()}
    rules = {p: ["+".join(r) for r in case.rules] for p, case in found.items()}
    mine = len(rules[problem])
    others = [p for p in found if p != problem]
    theirs = sum(len(rules[p]) for p in others)
    alpha = Fraction(1, 4) * mine
    total = Fraction(0)
    for own in kills[problem]:
        total += (1 - Fraction(strength)) * Fraction(bool(own[chosen].any()), mine)
    for rule in {rule for own in rules.values() for rule in own}:
        count = rules[problem].count(rule)
        far = [(p, row) for p in others for row, r in enumerate(rules[p]) if r == rule]
        near = [(p, row) for p, row in far if kind[p] == kind[problem]]
        pi = (count + alpha * Fraction(len(far), theirs)) / (mine + alpha)
        killed = Fraction(
            sum(
                bool(kills[problem][row][chosen].any())
                for row, r in enumerate(rules[problem])
                if r == rule
            )
        )
        kappa = 2 if far else 0

        def dead(rows: Sequence[tuple[str, int]]) -> int:
            return sum(bool(kills[p][row][chosen].any()) for p, row in rows)

        if far:
            elsewhere = (dead(near) + 2 * Fraction(dead(far), len(far))) / (len(near) + 2)
            killed += kappa * elsewhere
        total += Fraction(strength) * pi * killed / (count + kappa)
    return total


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("budget", [1, 2, 3])
def test_what_is_proved_is_the_best_of_all_suites_by_the_objective(
    tmp_path: Path, seed: int, budget: int
) -> None:
    random = np.random.default_rng(seed)
    names = [f"level1/{n:03}" for n in range(4)]
    kills = {p: (random.random((7, 5)) < 0.3).astype(int).tolist() for p in names}
    matrix = tiny_matrix(
        tmp_path / "m",
        kills,
        mutants={
            f"{p}:m{i}": {"rules": [str(random.choice(["q", "r", "s"]))]}
            for p in names
            for i in range(7)
        },
        inputs={f"{p}:i{j}": {"value_recipe": f"x{j}"} for p in names for j in range(5)},
        problems={
            p: {"operation_class": "matmul" if n % 2 else "norm"} for n, p in enumerate(names)
        },
    )
    sets = [list(c) for size in range(budget + 1) for c in combinations(range(5), size)]
    problems = problems_of(matrix, budget)
    found = {problem.case.problem: problem.case for problem in problems}
    kind = {p: str(matrix.problem(p)["operation_class"]) for p in names}
    everything = problems[0].pool.training(np.ones((1, 28), dtype=np.bool_))
    for problem, name in zip(problems, names, strict=True):
        for strength in STRENGTHS:
            best = problem.optimum(everything, strength)
            asked = np.array([[strength]])
            assert problem.bank.sets[problem.best(everything, asked)[0, 0]] == best.columns
            assert best.value == best.bound
            # Each of the 28 weights was rounded to a millionth, twice.
            most = max(worth(found, kind, name, chosen, strength) for chosen in sets)
            assert abs(best.value - SCALE * most) <= 14 * STEPS
            own = worth(found, kind, name, list(best.columns), strength)
            assert abs(best.value - SCALE * own) <= 14 * STEPS


def test_a_proof_is_of_the_objective_and_not_of_detection(tmp_path: Path) -> None:
    found = select(twins(tmp_path / "m"), 1, objective=Objective.HELD_OUT)
    assert (found.strength, str(found.status)) == (0.25, "proved")
    for part in found.problems:
        chosen = part.selection
        assert chosen.value == chosen.value_bound
        assert (chosen.members, chosen.detected, chosen.bound) == ((f"{part.problem}:i1",), 2, 2)
        short = replace(chosen, value=chosen.bound - 1, value_bound=chosen.bound)
        assert str(short.status) == "feasible"
        assert str(replace(chosen, detected=1).status) == "proved"
        with pytest.raises(ValueError, match="cannot be worth"):
            replace(chosen, value=2, value_bound=1)


@pytest.mark.parametrize("alone", [A, B])
def test_a_problem_without_mutants_alone_in_its_operation_class(tmp_path: Path, alone: str) -> None:
    (other,) = {A, B} - {alone}
    matrix = tiny_matrix(
        tmp_path / "m",
        {other: [[1, 0], [0, 1], [0, 1]], alone: [[0, 1]]},
        mutants={f"{alone}:m0": {"witness": "none", "witness_how": ""}},
        problems={A: {"operation_class": "matmul"}, B: {"operation_class": "norm"}},
    )
    found = {
        row.problem: row.selection
        for row in select(matrix, 1, objective=Objective.HELD_OUT).problems
    }
    assert (found[alone].total, found[alone].detected) == (0, 0)
    assert found[other].members == (f"{other}:i1",)
    assert found[other].detected == 2
