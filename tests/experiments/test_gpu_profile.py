"""Where worker-seconds went: read from campaigns and packs whose notes are known."""

import json
from pathlib import Path

import numpy as np
import pytest

from experiments import campaign_seconds, gpu_campaign, gpu_profile
from gpu_eval.campaign import checkpoint
from gpu_eval.campaign.cells import RECORD, STATUS_CODES
from gpu_eval.campaign.checkpoint import Progress
from gpu_eval.campaign.estimate import cell_seconds
from gpu_eval.campaign.layout import Layout
from gpu_eval.campaign.plan import CampaignPlan, build_plan
from gpu_eval.campaign.run import start
from gpu_eval.campaign.settings import Settings
from gpu_eval.problems.loader import load_corpus
from suiteopt.errors import UserError
from suiteopt.matrix.schema import Status
from tests.gpu_eval.campaign import tiny
from tests.gpu_eval.campaign.fake import FakeDevice
from tests.gpu_eval.campaign.test_device_lost import Notes

PROBLEM = "level1/019"


class Stop(Notes):
    """Interrupts a campaign once a base task is done."""

    def __init__(self, journal: Path) -> None:
        super().__init__()
        self.journal = journal

    def cells(self, done: int, total: int, before: int = 0) -> None:
        if '"key": "base-' in self.journal.read_text():
            raise KeyboardInterrupt


def _shard(layout: Layout, key: str, seconds: dict[str, float], **notes: object) -> None:
    cells = np.zeros(3, dtype=RECORD)
    cells["input"] = (0, 1, 1)
    cells["repeats"] = (2, 1, 1)
    cells["status"] = [STATUS_CODES[s] for s in (Status.OK, Status.CRASH, Status.CLOSED)]
    np.save(layout.shards / f"{key}.npy", cells, allow_pickle=False)
    document = {"facts": {}, "seconds": seconds, **notes}
    (layout.shards / f"{key}.json").write_text(json.dumps(document))


@pytest.fixture
def campaign(tmp_path: Path) -> tuple[Path, CampaignPlan]:
    """Return one of two sittings: a base task, two blocks, a block that was not finished."""
    root = tmp_path / "matrix"
    layout = Layout(root)
    layout.shards.mkdir(parents=True)
    settings = Settings("demo", "cuda", problems=(PROBLEM,), jobs=2)
    layout.settings.write_text(settings.to_json())
    plan = build_plan(settings)
    layout.frozen.write_text(json.dumps(plan.frozen()))
    _shard(layout, "base-a", {"inputs": 1.0, "controls": 2.0}, facts={f"{PROBLEM}:own-0": {}})
    _shard(layout, "block-b", {"inputs": 3.0, "kernels": 9.0}, problem=PROBLEM)
    _shard(layout, "block-c", {"kernels": 1.0})
    checkpoint.save(layout.shards, "block-d", Progress(seconds={"kernels": 0.5}))
    crash = {"input": f"{PROBLEM}:own-0", "status": "crash", "message": "gone"}
    crash |= {"event": "verdict", "key": "block-c", "subject": f"{PROBLEM}:scalar.cu:a:1"}
    events: list[dict[str, object]] = [
        {"at": 1.0, "event": "sitting"},
        {"at": 2.0, "event": "done", "key": "compile-x"},
        {"at": 5.0, "event": "done", "key": "base-a"},
        {"at": 2.0, "event": "sitting"},
        {"at": 4.0, **crash},
        {"at": 10.0, "event": "done", "key": "block-b"},
        {"at": 11.0, "event": "done", "key": "block-c"},
        {"at": 12.0, "event": "break"},
    ]
    layout.journal.write_text("".join(json.dumps(e) + "\n" for e in events))
    return root, plan


