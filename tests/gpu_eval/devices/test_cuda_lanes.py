"""Lanes without a GPU: what several jobs at once give is what each gives by itself."""

from collections.abc import Iterator
from typing import Any

import pytest
import torch

from gpu_eval.devices import cuda_arena, cuda_berths, cuda_lane
from gpu_eval.devices.base import BatchLostError, Case, DeviceLostError, Outcome
from gpu_eval.devices.cuda_case import bound
from gpu_eval.devices.host import HostDevice
from gpu_eval.problems.plan import ResolvedPlan
from suiteopt.errors import UserError
from suiteopt.matrix.schema import Statistic, Status
from tests.gpu_eval.devices.compare_cases import Kernel, compiled_for_host
from tests.gpu_eval.devices.lane_cases import (
    OUTSIDE,
    PLANS,
    Make,
    bench_on,
    good,
    jobs_of,
    plain,
)
from tests.gpu_eval.devices.stand_in import Event, StandIn, Stream, floats


@pytest.fixture(scope="module")
def kernel(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Kernel]:
    binary = compiled_for_host(tmp_path_factory.mktemp("units"))
    with HostDevice().open() as session:
        yield Kernel(session, binary)


@pytest.fixture(params=["allocations", "ground"])
def bench(kernel: Kernel, monkeypatch: pytest.MonkeyPatch, request: pytest.FixtureRequest) -> Make:
    return bench_on(kernel, monkeypatch, request.param == "ground")


@pytest.fixture
def alone(bench: Make) -> dict[str, Outcome]:
    """Every kernel in a session of its own."""
    names = [*PLANS, *OUTSIDE]
    return {name: plain(bench().run([name]))[0] for name in names}


def test_the_planted_kernels_do_what_they_are_for(alone: dict[str, Outcome]) -> None:
    assert {name: outcome.status for name, outcome in alone.items()} == {
        "good": Status.OK,
        "near_good": Status.OK,
        "most": Status.UNWRITTEN,
        "once": Status.UNWRITTEN,
        "not_a_number": Status.NONFINITE,
        "zeroed": Status.OK,
        "not zeroed": Status.UNWRITTEN,
        "larger": Status.OK,
        "refused": Status.LAUNCH_ERROR,
        "too much": Status.LAUNCH_ERROR,
        "nothing": Status.UNWRITTEN,
        "overruns": Status.OUT_OF_BOUNDS,
        "writes_input": Status.OUT_OF_BOUNDS,
    }
    assert alone["near_good"].statistics[Statistic.MAX_REL] == pytest.approx(1e-3, rel=1e-3)
    assert alone["most"].statistics[Statistic.MAX_ABS] == 0.0
    # Judged over the stale result, to which one was added.
    assert alone["once"].statistics[Statistic.MAX_ABS] == pytest.approx(1)


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("together", [2, 5, 11])
def test_batches_give_what_each_gives_alone(
    bench: Make, alone: dict[str, Outcome], seed: int, together: int
) -> None:
    made = bench(seed)
    names = list(PLANS)
    made.driver._random.shuffle(names)
    found: list[Outcome] = []
    for start in range(0, len(names), together):
        found += made.run(names[start : start + together])
    assert plain(found) == [alone[name] for name in names]


def test_lanes_are_kept_busy(
    bench: Make, alone: dict[str, Outcome], monkeypatch: pytest.MonkeyPatch
) -> None:
    """More jobs than lanes: each lane takes the next one as soon as it is free."""
    monkeypatch.setattr(cuda_berths, "MOST_LANES", 3)
    names = ["near_good", "most", "good", "refused", "not_a_number", "once"] * 4
    made = bench(1)
    assert plain(made.run(names)) == [alone[name] for name in names]
    assert made.driver.most_busy == 3
    assert len(made.lanes._berths.lanes) == 3
    with_work = ["zeroed", "not zeroed", "refused", "zeroed", "good", "larger", "larger"]
    assert plain(made.run(with_work)) == [alone[name] for name in with_work]


