"""Mutants that crash, hang, raise, race and corrupt: recorded as such, and nobody else pays."""

from dataclasses import dataclass
from pathlib import Path

import pandas as pd
import pytest

from gpu_eval.campaign.progress import Reporter
from gpu_eval.campaign.run import start
from suiteopt.errors import UserError
from suiteopt.matrix.store import Matrix
from tests.gpu_eval.campaign import tiny
from tests.gpu_eval.campaign.conftest import Baseline
from tests.gpu_eval.campaign.fake import FakeDevice

ACTS = (
    "die",
    "raise",
    "timeout",
    "race",
    "out_of_bounds",
    "unwritten",
    "nan",
    "far",
    "hang",
    "launch_error",
    "stillborn",
)


class Notes(Reporter):
    """Keeps what it is told."""

    def __init__(self) -> None:
        self.notes: list[str] = []
        self.last = (0, 0)

    def stage(self, text: str) -> None:
        pass

    def cells(self, done: int, total: int, before: int = 0) -> None:
        self.last = (done, total)

    def note(self, text: str) -> None:
        self.notes.append(text)


@dataclass(frozen=True)
class Disturbed:
    """A campaign with one mutant of each act."""

    root: Path
    notes: Notes
    victims: dict[str, str]


@pytest.fixture(scope="module")
def disturbed(baseline: Baseline, tmp_path_factory: pytest.TempPathFactory) -> Disturbed:
    root = tmp_path_factory.mktemp("disturbed") / "matrix"
    mutants = tiny.mutants(baseline.corpus)
    victims = {act: mutants[2 * i] for i, act in enumerate(ACTS)}
    acts = {name: act for act, name in victims.items() if act != "stillborn"}
    device = FakeDevice(acts=acts, stillborn=(victims["stillborn"],))
    notes = Notes()
    start(root, tiny.settings(baseline.corpus, problems=("test/one",)), device, notes)
    return Disturbed(root, notes, victims)


def fatal(cells: pd.DataFrame, status: str) -> None:
    """Two fatal inputs of the contract's shape close a mutant; odd shapes only each other."""
    counts = cells["status"].value_counts()
    assert set(counts[counts > 0].index) == {status, "closed"}
    odd = cells.index.str.contains("@")
    assert (cells["status"][odd] == status).sum() <= 2
    assert (cells["status"][~odd] == status).sum() == 2
    assert cells["rms"].isna().all()


@pytest.mark.parametrize(
    ("act", "status"),
    [("die", "crash"), ("raise", "crash"), ("timeout", "timeout"), ("hang", "timeout")],
)
def test_fatal_mutants(disturbed: Disturbed, act: str, status: str) -> None:
    name = disturbed.victims[act]
    fatal(tiny.cells_of(disturbed.root, name), status)
    row = tiny.row_of(disturbed.root, name)
    assert (row["witness"], row["witness_how"]) == ("contract", status)


def test_a_refused_launch_closes_nothing(disturbed: Disturbed) -> None:
    """It costs no context, and at the next shape the launch need not be refused."""
    name = disturbed.victims["launch_error"]
    cells = tiny.cells_of(disturbed.root, name)
    assert set(cells["status"]) == {"launch_error"}
    assert len(cells) == len(Matrix.open(disturbed.root).inputs_of("test/one"))
    row = tiny.row_of(disturbed.root, name)
    assert (row["witness"], row["witness_how"]) == ("contract", "launch_error")


@pytest.mark.parametrize(
    ("act", "how"),
    [
        ("out_of_bounds", "out_of_bounds"),
        ("unwritten", "unwritten"),
        ("nan", "nonfinite"),
        ("far", "error"),
    ],
)
def test_measured_mutants(disturbed: Disturbed, act: str, how: str) -> None:
    row = tiny.row_of(disturbed.root, disturbed.victims[act])
    assert (row["witness"], row["witness_how"]) == ("contract", how)


