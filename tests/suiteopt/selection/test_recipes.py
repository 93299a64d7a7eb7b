from pathlib import Path

import pytest

from suiteopt.errors import UserError
from suiteopt.matrix.store import Matrix
from suiteopt.selection.question import ask
from suiteopt.selection.recipes import recommend
from suiteopt.selection.recommendation import Recipe
from tests.suiteopt.builders import tiny_matrix

A, B, C = "level1/001", "level1/002", "level1/003"


def three(path: Path, **options: object) -> Matrix:
    """The recipe `good` kills all in A and B and half in C; `bad` kills the rest of C alone."""
    kills = {A: [[1, 0], [1, 0]], B: [[1, 0], [1, 0]], C: [[0, 1], [1, 0]]}
    recipes = {
        f"{problem}:i{j}": {"value_recipe": name}
        for problem in kills
        for j, name in enumerate(("good", "bad"))
    }
    return tiny_matrix(path, kills, inputs=recipes, **options)  # type: ignore[arg-type]


def test_the_recipe_that_detects_most_everywhere(tmp_path: Path) -> None:
    found = recommend(three(tmp_path / "m"), ask(None), 1).as_dict()
    assert [recipe["name"] for recipe in found["recipes"]] == ["good"]
    assert found["recipes"][0]["problems"] == 3
    assert found["fitted_macro_share"] == pytest.approx(5 / 6)
    assert found["status"] == "proved"
    assert found["left_out_share"] == pytest.approx(5 / 6)  # the others all ask for `good`
    assert [row["detected_share"] for row in found["rows"]] == [1.0, 1.0, 0.5]


def test_two_recipes_and_what_each_problem_could_have_had(tmp_path: Path) -> None:
    found = recommend(three(tmp_path / "m"), ask(None), 2).as_dict()
    assert {recipe["name"] for recipe in found["recipes"]} == {"good", "bad"}
    # without C nothing asks for `bad`: the second input buys nothing, and C is half detected
    assert found["rows"][2]["detected_share"] == 0.5
    assert found["rows"][2]["best_share"] == 1.0
    assert found["rows"][2]["recipes"] == ["good"]


def test_a_problem_weighs_the_same_however_many_mutants_it_has(tmp_path: Path) -> None:
    kills = {A: [[1, 0]] * 9, B: [[0, 1]], C: [[0, 1]]}
    recipes = {f"{p}:i{j}": {"value_recipe": f"r{j}"} for p in kills for j in range(2)}
    found = recommend(tiny_matrix(tmp_path / "m", kills, inputs=recipes), ask(None), 1).as_dict()
    assert [recipe["name"] for recipe in found["recipes"]] == ["r1"]


def test_a_recipe_that_a_problem_lacks_kills_nothing_there(tmp_path: Path) -> None:
    kills = {A: [[1]], B: [[1]], C: [[1, 1]]}
    recipes = {
        f"{A}:i0": {"value_recipe": "x"},
        f"{B}:i0": {"value_recipe": "x"},
        f"{C}:i0": {"value_recipe": "y"},
        f"{C}:i1": {"value_recipe": "z"},
    }
    found = recommend(tiny_matrix(tmp_path / "m", kills, inputs=recipes), ask(None), 1)
    assert found.recipes == (Recipe("x", "benchmark", "contract"),)
    assert found.left_out[2].detected == 0
    assert [str(recipe) for recipe in found.left_out[2].missing] == ["x"]


def test_own_draws_are_beside(tmp_path: Path) -> None:
    own = {A: [True, False], B: [False, False], C: [True, True]}
    found = recommend(three(tmp_path / "m", own=True, own_kills=own), ask(None), 1).as_dict()
    assert found["own_share"] == pytest.approx(3 / 6)


def test_one_problem_is_too_few(tmp_path: Path) -> None:
    matrix = tiny_matrix(tmp_path / "m", {A: [[1]]})
    with pytest.raises(UserError, match="too few to leave one out"):
        recommend(matrix, ask(None), 1)
    with pytest.raises(UserError, match="classes matmul"):
        recommend(three(tmp_path / "n"), ask(None), 1, "scan")


def test_names_of_recipes() -> None:
    assert str(Recipe("ramp", "benchmark", "contract")) == "ramp"
    assert str(Recipe("ramp", "affine", "prime")) == "ramp:affine@prime"
