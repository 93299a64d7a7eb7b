"""A matrix of the whole problems of a campaign, which is left as it is and goes on afterwards."""

import json
import shutil
from pathlib import Path

import pandas as pd
import pytest

from gpu_eval.campaign import whole_problems
from gpu_eval.campaign.layout import Layout
from gpu_eval.campaign.lock import locked
from gpu_eval.campaign.merge import merge_matrices
from gpu_eval.campaign.progress import Silent
from gpu_eval.campaign.run import resume, start
from gpu_eval.cli.main import run
from suiteopt.errors import UserError
from suiteopt.matrix.files import sha256
from suiteopt.matrix.store import Matrix
from tests.command import Command
from tests.gpu_eval.campaign import tiny
from tests.gpu_eval.campaign.conftest import Baseline
from tests.gpu_eval.campaign.fake import FakeDevice


class UntilMeasured(Silent):
    """Interrupts a campaign before its matrix is written."""

    def stage(self, text: str) -> None:
        if text == "writing the matrix":
            raise KeyboardInterrupt


def measured(root: Path, corpus: Path, device: FakeDevice) -> Path:
    with pytest.raises(UserError, match="interrupted"):
        start(root, tiny.settings(corpus, block=6), device, UntilMeasured())
    return root


def lose(root: Path, problem: str) -> None:
    """Take a block of a problem away, as if it had not been measured yet."""
    notes = sorted(Layout(root).shards.glob("block-*.json"))
    next(p for p in notes if json.loads(p.read_text())["problem"] == problem).unlink()