def test_outputs_are_those_of_the_last_job(bench: Make) -> None:
    made = bench()
    made.run(["good", "most", "near_good"])
    expected = made.case.reference["out"].clone()
    expected[17] *= 1.001
    assert torch.equal(made.lanes.outputs()["out"], expected)


def test_no_launch_is_made_twice_without_need(bench: Make) -> None:
    made = bench()
    made.run(["good", "near_good", "not_a_number", "most"])
    # Four kernels and their comparisons, and what left elements unwritten once more.
    assert made.driver.launched == 10


@pytest.mark.parametrize("seed", range(6))
def test_who_writes_outside_is_found_and_the_others_are_as_alone(
    bench: Make, alone: dict[str, Outcome], seed: int
) -> None:
    made = bench(seed)
    for names in (["good", "overruns", "most"], ["writes_input", "good", "near_good", "zeroed"]):
        assert plain(made.run(names)) == [alone[name] for name in names]
        assert plain(made.run(["good", "near_good"])) == [alone["good"], alone["near_good"]]


@pytest.mark.parametrize("seed", range(8))
@pytest.mark.parametrize("place", ["input", "guard"])
@pytest.mark.parametrize("lane", [0, 1, 3])
def test_a_stray_write_into_a_neighbour_is_not_the_neighbours(
    bench: Make, alone: dict[str, Outcome], seed: int, place: str, lane: int
) -> None:
    """It may come before or after the neighbour has been looked at; its own arena stays whole.

    Alone it finds ground where the neighbour was, and may be seen to write there.
    """
    target: list[int] = []

    def strays(driver: StandIn, stream: Stream, grid: Any, x: int, out: int, n: int) -> None:
        good(driver, stream, grid, x, out, n)
        for address in target:
            if address != x:
                floats(address - (64 if place == "guard" else 0), 1)[0] = 7

    made = bench(seed, {"strays": strays})
    made.run(["good", "good", "good", "good"])
    target[:] = made.arenas()[lane : lane + 1]
    *others, strayed = [o.status for o in made.run(["good", "good", "good", "strays"])]
    assert set(others) == {Status.OK}
    grounded = made.lanes._ground is not None
    assert strayed is Status.OK or (grounded and strayed is Status.OUT_OF_BOUNDS)
    target.clear()
    assert plain(made.run(["near_good"])) == [alone["near_good"]]
    assert plain(made.run(["good", "near_good", "most"])) == [
        alone[name] for name in ("good", "near_good", "most")
    ]


@pytest.mark.parametrize(("kernel_name", "status"), [("hangs", "timeout"), ("faults", "crash")])
@pytest.mark.parametrize("seed", range(3))
def test_a_lost_batch_has_no_culprit_and_a_lost_job_has(
    bench: Make, kernel_name: str, status: str, seed: int
) -> None:
    made = bench(seed)
    with pytest.raises(BatchLostError) as several:
        made.run(["good", kernel_name, "near_good", "too much"], deadline=0.3)
    assert several.value.outcome.status == status
    with pytest.raises(DeviceLostError) as single:
        bench(seed).run([kernel_name], deadline=0.05)
    assert not isinstance(single.value, BatchLostError)
    assert single.value.outcome.status == status


def test_a_hanging_neighbour_does_not_keep_the_host(bench: Make) -> None:
    """All that waits for the device as a whole is done before anything is launched."""
    made = bench()
    with pytest.raises(BatchLostError, match="still running"):
        made.run(["hangs", "larger", "most", "not zeroed"], deadline=0.1)


