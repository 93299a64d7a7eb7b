"""Stray accesses into the ground around the lanes' arenas, without a GPU."""

from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
import torch

from gpu_eval.devices import cuda_places
from gpu_eval.devices.base import Case, Outcome
from gpu_eval.devices.cuda_case import bound
from gpu_eval.devices.cuda_ground import Ground
from gpu_eval.devices.host import HostDevice
from suiteopt.matrix.schema import Status
from tests.gpu_eval.devices import ground_cases
from tests.gpu_eval.devices.compare_cases import Kernel, compiled_for_host
from tests.gpu_eval.devices.ground_cases import CHUNK, CHUNKS, looked_at, pattern
from tests.gpu_eval.devices.lane_cases import (
    OUTSIDE,
    PLANS,
    Bench,
    Make,
    bench_on,
    good,
    plain,
)
from tests.gpu_eval.devices.stand_in import Event, StandIn, Stream, floats, words

FAR = 40 * CHUNK
"""Beyond the last lane's arena, from the first one on."""


@pytest.fixture(scope="module")
def kernel(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Kernel]:
    binary = compiled_for_host(tmp_path_factory.mktemp("units"))
    with HostDevice().open() as session:
        yield Kernel(session, binary)


@pytest.fixture
def bench(kernel: Kernel, monkeypatch: pytest.MonkeyPatch) -> Make:
    return bench_on(kernel, monkeypatch, grounded=True)


Action = Callable[..., None]


def reading(distance: int) -> Action:
    """Return a kernel whose first element is what it reads so many bytes behind its input."""

    def reads(driver: StandIn, stream: Stream, grid: Any, x: int, out: int, n: int) -> None:
        good(driver, stream, grid, x, out, n)
        floats(out, 1)[0] = floats(x + distance, 1)[0]

    return reads


def writing(distance: int, count: int = 3000, unwritten: int = 0) -> Action:
    """Return a kernel that writes some words so many bytes behind its input."""

    def writes(driver: StandIn, stream: Stream, grid: Any, x: int, out: int, n: int) -> None:
        floats(out, n)[unwritten:] = 2 * floats(x, n)[unwritten:]
        floats(x + distance, count)[:] = 7

    return writes


def ground_of(made: Bench) -> Ground:
    assert made.lanes._ground is not None
    return made.lanes._ground


