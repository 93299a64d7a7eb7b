"""Selection for a target offers what that target can carry, and nothing else."""

import json

import pytest

from suiteopt.export.registry import get_target, target_references
from suiteopt.matrix.schema import Need
from suiteopt.matrix.store import Matrix, resolve_matrix
from suiteopt.selection.cases import make_case
from suiteopt.selection.question import ask

PROBLEM = "level1/050"


@pytest.mark.parametrize("name", list(target_references()))
def test_columns_are_what_the_target_carries(name: str) -> None:
    matrix = Matrix.open(resolve_matrix(None))
    capabilities = get_target(name).capabilities
    case = make_case(matrix, PROBLEM, ask(None, capabilities))
    inputs = matrix.inputs_of(PROBLEM).set_index("input")
    assert case.instance.inputs
    recipes = set()
    for column in case.instance.inputs:
        assert {Need(need) for need in inputs.loc[column, "needs"]} <= capabilities.needs
        recipes |= {one["name"] for one in json.loads(inputs.loc[column, "values"]).values()}
    assert bool(recipes & {"own", "scaled"}) == capabilities.draws
