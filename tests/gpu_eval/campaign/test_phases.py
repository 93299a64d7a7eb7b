"""Time by phase."""

import json

import pytest

from gpu_eval.campaign import phases
from gpu_eval.campaign.phases import Phase, Phases, added
from tests.gpu_eval.campaign.conftest import Baseline


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> list[float]:
    now = [0.0]
    monkeypatch.setattr(phases.time, "perf_counter", lambda: now[0])
    return now


def test_an_inner_phase_takes_its_time_from_the_outer_one(clock: list[float]) -> None:
    watch = Phases({"kernels": 1.0})
    with watch(Phase.INPUTS):
        clock[0] += 2
        with watch(Phase.KERNELS):
            clock[0] += 3
        clock[0] += 4
    clock[0] += 100
    assert watch.seconds == {"inputs": 6.0, "kernels": 4.0}


def test_time_counts_when_something_is_raised(clock: list[float]) -> None:
    watch = Phases()

    def fail() -> None:
        with watch(Phase.FACTS):
            clock[0] += 5
            raise ValueError("boo")

    with pytest.raises(ValueError, match="boo"):
        fail()
    with watch(Phase.OPEN):
        clock[0] += 1
    assert watch.seconds == {"facts": 5.0, "open": 1.0}


def test_seconds_are_added_by_phase() -> None:
    assert added([{"a": 1.0, "b": 0.0004}, {"a": 2.25}, {}]) == {"a": 3.25, "b": 0.0}


def test_the_header_says_what_workers_spent(baseline: Baseline) -> None:
    spent = json.loads((baseline.root / "matrix.json").read_text("utf-8"))["worker_seconds"]
    names = {str(phase) for phase in Phase}
    assert set(spent["base"]) <= names
    assert {"inputs", "kernels"} <= set(spent["blocks"]) <= names
    assert set(spent["problems"]) == {"test/one", "test/two"}
    for kind in ("base", "blocks"):
        parts = sum(problem.get(kind, 0.0) for problem in spent["problems"].values())
        assert parts == pytest.approx(sum(spent[kind].values()), abs=0.01)
