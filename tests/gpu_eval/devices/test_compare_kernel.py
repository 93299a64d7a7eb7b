"""``compare.cu`` itself, run on the host device: maxima, counts and hashes against numpy."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as arrays
from numpy.typing import NDArray

from gpu_eval.devices.base import DeviceLostError
from gpu_eval.devices.cuda_compare import (
    COMMON,
    COUNTERS,
    ENTRY,
    JOB,
    MAXIMA,
    PARTIAL,
    THREADS,
    Comparison,
    OutputJob,
    ZoneJob,
    counts_of,
    hash_of,
    job_table,
    statistics_of,
    unwritten_of,
)
from gpu_eval.devices.host import HostDevice
from suiteopt.matrix.schema import Count
from tests.gpu_eval.devices.compare_cases import (
    PATTERNS,
    POISON,
    Doubles,
    Floats,
    Kernel,
    before_a_guard,
    check,
    compiled_for_host,
    equal,
    expected_maxima,
    noisy,
    nothing,
    placed,
    spoiled,
)

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


@pytest.fixture(scope="module")
def kernel(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Kernel]:
    binary = compiled_for_host(tmp_path_factory.mktemp("units"))
    with HostDevice().open() as session:
        yield Kernel(session, binary)


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
    assert records["launch"].tolist() == [1]  # no limit is above its maximum
    return records[0], o  # type: ignore[return-value]


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


@pytest.mark.parametrize("pattern", PATTERNS)
@pytest.mark.parametrize("count", [1, 3, 4, 255, 1023, 1024, 10_007])
def test_records_of_odd_sizes(kernel: Kernel, pattern: str, count: int) -> None:
    made = PATTERNS[pattern](count)
    record, _ = compared(kernel, *made)
    check(record, *made)


@pytest.mark.parametrize("pattern", PATTERNS)
@pytest.mark.parametrize("most_blocks", [1, 2, 9, 64])
def test_records_of_many_blocks_that_share_their_limits(
    kernel: Kernel, pattern: str, most_blocks: int
) -> None:
    made = PATTERNS[pattern](30_011)
    for schedule in (0, 1):
        record, _ = compared(kernel, *made, most_blocks=most_blocks, schedule=schedule)
        check(record, *made)


late = st.fixed_dictionaries(
    {
        "count": st.integers(1, 12_000),
        "order": st.sampled_from(["rises", "falls", "saw", "one by one"]),
        "span": st.sampled_from([2.0**-22, 2.0**-20, 2.0**-18, 1e-3, 1.0, 1e6]),
        "least": st.sampled_from([1e-7, 1e-3, 1.0, 1e20]),
        "scales": st.sampled_from([0.0, 1.0, 30.0]),
        "peaks": st.lists(st.integers(0, 2**31), max_size=6),
        "blocks": st.sampled_from([1, 2, 3, 7, 40]),
        "schedule": st.integers(0, 1),
        "seed": st.integers(0, 2**31),
    }
)


def rising_late(drawn: dict[str, Any]) -> tuple[Floats, Floats, Doubles]:
    """Return an output whose maxima come late, in blocks that others have given limits to.

    Errors rise by less than the margin of a test, or by much; scales are so wide that what has
    the largest error has not the largest quotient; peaks stand out wherever they fall.
    """
    generator = np.random.default_rng(drawn["seed"])
    count = drawn["count"]
    place = np.arange(count) / count
    if drawn["order"] == "falls":
        place = place[::-1]
    elif drawn["order"] == "saw":
        place = np.arange(count) % 1_031 / 1_031
    elif drawn["order"] == "one by one":
        place = generator.permutation(place)
    relative = drawn["least"] * (1 + drawn["span"] * place)
    for rank, peak in enumerate(drawn["peaks"]):
        relative[peak % count] *= 1 + 2.0 ** (-19 + 4 * rank)
    with np.errstate(over="ignore"):
        scale = np.exp(drawn["scales"] * generator.standard_normal(count))
        reference = (generator.choice([-1.0, 1.0], count) * scale).astype(np.float32)
        out = (reference * (1 + relative)).astype(np.float32)
    truth = np.where(np.isfinite(reference), reference.astype(np.float64), 1.0)
    return out, reference, truth * (1 + relative * generator.uniform(0.9, 1.1, count))


@settings(max_examples=120, deadline=None)
@given(late)
def test_no_maximum_is_missed_however_late_it_comes(kernel: Kernel, drawn: dict[str, Any]) -> None:
    made = rising_late(drawn)
    record, _ = compared(kernel, *made, most_blocks=drawn["blocks"], schedule=drawn["schedule"])
    check(record, *made)


LIMITED = [name for name in MAXIMA if name != "reference_peak"]


@pytest.mark.parametrize("name", LIMITED)
def test_a_limit_above_its_maximum_shows_as_a_stray_write(kernel: Kernel, name: str) -> None:
    made = noisy(20_003, 1e-3)
    o, r, t = (placed(array) for array in made)
    job = OutputJob(o.ctypes.data, r.ctypes.data, t.ctypes.data, o.size, POISON)
    table, owners = job_table([job], [], 5)
    maximum = expected_maxima(*made)[name]
    if name.startswith("truth"):
        highest = int(np.float64(maximum).view(np.uint64) >> np.uint64(32)) - 1
    else:
        highest = int(np.float32(maximum * 2.0**24 * (1 - 2.0**-20)).view(np.uint32))
    for excess in (-1_000, 0, 1, 1 << 27):
        commons = np.zeros(1, COMMON)
        commons["limits"][0, MAXIMA.index(name)] = highest + excess
        (record,) = kernel.launched(table, owners, serial=7, commons=commons)
        if excess > 0:
            assert record["launch"] == 0
        else:
            assert record["launch"] == 7
            check(record, *made)
        # Whatever the first launch has found there, it leaves zeros.
        (record,) = kernel.launched(table, owners, serial=7, commons=commons, launches=2)
        assert record["launch"] == 7
        check(record, *made)


@pytest.mark.parametrize("pattern", PATTERNS)
def test_counts_that_are_looked_for_in_vain_are_zeros(kernel: Kernel, pattern: str) -> None:
    made = PATTERNS[pattern](5_003)
    o, r, t = (placed(array) for array in made)
    job = OutputJob(o.ctypes.data, r.ctypes.data, t.ctypes.data, o.size, POISON)
    table, owners = job_table([job], [], 5)
    commons = np.zeros(1, COMMON)
    commons["counted"] = 1
    (record,) = kernel.launched(table, owners, commons=commons)
    assert record.tobytes() == compared(kernel, *made, most_blocks=5)[0].tobytes()


@given(st.integers(0, 10**9), st.integers(1, 3_000))
def test_blocks_are_few_and_have_the_same_to_do(count: int, most: int) -> None:
    table, owners = job_table([OutputJob(0, 0, 0, count, POISON)], [], most)
    blocks, tiles = int(table["blocks"][0]), max(1, -(-count // (4 * THREADS)))
    assert 1 <= blocks == len(owners) <= most
    assert -(-tiles // blocks) == -(-tiles // most)  # no more rounds than with all blocks
    assert -(-tiles // blocks) * blocks - tiles < -(-tiles // most)  # and few of them idle in one


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


@pytest.mark.parametrize("count", [4 * 31, 4 * 32, 4 * 63, 4 * THREADS + 4 * 31])
def test_nothing_is_read_beyond_the_last_element(kernel: Kernel, count: int) -> None:
    made = noisy(count, 1e-3)
    with before_a_guard(made) as (o, r, t):
        job = OutputJob(o.ctypes.data, r.ctypes.data, t.ctypes.data, count, POISON)
        (record,) = kernel([job])
    check(record, *made)


def test_an_empty_output_is_all_zeros(kernel: Kernel) -> None:
    record, _ = compared(kernel, *nothing(0))
    record["launch"] = 0
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


@pytest.mark.parametrize("pattern", PATTERNS)
@pytest.mark.parametrize("most_blocks", [3, 9])
def test_bits_do_not_depend_on_the_order_of_threads_and_blocks(
    kernel: Kernel, pattern: str, most_blocks: int
) -> None:
    made = PATTERNS[pattern](9_001)
    first, second = (
        compared(kernel, *made, schedule=s, most_blocks=most_blocks)[0] for s in (0, 1)
    )
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


class Driver:
    """What `Comparison` asks of pycuda, with this process's memory for a device's."""

    def __init__(self, kernel: Kernel) -> None:
        self._kernel = kernel
        self._memory: dict[int, NDArray[np.uint8]] = {}
        self.launches: list[tuple[int, int]] = []
        self.scribbled = False

    def mem_alloc(self, nbytes: int) -> "Allocation":
        memory = np.full(nbytes, 0xAB, np.uint8)
        self._memory[memory.ctypes.data] = memory
        return Allocation(self, memory.ctypes.data)

    def release(self, address: int) -> None:
        del self._memory[address]

    @property
    def held(self) -> int:
        return len(self._memory)

    def memcpy_htod(self, address: int, array: NDArray[Any]) -> None:
        self._memory[address][: array.nbytes] = array.view(np.uint8).reshape(-1)

    def memcpy_dtoh(self, array: NDArray[Any], address: int) -> None:
        array.view(np.uint8).reshape(-1)[:] = self._memory[address][: array.nbytes]

    def memset_d32(self, address: int, word: int, count: int) -> None:
        self._memory[address][: 4 * count].view(np.uint32)[:] = word

    def get_function(self, name: str) -> "Driver":
        assert name == ENTRY
        return self

    def prepare(self, codes: str) -> "Driver":
        assert codes == "PPPPPq"
        return self

    def prepared_call(
        self, grid: tuple[int, int], block: tuple[int, int, int], *arguments: int
    ) -> None:
        *pointers, serial = arguments
        table, owners, partials, commons, results = (self._memory[p] for p in pointers)
        self.launches.append((grid[0], block[0]))
        blocks = owners[: 4 * grid[0]].view(np.int32)
        jobs = int(blocks.max()) + 1
        assert grid[1] == 1
        assert partials.nbytes >= grid[0] * PARTIAL.itemsize
        assert not commons[: jobs * COMMON.itemsize].any()
        records = self._kernel.launched(
            table[: jobs * JOB.itemsize].view(JOB), blocks, serial=serial
        )
        if not self.scribbled:
            results[: records.nbytes] = records.view(np.uint8)


@dataclass
class Allocation:
    driver: Driver
    address: int

    def __int__(self) -> int:
        return self.address

    def free(self) -> None:
        self.driver.release(self.address)


def test_a_comparison_owns_the_buffers_of_its_launches(kernel: Kernel) -> None:
    driver = Driver(kernel)
    comparison = Comparison(driver, driver)
    for sizes in ([5_003], [10, 700_000, 3], [64]):
        made = [spoiled(size) for size in sizes]
        kept = [tuple(placed(array) for array in arrays_) for arrays_ in made]
        zone = placed(np.arange(1_000, dtype=np.uint32))
        jobs = [
            OutputJob(o.ctypes.data, r.ctypes.data, t.ctypes.data, o.size, POISON)
            for o, r, t in kept
        ]
        comparison.prepare(jobs, [ZoneJob(zone.ctypes.data, zone.size, 0, 17)])
        for _ in range(2):
            comparison.launch()
            records, damaged = comparison.read()
            assert damaged.tolist() == [999]
            for record, arrays_ in zip(records, made, strict=True):
                check(record, *arrays_)
    assert [blocks for blocks, _ in driver.launches] == [6, 6, 345, 345, 2, 2]
    assert {threads for _, threads in driver.launches} == {THREADS}
    assert driver.held == 5
    comparison.free()
    assert driver.held == 0
    comparison.prepare(jobs, [])
    driver.scribbled = True  # blocks that count wrongly leave the results of another launch
    comparison.launch()
    with pytest.raises(DeviceLostError, match="stray"):
        comparison.read()
    comparison.prepare([], [])
    comparison.launch()
    assert [len(part) for part in comparison.read()] == [0, 0]