def test_large_cases_have_few_lanes_and_give_memory_back(
    bench: Make, alone: dict[str, Outcome], monkeypatch: pytest.MonkeyPatch
) -> None:
    made = bench()
    assert made.lanes.fitting(made.case) == cuda_berths.MOST_LANES
    names = ["good", "near_good", "most", "zeroed"]
    made.run(names)
    before = made.driver.held
    one = cuda_arena.footprint(made.case.sizes(ResolvedPlan(())))
    monkeypatch.setattr(cuda_berths, "LANES_BYTES", 2 * one)
    assert made.lanes.fitting(made.case) == 2
    assert made.lanes.fitting(made.case, jobs_of(["zeroed"])) == 1
    made.lanes.begin(made.case)
    if made.lanes._ground is None:
        assert made.driver.held < before - one
    assert plain(made.run(names)) == [alone[name] for name in names]
    monkeypatch.setattr(cuda_berths, "LANES_BYTES", 1)
    assert made.lanes.fitting(made.case) == 1
    assert plain(made.run(names)) == [alone[name] for name in names]
    made.lanes.free()
    assert made.driver.held == 0


def test_where_memory_ends_fewer_run_at_a_time(bench: Make, alone: dict[str, Outcome]) -> None:
    made = bench()
    made.run(["larger"])
    made.driver.limit = int(2.5 * made.driver.held)
    names = ["larger", "zeroed", "most", "good"]
    assert plain(made.run(names)) == [alone[name] for name in names]
    tight = bench()
    tight.driver.limit = 1 << 10
    with pytest.raises(UserError, match="no room"):
        tight.run(names)


def test_integer_outputs_have_one_lane(bench: Make) -> None:
    made = bench()
    out = torch.tensor([1, 2])
    case = bound(Case("i", made.case.inputs, {"out": out}, {"out": out}), True)
    assert made.lanes.fitting(case) == 1


def test_given_outputs_are_judged_as_a_run_is(bench: Make, alone: dict[str, Outcome]) -> None:
    made = bench()
    made.run(["near_good"])
    given = made.lanes.outputs()
    made.run(["overruns", "good"])
    (judged,) = plain([made.lanes.judge(made.case, [given])[0]])
    assert judged == alone["near_good"]


@pytest.mark.parametrize("lanes", [1, 2, 8])
def test_several_given_outputs_are_judged_as_each_is(
    bench: Make, alone: dict[str, Outcome], monkeypatch: pytest.MonkeyPatch, lanes: int
) -> None:
    made = bench()
    names = ["good", "near_good", "not_a_number", "good", "near_good"]
    given = []
    for name in names:
        made.run([name])
        given.append(made.lanes.outputs())
    made.run(["overruns", "good"])
    monkeypatch.setattr(cuda_berths, "MOST_LANES", lanes)
    assert plain(made.lanes.judge(made.case, given)) == [alone[name] for name in names]
    assert torch.equal(made.lanes.outputs()["out"], given[-1]["out"])
    assert plain(made.run(["good"])) == [alone["good"]]


@pytest.mark.parametrize("lanes", [1, 3])
def test_runs_are_queued_before_the_first_is_waited_for(
    bench: Make, alone: dict[str, Outcome], monkeypatch: pytest.MonkeyPatch, lanes: int
) -> None:
    monkeypatch.setattr(cuda_berths, "MOST_LANES", lanes)
    made = bench()
    made.run(["good"])
    before, queued = made.driver.launched, list[int]()
    query = Event.query

    def counted(event: Event) -> bool:
        queued.append(made.driver.launched - before)
        return query(event)

    monkeypatch.setattr(Event, "query", counted)
    names = ["good", "near_good", "most", "once", "not_a_number"] * 4
    assert plain(made.run(names)) == [alone[name] for name in names]
    # Of each run the kernel and the comparison.
    assert queued[0] == 2 * lanes * cuda_lane.DEPTH


def test_whoever_runs_after_a_stray_write_is_judged_anew(
    bench: Make, alone: dict[str, Outcome], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(cuda_berths, "MOST_LANES", 1)
    names = ["good", "writes_input", "near_good", "overruns", "most", "good"]
    for seed in range(3):
        assert plain(bench(seed).run(names)) == [alone[name] for name in names]
