"""Runs that take the device with them: the worker says so and ends, nobody else pays."""

from collections import Counter
from dataclasses import dataclass, replace
from pathlib import Path

import pandas as pd
import pytest

from gpu_eval.campaign.progress import Reporter, Silent
from gpu_eval.campaign.run import start
from suiteopt.errors import UserError
from suiteopt.matrix.store import Matrix
from tests.gpu_eval.campaign import tiny
from tests.gpu_eval.campaign.conftest import Baseline
from tests.gpu_eval.campaign.fake import FakeDevice


class Notes(Reporter):
    """Keeps what it is told."""

    def __init__(self) -> None:
        self.notes: list[str] = []

    def stage(self, text: str) -> None:
        pass

    def cells(self, done: int, total: int, before: int = 0) -> None:
        pass

    def note(self, text: str) -> None:
        self.notes.append(text)


@dataclass(frozen=True)
class Lost:
    """A campaign in which two mutants lose the device."""

    root: Path
    notes: Notes
    victims: tuple[str, str]
    closed: Path


@pytest.fixture(scope="module", params=["alone", "isolated", "several places"])
def lost(
    baseline: Baseline, tmp_path_factory: pytest.TempPathFactory, request: pytest.FixtureRequest
) -> Lost:
    directory = tmp_path_factory.mktemp("lost")
    mutants = tiny.mutants(baseline.corpus)
    victims = (mutants[2], mutants[7])
    closed = directory / "closed"
    device = FakeDevice(acts={victims[0]: "lose", victims[1]: "poison"}, closed=str(closed))
    notes = Notes()
    settings = tiny.settings(baseline.corpus, problems=("test/one",))
    if request.param != "alone":
        # Blocks go on where a lost worker left them, in a worker that stood by.
        device = replace(device, isolated=True, standby=1)
        settings = replace(settings, compilers=1)
    if request.param == "several places":
        device = replace(device, places=2)
    start(directory / "matrix", settings, device, notes)
    return Lost(directory / "matrix", notes, victims, closed)


@pytest.mark.parametrize(("victim", "status"), [(0, "timeout"), (1, "crash")])
def test_the_outcome_is_recorded_and_the_mutant_closed(
    lost: Lost, victim: int, status: str
) -> None:
    cells = tiny.cells_of(lost.root, lost.victims[victim])
    counts = cells["status"].value_counts()
    assert set(counts[counts > 0].index) == {status, "closed"}
    assert counts[status] == 2
    row = tiny.row_of(lost.root, lost.victims[victim])
    assert (row["witness"], row["witness_how"]) == ("contract", status)


def test_no_cell_is_tried_twice(lost: Lost) -> None:
    """What the worker knows is a verdict, not a suspicion: one loss for each of two inputs."""
    for victim in lost.victims:
        told = [note for note in lost.notes.notes if note.startswith(f"{victim} on ")]
        assert len(told) == 2
        assert len(set(told)) == 2


def test_a_lost_session_is_not_closed(lost: Lost) -> None:
    assert not lost.closed.exists()


def test_all_others_are_as_if_nothing_had_happened(baseline: Baseline, lost: Lost) -> None:
    ours, theirs = (Matrix.open(r).cells("test/one") for r in (lost.root, baseline.root))
    kept = [
        cells[~cells["implementation"].astype(str).isin(lost.victims)]
        .astype({"implementation": str, "input": str, "status": str})
        .reset_index(drop=True)
        for cells in (ours, theirs)
    ]
    assert len(kept[0]) > 1000
    assert kept[0].equals(kept[1].astype(kept[0].dtypes.to_dict()))


def test_a_timeout_that_does_not_come_back_is_none(baseline: Baseline, tmp_path: Path) -> None:
    """A dying neighbour on a GPU takes everybody's time: the cell is looked at again."""
    victim = tiny.mutants(baseline.corpus)[4]
    device = FakeDevice(
        acts={victim: "lose"}, once=str(tmp_path / "once"), isolated=True, standby=1
    )
    settings = tiny.settings(baseline.corpus, problems=("test/one",))
    notes = Notes()
    start(tmp_path / "matrix", settings, device, notes)
    assert (tmp_path / "once").exists()
    assert notes.notes == []
    ours, theirs = (Matrix.open(r).cells("test/one") for r in (tmp_path / "matrix", baseline.root))
    assert ours.equals(theirs)


