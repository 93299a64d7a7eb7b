"""``compare.cu`` itself, run on the host device: maxima, counts and hashes against numpy."""

import itertools
from collections.abc import Callable, Iterator
from importlib.resources import files

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as arrays
from numpy.typing import NDArray

from gpu_eval.devices.base import Binary, Case, KernelSource, Session
from gpu_eval.devices.cuda_compare import (
    COUNTERS,
    ENTRY,
    MAXIMA,
    PARTIAL,
    SUMS,
    THREADS,
    OutputJob,
    ZoneJob,
    counts_of,
    hash_of,
    job_table,
    statistics_of,
    unwritten_of,
)
from gpu_eval.devices.host import HostDevice
from gpu_eval.problems.plan import ResolvedWorkspace
from suiteopt.matrix.schema import Count
from tests.gpu_eval.devices.conftest import plan, tensor

Floats = NDArray[np.float32]
Doubles = NDArray[np.float64]
Words = NDArray[np.uint32]
Records = NDArray[np.void]

POISON = 0x7FC0DEAD
NUMBERS = itertools.count()

SPECIAL = [0.0, -0.0, 1.0, -1.0, np.inf, -np.inf, np.nan, 1e-45, -1e-45, 1e-38, 3.4e38, -3.4e38]
values = st.sampled_from([np.float32(v) for v in SPECIAL]) | st.floats(
    width=32, allow_nan=True, allow_infinity=True
)
near = st.floats(-1, 1, width=32).map(lambda v: np.float32(1 + 2**-20 * v))
vectors = st.tuples(st.integers(1, 40), st.sampled_from([values, near])).flatmap(
    lambda drawn: st.tuples(
        *(arrays.arrays(np.float32, drawn[0], elements=drawn[1]) for _ in range(2))
    )
)


class Kernel:
    """Launches ``compare.cu`` over outputs and zones in this process's memory."""

    def __init__(self, session: Session, binary: Binary) -> None:
        self._session = session
        self._binary = binary

    def __call__(
        self,
        outputs: list[OutputJob],
        zones: list[ZoneJob] | None = None,
        most_blocks: int = 3,
        schedule: int = 0,
        launches: int = 1,
    ) -> Records:
        table, owners = job_table(outputs, zones or [], most_blocks)
        fields = PARTIAL.itemsize // 8
        zeros = torch.zeros(len(table) * fields, dtype=torch.int64)
        inputs = {
            "table": torch.from_numpy(table.view(np.int64).copy()),
            "owners": torch.from_numpy(owners),
        }
        self._session.bind(
            Case(f"compare {next(NUMBERS)}", inputs, {"results": zeros}, {"results": zeros})
        )
        work = (
            ResolvedWorkspace("partials", 2 * len(owners) * fields, False),
            ResolvedWorkspace("ended", len(table), True),
        )
        names = ("table", "owners", "partials", "ended", "results")
        one = plan(ENTRY, [tensor(n) for n in names], grid=len(owners), block=THREADS)
        repeated = type(one)(one.launches * launches, work)
        outcome = self._session.run(self._binary, repeated, schedule=schedule, deadline=60.0)
        assert outcome.status == "ok", outcome.message
        return self._session.outputs()["results"].numpy().view(PARTIAL)


@pytest.fixture(scope="module")
def kernel(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Kernel]:
    text = files("gpu_eval.devices").joinpath("compare.cu").read_text().replace('extern "C" ', "")
    source = KernelSource("compare", {"compare.cu": text}, "compare.cu", (ENTRY,))
    (found,) = HostDevice().compile([source], tmp_path_factory.mktemp("units"), 1)
    assert found.path is not None, found.error
    with HostDevice().open() as session:
        yield Kernel(session, found)


def placed(array: NDArray[np.generic], offset: int = 0) -> NDArray[np.generic]:
    """Copy an array to an address that is `offset` elements past a multiple of 16 bytes."""
    room = np.zeros(array.nbytes + 16 + offset * array.itemsize, dtype=np.uint8)
    start = -room.ctypes.data % 16 + offset * array.itemsize
    copy = room[start : start + array.nbytes].view(array.dtype)
    copy[:] = array
    return copy


def compared(
    kernel: Kernel,
    out: Floats,
    reference: Floats,
    truth: Doubles,
    *,
    offsets: tuple[int, int, int] = (0, 0, 0),
    refill: bool = False,
    most_blocks: int = 3,
    schedule: int = 0,
) -> tuple[np.void, Floats]:
    """Return the record of one output, and the output afterwards."""
    o, r, t = placed(out, offsets[0]), placed(reference, offsets[1]), placed(truth, offsets[2])
    job = OutputJob(o.ctypes.data, r.ctypes.data, t.ctypes.data, out.size, POISON, refill)
    records = kernel([job], most_blocks=most_blocks, schedule=schedule)
    return records[0], o  # type: ignore[return-value]


