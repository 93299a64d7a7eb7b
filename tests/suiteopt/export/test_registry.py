from importlib.metadata import EntryPoint
from typing import Any

import pytest

from suiteopt.errors import UserError
from suiteopt.export import registry
from suiteopt.export.kernelbench_verified import KernelBenchVerified
from suiteopt.export.registry import describe_targets, get_target
from suiteopt.matrix.schema import Need

OWN = "suiteopt.export.kernelbench_verified:KernelBenchVerified"


@pytest.fixture
def plugins(monkeypatch: pytest.MonkeyPatch) -> list[EntryPoint]:
    points: list[EntryPoint] = []
    monkeypatch.setattr(registry, "entry_points", lambda group: list(points))
    return points


def point(name: str, value: str) -> EntryPoint:
    return EntryPoint(name=name, value=value, group=registry.GROUP)


def test_the_built_in_target_is_known_with_and_without_an_installation(
    plugins: list[EntryPoint],
) -> None:
    assert isinstance(get_target("kernelbench-verified"), KernelBenchVerified)
    plugins.append(point("kernelbench-verified", OWN))
    assert isinstance(get_target("kernelbench-verified"), KernelBenchVerified)


def test_capabilities_say_what_the_harness_does(plugins: list[EntryPoint]) -> None:
    capabilities = get_target("kernelbench-verified").capabilities
    assert capabilities.needs == {Need.VALUES}
    assert capabilities.oracle == "fixed:0.001"
    assert capabilities.own_first
    assert capabilities.member_limit is None
    assert get_target("kernelbench-verified", tolerance=1e-4).capabilities.oracle == "fixed:0.0001"


def test_descriptions_hold_what_the_command_shows(plugins: list[EntryPoint]) -> None:
    assert describe_targets() == [
        {
            "name": "kernelbench-verified",
            "title": "KernelBench-Verified: hidden inputs of level 1 to 3, values only",
            "needs": ["values"],
            "oracle": "fixed:0.001",
            "comparator": "allclose_candidate",
            "member_limit": None,
            "own_first": True,
            "dtypes": ["float32"],
            "options": {"tolerance": 0.001, "keep_original": True},
        }
    ]


def test_a_plugin_is_found(plugins: list[EntryPoint]) -> None:
    plugins.append(point("again", OWN))
    assert isinstance(get_target("again"), KernelBenchVerified)
    assert [target["name"] for target in describe_targets()] == ["again", "kernelbench-verified"]


@pytest.mark.parametrize(
    ("name", "options", "what"),
    [
        (
            "kernelbench",
            {},
            "there is no target 'kernelbench'; known targets: kernelbench-verified",
        ),
        ("kernelbench-verified", {"speed": 1}, "no option 'speed'.*tolerance, keep_original"),
        ("kernelbench-verified", {"tolerance": "x"}, "no positive number"),
        ("kernelbench-verified", {"tolerance": 0}, "no positive number"),
        ("kernelbench-verified", {"tolerance": float("inf")}, "no positive number"),
    ],
)
def test_a_wrong_name_or_option_is_one_sentence(
    plugins: list[EntryPoint], name: str, options: dict[str, Any], what: str
) -> None:
    with pytest.raises(UserError, match=what):
        get_target(name, **options)


@pytest.mark.parametrize(
    ("name", "value", "what"),
    [
        ("kernelbench-verified", "other:Target", "two packages define the target"),
        ("broken", "no_such_module_at_all:Target", "cannot be loaded from"),
        ("broken", "suiteopt.suite:Nothing", "cannot be loaded from"),
        ("broken", "suiteopt.suite:Suite", "no subclass of"),
    ],
)
def test_a_wrong_plugin_is_one_sentence(
    plugins: list[EntryPoint], name: str, value: str, what: str
) -> None:
    plugins.append(point(name, value))
    with pytest.raises(UserError, match=what):
        get_target(name)
