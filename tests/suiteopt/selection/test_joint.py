from itertools import combinations, product

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from suiteopt.errors import UserError
from suiteopt.selection.constraints import Constraints
from suiteopt.selection.instance import Instance
from suiteopt.selection.joint import Ask, Part, solve_joint
from suiteopt.selection.limits import Limits
from tests.suiteopt.selection.instances import instance_of, instances

GROUPS = ("left", "right")


def part_of(instance: Instance, seed: int, rules: Constraints | None = None) -> Part:
    random = np.random.default_rng(seed)
    prices = {"bytes": random.integers(1, 9, len(instance.inputs)).astype(np.int64)}
    groups = tuple(GROUPS[row % 2] for row in range(len(instance.mutants)))
    return Part(instance, prices, groups, rules or Constraints())


def every_choice(parts: list[Part]) -> list[tuple[tuple[int, ...], ...]]:
    sets = []
    for part in parts:
        columns = range(len(part.instance.inputs))
        sets.append(
            [
                chosen
                for size in range(len(columns) + 1)
                for chosen in combinations(columns, size)
                if all(part.instance.inputs[c] not in part.rules.exclude for c in chosen)
                and part.rules.include <= {part.instance.inputs[c] for c in chosen}
            ]
        )
    return list(product(*sets))


def detected(parts: list[Part], choice: tuple[tuple[int, ...], ...], times: int) -> dict[str, int]:
    found = dict.fromkeys((*GROUPS, "all"), 0)
    for part, columns in zip(parts, choice, strict=True):
        killed = part.instance.counts_in_all(columns) >= times
        for row in np.flatnonzero(killed):
            found[part.groups[row]] += int(part.instance.weights[row])
            found["all"] += int(part.instance.weights[row])
    return found


def price(parts: list[Part], choice: tuple[tuple[int, ...], ...]) -> int:
    return sum(
        int(part.prices["bytes"][list(columns)].sum())
        for part, columns in zip(parts, choice, strict=True)
    )


@settings(max_examples=40)
@given(
    st.lists(instances(rows=5, columns=4), min_size=1, max_size=2),
    st.integers(0, 20),
    st.integers(1, 3),
    st.one_of(st.none(), st.integers(0, 5)),
    st.integers(0, 9),
)
def test_within_a_cost_limit_nothing_detects_more(
    found: list[Instance], cap: int, times: int, in_all: int | None, seed: int
) -> None:
    parts = [part_of(instance, seed) for instance in found]
    answer = solve_joint(parts, Ask(3, in_all, {"bytes": cap}, times))
    best = max(
        detected(parts, choice, times)["all"]
        for choice in every_choice(parts)
        if price(parts, choice) <= cap
        and all(len(columns) <= 3 for columns in choice)
        and (in_all is None or sum(map(len, choice)) <= in_all)
    )
    assert answer.value == best == answer.bound
    assert detected(parts, answer.columns, times)["all"] == best
    assert price(parts, answer.columns) <= cap


@settings(max_examples=40)
@given(
    st.lists(instances(rows=5, columns=4), min_size=1, max_size=2),
    st.integers(0, 6),
    st.integers(0, 6),
    st.integers(1, 2),
)
def test_fewest_inputs_for_a_detection_of_every_group(
    found: list[Instance], left: int, right: int, times: int
) -> None:
    parts = [part_of(instance, 0) for instance in found]
    question = Ask(per_problem=3, times=times, required={"left": left, "right": right})
    enough = [
        sum(map(len, choice))
        for choice in every_choice(parts)
        if all(len(columns) <= 3 for columns in choice)
        and detected(parts, choice, times)["left"] >= left
        and detected(parts, choice, times)["right"] >= right
    ]
    if not enough:
        with pytest.raises(UserError, match=r"are required|is required"):
            solve_joint(parts, question)
        return
    answer = solve_joint(parts, question)
    assert answer.value == min(enough) == answer.bound
    assert detected(parts, answer.columns, times)["left"] >= left
    assert detected(parts, answer.columns, times)["right"] >= right


def test_included_and_excluded_inputs_are_kept_to() -> None:
    instance = instance_of([[1, 0, 0], [1, 1, 0], [0, 1, 1]])
    rules = Constraints(include=frozenset({"i2"}), exclude=frozenset({"i0"}))
    answer = solve_joint([part_of(instance, 0, rules)], Ask(per_problem=2))
    assert answer.columns == ((1, 2),)
    with pytest.raises(UserError, match="exceed the limits by themselves"):
        solve_joint([part_of(instance, 0, rules)], Ask(caps={"bytes": 0}))


def test_a_cut_short_search_never_gives_less_than_the_own_incumbent() -> None:
    random = np.random.default_rng(1)
    parts = [part_of(instance_of(random.random((80, 40)) < 0.15), seed) for seed in range(3)]
    question = Ask(caps={"bytes": 60})
    quick = solve_joint(parts, question, Limits(deterministic=1e-6))
    assert quick.value > 0
    assert quick.value <= quick.bound
    assert solve_joint(parts, question, Limits(deterministic=1e-6)) == quick


def test_columns_of_one_group_exclude_each_other() -> None:
    instance = instance_of([[1, 0], [0, 1]], groups=[4, 4])
    answer = solve_joint([part_of(instance, 0)], Ask(per_problem=2))
    assert (answer.value, answer.bound, len(answer.columns[0])) == (1, 1, 1)
