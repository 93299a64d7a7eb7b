"""Counting workers that were there, and the seconds of those that were not."""

import random
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from gpu_eval.campaign import processes, supervisor
from gpu_eval.campaign.attendance import Attendance
from gpu_eval.campaign.layout import Layout
from gpu_eval.campaign.supervisor import STARTING, Supervisor, _Worker
from gpu_eval.campaign.tasks import CompileTask
from tests.gpu_eval.campaign import tiny
from tests.gpu_eval.campaign.fake import FakeDevice

JOBS = 4
STANDBY = 3


def test_missing_workers_count_from_one_look_to_the_next() -> None:
    found = Attendance()
    found.look(10.0, 3)  # nothing is known of before
    found.look(12.0, 2, 1)
    found.look(12.5, 0, 4)
    assert (found.short, found.waiting) == (2 * 2.0, 2.0 + 4 * 0.5)
    found.came(1.5)
    found.came(2.5)
    found.lost["batch"] += 1
    found.ended("batch", 3.04, base=False)
    found.ended("batch", 1.0, base=False)
    found.ended("stopped", 7.0, base=True)
    found.done += 8.25
    assert found.as_dict() == {
        "started": 0,
        "ready": 2,
        "starting": 4.0,
        "lost": {"batch": 1},
        "done": 8.2,
        "interrupted": {"base stopped": 7.0, "batch": 4.0},
        "short": 4.0,
        "waiting": 4.0,
    }


@dataclass(frozen=True)
class Places(FakeDevice):
    """Two devices, on each of which some workers stand by."""

    standby: int = STANDBY

    def parts(self) -> "list[Places]":
        return [self, self]


class Endless:
    """Work that is there whenever somebody asks."""

    done_cells = 0
    finished = False

    def __init__(self) -> None:
        self.given = 0

    def next(self, kinds: tuple[type[Any], ...] = ()) -> CompileTask:
        self.given += 1
        return CompileTask(f"task-{self.given}", "p", ())


@pytest.fixture
def watched(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Supervisor:
    """Return a supervisor whose workers are no processes, and are ready when a test says so."""

    class Mute:
        def close(self) -> None:
            pass

        def reset(self) -> None:
            pass

        def send(self, task: object) -> None:
            pass

    mute: Any = Mute()

    def start(self: Supervisor, place: int) -> None:
        worker = _Worker(mute, mute, mute, tmp_path / "beacon", place, time.monotonic())
        self._workers.append(worker)

    monkeypatch.setattr(Supervisor, "_start", start)
    monkeypatch.setattr(processes, "strike", lambda process: None)
    settings = tiny.settings(tmp_path, jobs=JOBS)
    work: Any = Endless()
    return Supervisor(work, work, Layout(tmp_path), Places(), settings, lambda cells, note: None)


def at(found: Supervisor, place: int) -> list[_Worker]:
    """Return the workers of a place."""
    return [w for w in found._workers if w.place == place]


def test_those_that_stand_by_start_few_at_a_time(watched: Supervisor) -> None:
    draw = random.Random(20261130)
    watched._hand_out()
    assert [len(at(watched, place)) for place in (0, 1)] == [JOBS, JOBS]
    for _ in range(400):
        worker = draw.choice(watched._workers)
        if not worker.ready:
            worker.ready = True
        elif draw.random() < 0.3:
            watched._workers.remove(worker)
        watched._hand_out()
        for place in (0, 1):
            here = at(watched, place)
            ready = sum(w.ready for w in here)
            # Nobody who is to measure waits for another's start.
            assert len(here) >= min(JOBS, ready + STARTING)
            assert len(here) - ready <= max(STARTING, JOBS - ready)
            assert sum(w.task is not None for w in here) == min(ready, JOBS)
    for _ in range(JOBS + STANDBY):
        for worker in watched._workers:
            worker.ready = True
        watched._hand_out()
    assert [len(at(watched, place)) for place in (0, 1)] == [JOBS + STANDBY] * 2


def test_who_never_gets_ready_keeps_nobody_from_starting(watched: Supervisor) -> None:
    watched._hand_out()
    *others, stuck = at(watched, 0)
    for worker in others:
        worker.ready = True
    watched._hand_out()
    assert len(at(watched, 0)) == JOBS + STARTING - 1
    stuck.started -= supervisor.SLOW_START_SECONDS
    watched._hand_out()
    assert len(at(watched, 0)) == JOBS + STARTING


def test_a_task_is_handed_out_before_anybody_starts(
    watched: Supervisor, monkeypatch: pytest.MonkeyPatch
) -> None:
    watched._hand_out()
    for worker in watched._workers:
        worker.ready = True
    monkeypatch.setattr(Supervisor, "_start", lambda self, place: pytest.fail("started first"))
    lost = at(watched, 0)[0]
    with pytest.raises(pytest.fail.Exception):
        watched._hand_out()
    assert sum(w.task is not None for w in watched._workers) == 2 * JOBS
    assert lost.task is not None


def test_who_is_missing_and_who_waits(watched: Supervisor) -> None:
    assert watched._absent() == (2 * JOBS, 0)
    watched._hand_out()
    for worker in at(watched, 0):
        worker.ready = True
    watched._hand_out()
    for worker in at(watched, 0):
        worker.ready = True  # more than may measure: they stand by, and do not wait
    # Whoever stands by on one device is of no use to the other.
    assert watched._absent() == (JOBS, 0)
    at(watched, 0)[0].task = None
    assert watched._absent() == (0, JOBS + 1)