def test_nan_is_counted(disturbed: Disturbed) -> None:
    root, victims = disturbed.root, disturbed.victims
    cell = tiny.cells_of(root, victims["nan"]).loc["test/one:own-0"]
    assert cell["status"] == "nonfinite"
    assert (cell["nan_one"], cell["nan_both"], cell["nonfinite_output"]) == (9, 0, 9)


def test_race_is_looked_at_on_every_input(disturbed: Disturbed) -> None:
    root, victims = disturbed.root, disturbed.victims
    cells = tiny.cells_of(root, victims["race"])
    assert (cells["repeats"] == 2).all()
    assert (cells["disagreed"] == 1).all()
    assert (cells["rms_max"] > cells["rms"]).all()


def test_later_own_draws_of_a_far_mutant_are_decided(disturbed: Disturbed) -> None:
    root, victims = disturbed.root, disturbed.victims
    far = tiny.cells_of(root, victims["far"])
    decided = far.index[far["status"] == "decided"]
    assert sorted(decided) == [f"test/one:own-{draw}" for draw in (1, 2, 3, 4)]
    assert far.loc["test/one:own-0", "status"] == "ok"
    table = Matrix.open(root).cells("test/one")
    others = table[table["status"] == "decided"]["implementation"].astype(str).unique()
    assert list(others) == [victims["far"]]


def test_stillborn_keeps_the_compilers_message(disturbed: Disturbed) -> None:
    root, victims = disturbed.root, disturbed.victims
    row = tiny.row_of(root, victims["stillborn"])
    assert (row["class"], row["error"]) == ("stillborn", "error: expected ';'")
    assert tiny.cells_of(root, row["implementation"]).empty


def test_all_others_are_as_if_nothing_had_happened(
    baseline: Baseline, disturbed: Disturbed
) -> None:
    root, notes = disturbed.root, disturbed.notes.notes
    ours, theirs = (Matrix.open(r).cells("test/one") for r in (root, baseline.root))
    kept = [
        cells[~cells["implementation"].astype(str).isin(disturbed.victims.values())]
        .astype({"implementation": str, "input": str, "status": str})
        .reset_index(drop=True)
        for cells in (ours, theirs)
    ]
    assert len(kept[0]) > 1000
    pd.testing.assert_frame_equal(kept[0], kept[1], check_dtype=False)
    assert any(disturbed.victims["die"] in note and "crash" in note for note in notes)
    assert f"{disturbed.victims['raise']}: the device raised RuntimeError: sticky error" in notes
    assert any(disturbed.victims["hang"] in note and "timeout" in note for note in notes)


def test_corrupted_memory_is_not_paid_by_others(baseline: Baseline, tmp_path: Path) -> None:
    device = FakeDevice(acts={tiny.mutants(baseline.corpus)[4]: "corrupt"})
    changed = tiny.settings(baseline.corpus, problems=("test/one",), block=6)
    start(tmp_path / "matrix", changed, device, Notes())
    ours, theirs = (Matrix.open(r).cells("test/one") for r in (tmp_path / "matrix", baseline.root))
    assert not ours["status"].isin(["crash", "closed"]).any()
    pd.testing.assert_frame_equal(ours, theirs)


def test_a_worker_killed_from_outside_changes_nothing(baseline: Baseline, tmp_path: Path) -> None:
    device = FakeDevice(acts={tiny.mutants(baseline.corpus)[9]: "die"}, once=str(tmp_path / "once"))
    start(tmp_path / "matrix", tiny.settings(baseline.corpus), device, Notes())
    assert (tmp_path / "once").exists()
    assert tiny.cell_hashes(tmp_path / "matrix") == baseline.hashes


def test_a_sentence_from_a_worker_reaches_the_user(baseline: Baseline, tmp_path: Path) -> None:
    device = FakeDevice(acts={":substrate:": "user_error"})
    with pytest.raises(UserError, match="the compiler is gone; install it"):
        start(tmp_path / "matrix", tiny.settings(baseline.corpus), device, Notes())
