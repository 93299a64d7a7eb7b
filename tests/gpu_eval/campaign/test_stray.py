"""Writes into memory of nobody, which a session sees only when it is asked to look everywhere."""

from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

import pytest
import torch

from gpu_eval.campaign import held_session
from gpu_eval.campaign.cases import CaseFactory
from gpu_eval.campaign.company import MANY_LOST, begins_scope, lanes_wanted
from gpu_eval.campaign.held_session import HeldSession
from gpu_eval.campaign.integrity import Integrity
from gpu_eval.campaign.journal import Verdict
from gpu_eval.campaign.progress import Silent
from gpu_eval.campaign.ready_inputs import ReadyInputs
from gpu_eval.campaign.run import start
from gpu_eval.campaign.tasks import CellTask
from gpu_eval.problems.loader import load_corpus
from suiteopt.matrix.store import Matrix
from tests.gpu_eval.campaign import tiny
from tests.gpu_eval.campaign.conftest import Baseline
from tests.gpu_eval.campaign.fake import FakeDevice, FakeSession


@pytest.mark.parametrize("lanes", [1, 4])
def test_who_strays_on_the_first_input_of_a_scope_is_found_and_nobody_else_pays(
    baseline: Baseline, tmp_path: Path, lanes: int
) -> None:
    victims = [tiny.mutants(baseline.corpus)[3], tiny.mutants(baseline.corpus)[7]]
    settings = tiny.settings(baseline.corpus, problems=("test/one",), lanes=lanes)
    device = FakeDevice(acts=dict.fromkeys(victims, "stray"), isolated=True, lane_count=lanes)
    start(tmp_path / "matrix", settings, device, Silent())
    ours, theirs = (Matrix.open(r).cells("test/one") for r in (tmp_path / "matrix", baseline.root))
    text = {"implementation": str, "input": str, "status": str}
    ours, theirs = ours.astype(text), theirs.astype(text)
    hit = ours["implementation"].isin(victims)
    assert ours[~hit].equals(theirs[~hit])
    scopes = Matrix.open(tmp_path / "matrix").inputs.set_index("input")["scope"].astype(str)
    for victim in victims:
        cells = ours[ours["implementation"] == victim]
        found = cells["input"][cells["status"] == "out_of_bounds"]
        measured = cells["input"][cells["status"].isin(["ok", "out_of_bounds"])]
        assert sorted(scopes[found]) == sorted(set(scopes[measured]))


def task_of(scopes: str, **changes: Any) -> CellTask:
    """Return a task with an input for each letter, small ones invalid."""
    inputs = tuple(SimpleNamespace(id=str(i), scope=s.lower()) for i, s in enumerate(scopes))
    facts = {str(i): SimpleNamespace(valid=s.isupper()) for i, s in enumerate(scopes)}
    task = CellTask("k", "p", (), frozenset(), (), {}, "", 0.0, lanes=8)
    return replace(task, inputs=cast(Any, inputs), facts=cast(Any, facts), **changes)


def test_the_first_valid_input_of_each_scope_begins_it() -> None:
    task = task_of("aAABbBA")
    assert [begins_scope(task, c) for c in range(7)] == [
        True,
        True,
        False,
        True,
        False,
        False,
        False,
    ]
    assert [lanes_wanted(task, c) for c in range(7)] == [1, 1, 8, 1, 8, 8, 8]
    assert not begins_scope(replace(task, facts=None), 0)


def test_lost_batches_without_culprits_end_batches_and_others_do_not() -> None:
    lost = frozenset("2456"[:MANY_LOST])
    task = task_of("AABAAAA", singly=lost)
    assert [lanes_wanted(task, c) for c in range(7)] == [1] * 7
    named = tuple(Verdict("m", cell_input, "crash", "") for cell_input in sorted(lost))
    task = replace(task, verdicts=named)
    expected = [1, 8, 1, 8, 1, 8, 8]
    assert [lanes_wanted(task, c) for c in range(7)] == expected
    task = replace(task, singly=lost | {"5"})
    assert [lanes_wanted(task, c) for c in range(7)] == [1, 8, 1, 8, 1, 1, 8]


class Looked(FakeSession):
    """Counts what it is asked for."""

    def __init__(self, strays: bool = False) -> None:
        super().__init__(FakeDevice())
        self.looks = self.sums = self.spared = 0
        self._strays = strays

    def trespassed(self) -> bool:
        self.looks += 1
        return self._strays

    def checksum(self) -> int:
        self.sums += 1
        return 5

    def spare(self) -> bool:
        self.spared += 1
        return True


@pytest.mark.parametrize("strays", [False, True])
def test_only_a_look_at_everything_asks_for_what_belongs_to_nobody(strays: bool) -> None:
    session, integrity = Looked(strays), Integrity()
    assert integrity.holds(session, "x")
    assert session.looks == 0
    assert integrity.holds(session, "x", whole=True) == (not strays)
    assert (session.looks, session.sums) == (1, 2)


def test_an_input_without_memory_takes_what_is_held_in_reserve(
    baseline: Baseline, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(held_session, "MEMORY_SECONDS", 0.0)
    problem = load_corpus([baseline.corpus]).problem("test/one")
    device, factory = FakeDevice(), CaseFactory(problem, "cpu")
    held = HeldSession(device, factory)
    session = held._session = Looked()
    tried: list[int] = []

    def get(factory: CaseFactory, pool_input: Any) -> Any:
        tried.append(session.spared)
        if not session.spared:
            raise torch.OutOfMemoryError("no memory")
        return SimpleNamespace(bytes=0)

    monkeypatch.setattr(CaseFactory, "get", get)
    inputs = ReadyInputs(device, problem, factory, held)
    assert inputs._made(cast(Any, SimpleNamespace(id="x"))).bytes == 0
    assert tried == [0, 1]
