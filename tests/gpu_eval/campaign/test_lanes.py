"""Several cells of an input at once: the same matrix, the right culprits, and nobody runs twice."""

from collections import Counter
from dataclasses import dataclass
from pathlib import Path

import pytest

from gpu_eval.campaign.progress import Silent
from gpu_eval.campaign.run import start
from gpu_eval.campaign.side_by_side import AHEAD
from tests.gpu_eval.campaign import tiny
from tests.gpu_eval.campaign.conftest import Baseline
from tests.gpu_eval.campaign.fake import FakeDevice
from tests.gpu_eval.campaign.test_device_lost import Notes

# What a mutant does, on which inputs: none of them is the first of its scope, on which each runs
# by itself.
ACTS = {
    "lose": "lose on :own-x0.01",
    "poison": "poison on witness",
    "lose as well": "lose on :own-x0.01",
    "raise": "raise on :impulse-last",
    "scribble": "scribble on :heavy-tail",
    "out_of_bounds": "out_of_bounds on :alternating",
    "race": "race",
    "unwritten": "unwritten",
    "far": "far",
    "timeout": "timeout",
}
DEVICE_LOST = ("lose", "lose as well", "poison")


def runs_of(log: Path) -> Counter[str]:
    """Return how often each implementation ran on each input under each schedule."""
    return Counter(log.read_text().splitlines())


def batches_of(log: Path) -> list[tuple[str, list[str]]]:
    """Return the input and the implementations of each batch."""
    lines = Path(f"{log}.batches").read_text().splitlines()
    parts = [line.rsplit("|", 1) for line in lines]
    return [(key, names.split(" & ")) for key, names in parts]


@pytest.mark.parametrize("lanes", [2, 5])
def test_the_matrix_is_the_same_with_any_number_of_lanes(
    baseline: Baseline, tmp_path: Path, lanes: int
) -> None:
    log = tmp_path / "log"
    device = FakeDevice(lane_count=lanes, log=str(log))
    start(tmp_path / "matrix", tiny.settings(baseline.corpus, lanes=lanes), device, Silent())
    assert tiny.cell_hashes(tmp_path / "matrix") == baseline.hashes
    assert set(runs_of(log).values()) == {1}
    sizes = Counter(len(names) for _, names in batches_of(log))
    assert max(sizes) <= AHEAD * lanes
    assert min(sizes) > 1
    assert sum(size > lanes for size in sizes.elements()) > 100


@pytest.mark.parametrize(("asked", "there"), [(1, 5), (5, 1)])
def test_no_more_lanes_than_asked_for_and_than_there_are(
    baseline: Baseline, tmp_path: Path, asked: int, there: int
) -> None:
    log = tmp_path / "log"
    settings = tiny.settings(baseline.corpus, problems=("test/two",), lanes=asked)
    device = FakeDevice(lane_count=there, log=str(log))
    start(tmp_path / "matrix", settings, device, Silent())
    assert not Path(f"{log}.batches").exists()


@dataclass(frozen=True)
class Troubled:
    """A campaign with one mutant of each act."""

    root: Path
    log: Path
    notes: list[str]


@pytest.fixture(scope="module")
def victims(baseline: Baseline) -> dict[str, str]:
    mutants = tiny.mutants(baseline.corpus)
    return {act: mutants[2 * place] for place, act in enumerate(ACTS)}


def troubled(baseline: Baseline, victims: dict[str, str], directory: Path, lanes: int) -> Troubled:
    log, notes = directory / "log", Notes()
    acts = {victims[name]: act for name, act in ACTS.items()}
    device = FakeDevice(acts=acts, lane_count=lanes, log=str(log), isolated=True, standby=1)
    settings = tiny.settings(
        baseline.corpus,
        problems=("test/one",),
        lanes=lanes,
        block=12,
    )
    start(directory / "matrix", settings, device, notes)
    return Troubled(directory / "matrix", log, notes.notes)


@pytest.fixture(scope="module")
def one_by_one(
    baseline: Baseline, victims: dict[str, str], tmp_path_factory: pytest.TempPathFactory
) -> Troubled:
    return troubled(baseline, victims, tmp_path_factory.mktemp("single"), 1)


