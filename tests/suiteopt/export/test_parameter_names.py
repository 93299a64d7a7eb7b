"""Whether parameters reach the tensors that are meant, in models that call them otherwise."""

import json
from dataclasses import replace

import pytest

from gpu_eval.problems.loader import load_corpus
from suiteopt.export.package import package_files
from suiteopt.export.parameter_names import names_of, parameter_names
from suiteopt.export.templates import hardened_inputs as runtime
from suiteopt.inputs import recipes
from tests.suiteopt.export.samples import member, problem, suite

torch = pytest.importorskip("torch")

NAMES = {"weight": "conv.weight", "bias": "conv.bias", "channel_bias": "bias"}
SET = {"name": "away", "version": 1, "arguments": {"sixteenths": 8}}
LEFT = {"name": "benchmark", "version": 1, "arguments": {}}


class Fused(torch.nn.Module):  # type: ignore[misc,name-defined]
    """A convolution with a bias, and one more bias of its own behind it."""

    def __init__(self) -> None:
        super().__init__()
        self.conv = torch.nn.Conv2d(2, 3, 1)
        self.bias = torch.nn.Parameter(torch.zeros(3, 1, 1))


def made(parameters: dict[str, dict[str, object]]) -> runtime.Member:
    document = {"input": "level2/001:a", "seed": 5, "values": {}, "parameters": parameters}
    return runtime.Member(document, recipes, "torch", NAMES)


@pytest.mark.parametrize(("name", "theirs"), NAMES.items())
def test_a_parameter_goes_where_the_model_has_it(name: str, theirs: str) -> None:
    model = Fused()
    before = {key: tensor.detach().clone() for key, tensor in model.named_parameters()}
    made({**dict.fromkeys(NAMES, LEFT), name: SET}).set_parameters(model)
    changed = {
        key for key, tensor in model.named_parameters() if not torch.equal(tensor, before[key])
    }
    assert changed == {theirs}
    shape = tuple(before[theirs].shape)
    expected = recipes.build(SET, shape, 5, name, "cpu")
    assert torch.equal(dict(model.named_parameters())[theirs], expected)


def test_a_model_that_keeps_all_of_them_itself_has_underscores_for_dots() -> None:
    model = torch.nn.Module()
    for theirs in NAMES.values():
        model.register_parameter(theirs.replace(".", "_"), torch.nn.Parameter(torch.zeros(3)))
    found = {name: made({name: SET}).parameter(model, name)[0] for name in NAMES}
    assert found == {"weight": "conv_weight", "bias": "conv_bias", "channel_bias": "bias"}


def test_a_model_with_other_names_is_asked_for_those_of_the_suite() -> None:
    model = torch.nn.Conv2d(2, 3, 1)
    assert made({"bias": SET}).parameter(model, "bias")[0] == "bias"
    with pytest.raises(RuntimeError, match="'channel_bias', and the reference has weight, bias"):
        made({"channel_bias": SET}).set_parameters(model)


def test_every_problem_with_parameters_is_known_with_all_of_them() -> None:
    for one in load_corpus([]).problems.values():
        known = parameter_names(one.id, one.benchmark)
        assert set(known) == {spec.name for spec in one.parameters}, one.id
        assert len(set(known.values())) == len(known), one.id
    assert parameter_names("level2/001", "kernelbench") == NAMES
    assert parameter_names("level2/001", "another") == {}


def test_the_order_of_tensors_is_the_model_s() -> None:
    class Takes:
        @staticmethod
        def forward(x: object, y: object) -> None: ...

    assert runtime.order_of(Takes, ["y_in", "x"]) == ["x", "y_in"]
    assert runtime.order_of(Takes, ["Y", "X"]) == ["X", "Y"]
    assert runtime.order_of(Takes, ["x"]) is None
    with pytest.raises(RuntimeError, match="forward takes x, y, and the suite has a tensor z"):
        runtime.order_of(Takes, ["x", "z"])


def test_an_export_has_the_names_that_its_problems_have() -> None:
    values = {"x": {"name": "normal", "version": 1, "arguments": {}}}
    one = replace(problem(40), problem="level2/001")
    setting = replace(member("level2/001:set", values), parameters={"bias": SET})
    for members, expected in (((), {}), ((setting,), {"level2/001": NAMES})):
        changed = suite(replace(one, members=members), oracle="calibrated")
        assert names_of(changed) == expected
        about = next(f for f in package_files("d", changed) if f.path == "d/export.json")
        assert json.loads(about.content)["parameter_names"] == expected


def test_a_parameter_that_nothing_reads_is_told_apart() -> None:
    values = {"x": {"name": "normal", "version": 1, "arguments": {}}}
    one = replace(problem(40), problem="level2/026", members=(member("level2/026:a", values),))
    files = {f.path: f.content for f in package_files("d", suite(one, oracle="calibrated"))}
    assert json.loads(files["d/export.json"])["unread_parameters"] == {"level2/026": ["bias"]}
    assert "bias" not in parameter_names("level2/026", "kernelbench").values()
