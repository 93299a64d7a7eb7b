import json
import math

import numpy as np
import pytest

from suiteopt.matrix.jsonable import dumps, jsonable
from suiteopt.matrix.schema import Status


def test_infinity_and_nan_are_null_at_any_depth() -> None:
    value = {"a": [1.0, math.inf, (-math.inf, {"b": math.nan})], "c": np.array([np.inf, 2.0])}
    assert jsonable(value) == {"a": [1.0, None, [None, {"b": None}]], "c": [None, 2.0]}
    assert json.loads(dumps(value))["a"][1] is None


def test_plain_types_stay() -> None:
    value = {"s": Status.OK, "t": True, "i": np.int64(3), "f": np.float32(0.5), "n": None}
    assert jsonable(value) == {"s": "ok", "t": True, "i": 3, "f": 0.5, "n": None}
    assert jsonable(np.bool_(False)) is False
    assert jsonable(frozenset({"b", "a"})) == ["a", "b"]


def test_the_same_text_for_the_same_content() -> None:
    assert dumps({"b": 1, "a": 2}) == dumps({"a": 2, "b": 1}) == '{"a": 2, "b": 1}'


def test_refuses_what_has_no_json_form() -> None:
    with pytest.raises(TypeError, match="object has no JSON form"):
        jsonable(object())
