"""Torch controls and null mutants: judged several at a time, to the outcomes of each by itself."""

from dataclasses import replace
from pathlib import Path

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from gpu_eval.campaign import callables
from gpu_eval.campaign.beacon import Beacon
from gpu_eval.campaign.callables import TOGETHER, in_company, is_callable
from gpu_eval.campaign.plan import build_plan
from gpu_eval.campaign.runner import BlockResult, Runner
from gpu_eval.campaign.tasks import CellTask, Subject
from gpu_eval.devices.base import Case
from gpu_eval.problems.definition import Control, Problem, Tensors
from gpu_eval.problems.loader import load_corpus
from gpu_eval.problems.nulls import NULLS
from suiteopt.matrix.schema import Kind, Status
from tests.gpu_eval.campaign import tiny
from tests.gpu_eval.campaign.fake import FakeDevice, FakeSession

INPUTS = 6


def broken(tensors: Tensors) -> Tensors:
    """Fail, as a control must not."""
    raise ValueError("no such shape")


@given(st.integers(0, 60), st.integers(1, 1 << 28))
def test_companies_fit(count: int, elements: int) -> None:
    output = torch.empty(elements, device="meta")
    case = Case("case", {}, {"y": output}, {"y": output})
    groups = list(in_company(range(count), case))
    assert [row for group in groups for row in group] == list(range(count))
    for group in groups:
        assert 1 <= len(group) <= TOGETHER
        assert len(group) == 1 or len(group) * elements * 4 <= callables.TOGETHER_BYTES


def run(tmp_path: Path, problem: Problem, singly: bool = False) -> BlockResult:
    corpus = tmp_path / "corpus"
    (plan,) = build_plan(tiny.settings(corpus, problems=("test/one",))).problems
    inputs = plan.order[:INPUTS]
    subjects = [Subject(c.name, Kind.CONTROL, c.name) for c in problem.controls]
    subjects += [Subject(null.name, Kind.NULL, null.name) for null in NULLS]
    assert all(map(is_callable, subjects))
    task = CellTask(
        key="base-0",
        problem=problem.id,
        inputs=inputs,
        repeated=frozenset(),
        subjects=tuple(subjects),
        facts=None,
        own=plan.own,
        deadline_floor=1.0,
        singly=frozenset(i.id for i in inputs) if singly else frozenset(),
    )
    beacon = Beacon(tmp_path / "beacon", create=True)
    found = Runner(FakeDevice(), problem, beacon, lambda: False).run(task)
    assert beacon.read().cells == task.cells
    beacon.close()
    return found


def test_they_are_judged_together(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    problem = load_corpus([tiny.write_corpus(tmp_path / "corpus")]).problem("test/one")
    alone = run(tmp_path, problem, singly=True)
    sizes: list[int] = []
    one_by_one = FakeSession.judge_many
    monkeypatch.setattr(
        FakeSession,
        "judge_many",
        lambda self, several: (sizes.append(len(several)), one_by_one(self, several))[1],
    )
    together = run(tmp_path, problem)
    cells = len(problem.controls) + len(NULLS)
    assert sum(sizes) == INPUTS * cells
    assert max(sizes) == TOGETHER
    assert together.progress.table.to_bytes() == alone.progress.table.to_bytes()
    assert together.facts == alone.facts


def test_one_that_breaks_is_named(tmp_path: Path) -> None:
    problem = load_corpus([tiny.write_corpus(tmp_path / "corpus")]).problem("test/one")
    whole = run(tmp_path, problem).progress.table.array()
    faulty = replace(problem, controls=(*problem.controls, Control("odd", "serial", run=broken)))
    found = run(tmp_path, faulty).progress
    assert set(found.messages) == {"odd"}
    assert "no such shape" in found.messages["odd"]
    cells = found.table.array()
    odd = len(problem.controls)
    statuses = list(Status)
    seen = {statuses[code] for code in cells["status"][cells["subject"] == odd]}
    assert seen == {Status.CRASH, Status.CLOSED}
    others = cells[cells["subject"] != odd]
    others["subject"] -= others["subject"] > odd
    assert others.tobytes() == whole.tobytes()
