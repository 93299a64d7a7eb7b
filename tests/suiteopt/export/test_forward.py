import pytest

from suiteopt.errors import UserError
from suiteopt.export.forward import order_tensors

SOURCE = b"""
import nothing_that_exists
class Other:
    def forward(self, z): ...
class Model:
    def helper(self, q): ...
    def forward(self, Query, key, /, scale, Value=None): raise SystemExit
"""


def test_tensors_stand_in_the_order_of_the_models_arguments() -> None:
    assert order_tensors({"value", "key", "query"}, SOURCE, "p.py") == ["query", "key", "value"]
    assert order_tensors({"value": 1, "scale": 2}, SOURCE, "p.py") == ["scale", "value"]


def test_an_input_called_as_an_output_is_told_by_its_suffix() -> None:
    source = b"class Model:\n    def forward(self, y, x): ...\n"
    assert order_tensors({"x": 0, "y_in": 0}, source, "p.py") == ["y_in", "x"]
    # The name as it is comes first, and nobody stands for another.
    both = b"class Model:\n    def forward(self, y_in, y): ...\n"
    assert order_tensors(["y", "y_in"], both, "p.py") == ["y_in", "y"]
    with pytest.raises(UserError, match="which is which cannot be told"):
        order_tensors(["y", "y_in"], source, "p.py")


def test_a_single_tensor_needs_no_name() -> None:
    assert order_tensors({"anything"}, b"not python (", "p.py") == ["anything"]


@pytest.mark.parametrize(
    ("source", "names", "what"),
    [
        (SOURCE, {"query", "weights"}, "which is which cannot be told"),
        (SOURCE, {"query", "QUERY"}, "which is which cannot be told"),
        (b"class Model:\n    pass\n", {"a", "b"}, "no class Model with a method forward"),
        (b"class Model(:\n", {"a", "b"}, "no Python file that can be parsed"),
        (b"\x00", {"a", "b"}, "no Python file that can be parsed"),
    ],
)
def test_what_cannot_be_told_is_refused(source: bytes, names: set[str], what: str) -> None:
    with pytest.raises(UserError, match=what):
        order_tensors(names, source, "p.py")
