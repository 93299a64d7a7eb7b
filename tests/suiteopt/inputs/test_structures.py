"""Structures that a contract demands are kept by every recipe."""

import pytest
import torch

from suiteopt.inputs.recipes import RECIPES, apply_structure, build, generate

NAMES = sorted(RECIPES)


def made(name: str) -> torch.Tensor:
    return generate(name, (2, 12, 12), 21)


@pytest.mark.parametrize("name", NAMES)
def test_triangles_and_diagonals(name: str) -> None:
    x = made(name)
    lower = apply_structure(x, "lower_triangular")
    upper = apply_structure(x, "upper_triangular")
    diagonal = apply_structure(x, "diagonal")
    below = torch.ones(12, 12).tril().bool().expand(2, 12, 12)
    above = below.transpose(1, 2)
    for kept, result in ((below, lower), (above, upper), (below & above, diagonal)):
        assert torch.equal(result[kept].view(torch.int32), x[kept].view(torch.int32))
        assert (result[~kept] == 0).all()


@pytest.mark.parametrize("name", NAMES)
def test_symmetric_matrices_mirror_their_lower_half(name: str) -> None:
    x = made(name)
    result = apply_structure(x, "symmetric")
    mirrored = result.transpose(1, 2).contiguous()
    assert torch.equal(result.view(torch.int32), mirrored.view(torch.int32))
    below = torch.ones(12, 12).tril().bool().expand(2, 12, 12)
    assert torch.equal(result[below].view(torch.int32), x[below].view(torch.int32))
    assert result.is_contiguous()


@pytest.mark.parametrize("name", NAMES)
def test_probability_rows_add_up_to_one_exactly(name: str) -> None:
    rows = apply_structure(made(name), "probability_rows")
    units = rows.double() * 2**24
    assert torch.equal(units, units.round())
    assert (units >= 1).all()
    assert (units.sum(-1) == 2**24).all()


def test_probability_rows_follow_the_weights() -> None:
    rows = apply_structure(torch.tensor([[1.0, 3.0, -4.0, 0.0]]), "probability_rows")
    assert rows[0].tolist() == pytest.approx([1 / 8, 3 / 8, 4 / 8, 0], abs=1e-4)
    with pytest.raises(ValueError, match="at most 2\\*\\*20"):
        apply_structure(torch.zeros(1, 2**20 + 1), "probability_rows")


@pytest.mark.parametrize("name", NAMES)
def test_signs_are_one_or_minus_one(name: str) -> None:
    x = made(name)
    signs = apply_structure(x, "signs")
    assert (signs.abs() == 1).all()
    assert torch.equal(signs == -1, x < 0)


@pytest.mark.parametrize("name", NAMES)
def test_masks_are_true_where_positive(name: str) -> None:
    mask = apply_structure(made(name), "mask")
    assert mask.dtype == torch.bool
    assert torch.equal(mask, made(name) > 0)


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("classes", [1, 7, 4096])
def test_class_ids_are_in_range(name: str, classes: int) -> None:
    ids = apply_structure(made(name), "class_ids", classes)
    assert ids.dtype == torch.int64
    assert ids.min() >= 0
    assert ids.max() < classes


def test_class_ids_of_a_uniform_tensor_are_uniform() -> None:
    ids = apply_structure(generate("uniform", (20000,), 2), "class_ids", 10)
    assert torch.bincount(ids, minlength=10).double() == pytest.approx(2000, rel=0.1)
    assert apply_structure(torch.tensor([12.7, -3.0, 0.5]), "class_ids", 10).tolist() == [2, 3, 5]
    with pytest.raises(ValueError, match="number of classes"):
        apply_structure(torch.zeros(3), "class_ids")


def test_no_structure_changes_nothing_and_an_unknown_one_is_refused() -> None:
    x = made("normal")
    assert apply_structure(x, "none") is x
    with pytest.raises(ValueError, match="unknown structure 'banded'"):
        apply_structure(x, "banded")


def test_build_keeps_the_structure_stored_with_a_recipe() -> None:
    recipe = {"name": "normal", "version": 1, "arguments": {}}
    symmetric = build({**recipe, "structure": "symmetric"}, (6, 6), 1, "a")
    assert torch.equal(symmetric, symmetric.T)
    ids = build({**recipe, "structure": "class_ids", "classes": 5}, (100,), 1, "t")
    assert set(ids.tolist()) <= set(range(5))
    assert len(ids.unique()) > 2
