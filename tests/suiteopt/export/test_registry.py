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


NAMES = [
    "flashinfer-bench",
    "gpumode",
    "json",
    "kernelbench",
    "kernelbench-sidecar",
    "kernelbench-verified",
    "multikernelbench",
    "robust-kbench",
]


def test_descriptions_hold_what_the_command_shows(plugins: list[EntryPoint]) -> None:
    described = {target["name"]: target for target in describe_targets()}
    assert list(described) == NAMES
    assert described["kernelbench-verified"] == {
        "name": "kernelbench-verified",
        "title": "KernelBench-Verified: hidden inputs of level 1 to 3, values only",
        "needs": ["values"],
        "oracle": "fixed:0.001",
        "comparator": "allclose_candidate",
        "tolerance": 0.001,
        "member_limit": None,
        "own_first": True,
        "own_draws": True,
        "dtypes": ["float32"],
        "trials": "hidden configurations after five own draws",
        "memory": "one member",
        "options": {"tolerance": 0.001, "keep_original": True},
    }


@pytest.mark.parametrize(
    ("name", "needs", "oracle", "limit", "own_first", "draws"),
    [
        ("kernelbench-sidecar", "nonfinite parameters values", None, None, False, True),
        ("kernelbench", "values", "fixed:0.0001", 5, False, True),
        ("multikernelbench", "values", "fixed:0.0001", None, True, True),
        ("robust-kbench", "parameters values", "fixed:1e-05", None, False, False),
        ("gpumode", "nonfinite shapes values", None, None, False, False),
        ("flashinfer-bench", "parameters shapes values", "flashinfer-bench", None, False, False),
        ("json", "nonfinite parameters shapes values", None, None, False, True),
    ],
)
def test_each_target_says_what_it_carries(
    plugins: list[EntryPoint],
    name: str,
    needs: str,
    oracle: str | None,
    limit: int | None,
    own_first: bool,
    draws: bool,
) -> None:
    target = get_target(name)
    found = target.capabilities
    assert sorted(found.needs) == needs.split()
    assert (found.oracle, found.member_limit) == (oracle, limit)
    assert (found.own_first, found.draws) == (own_first, draws)
    assert target.draws == draws
    assert (target.tolerance is None) == (oracle is None)


def test_a_plugin_is_found(plugins: list[EntryPoint]) -> None:
    plugins.append(point("again", OWN))
    assert isinstance(get_target("again"), KernelBenchVerified)
    assert [target["name"] for target in describe_targets()] == ["again", *NAMES]


@pytest.mark.parametrize(
    ("name", "options", "what"),
    [
        (
            "nobench",
            {},
            "there is no target 'nobench'; known targets: flashinfer-bench, gpumode, json",
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
