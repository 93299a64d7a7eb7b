"""Parameter recipes: what each role gets, and that it is not what benchmarks start from."""

import pytest
import torch

from suiteopt.inputs.parameters import BENCHMARK, PARAMETER_RECIPES, ROLES, parameter_values
from suiteopt.inputs.recipes import RECIPES, build, integer_bound


def made(name: str, role: str) -> torch.Tensor:
    return build(parameter_values(name, role), (4000,), 5, role)


def test_affine_is_nowhere_near_the_identity() -> None:
    scale, shift = made("affine", "scale"), made("affine", "shift")
    assert scale.abs().min() >= 1.25
    assert scale.abs().max() <= 2.25
    assert 0.4 < (scale < 0).double().mean() < 0.6
    assert shift.abs().min() >= 0.5
    assert 0.4 < (shift < 0).double().mean() < 0.6
    assert made("affine", "bias").abs().min() >= 0.5
    weight = made("affine", "weight")
    assert weight.abs().max() <= 0.25
    assert 0.4 < (weight < 0).double().mean() < 0.6


@pytest.mark.parametrize("role", ROLES)
def test_lattices_are_small_integers(role: str) -> None:
    recipe = parameter_values("lattice", role)
    bound = integer_bound(recipe["name"], recipe["arguments"])
    assert bound is not None
    assert bound <= 5
    values = made("lattice", role)
    assert torch.equal(values, values.round())
    if role == "scale":
        assert set(values.unique().tolist()) == {-4.0, -2.0, 2.0, 4.0}


@pytest.mark.parametrize("role", ROLES)
def test_index_parameters_tell_neighbours_apart(role: str) -> None:
    values = made("index", role)
    for distance in range(1, 31):
        assert (values[distance:] != values[:-distance]).all()


def test_sparse_weights_leave_single_taps() -> None:
    assert (made("sparse", "weight") != 0).double().mean() == pytest.approx(1 / 8, rel=0.2)


@pytest.mark.parametrize("name", PARAMETER_RECIPES)
@pytest.mark.parametrize("role", ROLES)
def test_every_recipe_is_stored_whole(name: str, role: str) -> None:
    recipe = parameter_values(name, role)
    assert recipe["version"] == RECIPES[recipe["name"]].version
    assert set(recipe["arguments"]) <= set(RECIPES[recipe["name"]].arguments)
    assert PARAMETER_RECIPES[name].doc.endswith(".")


def test_the_benchmarks_own_initialisation_is_a_name() -> None:
    expected = {"name": "benchmark", "version": 1, "arguments": {}}
    assert parameter_values(BENCHMARK, "weight") == expected


def test_unknown_names_are_refused() -> None:
    with pytest.raises(ValueError, match="unknown parameter recipe 'affin'; known: benchmark"):
        parameter_values("affin", "scale")
    with pytest.raises(ValueError, match="unknown parameter role 'gain'; known: weight"):
        parameter_values("affine", "gain")
