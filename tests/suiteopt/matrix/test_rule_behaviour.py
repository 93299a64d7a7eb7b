import json
from collections.abc import Sequence
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st

from suiteopt.matrix.rule_behaviour import RuleBehaviours, rule_behaviours
from suiteopt.matrix.store import Matrix
from suiteopt.matrix.summary import summarise
from tests.suiteopt.builders import tiny_matrix

P, Q = "level1/001", "level1/019"


def made(
    path: Path, rules: Sequence[Sequence[str]], rows: Sequence[Sequence[int]], **changes: Any
) -> Matrix:
    """Return a matrix of one problem: each mutant's rules, and what it does on each input."""
    mutants: dict[str, dict[str, Any]] = {
        f"{P}:m{number}": {"rules": list(names), "family": "boundary"}
        for number, names in enumerate(rules)
    }
    for number, change in changes.items():
        mutants[f"{P}:{number}"] |= change
    return tiny_matrix(path, {P: rows}, mutants=mutants)


def own(found: RuleBehaviours) -> dict[str, tuple[int, int]]:
    return {rule.rule: (rule.behaviours, rule.own) for rule in found.rules}


def test_a_rule_that_only_copies_is_named(tmp_path: Path) -> None:
    rules = [["a"], ["a"], ["b"], ["b"], ["c"], ["a"]]
    rows = [[1, 0], [0, 1], [1, 0], [1, 1], [0, 1], [0, 1]]
    found = rule_behaviours(made(tmp_path / "m", rules, rows))
    assert own(found) == {"a": (2, 0), "b": (2, 1), "c": (1, 0)}
    assert found.distinct == 3
    assert found.copies == ("a", "c")
    assert found.spare == ("c",), "a and c copy each other: only one of them can go"
    assert [(rule.valid, rule.witnessed) for rule in found.rules] == [(3, 3), (2, 2), (1, 1)]
    assert [rule.like for rule in found.rules] == ["b", "a", "a"]
    assert json.loads(json.dumps(found.as_dict()))["copies"] == ["a", "c"]


def test_a_merged_duplicate_is_a_mutant_of_all_its_rules(tmp_path: Path) -> None:
    found = rule_behaviours(made(tmp_path / "m", [["a", "b"], ["a"]], [[1, 0], [0, 1]]))
    assert own(found) == {"a": (2, 1), "b": (1, 0)}
    assert (found.copies, found.spare) == (("b",), ("b",))


def test_what_does_not_count_copies_nothing(tmp_path: Path) -> None:
    rules = [["a"], ["locked"], ["right"], ["right"], ["stillborn"]]
    matrix = made(
        tmp_path / "m",
        rules,
        [[1, 0], [1, 0], [0, 0], [1, 0], [0, 0]],
        m1={"locked": True},
        m2={"witness": "none"},
        m3={"witness": "latent"},
        m4={"class": "stillborn"},
    )
    found = rule_behaviours(matrix)
    assert own(found) == {"a": (1, 1), "right": (0, 0)}
    assert (found.copies, found.unwitnessed) == ((), ("right",))
    assert [rule.like for rule in found.rules] == ["", ""]


def test_equal_rows_of_two_problems_are_two_behaviours(tmp_path: Path) -> None:
    mutants = {f"{P}:m0": {"rules": ["a"]}, f"{Q}:m0": {"rules": ["b"]}}
    found = rule_behaviours(tiny_matrix(tmp_path / "m", {P: [[1]], Q: [[1]]}, mutants=mutants))
    assert own(found) == {"a": (1, 1), "b": (1, 1)}


@settings(max_examples=15, deadline=None)
@given(st.lists(st.tuples(st.sampled_from("abcd"), st.integers(0, 7)), min_size=1, max_size=8))
def test_no_behaviour_is_lost_without_the_spare_rules(mutants: list[tuple[str, int]]) -> None:
    rules = [[name] for name, _ in mutants]
    rows = [[row & 1, row >> 1 & 1, row >> 2] for _, row in mutants]
    with TemporaryDirectory() as directory:
        matrix = made(Path(directory) / "m", rules, rows)
        found = rule_behaviours(matrix)
        assert found.distinct == summarise(matrix).mutants.distinct
    everything = {row for _, row in mutants}
    by_rule = {name: {row for rule, row in mutants if rule == name} for name, _ in mutants}
    for name, shown in by_rule.items():
        others = {row for rule, row in mutants if rule != name}
        assert own(found)[name] == (len(shown), len(shown - others))
        assert (name in found.copies) == (shown <= others)
    kept = {row for rule, row in mutants if rule not in found.spare}
    assert kept == everything == {row for _, row in mutants}
    assert set(found.spare) <= set(found.copies)
    left = set(by_rule) - set(found.spare)
    for name in left:
        without = {row for rule, row in mutants if rule in left - {name}}
        assert without != everything, "no further rule can go"