def test_a_block_goes_on_where_a_lost_worker_left_it(baseline: Baseline, tmp_path: Path) -> None:
    """Only the lost input's cells run a second time: nobody had looked at their references."""
    mutants = tiny.mutants(baseline.corpus)
    settings = replace(tiny.settings(baseline.corpus, problems=("test/one",)), jobs=1)
    logs = []
    for name, acts in (("calm", {}), ("lost", {mutants[5]: "poison", mutants[9]: "poison"})):
        log = tmp_path / f"{name}.log"
        device = FakeDevice(acts=acts, log=str(log), isolated=True)
        start(tmp_path / name, settings, device, Silent())
        logs.append(Counter(log.read_text().splitlines()))
    calm, troubled = logs
    assert max(calm.values()) == 1
    again = {line: count for line, count in troubled.items() if count > 1}
    assert len({line.split("|")[2] for line in again}) == 2
    assert set(again.values()) <= {2, 3}
    assert set(troubled) <= set(calm)


def _cells(root: Path) -> pd.DataFrame:
    cells = Matrix.open(root).cells("test/one")
    return cells.astype({"implementation": str, "input": str, "status": str})


def test_who_writes_over_the_references_is_found_and_nobody_else_pays(
    baseline: Baseline, tmp_path: Path
) -> None:
    victims = [tiny.mutants(baseline.corpus)[3], tiny.mutants(baseline.corpus)[7]]
    settings = tiny.settings(baseline.corpus, problems=("test/one",))
    acts = dict.fromkeys(victims, "scribble")
    start(tmp_path / "matrix", settings, FakeDevice(acts=acts, isolated=True), Silent())
    ours, theirs = _cells(tmp_path / "matrix"), _cells(baseline.root)
    hit = ours["implementation"].isin(victims)
    assert set(ours["status"][hit]) == {"out_of_bounds"}
    assert ours[~hit].equals(theirs[~hit])
    # What they computed themselves is judged by fresh references (a repeat computes from what the
    # first run has left).
    hit &= theirs["repeats"] == 1
    columns = [name for name in ours.columns if name != "status"]
    pd.testing.assert_frame_equal(ours[hit][columns], theirs[hit][columns])


def test_a_reference_damaged_between_two_blocks_is_made_anew(
    baseline: Baseline, tmp_path: Path
) -> None:
    """Cases outlive a block, and so would the damage."""
    victim = tiny.mutants(baseline.corpus)[3]
    settings = replace(tiny.settings(baseline.corpus, problems=("test/one",)), jobs=1, block=4)
    device = FakeDevice(acts={victim: "scribble"}, isolated=True)
    start(tmp_path / "matrix", settings, device, Silent())
    ours, theirs = _cells(tmp_path / "matrix"), _cells(baseline.root)
    others = ours["implementation"] != victim
    assert ours[others].equals(theirs[others])


def test_a_device_that_breaks_between_cells_costs_a_worker_and_nothing_else(
    baseline: Baseline, tmp_path: Path
) -> None:
    victim = tiny.mutants(baseline.corpus)[4]
    settings = replace(tiny.settings(baseline.corpus, problems=("test/one",)), jobs=1)
    device = FakeDevice(acts={victim: "late"}, once=str(tmp_path / "once"), isolated=True)
    notes = Notes()
    start(tmp_path / "matrix", settings, device, notes)
    assert (tmp_path / "once").exists()
    (note,) = notes.notes
    assert "lost between two cells of test/one" in note
    assert _cells(tmp_path / "matrix").equals(_cells(baseline.root))


def test_a_device_that_always_breaks_between_cells_ends_the_campaign_in_a_sentence(
    baseline: Baseline, tmp_path: Path
) -> None:
    victim = tiny.mutants(baseline.corpus)[4]
    settings = replace(tiny.settings(baseline.corpus, problems=("test/one",)), jobs=1)
    with pytest.raises(UserError, match="outside any kernel"):
        start(
            tmp_path / "matrix",
            settings,
            FakeDevice(acts={victim: "late"}, isolated=True),
            Silent(),
        )