def is_whole(made: Bench) -> bool:
    """Tell whether every word of the ground is what it should be, where no arena lies."""
    ground = ground_of(made)
    made.driver.settle()
    found = words(ground._base, CHUNKS * CHUNK // 4).reshape(CHUNKS, -1)
    free = np.ones(CHUNKS, bool)
    for stretch in ground._held:
        free[stretch.first : stretch.end] = False
    return bool((found[free] == pattern(CHUNK // 4)).all())


def of_all(made: Bench) -> dict[str, Outcome]:
    return {name: plain(made.run([name]))[0] for name in [*PLANS, *OUTSIDE]}


def test_whoever_stays_inside_is_judged_as_without_a_ground(
    kernel: Kernel, monkeypatch: pytest.MonkeyPatch
) -> None:
    found = [of_all(bench_on(kernel, monkeypatch, grounded)()) for grounded in (False, True)]
    assert found[0] == found[1]
    names = list(PLANS)
    made = bench_on(kernel, monkeypatch, True)(3)
    assert plain(made.run(names)) == [found[0][name] for name in names]
    assert is_whole(made)


@pytest.mark.parametrize("distance", [2 * CHUNK, 30 * CHUNK + 4, FAR, -3 * CHUNK, -4096 - 8])
def test_a_stray_read_finds_the_grounds_word(bench: Make, distance: int) -> None:
    made = bench(0, {"reads": reading(distance)})
    (outcome,) = made.run(["reads"])
    assert outcome.status is Status.OK
    place = (4096 + distance) % CHUNK // 4
    expected = pattern(CHUNK // 4)[place : place + 1].view(np.float32)[0]
    assert made.lanes.outputs()["out"][0] == expected
    # The places of neighbours that ran before are ground again.
    made.run(["good", "near_good", "good", "most"] * 4)
    assert plain(made.run(["reads"])) == plain([outcome])
    assert is_whole(made)


def test_it_finds_the_same_word_from_every_lane(bench: Make) -> None:
    """Here the gap between two lanes is one chunk."""
    made = bench(2, {"reads": reading(2 * CHUNK)})
    (alone,) = plain(made.run(["reads"]))
    assert all(outcome == alone for outcome in plain(made.run(["reads"] * 16)))
    assert len({lane.place for lane in made.lanes._berths.lanes}) == 8


@pytest.mark.parametrize("distance", [FAR, -9 * CHUNK, 2 * CHUNK])
@pytest.mark.parametrize("seed", range(3))
def test_a_stray_write_is_seen_and_the_next_run_finds_clean_ground(
    bench: Make, distance: int, seed: int
) -> None:
    kernels = {"writes": writing(distance, 2048), "reads": reading(distance)}
    made = bench(seed, kernels)
    right, read = plain([*made.run(["good"]), *made.run(["reads"])])
    (outcome,) = plain(made.run(["writes"]))
    assert outcome.status is Status.OUT_OF_BOUNDS
    assert replace(outcome, status=Status.OK, message="") == right
    assert is_whole(made)
    assert plain(made.run(["reads"])) == [read]


@pytest.mark.parametrize("seed", range(4))
def test_who_strays_among_others_is_named_and_nobody_else(bench: Make, seed: int) -> None:
    made = bench(seed, {"writes": writing(FAR)})
    alone = of_all(made) | {"writes": plain(made.run(["writes"]))[0]}
    names = ["good", "most", "writes", "near_good", "zeroed", "good", "writes", "once", "good"]
    assert plain(made.run(names)) == [alone[name] for name in names]
    assert alone["writes"].status is Status.OUT_OF_BOUNDS
    assert is_whole(made)
    harmless = [name for name in names if name != "writes"]
    assert plain(made.run(harmless)) == [alone[name] for name in harmless]


def test_lanes_that_left_their_places_begin_anew_there(bench: Make) -> None:
    """Otherwise a batch after a run alone would find its inputs gone, and run again one by one."""
    made = bench()
    alone = of_all(made)
    for _ in range(2):
        before = made.driver.launched
        names = ["good", "near_good", "not_a_number", "good"]
        assert plain(made.run(names)) == [alone[name] for name in names]
        assert made.driver.launched - before == 8
        made.run(["good"])


def test_the_look_is_queued_before_anything_is_waited_for(
    bench: Make, monkeypatch: pytest.MonkeyPatch
) -> None:
    made = bench(1, {"writes": writing(FAR)})
    made.run(["good", "good", "good"])
    ground, queued = ground_of(made), list[int]()
    query = Event.query

    def counted(event: Event) -> bool:
        stream = ground._stream
        queued.append(len(stream.work) - stream.done)
        return query(event)

    monkeypatch.setattr(Event, "query", counted)
    for names in (["good", "near_good", "good", "most"], ["good"]):
        queued.clear()
        made.run(names)
        # What it waits for, the counts, the look, their copy.
        assert queued[0] == len(names) + 3


def test_who_leaves_elements_and_strays_is_judged_over_the_poison(bench: Make) -> None:
    """As one that writes into a guard zone."""
    made = bench(0, {"writes": writing(FAR, unwritten=3)})
    before = made.driver.launched
    (outcome,) = made.run(["writes"])
    assert outcome.status is Status.OUT_OF_BOUNDS
    assert made.driver.launched - before == 2
    assert outcome.counts


def hidden(made: Bench, chunk: int) -> int:
    """Return the address of a word that a look at samples does not see."""
    seen = set(looked_at(chunk, cuda_places.SAMPLE, CHUNK // 32).tolist())
    sector = next(s for s in range(CHUNK // 32) if s not in seen)
    return ground_of(made)._base + chunk * CHUNK + 32 * sector


def sparse(target: list[int]) -> Action:
    def writes(driver: StandIn, stream: Stream, grid: Any, x: int, out: int, n: int) -> None:
        good(driver, stream, grid, x, out, n)
        for address in target:
            words(address, 1)[0] = 7

    return writes


def test_a_single_word_is_seen_by_a_look_at_everything_and_then_its_writer_is(
    bench: Make,
) -> None:
    target: list[int] = []
    made = bench(0, {"sparse": sparse(target)})
    made.run(["good"])
    target.append(hidden(made, 70))
    assert [o.status for o in made.run(["sparse"])] == [Status.OK]
    assert not made.lanes.trespassed()
    assert made.lanes.trespassed(whole=True)
    assert is_whole(made)
    statuses = [made.run([name])[0].status for name in ("good", "sparse", "good")]
    assert statuses == [Status.OK, Status.OUT_OF_BOUNDS, Status.OK]
    # Known for this case, also after it was made anew, and for no other one.
    made.lanes.begin(made.case)
    assert made.run(["sparse"])[0].status is Status.OUT_OF_BOUNDS
    made.lanes.begin(bound(replace(made.case.case, key="other"), False))
    assert made.run(["sparse"])[0].status is Status.OK


@pytest.mark.parametrize("seed", range(5))
def test_what_was_left_unseen_is_nobodys_fault_later(bench: Make, seed: int) -> None:
    """Arenas move, and words are looked at that were not before."""
    target: list[int] = []
    made = bench(seed, {"sparse": sparse(target)})
    alone = of_all(made)
    random = np.random.default_rng(seed)
    for _ in range(6):
        target[:] = [hidden(made, int(chunk)) for chunk in random.choice(CHUNKS, 6)]
        held = ground_of(made)._held
        target[:] = [
            address
            for address in target
            if not any(
                s.first <= (address - ground_of(made)._base) // CHUNK < s.end for s in held[:1]
            )
        ]
        made.run(["sparse"])
        target.clear()
        names = random.choice(["good", "zeroed", "larger", "most", "near_good"], 4).tolist()
        for name in names:
            assert plain(made.run([name])) == [alone[name]]
        assert plain(made.run(names)) == [alone[name] for name in names]


def test_the_ground_is_given_up_and_everything_goes_on(bench: Make) -> None:
    made = bench()
    alone = of_all(made)
    names = list(PLANS)
    made.run(names)
    held = made.driver.held
    assert made.lanes.spare()
    assert not made.lanes.spare()
    assert made.driver.held < held - CHUNKS * CHUNK // 2
    assert plain(made.run(names)) == [alone[name] for name in names]
    assert not made.lanes.trespassed(whole=True)
    made.lanes.free()
    assert made.driver.held == 0


def test_a_case_that_does_not_fit_has_memory_of_its_own(bench: Make) -> None:
    made = bench()
    made.run(["good", "most"])
    x = torch.ones(CHUNKS * CHUNK // 4)
    large = bound(Case("large", {"x": x}, {"out": 2 * x}, {"out": 2 * x.double()}), False)
    made.lanes.begin(large)
    made.case = large
    assert made.run(["good"])[0].status is Status.UNWRITTEN  # it does the first 301
    assert made.lanes._ground is None


def test_a_lane_without_memory_takes_the_grounds(bench: Make) -> None:
    made = bench()
    alone = of_all(made)
    again = bench()
    again.driver.limit = again.driver.held + 512
    assert plain(again.run(["good", "near_good"])) == [alone["good"], alone["near_good"]]
    assert again.lanes._ground is None


@pytest.mark.parametrize(
    ("free", "chunks"), [(1 << 30, 96), (115, 96), (108, 48), (60, 48), (50, 0), (0, 0)]
)
def test_with_little_memory_the_ground_is_smaller_or_none(
    kernel: Kernel, monkeypatch: pytest.MonkeyPatch, free: int, chunks: int
) -> None:
    ground_cases.shrink(monkeypatch)
    driver = StandIn(kernel, ground_cases.KERNELS)
    driver.limit = free * CHUNK
    found = Ground.take(driver, driver, CHUNKS * CHUNK)
    assert (found.chunks if found else 0) == chunks
    if found is None:
        assert driver.held == 0
    else:
        assert (words(found._base, chunks * CHUNK // 4) == np.tile(pattern(2048), chunks)).all()


def test_whoever_is_faster_has_the_memory(kernel: Kernel, monkeypatch: pytest.MonkeyPatch) -> None:
    ground_cases.shrink(monkeypatch)
    driver = StandIn(kernel, ground_cases.KERNELS)
    driver.limit = 60 * CHUNK
    monkeypatch.setattr(driver, "mem_get_info", lambda: (1 << 40, 1 << 40))
    found = Ground.take(driver, driver, CHUNKS * CHUNK)
    assert found is not None
    assert found.chunks == CHUNKS // 2