@pytest.fixture(scope="module")
def together(
    baseline: Baseline, victims: dict[str, str], tmp_path_factory: pytest.TempPathFactory
) -> Troubled:
    return troubled(baseline, victims, tmp_path_factory.mktemp("many"), 5)


def test_trouble_in_a_batch_leaves_the_same_matrix(
    one_by_one: Troubled, together: Troubled
) -> None:
    assert tiny.cell_hashes(together.root) == tiny.cell_hashes(one_by_one.root)


def test_the_culprit_is_named_and_nobody_else(
    one_by_one: Troubled, together: Troubled, victims: dict[str, str]
) -> None:
    assert sorted(together.notes) == sorted(one_by_one.notes)
    named = {note.split(" on ")[0] for note in together.notes if " on " in note}
    assert named == {victims[act] for act in DEVICE_LOST}


def test_every_victim_did_it_beside_others(together: Troubled, victims: dict[str, str]) -> None:
    """Otherwise the tests above would say nothing of batches."""
    for act in ("lose", "poison", "raise", "scribble", "out_of_bounds"):
        where = ACTS[act].partition(" on ")[2]
        assert any(
            where in key and victims[act] in names and len(names) > 1
            for key, names in batches_of(together.log)
        ), act


def test_only_inputs_that_a_batch_was_lost_on_run_again(
    one_by_one: Troubled, together: Troubled
) -> None:
    alone, runs = runs_of(one_by_one.log), runs_of(together.log)
    assert set(runs) == set(alone)
    extra = runs - alone
    again = {line.split("|")[2] for line in extra}
    lost = [where for name, act in ACTS.items() for where in [act.partition(" on ")[2]] if where]
    assert again
    assert {name for name in again if not any(where in name for where in lost)} == set()
    # A batch is lost once on an input of a block.
    assert max(extra.values()) <= 2


def test_who_wrote_outside_or_was_fatal_runs_alone_afterwards(
    together: Troubled, victims: dict[str, str]
) -> None:
    batches = batches_of(together.log)
    for act in ("out_of_bounds", "raise"):
        where = ACTS[act].partition(" on ")[2]
        places = [i for i, (key, names) in enumerate(batches) if victims[act] in names]
        last = max(i for i in places if where in batches[i][0])
        assert places[-1] == last
    assert not any(victims["timeout"] in names for _, names in batches)


def test_a_process_that_ends_in_a_batch_is_no_ones_fault_yet(
    baseline: Baseline, tmp_path: Path
) -> None:
    mutants = tiny.mutants(baseline.corpus, "test/two")
    acts = {mutants[3]: "die on :pairs-mirror", mutants[11]: "hang on :sparse-16"}
    roots, told = [], []
    for lanes in (1, 3):
        settings = tiny.settings(
            baseline.corpus,
            problems=("test/two",),
            lanes=lanes,
            deadline_floor=0.02,
            hang_seconds=0.5,
        )
        notes = Notes()
        device = FakeDevice(acts=acts, lane_count=lanes, isolated=True)
        start(tmp_path / str(lanes), settings, device, notes)
        roots.append(tiny.cell_hashes(tmp_path / str(lanes)))
        told.append(sorted(notes.notes))
    assert roots[0] == roots[1]
    assert told[0] == told[1]
    assert [note.split(": ")[0] for note in told[0]] == sorted(
        (f"{mutants[3]} on test/two:pairs-mirror", f"{mutants[11]} on test/two:sparse-16")
    )


def test_lost_batches_do_not_end_a_campaign(baseline: Baseline, tmp_path: Path) -> None:
    """However many inputs of a block they happen on: only deaths without a reason do."""
    mutants = tiny.mutants(baseline.corpus, "test/two")
    wheres = (":own-x0.01", ":own-x-1", ":offset-1000", ":pairs-mirror", ":sparse-16")
    acts = {mutant: f"poison on {where}" for mutant, where in zip(mutants, wheres, strict=False)}
    settings = tiny.settings(baseline.corpus, problems=("test/two",), lanes=4)
    notes = Notes()
    device = FakeDevice(acts=acts, lane_count=4, isolated=True, standby=1)
    start(tmp_path / "matrix", settings, device, notes)
    told = [note.split(": crash")[0] for note in notes.notes if " on " in note]
    assert sorted(told) == sorted(
        f"{mutant} on test/two{where}" for mutant, where in zip(mutants, wheres, strict=False)
    )