def expected_maxima(out: Floats, reference: Floats, truth: Doubles) -> dict[str, float]:
    """Return the maxima of a record by their definition, every quotient divided out in fp64."""
    o, r = out.astype(np.float64), reference.astype(np.float64)
    own = np.isfinite(o) & np.isfinite(r)
    true = np.isfinite(o) & np.isfinite(truth)
    o_true, t = o[true], truth[true]
    o, r = o[own], r[own]
    d, a, e = np.abs(o - r), np.abs(r), np.abs(o_true - t)
    with np.errstate(divide="ignore", invalid="ignore"):
        relative = np.where(d == 0, 0.0, d / a)
    found = {
        "allclose_candidate": d / (1 + np.abs(o)),
        "allclose_reference": d / (1 + a),
        "max_abs": d,
        "max_rel": relative,
        "either_or": np.minimum(d, relative),
        "reference_peak": a,
        "truth_allclose": e / (1 + np.abs(t)),
        "truth_abs": e,
    }
    return {name: float(numbers.max(initial=0.0)) for name, numbers in found.items()}


def expected_counts(out: Floats, reference: Floats, truth: Doubles) -> dict[str, int]:
    nan_out, nan_ref = np.isnan(out), np.isnan(reference)
    unequal = (np.isinf(out) | np.isinf(reference)) & (out != reference)
    found = {
        "nan_both": nan_out & nan_ref,
        "nan_one": nan_out ^ nan_ref,
        "inf_mismatch": unequal & ~nan_out & ~nan_ref,
        "nonfinite_output": ~np.isfinite(out),
        "unwritten": out.view(np.uint32) == POISON,
        "own_pairs": np.isfinite(out) & np.isfinite(reference),
        "truth_pairs": np.isfinite(out) & np.isfinite(truth),
    }
    return {name: int(which.sum()) for name, which in found.items()}


def check(record: np.void, out: Floats, reference: Floats, truth: Doubles) -> None:
    maxima = dict(zip(MAXIMA, record["maxima"].tolist(), strict=True))
    assert maxima == expected_maxima(out, reference, truth)  # to the bit
    counts = dict(zip(COUNTERS, record["counts"].tolist(), strict=True))
    assert counts == expected_counts(out, reference, truth)
    own = reference[np.isfinite(out) & np.isfinite(reference)].astype(np.float64)
    true = np.isfinite(out) & np.isfinite(truth)
    t, e = truth[true], out[true].astype(np.float64) - truth[true]
    with np.errstate(over="ignore"):
        squares = [float(np.sum(v**2)) for v in (own, t, e)]
    assert record["sums"].tolist() == pytest.approx(squares, rel=1e-13, abs=0.0), SUMS


@settings(max_examples=250, deadline=None)
@given(vectors, st.data())
def test_maxima_are_exact_and_counts_right(
    kernel: Kernel, pair: tuple[Floats, Floats], data: st.DataObject
) -> None:
    out, reference = pair
    shift = data.draw(arrays.arrays(np.float64, out.size, elements=st.floats(-1e-3, 1e-3)))
    with np.errstate(over="ignore"):
        truth = reference.astype(np.float64) * (1 + shift)
    record, _ = compared(kernel, out, reference, truth)
    check(record, out, reference, truth)


def noisy(count: int, relative: float, seed: int = 3) -> tuple[Floats, Floats, Doubles]:
    generator = np.random.default_rng(seed)
    reference = generator.standard_normal(count).astype(np.float32)
    noise = 1 + relative * generator.standard_normal(count)
    truth = reference.astype(np.float64) * (1 + 1e-8 * generator.standard_normal(count))
    return (reference * noise).astype(np.float32), reference, truth


def nothing(count: int) -> tuple[Floats, Floats, Doubles]:
    """Every relative error is exactly 1, so that every element ties with the maximum."""
    _, reference, truth = noisy(count, 0.0)
    return np.zeros(count, np.float32), reference, truth


def rising(count: int) -> tuple[Floats, Floats, Doubles]:
    """Each element sets a new maximum of every quotient, by less than the tests' margin."""
    _, reference, truth = noisy(count, 0.0)
    return (reference * (1.5 + 2e-7 * np.arange(count))).astype(np.float32), reference, truth


def tiny(count: int) -> tuple[Floats, Floats, Doubles]:
    """Denormal numbers, whose errors and quotients have few bits."""
    words = np.random.default_rng(5).integers(0, 40, (2, count), dtype=np.uint32)
    out, reference = words.view(np.float32)
    return out, reference, reference.astype(np.float64) * 1e-290


