"""Instances in compressed rows give what tables give, to the last tie-break."""

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.sparse import csr_array

from suiteopt.errors import UserError
from suiteopt.matrix import pieces, reading
from suiteopt.matrix.store import Matrix
from suiteopt.selection import cuts, large
from suiteopt.selection.constraints import Constraints
from suiteopt.selection.enumerate import enumerate_best
from suiteopt.selection.greedy import improve, lazy_greedy, marginal_gains, submodular_bound
from suiteopt.selection.instance import Instance
from suiteopt.selection.large import LargeInstance, make_large
from suiteopt.selection.objective import score, strongest_first
from suiteopt.selection.parts import credit, keep_columns
from suiteopt.selection.result import Selection
from suiteopt.selection.select import select
from suiteopt.selection.solve import solve
from tests.suiteopt.builders import tiny_matrix
from tests.suiteopt.selection.instances import instances

P = "level1/001"
FEW = settings(max_examples=40, deadline=None)
COLUMNS = st.sets(st.integers(0, 6))


def compressed(instance: Instance) -> LargeInstance:
    """The same instance, with compressed rows."""
    kills = csr_array(instance.kills.astype(np.int8))
    places = (kills.indices, kills.indptr)
    rows = np.repeat(np.arange(len(instance.mutants)), np.diff(kills.indptr))
    slack = instance.slack[rows, kills.indices].astype(np.int16)
    fields = {name: getattr(instance, name) for name in instance.__dataclass_fields__}
    fields |= {"kills": kills, "slack": csr_array((slack, *places), shape=kills.shape)}
    return LargeInstance(**fields)


@st.composite
def grouped(draw: Any) -> Instance:
    """Instances, some of whose columns exclude each other."""
    instance: Instance = draw(instances())
    size = len(instance.inputs)
    groups = draw(st.none() | st.lists(st.integers(0, 3), min_size=size, max_size=size))
    return instance if groups is None else replace(instance, groups=np.array(groups))


def within(instance: Instance, columns: set[int]) -> list[int]:
    return sorted(column for column in columns if column < len(instance.inputs))


@FEW
@given(grouped(), COLUMNS)
def test_every_part_is_the_same(instance: Instance, some: set[int]) -> None:
    lean, columns = compressed(instance), within(instance, some)
    assert np.array_equal(lean.killed_by(columns), instance.killed_by(columns))
    assert np.array_equal(lean.slack_by(columns), instance.slack_by(columns))
    assert np.array_equal(lean.counts(columns), instance.counts(columns))
    assert np.array_equal(lean.kills_exact().toarray(), instance.kills_exact())
    assert lean.ceiling == instance.ceiling
    for ours, theirs in zip(lean.killers(), instance.killers(), strict=True):
        assert ours.tolist() == theirs.tolist()
    assert score(lean, columns) == score(instance, columns)
    assert strongest_first(lean, columns) == strongest_first(instance, columns)
    assert marginal_gains(lean, columns).tolist() == marginal_gains(instance, columns).tolist()
    for left, right in (
        (credit(lean, columns), credit(instance, columns)),
        (keep_columns(lean, columns), keep_columns(instance, columns)),
    ):
        assert isinstance(left, LargeInstance)
        assert np.array_equal(left.kills.toarray(), right.kills)
        assert np.array_equal(left.slack.toarray(), right.slack)
        assert (left.inputs, left.given.tolist()) == (right.inputs, right.given.tolist())
        assert left.given_slack.tolist() == right.given_slack.tolist()


@FEW
@given(instance=grouped(), budget=st.integers(1, 4), cells=st.sampled_from([1, 9, 1 << 24]))
def test_every_choice_is_the_same(instance: Instance, budget: int, cells: int) -> None:
    lean = compressed(instance)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(large, "BLOCK_CELLS", cells)
        assert enumerate_best(lean, budget) == enumerate_best(instance, budget)
    chosen = lazy_greedy(instance, budget)
    assert lazy_greedy(lean, budget) == chosen
    assert improve(lean, chosen, budget) == improve(instance, chosen, budget)
    assert submodular_bound(lean, chosen, budget) == submodular_bound(instance, chosen, budget)


def plain(selection: Selection) -> Selection:
    return replace(selection, seconds=0.0)


@pytest.mark.parametrize("solver", ["auto", "enumerate"])
@FEW
@given(instance=grouped(), budget=st.integers(1, 3), named=COLUMNS)
def test_solve_is_the_same(solver: str, instance: Instance, budget: int, named: set[int]) -> None:
    names = [instance.inputs[column] for column in within(instance, named)]
    rules = Constraints(include=frozenset(names[:1]), exclude=frozenset(names[1:]))
    found = solve(compressed(instance), budget, solver, constraints=rules)
    assert plain(found) == plain(solve(instance, budget, solver, constraints=rules))


@FEW
@given(instance=grouped(), budget=st.integers(1, 3))
def test_without_a_reduction_greedy_stays_within_its_bound(instance: Instance, budget: int) -> None:
    found = solve(compressed(instance), budget, "greedy")
    best = solve(instance, budget, "enumerate")
    assert found.detected <= best.detected <= found.bound


def test_solvers_that_need_a_table_are_refused() -> None:
    kills = csr_array(np.eye(3, dtype=np.int8))
    instance = make_large(P, ["a", "b", "c"], ["i", "j", "k"], kills, kills.astype(np.int16))
    with pytest.raises(UserError, match="too large for cp-sat; choose one of auto"):
        solve(instance, 2, "cp-sat")
    assert solve(instance, 2).members == ("i", "j")


def test_slack_is_counted_as_in_a_table() -> None:
    decades = np.array([0.0, 1e-4, 0.0019, 1.2345678, 6.0, 7.5], dtype=np.float32)
    assert large.whole_slack(decades).tolist() == [0, 0, 1, 1234, 6000, 6000]


def test_inputs_out_of_order_and_slack_elsewhere_are_refused() -> None:
    one, other = csr_array(np.eye(2)), csr_array(np.ones((2, 2)))
    with pytest.raises(ValueError, match="ascending"):
        make_large(P, ["a", "b"], ["j", "i"], one, one)
    with pytest.raises(ValueError, match="slack"):
        make_large(P, ["a", "b"], ["i", "j"], one, other)


def _problems(path: Path, oracle: str) -> list[Any]:
    found = select(Matrix.open(path), 2, oracle)
    return [replace(part, selection=plain(part.selection)) for part in found.problems]


@pytest.mark.parametrize("oracle", ["calibrated", "fixed:1e-2", "any-comparator"])
def test_a_large_matrix_is_selected_from_as_any_other(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, oracle: str
) -> None:
    tiny_matrix(tmp_path / "m", own=True)
    expected = _problems(tmp_path / "m", oracle)
    assert expected[0].selection.detected > 0
    monkeypatch.setattr(pieces, "LARGE_CELLS", -1)
    monkeypatch.setattr(reading, "ROWS_AT_ONCE", 5)
    monkeypatch.setattr(cuts, "ROWS_AT_ONCE", 2)
    with monkeypatch.context() as patch:  # whatever asks for a table fails
        patch.setattr("suiteopt.selection.cases.make_instance", None)
        assert _problems(tmp_path / "m", oracle) == expected
    monkeypatch.setattr("suiteopt.selection.cases.make_large", None)
    with pytest.raises(TypeError):
        _problems(tmp_path / "m", oracle)
