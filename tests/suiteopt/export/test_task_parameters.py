"""Which tasks are left out since their models have other parameters, by their text alone."""

from dataclasses import replace

import pytest

from suiteopt.export.task_parameters import unknown_parameter
from suiteopt.suite import ProblemSuite
from tests.suiteopt.export.samples import member, problem, recipe

HEAD = "class Model(nn.Module):\n    def __init__(self, scale, shape):\n"


def setting(*names: str) -> ProblemSuite:
    parameters = dict.fromkeys(names, recipe("away", sixteenths=8))
    made = replace(member("level2/001:a", {"x": recipe("normal")}), parameters=parameters)
    return replace(problem(40, made), problem="level2/001")


@pytest.mark.parametrize(
    ("lines", "sets", "unknown"),
    [
        # The names of the benchmark's model, with underscores for dots.
        ("self.conv_weight = conv.weight; self.conv_bias = conv.bias; self.bias = p", "bias", None),
        ("self.conv_weight = c.weight; self.bias = nn.Parameter(c.bias)", "channel_bias", "all"),
        ("self.weight = nn.Parameter(w)", "weight", None),
        ("self.weight_parameter = nn.Parameter(w)", "weight", "all"),
        # An argument that is kept is no parameter; what modules have is not in the text.
        ("self.weight = scale", "weight", "all"),
        ("self.conv = nn.Conv2d(1, 1, 1)", "weight", None),
        ("self.conv = torch.nn.Conv2d(1, 1, 1); self.bias = shape", "channel_bias", None),
    ],
)
def test_a_parameter_is_there_for_certain_or_not(
    lines: str, sets: str, unknown: str | None
) -> None:
    source = f"{HEAD}        {lines}\n".replace("= p", "= nn.Parameter(torch.zeros(shape))")
    assert unknown_parameter(source.encode(), setting(sets)) == (sets if unknown else None)


def test_what_the_benchmark_draws_needs_no_name() -> None:
    left = replace(member("level2/001:a", {}), parameters={"weight": recipe("benchmark")})
    one = replace(problem(40, left), problem="level2/001")
    assert unknown_parameter(f"{HEAD}        pass\n".encode(), one) is None


@pytest.mark.parametrize("source", [b"def f(:\n", b"x = 1\n"])
def test_what_is_no_definition_is_left_to_whatever_loads_it(source: bytes) -> None:
    assert unknown_parameter(source, setting("weight")) is None