def test_seconds_by_phase_and_problem(campaign: tuple[Path, CampaignPlan]) -> None:
    root, plan = campaign
    found = campaign_seconds.profile(root, gpus=2, sitting=1)
    assert (found.workers, found.wall) == (4, 14.0)
    assert found.total("base") == {"controls": 2.0, "inputs": 1.0}
    assert found.total("blocks") == {"inputs": 3.0, "kernels": 10.5}
    spent = found.problems[PROBLEM]
    assert (spent.cells, spent.lost, spent.kernels, spent.other) == (9, 1, 10.0, 6.0)
    (problem,) = plan.problems
    first, second = (cell_seconds(problem.problem, i) for i in problem.order[:2])
    assert spent.estimate == pytest.approx(3 * (2 * first + second))
    # The block that took 12 s was done 8 s after its sitting had begun.
    assert found.earlier == 4.0
    assert found.unaccounted == pytest.approx(4 * 14.0 - (16.5 - 4.0))


def test_only_some_sittings(campaign: tuple[Path, CampaignPlan]) -> None:
    found = campaign_seconds.profile(campaign[0], gpus=1, sitting=2)
    assert (found.wall, found.total("base")) == (10.0, {})
    assert found.problems[PROBLEM].cells == 6


def test_time_without_tasks_is_told_apart(campaign: tuple[Path, CampaignPlan]) -> None:
    root, _ = campaign
    assert "- no worker was ready" not in gpu_profile.as_markdown(
        campaign_seconds.profile(root, 2, 1)
    )
    older = {"started": 8, "ready": 6, "starting": 12.0, "lost": {"cell": 2}, "short": 5.0}
    newer = {**older, "interrupted": {"cell": 3.0, "base stopped": 4.0}, "waiting": 2.5}
    with Layout(root).journal.open("a") as journal:
        for at, event in ((12.5, older), (13.0, newer)):
            journal.write(json.dumps({"at": at, "event": "attendance", **event}) + "\n")
    found = campaign_seconds.profile(root, gpus=2, sitting=1)
    present = found.present
    assert (present.started, present.ready, present.starting) == (16, 12, 24.0)
    assert (present.lost, present.short, present.waiting) == ({"cell": 4}, 10.0, 2.5)
    assert present.interrupted == {"base stopped": 4.0, "cell": 3.0}
    assert found.unnoted == pytest.approx(4 * 15.0 - (16.5 - 4.0) - 12.5)
    text = gpu_profile.as_markdown(found)
    assert "| - no worker was ready (lost contexts, starting) | | 10 | 16.7% |" in text
    assert "| - there was nothing to do | | 2 | 4.2% |" in text
    assert "16 workers were started, and 2.0 s passed until one was ready." in text
    assert "Ended at a task: cell 4." in text
    assert "by how: base stopped 4, cell 3." in text


def test_a_pack_is_read_too(
    campaign: tuple[Path, CampaignPlan], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    root, _ = campaign
    gpu_campaign.pack(root, tmp_path / "pack")
    figures, table = tmp_path / "found.json", tmp_path / "found.md"
    command = [str(tmp_path / "pack"), "--json", str(figures), "--markdown", str(table)]
    assert gpu_profile.main(command) == 0
    written = json.loads(figures.read_text())
    assert written == gpu_profile.as_json(campaign_seconds.profile(root, 1, 1))
    assert table.read_text() == capsys.readouterr().out
    assert "| kernels | 0 | 10 | 37.5% |" in table.read_text()
    with pytest.raises(UserError, match="no campaign"):
        gpu_profile.main([str(tmp_path)])


def test_a_real_campaign_says_whose_its_tasks_are(tmp_path: Path) -> None:
    corpus = tiny.write_corpus(tmp_path / "corpus")
    settings = tiny.settings(corpus, jobs=1)
    root = tmp_path / "matrix"
    with pytest.raises(UserError, match="interrupted"):
        start(root, settings, FakeDevice(pause=0.002), Stop(Layout(root).journal))
    found = campaign_seconds.profile(root, gpus=1, sitting=1)
    assert set(found.problems) - {campaign_seconds.UNKNOWN} <= set(load_corpus([corpus]).problems)
    assert found.total("base")["controls"] > 0
    assert sum(spent.estimate for spent in found.problems.values()) > 0
    # What tasks and the absence of workers take is all of the time, but for the moments between.
    assert found.present.started == 1
    assert set(found.present.interrupted) <= {"base stopped", "stopped"}
    assert 0 <= found.present.short <= found.workers * found.wall
