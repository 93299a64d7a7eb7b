from itertools import combinations
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from suiteopt.audit.decomposition import Decomposition, Factor, decompose
from suiteopt.errors import UserError
from suiteopt.matrix.oracle import fixed
from suiteopt.protocols import InputRule, Protocol, load_protocol
from tests.suiteopt.audit.made import P, made_matrix
from tests.suiteopt.builders import tiny_matrix


def protocol(name: str, tolerance: float, *recipes: str) -> Protocol:
    rules = []
    for recipe in recipes:
        value, _, shape = recipe.partition("@")
        value, _, parameters = value.partition(":")
        rules.append(InputRule(value, parameters or "benchmark", shape or "contract", 1))
    return Protocol(name, name, "here", fixed(tolerance), tuple(rules))


# Errors on the input of both, and on the one that only the second has.
CASES = {
    "m-before": (1.0, 0.0),  # killed anyway
    "m-tolerance": (5e-3, 0.0),  # by the tolerance alone
    "m-input": (0.0, 1.0),  # by the input alone
    "m-both": (0.0, 5e-3),  # needs both
    "m-either": (5e-3, 1.0),  # by either
    "m-never": (0.0, 0.0),
}


@pytest.fixture
def matrix(tmp_path: Path) -> Any:
    cells = {name: {"own-0": a, "hot": b} for name, (a, b) in CASES.items()}
    return made_matrix(tmp_path / "m", {**cells, "c": {"own-0": 0.0, "hot": 0.0}})


def test_both_orders_and_the_shapley_split(matrix: Any) -> None:
    first, second = protocol("a", 1e-2, "own-0"), protocol("b", 1e-3, "own-0", "hot")
    found = decompose(matrix, first, second)
    assert found.factors == (Factor.INPUTS, Factor.TOLERANCE)
    assert found.share() == pytest.approx(1 / 6)
    assert found.gain == pytest.approx(4 / 6)
    # Inputs first: m-input and m-either; last: m-input and m-both. The same for the tolerance.
    assert found.first_share(Factor.INPUTS) == pytest.approx(2 / 6)
    assert found.last_share(Factor.INPUTS) == pytest.approx(2 / 6)
    assert found.first_share(Factor.TOLERANCE) == pytest.approx(2 / 6)
    assert found.shapley_share(Factor.INPUTS) == pytest.approx(2 / 6)
    answer = found.as_dict()
    assert set(answer) >= {
        "gain_share", "inputs_share", "tolerance_share", "first_inputs_share",
        "first_tolerance_share", "interval",
    }  # fmt: skip
    assert answer["inputs_share"] + answer["tolerance_share"] == pytest.approx(4 / 6)
    assert answer["parameters_share"] == answer["shapes_share"] == 0.0
    assert answer["interval"] is None  # one problem


def test_an_input_that_the_second_drops_can_cost(matrix: Any) -> None:
    found = decompose(matrix, protocol("a", 1e-2, "own-0", "hot"), protocol("b", 1e-2, "own-0"))
    assert found.factors == (Factor.INPUTS,)
    assert found.gain == pytest.approx(-2 / 6)
    assert found.shapley_share(Factor.INPUTS) == pytest.approx(-2 / 6)


def test_parameters_and_shapes_are_told_from_values(tmp_path: Path) -> None:
    cells = {
        "m-value": {"own-0": 0.0, "own-0:affine": 0.0, "own-0@prime": 0.0, "hot": 1.0},
        "m-parameter": {"own-0": 0.0, "own-0:affine": 1.0, "own-0@prime": 0.0, "hot": 0.0},
        "m-shape": {"own-0": 0.0, "own-0:affine": 0.0, "own-0@prime": 1.0, "hot": 0.0},
        "m-two": {"own-0": 0.0, "own-0:affine": 1.0, "own-0@prime": 1.0, "hot": 0.0},
    }
    matrix = made_matrix(tmp_path / "m", cells)
    second = protocol("b", 1e-2, "own-0", "own-0:affine", "own-0@prime", "hot")
    found = decompose(matrix, protocol("a", 1e-2, "own-0"), second)
    assert found.factors == (Factor.INPUTS, Factor.PARAMETERS, Factor.SHAPES)
    assert found.gain == pytest.approx(1.0)
    assert found.shapley_share(Factor.INPUTS) == pytest.approx(1 / 4)
    assert found.shapley_share(Factor.PARAMETERS) == pytest.approx(3 / 8)
    assert found.shapley_share(Factor.SHAPES) == pytest.approx(3 / 8)
    assert found.first_share(Factor.SHAPES) == pytest.approx(2 / 4)
    assert found.last_share(Factor.SHAPES) == pytest.approx(1 / 4)


COALITIONS = [frozenset(chosen) for size in range(5) for chosen in combinations(list(Factor), size)]


@settings(deadline=None)
@given(st.data())
def test_the_parts_add_up(data: st.DataObject) -> None:
    """Shapley values sum to the gain, whatever is detected in between, and are fair."""
    problems = data.draw(st.integers(1, 4))
    counts = st.lists(st.integers(0, 20), min_size=problems, max_size=problems)
    detected = {c: np.array(data.draw(counts), dtype=np.int64) for c in COALITIONS}
    mutants = np.full(problems, 20, dtype=np.int64)
    found = Decomposition("a", "b", "", mutants, detected, tuple(Factor))
    parts = sum(found.by_problem(factor) for factor in Factor)
    assert np.allclose(parts, detected[COALITIONS[-1]] - detected[COALITIONS[0]])
    assert sum(found.shapley_share(f) for f in Factor) == pytest.approx(found.gain)
    # A factor that never changes anything gets nothing.
    still = {c: detected[c - {Factor.SHAPES}] for c in COALITIONS}
    idle = Decomposition("a", "b", "", mutants, still, tuple(Factor))
    assert idle.shapley_share(Factor.SHAPES) == 0.0


def test_the_shipped_protocols(tmp_path: Path) -> None:
    kills = {f"level1/{n:03}": [[1]] * 4 for n in range(3)}
    own = {problem: [0.5, 5e-3, 5e-4, 0.0] for problem in kills}
    matrix = tiny_matrix(tmp_path / "m", kills, own=True, own_kills=own)
    found = decompose(
        matrix, load_protocol("kernelbench-v0.1"), load_protocol("kernelbench-verified")
    )
    assert found.gain == pytest.approx(1 / 4)
    assert found.shapley_share(Factor.INPUTS) == 0.0
    assert found.shapley_share(Factor.TOLERANCE) == pytest.approx(1 / 4)
    interval = found.interval()
    assert interval is not None
    assert interval.as_list() == pytest.approx([0.25, 0.25])  # all problems are alike
    assert np.array_equal(found.mutants, [4, 4, 4])


def test_nothing_that_counts(tmp_path: Path) -> None:
    matrix = tiny_matrix(tmp_path / "m", {P: [[1]]}, own=True, witness="none")
    with pytest.raises(UserError, match="no mutants that count as witnessed"):
        decompose(matrix, load_protocol("kernelbench-v0.1"), load_protocol("kernelbench"))
