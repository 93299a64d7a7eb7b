import json
from typing import Any

import pandas as pd
import pytest

from suiteopt.audit.settings import Setting, setting_of
from suiteopt.matrix.store import Matrix, resolve_matrix


def row(values: Any, name: str = "short", parameters: str = "benchmark") -> "pd.Series[Any]":
    text = values if isinstance(values, str) else json.dumps(values)
    return pd.Series({"value_recipe": name, "parameter_recipe": parameters, "values": text})


def recipe(name: str, **arguments: Any) -> dict[str, Any]:
    return {"a": {"name": name, "version": 1, "arguments": arguments}}


@pytest.mark.parametrize(
    ("values", "family", "scale"),
    [
        (recipe("own"), "own draw", 1.0),
        (recipe("scaled", factor=-1.0), "own draw", 1.0),
        (recipe("scaled", factor=0.01), "own draw", 0.01),
        (recipe("offset", offset=-300), "offset", 300.0),
        (recipe("offset"), "offset", 1000.0),  # the recipe's own default
        (recipe("hot", heat=80), "hot", 80.0),
        (recipe("normal", exponent=5), "normal", 32.0),
        (recipe("heavy-tail", levels=16), "heavy-tail", 65536.0),
        (recipe("zeros-denormals"), "zeros-denormals", None),
        (recipe("of-tomorrow", exponent=5), "of-tomorrow", None),
        (recipe("scaled", factor="x"), "own draw", None),
    ],
)
def test_family_and_scale(values: Any, family: str, scale: float | None) -> None:
    assert setting_of(row(values)) == Setting("short", family, scale, "benchmark")


@pytest.mark.parametrize("text", ["{}", "no JSON", "[1]", '{"a": 3}'])
def test_a_foreign_matrix_without_recipes_has_families_by_name(text: str) -> None:
    assert setting_of(row(text, "mine")) == Setting("mine", "mine", None, "benchmark")


def test_every_input_of_the_shipped_matrix_has_a_family() -> None:
    inputs = Matrix.open(resolve_matrix(None)).inputs
    for _, found in inputs[inputs["role"] != "witness"].iterrows():
        setting = setting_of(found)
        assert setting.family
        if str(found["value_recipe"]).startswith("own-x"):
            factor = abs(float(str(found["value_recipe"]).removeprefix("own-x")))
            assert setting.scale == pytest.approx(factor)
