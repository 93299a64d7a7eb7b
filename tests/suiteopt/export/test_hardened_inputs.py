"""The module that travels: members to the bit, parameters for both models, comparators."""

import math
import types
from typing import Any

import pytest

from suiteopt.inputs import recipes
from suiteopt.matrix.schema import OWN_STATISTICS

torch = pytest.importorskip("torch")
from suiteopt.export.templates import hardened_inputs as runtime  # noqa: E402


def member(**changes: Any) -> runtime.Member:
    document = {
        "input": "m",
        "seed": 7,
        "values": {"x": {"name": "lattice", "version": 1, "arguments": {"width": 3}}},
        "tolerance": 1e-3,
        "comparator": "rms",
        **changes,
    }
    return runtime.Member(document, recipes)  # type: ignore[arg-type]


def test_values_are_the_recipes_at_the_problems_shape_and_dtype() -> None:
    state = torch.get_rng_state()
    made = member().inputs(lambda: [torch.rand(3, 5), 2])
    assert torch.equal(made[0], recipes.build(member().values["x"], (3, 5), 7, "x"))
    assert made[1] == 2
    assert torch.equal(state, torch.get_rng_state())


def test_own_draws_are_the_benchmarks_under_the_members_seed() -> None:
    values = {"x": {"name": "scaled", "version": 1, "arguments": {"factor": -3.0}}}
    (made,) = member(values=values).inputs(lambda: [torch.rand(4)])
    torch.manual_seed(7)
    assert torch.equal(made, torch.rand(4) * -3.0)


@pytest.mark.parametrize(
    ("get_inputs", "changes", "what"),
    [
        (lambda: [torch.rand(2).half()], {}, "x is torch.float16.*measured in float32"),
        (lambda: [torch.rand(2), torch.rand(2)], {}, "returns 2 tensors"),
        (lambda: [torch.rand(2)], {"shape_recipe": "prime"}, "other shapes"),
    ],
)
def test_other_inputs_than_measured_are_refused(
    get_inputs: Any, changes: dict[str, Any], what: str
) -> None:
    with pytest.raises(RuntimeError, match=what):
        member(**changes).inputs(get_inputs)


def norm(**names: str) -> Any:
    model = torch.nn.Module()
    layer = torch.nn.LayerNorm(4)
    for name, place in names.items():
        model.register_parameter(place, getattr(layer, name))
    return model


AFFINE = {
    "weight": {"name": "away", "version": 1, "arguments": {"sixteenths": 20}},
    "bias": {"name": "away", "version": 1, "arguments": {"sixteenths": 8}},
}


def test_parameters_reach_both_models_and_go_back() -> None:
    reference = torch.nn.Sequential(torch.nn.LayerNorm(4))
    candidate = norm(weight="weight", bias="bias")
    with member(parameters=AFFINE).parameters_on(reference, candidate):
        assert torch.equal(reference[0].weight, candidate.weight)
        assert torch.equal(reference[0].bias, candidate.bias)
        assert float(reference[0].weight.detach().abs().min()) >= 1.25
    assert torch.equal(reference[0].weight, torch.ones(4))
    assert torch.equal(candidate.bias, torch.zeros(4))


def test_parameters_go_back_after_an_error_too() -> None:
    reference = torch.nn.LayerNorm(4)
    with pytest.raises(ZeroDivisionError), member(parameters=AFFINE).parameters_on(reference):
        raise ZeroDivisionError
    assert torch.equal(reference.weight, torch.ones(4))


def test_a_candidate_that_renames_parameters_of_one_shape_is_told() -> None:
    reference = torch.nn.LayerNorm(4)
    candidate = norm(weight="gamma", bias="beta")
    with (
        pytest.raises(RuntimeError, match=r"'weight' of shape \(4,\).*gamma \(4,\), beta \(4,\)"),
        member(parameters=AFFINE).parameters_on(reference, candidate),
    ):
        pass
    assert torch.equal(reference.weight, torch.ones(4))  # nothing was set


def test_a_shape_that_stands_alone_says_which_is_meant() -> None:
    reference, candidate = torch.nn.Linear(3, 2), torch.nn.Module()
    candidate.w = torch.nn.Parameter(torch.zeros(2, 3))
    only = {"weight": AFFINE["weight"]}
    with member(parameters=only).parameters_on(reference, candidate):
        assert torch.equal(candidate.w, reference.weight)


