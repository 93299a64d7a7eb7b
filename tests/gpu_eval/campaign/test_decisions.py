"""A plan is the same whoever makes its parts, and a definition is checked once."""

from pathlib import Path

import pytest

from gpu_eval.campaign import decisions, run
from gpu_eval.campaign.layout import Layout
from gpu_eval.campaign.plan import build_plan
from gpu_eval.campaign.progress import Silent
from gpu_eval.campaign.settings import Settings
from gpu_eval.problems.definition import Problem
from suiteopt.errors import UserError
from tests.gpu_eval.campaign import tiny
from tests.gpu_eval.campaign.conftest import Baseline
from tests.gpu_eval.campaign.fake import FakeDevice
from tests.gpu_eval.campaign.test_device_lost import Notes


@pytest.fixture
def helped(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let every plan be made by helpers."""
    monkeypatch.setattr(decisions, "cores", lambda: 4)
    monkeypatch.setattr(decisions, "PROBLEMS_EACH", 1)


def problems_and_hashes(settings: Settings) -> tuple[object, ...]:
    """Return all of a plan that can be compared."""
    found = build_plan(settings)
    listed = [
        (p.id, p.order, p.witnesses, p.own, p.repeated, i.id, i.source, i.plan, i.fault, i.locked)
        for p in found.problems
        for i in p.implementations
    ]
    return (found.frozen(), found.profile, *listed)


def test_helpers_make_the_same_plan(
    baseline: Baseline, monkeypatch: pytest.MonkeyPatch, helped: None
) -> None:
    settings = tiny.settings(baseline.corpus, problems=("level1/023", "test/one", "test/two"))
    with_helpers = problems_and_hashes(settings)
    monkeypatch.setattr(decisions, "cores", lambda: 1)
    assert with_helpers == problems_and_hashes(settings)


def test_launch_faults_have_the_source_of_their_substrate(baseline: Baseline, helped: None) -> None:
    planned = build_plan(tiny.settings(baseline.corpus)).problems[0]
    launch = [i for i in planned.implementations if i.is_launch_fault]
    assert launch
    assert all(i.source is planned.implementations[0].source for i in launch)


def test_helpers_say_what_is_wrong_like_anybody(tmp_path: Path, helped: None) -> None:
    corpus = tiny.write_corpus(tmp_path / "corpus")
    definition = corpus / "two" / "problem.py"
    definition.write_text(definition.read_text().replace('pointer("y")', 'pointer("z")'))
    with pytest.raises(UserError, match="pointer 'z' names no tensor") as helped_error:
        build_plan(tiny.settings(corpus))
    assert str(helped_error.value).startswith(str(definition))


class Stop(Notes):
    """Interrupts a campaign at once."""

    def cells(self, done: int, total: int, before: int = 0) -> None:
        raise KeyboardInterrupt


def test_definitions_that_a_campaign_has_checked_are_not_checked_again(
    baseline: Baseline, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    checked: list[str] = []

    def seen(problem: Problem) -> None:
        checked.append(problem.id)

    monkeypatch.setattr(decisions, "validate", seen)
    root = tmp_path / "matrix"
    with pytest.raises(UserError, match="interrupted"):
        run.start(root, tiny.settings(baseline.corpus), FakeDevice(), Stop())
    assert checked == ["test/one", "test/two"]
    frozen = Layout(root).frozen
    written = frozen.read_text()
    # Another version may check other things.
    frozen.write_text(written.replace('"version": "', '"version": "0'))
    with pytest.raises(UserError, match="interrupted"):
        run.resume(root, FakeDevice(), Stop())
    assert checked == ["test/one", "test/two"] * 2
    frozen.write_text(written)
    run.resume(root, FakeDevice(), Silent())
    assert checked == ["test/one", "test/two"] * 2
    assert tiny.cell_hashes(root) == baseline.hashes


def test_definitions_other_than_those_checked_are_checked(
    baseline: Baseline, monkeypatch: pytest.MonkeyPatch
) -> None:
    checked: list[str] = []
    monkeypatch.setattr(decisions, "validate", lambda problem: checked.append(problem.id))
    build_plan(tiny.settings(baseline.corpus), "0" * 64)
    assert checked == ["test/one", "test/two"]