@pytest.fixture(scope="module")
def unfinished(baseline: Baseline, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A campaign of which ``test/one`` is whole: of a block of it each mutant ran alone."""
    device = FakeDevice(acts={tiny.mutants(baseline.corpus)[4]: "corrupt"})
    root = measured(tmp_path_factory.mktemp("part") / "campaign", baseline.corpus, device)
    assert '"event": "shatter"' in Layout(root).journal.read_text()
    lose(root, "test/two")
    return root


@pytest.fixture
def gpu_eval(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Command:
    return Command("gpu-eval", run, monkeypatch, capsys)


def everything(root: Path) -> dict[str, str]:
    files = [path for path in root.rglob("*") if path.is_file()]
    return {str(path): f"{path.stat().st_mtime_ns} {sha256(path.read_bytes())}" for path in files}


def test_whole_problems_of_a_campaign_that_goes_on(
    gpu_eval: Command, baseline: Baseline, unfinished: Path, tmp_path: Path
) -> None:
    root, output = tmp_path / "campaign", tmp_path / "new" / "part"
    shutil.copytree(unfinished, root)
    before = everything(root)
    told = gpu_eval("assemble", root, "--output", output)
    assert told.out == (
        f"{output} holds 1 problems of 2; the other 1 go on with 'gpu-eval resume {root}'\n"
    )
    assert everything(root) == before
    assert [path.name for path in output.parent.iterdir()] == ["part"]
    part = Matrix.open(output)
    part.verify()
    assert part.problem_ids == ("test/one",)
    assert part.meta.complete
    assert part.meta.device == {"name": "fake", "model": "none"}
    assert part.meta.command == f"gpu-eval run; gpu-eval assemble {root} --output {output}"
    assert list(part.meta.raw["worker_seconds"]["problems"]) == ["test/one"]
    two = merge_matrices([baseline.root], tmp_path / "two", "c", problems=["test/two"])
    both = merge_matrices([output, two.path], tmp_path / "both", "c")

    resume(root, FakeDevice(), Silent())
    finished = Matrix.open(root)
    for table in ("problems", "implementations", "inputs"):
        theirs: pd.DataFrame = getattr(finished, table)
        kept = theirs[theirs["problem"] == "test/one"].reset_index(drop=True)
        ours: pd.DataFrame = getattr(part, table)
        pd.testing.assert_frame_equal(ours.astype(object), kept.astype(object), check_dtype=False)
    assert tiny.cell_hashes(output)["test-one.parquet"] == baseline.hashes["test-one.parquet"]
    assert tiny.cell_hashes(root) == baseline.hashes
    for problem in ("test/one", "test/two"):
        pd.testing.assert_frame_equal(both.cells(problem), finished.cells(problem))
    over = gpu_eval("assemble", root, "--output", tmp_path / "again")
    assert (over.code, over.sentence) == (2, f"{root} is a matrix already; use it as it is")
    assert not (tmp_path / "again").exists()


def test_while_the_campaign_runs(gpu_eval: Command, unfinished: Path, tmp_path: Path) -> None:
    root, output = tmp_path / "campaign", tmp_path / "part"
    shutil.copytree(unfinished, root)
    output.mkdir()
    with locked(Layout(root).lock):
        answer = gpu_eval("assemble", root, "--output", output, "--json").json
    assert answer == {
        "matrix": str(output),
        "id": Matrix.open(output).meta.id,
        "problems": ["test/one"],
        "missing": ["test/two"],
    }


def test_a_campaign_that_does_not_say_its_device(
    gpu_eval: Command, baseline: Baseline, unfinished: Path, tmp_path: Path
) -> None:
    root, output = tmp_path / "campaign", tmp_path / "part"
    shutil.copytree(unfinished, root)
    journal = Layout(root).journal
    lines = [json.loads(line) for line in journal.read_text().splitlines()]
    for line in lines:
        line.pop("device", None)
    journal.write_text("".join(json.dumps(line) + "\n" for line in lines))
    silent = gpu_eval("assemble", root, "--output", output)
    assert (silent.code, silent.out) == (2, "")
    assert "does not say what it was measured on" in silent.sentence
    named = gpu_eval("assemble", root, "--output", output, "--device-of", baseline.root, "--json")
    assert named.json["problems"] == ["test/one"]


def test_of_two_devices_the_one_with_more(unfinished: Path, tmp_path: Path) -> None:
    root = tmp_path / "campaign"
    shutil.copytree(unfinished, root)
    with Layout(root).journal.open("a") as journal:
        journal.write('{"event": "sitting", "device": {"name": "fake", "model": "new"}}\n')
    whole_problems.assemble_whole(root, tmp_path / "part", "c", Silent())
    assert Matrix.open(tmp_path / "part").meta.device["model"] == "none"


def test_refusals(
    gpu_eval: Command, unfinished: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    root, output = tmp_path / "campaign", tmp_path / "part"
    shutil.copytree(unfinished, root)
    (tmp_path / "mine").mkdir()
    (tmp_path / "mine" / "notes.txt").write_text("mine")
    for campaign, place, expected in (
        (tmp_path / "nowhere", output, "holds no campaign"),
        (root, tmp_path / "mine", "is not empty"),
        (root, tmp_path / "mine" / "notes.txt", "is not empty"),
        (root, Layout(root).work / "part", "lies in the campaign"),
        (root, root, "lies in the campaign"),
    ):
        answer = gpu_eval("assemble", campaign, "--output", place)
        assert (answer.code, answer.out) == (2, "")
        assert expected in answer.sentence

    def ends(stage: Path, *_: object) -> None:
        (stage / "half").write_text("")
        Layout(root).settings.rename(tmp_path / "settings.json")
        raise FileNotFoundError

    with monkeypatch.context() as patched:
        patched.setattr(whole_problems, "assemble", ends)
        answer = gpu_eval("assemble", root, "--output", output)
    assert (answer.code, answer.out) == (2, "")
    assert answer.sentence.endswith(f"has ended meanwhile; {root} is its matrix")
    (tmp_path / "settings.json").rename(Layout(root).settings)
    lose(root, "test/one")
    answer = gpu_eval("assemble", root, "--output", output)
    assert (answer.code, answer.out) == (2, "")
    assert f"is whole yet; go on with 'gpu-eval resume {root}'" in answer.sentence
    assert sorted(path.name for path in tmp_path.iterdir()) == ["campaign", "mine"]