def test_an_ambiguous_parameter_of_the_reference_is_told() -> None:
    reference = torch.nn.Sequential(torch.nn.Linear(2, 2), torch.nn.Linear(2, 2))
    with (
        pytest.raises(RuntimeError, match="which is meant cannot be told"),
        member(parameters=AFFINE).parameters_on(reference),
    ):
        pass


REFERENCE = [2.0, -4.0, 0.0, 1.0]
OUTPUT = [2.5, -4.0, 0.25, 1.0]
BY_HAND = {
    "allclose_candidate": max(0.5 / 3.5, 0.25 / 1.25),
    "allclose_reference": max(0.5 / 3.0, 0.25),
    "max_abs": 0.5,
    "max_rel": math.inf,
    "either_or": 0.25,
    "global": 0.5 / 5.0,
    "rms": 0.5 / math.sqrt(21 / 4),
}


@pytest.mark.parametrize("comparator", [str(statistic) for statistic in OWN_STATISTICS])
def test_comparators_are_the_formats(comparator: str) -> None:
    one, other = torch.tensor(REFERENCE), torch.tensor(OUTPUT)
    error, bad = runtime.critical_tolerance(one, other, comparator, "torch")
    assert (error, bad) == (pytest.approx(BY_HAND[comparator]), 0)


def test_ratios_and_chunks() -> None:
    one, other = torch.tensor(REFERENCE), torch.tensor(OUTPUT)
    error, _ = runtime.critical_tolerance(one, other, "allclose_candidate@0.1", "torch")
    assert error == pytest.approx(max(0.5 / 1.25, 0.25 / 1.025))


def test_chunks_change_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    one, other = torch.randn(1000), torch.randn(1000)
    whole = [runtime.critical_tolerance(one, other, c, "torch") for c in ("rms", "global")]
    monkeypatch.setattr(runtime, "_CHUNK", 7)
    parts = [runtime.critical_tolerance(one, other, c, "torch") for c in ("rms", "global")]
    assert parts == [(pytest.approx(error), bad) for error, bad in whole]


def test_on_another_device_a_tensor_is_made_in_wide_steps_of_the_same_bits() -> None:
    steps: list[int | None] = []

    def build(recipe: Any, shape: Any, seed: int, name: str, device: Any, **step: int) -> Any:
        steps.append(step.get("chunk"))
        return recipes.build(recipe, shape, seed, name, "cpu", **step)

    watched = types.SimpleNamespace(build=build)
    one = runtime.Member(
        {"input": "m", "seed": 7, "values": member().values}, watched  # type: ignore[arg-type]
    )  # fmt: skip
    shape = [torch.rand(300, 1001)]
    (narrow,) = one.inputs(lambda: shape, None, "cpu")
    (wide,) = one.inputs(lambda: shape, None, "cuda")
    assert steps == [None, runtime._CHUNK]
    assert torch.equal(narrow, wide)


INF, NAN = math.inf, math.nan


@pytest.mark.parametrize(
    ("expected", "got", "policy", "bad"),
    [
        ([NAN], [NAN], "torch", 1),
        ([NAN], [NAN], "equal_nan", 0),
        ([INF, -INF], [INF, -INF], "torch", 0),
        ([INF], [-INF], "equal_nan", 1),
        ([1.0], [NAN], "equal_nan", 1),
        ([INF, 1.0], [INF, 1.0], "finite_output", 1),
        ([INF], [1.0], "finite_output", 0),
    ],
)
def test_what_is_not_finite_follows_the_policy(
    expected: list[float], got: list[float], policy: str, bad: int
) -> None:
    one, other = torch.tensor(expected), torch.tensor(got)
    assert runtime.critical_tolerance(one, other, "rms", policy)[1] == bad


def test_verdicts() -> None:
    ones = torch.ones(4)
    judge = member().judge
    assert judge(ones, ones * 1.0005).accepted
    wrong = judge(ones, ones * 1.01)
    assert not wrong.accepted
    assert "above 0.001" in wrong.why
    assert judge(ones, torch.ones(2, 2)).why == "shape (2, 2) and not (4,)"
    assert judge([ones, ones], [ones]).why == "1 outputs and not 2"
    assert judge((ones, ones), (ones, ones)).accepted
    assert "not finite" in judge(ones, ones * NAN).why


def test_the_module_needs_nothing_of_this_project() -> None:
    source = runtime.__file__
    assert source is not None
    with open(source) as handle:
        text = handle.read()
    assert "import suiteopt" not in text
    assert "from suiteopt" not in text
    made = types.ModuleType("elsewhere")
    exec(compile(text, "hardened_inputs.py", "exec"), made.__dict__)
    assert made.Member is not None