def huge(count: int) -> tuple[Floats, Floats, Doubles]:
    """Differences at the end of fp32, and beyond it."""
    out, reference, truth = noisy(count, 1.0)
    with np.errstate(over="ignore"):
        return out * np.float32(1e38), reference * np.float32(1e38), truth * 1e300


def spoiled(count: int) -> tuple[Floats, Floats, Doubles]:
    out, reference, truth = noisy(count, 1e-5)
    out[::7], reference[::11], out[::13] = np.nan, np.inf, -np.inf
    out.view(np.uint32)[::17] = POISON
    truth[::19] = np.nan
    return out, reference, truth


def equal(count: int) -> tuple[Floats, Floats, Doubles]:
    _, reference, _ = noisy(count, 0.0)
    return reference.copy(), reference, reference.astype(np.float64)


PATTERNS = [
    lambda n: noisy(n, 1e-6),
    lambda n: noisy(n, 0.3),
    nothing,
    rising,
    tiny,
    huge,
    spoiled,
    equal,
]
NAMES = ["close", "far", "nothing", "rising", "tiny", "huge", "spoiled", "equal"]


@pytest.mark.parametrize("make", PATTERNS, ids=NAMES)
@pytest.mark.parametrize("count", [1, 3, 4, 255, 1023, 1024, 10_007])
def test_records_of_odd_sizes(
    kernel: Kernel, make: Callable[[int], tuple[Floats, Floats, Doubles]], count: int
) -> None:
    made = make(count)
    record, _ = compared(kernel, *made)
    check(record, *made)


# Four pairs that set maxima, then one that raises a single maximum: only its own test can see it.
ALONE = {
    "allclose_candidate": ([(1e6, 0.0)], (0.0, -5.0)),
    "allclose_reference": ([(10.0, 1.0), (1.0, 0.0), (0.0, 50.0)], (5.0, 0.0)),
    "max_abs": ([(0.9, 0.0)], (101.0, 100.0)),
    "max_rel": ([(10.0, 0.5)], (1e-3, 1e-6)),
    "either_or": ([(1e6, 1e7), (1e-3, 1e-9)], (2.0, 1.0)),
    "truth_allclose": ([(101.0, 100.0)], (0.5, 0.0)),
    "truth_abs": ([(0.9, 0.0)], (101.0, 100.0)),
}


@pytest.mark.parametrize("name", ALONE)
def test_each_maximum_has_a_test_of_its_own(kernel: Kernel, name: str) -> None:
    before, last = ALONE[name]
    pairs = np.array([*before * 4][:4] + [last] * 4, dtype=np.float32)
    out, other = pairs[:, 0].copy(), pairs[:, 1].copy()
    reference, truth = (out, other) if name.startswith("truth") else (other, out)
    record, _ = compared(kernel, out, reference, truth.astype(np.float64))
    check(record, out, reference, truth.astype(np.float64))
    earlier = expected_maxima(out[:4], reference[:4], truth[:4].astype(np.float64))
    later = expected_maxima(out, reference, truth.astype(np.float64))
    assert {key for key in MAXIMA if later[key] > earlier[key]} - {"reference_peak"} == {name}


@pytest.mark.parametrize("exponent", [-149, -140, -127, -126, -60, 0, 3, 60, 100, 103])
def test_maxima_that_rise_by_less_than_the_margin_of_the_tests(
    kernel: Kernel, exponent: int
) -> None:
    # Neighbouring floats from twice the reference on, four times each since four are tested at a
    # time: each quotient exceeds the last one by 2^-22, and the margin is 2^-20.
    start = np.array([2.0 ** (exponent + 1)], np.float32).view(np.uint32)
    steps = np.repeat(np.arange(63, dtype=np.uint32), 4)
    out = (start + steps).view(np.float32)
    reference = np.full(steps.size, 2.0**exponent, np.float32)
    truth = out * (1.0 - 1e-3 * (1 + 2.0**-40 * steps))
    for made in ((out, reference, out.astype(np.float64)), (out, out, truth)):
        check(compared(kernel, *made)[0], *made)
        backwards = (made[0][::-1].copy(), made[1][::-1].copy(), made[2][::-1].copy())
        check(compared(kernel, *backwards)[0], *backwards)


def test_quotients_of_denormal_numbers(kernel: Kernel) -> None:
    # 0.9 after 0.899: in denormal arithmetic 0.899 times 10 is 9, which 9 does not exceed.
    words = np.array([[101] * 4 + [1] * 4, [1000] * 4 + [10] * 4], np.uint32)
    out, reference = words.view(np.float32)
    check(compared(kernel, out, reference, out.astype(np.float64))[0], out, reference,
          out.astype(np.float64))  # fmt: skip


def test_an_empty_output_is_all_zeros(kernel: Kernel) -> None:
    record, _ = compared(kernel, *nothing(0))
    assert not record.tobytes().strip(b"\0")


