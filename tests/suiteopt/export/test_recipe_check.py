"""What an export accepts of a recipe can be made; what it refuses is named."""

import json
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from suiteopt.export.recipe_arguments import LIMITS, STRUCTURES, WORDS
from suiteopt.export.recipe_check import recipe_fault
from suiteopt.inputs.recipes import RECIPES
from suiteopt.matrix.store import Matrix, resolve_matrix

NUMBERS = st.integers(-300, 300) | st.integers(-(1 << 70), 1 << 70)
ANYTHING = NUMBERS | st.booleans() | st.none() | st.floats(allow_nan=False) | st.text(max_size=4)


def values_of(argument: str, default: Any) -> st.SearchStrategy[Any]:
    if isinstance(default, bool):
        return st.booleans()
    if isinstance(default, int):
        low, high = LIMITS[argument]
        inside = st.integers(max(low, -300), min(high, 300)) | st.sampled_from([low, high])
        return inside | NUMBERS
    return st.sampled_from(sorted(WORDS[argument])) | st.text(max_size=4)


@st.composite
def recipes(draw: st.DrawFn) -> dict[str, Any]:
    name = draw(st.sampled_from(sorted(RECIPES)))
    arguments = {
        argument: draw(values_of(argument, default))
        for argument, default in RECIPES[name].arguments.items()
        if draw(st.booleans())
    }
    return {"name": name, "version": RECIPES[name].version, "arguments": arguments}


@settings(max_examples=150, deadline=None)
@given(recipe=recipes())
def test_what_is_accepted_can_be_made(recipe: dict[str, Any]) -> None:
    pytest.importorskip("torch")
    from suiteopt.inputs.recipes import build

    count = recipe["arguments"].get("count", 1)
    if recipe_fault(recipe) or (isinstance(count, int) and count > 300):
        return
    assert build(recipe, (3, 5), 7, "x").shape == (3, 5)


@settings(max_examples=150, deadline=None)
@given(name=st.sampled_from(sorted(RECIPES)), value=ANYTHING, data=st.data())
def test_any_value_is_accepted_or_refused_in_one_sentence(
    name: str, value: object, data: st.DataObject
) -> None:
    known = [*RECIPES[name].arguments, "unheard-of"]
    argument = data.draw(st.sampled_from(known))
    fault = recipe_fault({"name": name, "version": 1, "arguments": {argument: value}})
    assert "\n" not in fault
    if argument == "unheard-of" or type(value) is not type(RECIPES[name].arguments[argument]):
        assert fault


def test_every_argument_has_bounds_or_words() -> None:
    for recipe in RECIPES.values():
        assert recipe_fault({"name": recipe.name, "version": recipe.version, "arguments": {}}) == ""
        for argument, default in recipe.arguments.items():
            assert isinstance(default, bool) or argument in LIMITS or argument in WORDS


def test_every_input_of_the_shipped_matrix_is_accepted() -> None:
    matrix = Matrix.open(resolve_matrix(None))
    texts = {*matrix.inputs["values"].astype(str), *matrix.inputs["parameters"].astype(str)}
    recipes = [recipe for text in texts for recipe in json.loads(text).values()]
    assert len(recipes) > 100
    assert {recipe_fault(one) for one in recipes if one["name"] != "benchmark"} == {""}


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"arguments": {"exponent": "a"}}, "'exponent' of the recipe 'normal' is of a wrong type"),
        ({"arguments": {"exponent": True}}, "is of a wrong type"),
        ({"arguments": {"exponent": 10**30}}, "is not in -149 to 127"),
        ({"name": "residue", "arguments": {"modulus": 0}}, "is not in 1 to 2147483647"),
        ({"name": "hot", "arguments": {"count": 10**9}}, "is not in 1 to 65536"),
        ({"name": "hot", "arguments": {"place": "no"}}, "knows no place of this name"),
        ({"name": "blend", "arguments": {"base": "blend"}}, "knows no base of this name"),
        ({"name": "blend", "arguments": {"base": "ends"}}, "knows no base of this name"),
        ({"name": "ends", "arguments": {"base": "blend"}}, "knows no base of this name"),
        ({"name": "ends", "arguments": {"lift": 128}}, "is not in -149 to 127"),
        ({"name": "octaves", "arguments": {"low": 5, "high": 1}}, "lowest power of two above"),
        ({"name": "heavy-tail", "arguments": {"levels": 17}}, "is not in 1 to 16"),
        ({"structure": "square"}, "structure is unknown"),
        ({"structure": "class_ids"}, "no number of classes"),
        ({"structure": "class_ids", "classes": -3}, "its number of classes is none"),
    ],
)
def test_what_is_wrong_is_named(change: dict[str, Any], said: str) -> None:
    recipe = {"name": "normal", "version": 1, "arguments": {}, **change}
    assert said in recipe_fault(recipe)


def test_scales_of_lanes_may_fall_from_even_to_odd_rows() -> None:
    arguments = {"low": 3, "high": -2}
    assert recipe_fault({"name": "lanes", "version": 1, "arguments": arguments}) == ""
    assert recipe_fault({"name": "powers", "version": 1, "arguments": arguments})


def test_the_structures_are_those_of_the_recipes() -> None:
    torch = pytest.importorskip("torch")
    from suiteopt.inputs.recipes import apply_structure

    for structure in STRUCTURES:
        assert apply_structure(torch.ones(4, 4), structure, 3).shape == (4, 4)