@pytest.mark.parametrize("offsets", [(1, 0, 0), (0, 3, 0), (0, 0, 1), (1, 1, 1)])
def test_unaligned_buffers_give_the_same_bits(
    kernel: Kernel, offsets: tuple[int, int, int]
) -> None:
    made = spoiled(5_003)
    assert (
        compared(kernel, *made, offsets=offsets)[0].tobytes()
        == compared(kernel, *made)[0].tobytes()
    )


@pytest.mark.parametrize("make", PATTERNS, ids=NAMES)
def test_bits_do_not_depend_on_the_order_of_threads_and_blocks(
    kernel: Kernel, make: Callable[[int], tuple[Floats, Floats, Doubles]]
) -> None:
    made = make(9_001)
    first, second = (compared(kernel, *made, schedule=s)[0] for s in (0, 1))
    assert first.tobytes() == second.tobytes()


@pytest.mark.parametrize("offsets", [(0, 0, 0), (1, 0, 0)])
def test_the_poison_is_left_for_the_next_run(kernel: Kernel, offsets: tuple[int, int, int]) -> None:
    made = spoiled(5_003)
    record, left = compared(kernel, *made, offsets=offsets, refill=True)
    assert record.tobytes() == compared(kernel, *made)[0].tobytes()
    assert (left.view(np.uint32) == POISON).all()


def test_a_second_launch_judges_anew(kernel: Kernel) -> None:
    o, r, t = (placed(array) for array in noisy(5_003, 1e-3))
    job = OutputJob(o.ctypes.data, r.ctypes.data, t.ctypes.data, o.size, POISON, refill=True)
    assert unwritten_of(kernel([job])) == 0
    assert unwritten_of(kernel([job], launches=2)) == o.size
    o[:] = r
    assert unwritten_of(kernel([job], launches=2)) == o.size  # after the first has refilled it


def test_an_output_that_is_not_refilled_is_left_alone(kernel: Kernel) -> None:
    made = noisy(5_003, 1e-3)
    _, left = compared(kernel, *made)
    assert np.array_equal(left, made[0])


def test_several_jobs_in_one_launch_and_a_second_launch_over_the_same_buffers(
    kernel: Kernel,
) -> None:
    made = [noisy(10_007, 1e-3), spoiled(257), equal(4_096)]
    kept = [tuple(placed(a) for a in arrays_) for arrays_ in made]
    jobs = [
        OutputJob(o.ctypes.data, r.ctypes.data, t.ctypes.data, o.size, POISON) for o, r, t in kept
    ]
    zone = placed(np.full(70_001, 0x3FA5A5A5, np.uint32))
    copy = placed(zone)
    zones = [
        ZoneJob(zone.ctypes.data, zone.size, 0, 0x3FA5A5A5),
        ZoneJob(zone.ctypes.data, zone.size, copy.ctypes.data, 0),
    ]
    zone[[0, 4, 5, 69_999, 70_000]] = 7
    for launches in (1, 2):
        records = kernel(jobs, zones, launches=launches)
        for record, arrays_ in zip(records, made, strict=False):
            check(record, *arrays_)
        damaged = records["counts"][3:, COUNTERS.index("unwritten")]
        assert damaged.tolist() == [5, 5]
    assert counts_of(records[:3])[Count.NAN_ONE] > 0
    worst = [statistics_of(record) for record in records[:3]]
    assert all(set(s) == set(worst[0]) for s in worst)


def hashed(kernel: Kernel, out: Floats) -> int:
    record, _ = compared(kernel, out, out, out.astype(np.float64))
    return hash_of(np.array([record]))


def test_hashes_tell_outputs_apart(kernel: Kernel) -> None:
    plain = np.tile(np.array([1.0, 2.0], np.float32), 2_000)
    outputs = [plain, -plain, plain[::-1].copy(), np.roll(plain, 4) * 3, plain[:-2]]
    for at in (0, 1, 1_500, 3_999):
        changed = plain.copy()
        changed.view(np.uint32)[at] ^= 1
        outputs.append(changed)
    for first, second in ((0, 1), (0, 3), (17, 2_018)):
        swapped = plain.copy()
        swapped[[first, second]] = swapped[[second, first]]
        outputs.append(swapped)
    both = plain.copy()  # two swaps the opposite way
    both[[0, 1]], both[[3, 2]] = both[[1, 0]], both[[2, 3]]
    hashes = [hashed(kernel, output) for output in (*outputs, both)]
    assert len(set(hashes)) == len(hashes)
    assert hashed(kernel, plain.copy()) == hashes[0]
    assert hashed(kernel, np.array([0.0], np.float32)) != hashed(
        kernel, np.array([-0.0], np.float32)
    )
