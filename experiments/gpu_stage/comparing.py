"""The comparison beside a device-to-device copy that moves as many bytes, and small cells."""

import statistics
import time
from collections.abc import Callable, Iterator, Sequence
from typing import Any

from experiments.gpu_stage.rows import Options, Row
from gpu_eval.devices.cuda_compare import (
    ENTRY,
    MOST_BLOCKS,
    Comparison,
    OutputJob,
    ZoneJob,
    job_table,
)

POISON = 0x7FC0DEAD
READ_BYTES, REFILLED_BYTES = 16, 20
"""What a compared element moves: fp32 output and reference, fp64 truth; the poison on top."""
ROTATED_BYTES = 1 << 30
"""Buffers are taken in turn, so many of them that a cache of 50 MiB is no help."""
SIZES = {1 << 20: None, 1 << 24: 0.90, 1 << 27: 0.95, 1 << 28: 0.95}
"""Numbers of elements, and the share of copy bandwidth that is wanted."""
SMALL = 1 << 12
FOLDED = 256
LAUNCHES = 2_000

Triple = tuple[Any, Any, Any]


def measure(options: Options) -> Iterator[Row]:
    """Yield all rows about the comparison."""
    if options.device == "cpu":
        yield from _without_gpu()
        return
    import pycuda.driver as driver

    from gpu_eval.devices.registry import open_device

    with open_device("cuda").open() as session:
        module = session._compare_module  # type: ignore[attr-defined]
        for count, wanted in SIZES.items():
            yield from _against_copy(driver, module, count, wanted)
        yield from _patterns(driver, module, 1 << 27)
        yield from _blocks(driver, module, 1 << 27)
        yield from _against_allclose(driver, module, 1 << 28)
        yield from _small_cells(driver, module)


def _without_gpu() -> Iterator[Row]:
    """Try what needs no GPU."""
    import torch

    triples = [_data(5_003, "noise", "cpu") for _ in range(3)]
    table, owners = job_table([_job(t, True) for t in triples], [ZoneJob(0, 9, 0, 1)])
    assert len(table) == 4
    assert len(owners) == 3 * 5 + 1
    assert not torch.allclose(triples[0][0], triples[0][1], rtol=0.0, atol=0.0)
    for count in SIZES:
        yield Row(2, f"compare {count} elements", None, note=f"no GPU: {ENTRY} was not launched")


def _data(count: int, pattern: str, device: str = "cuda") -> Triple:
    """Return an output, its reference and its truth."""
    import torch

    generator = torch.Generator(device).manual_seed(count)
    reference = torch.randn(count, generator=generator, device=device)
    noise = torch.randn(count, generator=generator, device=device)
    truth = reference.double() * (1 + 1e-8)
    if pattern == "noise":
        out = reference * (1 + 1e-6 * noise)
    elif pattern == "equal":
        out = reference.clone()
    else:
        out = torch.full_like(reference, {"zeros": 0.0, "NaN": torch.nan}[pattern])
    return out, reference, truth


def _job(triple: Triple, refill: bool) -> OutputJob:
    out, reference, truth = (int(t.data_ptr()) for t in triple)
    return OutputJob(out, reference, truth, int(triple[0].numel()), POISON, refill)


def _event_ms(driver: Any, calls: Sequence[Callable[[], Any]], repeats: int) -> float:
    """Return the median of the time of a call, by events around one call of each."""
    begin, end = driver.Event(), driver.Event()
    taken: list[float] = []
    for _ in range(repeats + 2):
        begin.record()
        for call in calls:
            call()
        end.record()
        end.synchronize()
        taken.append(begin.time_till(end) / len(calls))
    return statistics.median(taken[2:])


def _comparisons(
    driver: Any, module: Any, triples: Sequence[Triple], refill: bool, blocks: int = MOST_BLOCKS
) -> list[Comparison]:
    made = [Comparison(driver, module) for _ in triples]
    for comparison, triple in zip(made, triples, strict=True):
        comparison.prepare([_job(triple, refill)], [], blocks)
    return made


def _compare_ms(
    driver: Any, module: Any, triples: Sequence[Triple], refill: bool, blocks: int = MOST_BLOCKS
) -> float:
    made = _comparisons(driver, module, triples, refill, blocks)
    try:
        return _event_ms(driver, [c.launch for c in made], _repeats(triples[0]))
    finally:
        for comparison in made:
            comparison.free()


def _repeats(triple: Triple) -> int:
    return 30 if triple[0].numel() >= 1 << 27 else 100


def _copy_ms(driver: Any, moved: int, sets: int, repeats: int) -> float:
    """Return the time of a copy that reads and writes so many bytes in all."""
    half = moved // 2
    buffers = [(driver.mem_alloc(half), driver.mem_alloc(half)) for _ in range(sets)]
    try:
        calls = [
            lambda to=to, of=of: driver.memcpy_dtod_async(int(to), int(of), half)
            for to, of in buffers
        ]
        return _event_ms(driver, calls, repeats)
    finally:
        for pair in buffers:
            for buffer in pair:
                buffer.free()


def _triples(count: int, pattern: str) -> list[Triple]:
    import torch

    torch.cuda.empty_cache()
    sets = max(1, min(64, ROTATED_BYTES // (READ_BYTES * count)))
    made = [_data(count, pattern) for _ in range(sets)]
    torch.cuda.synchronize()
    torch.cuda.empty_cache()
    return made


def _against_copy(driver: Any, module: Any, count: int, wanted: float | None) -> Iterator[Row]:
    triples = _triples(count, "noise")
    power = count.bit_length() - 1
    for refill, moved in ((False, READ_BYTES * count), (True, REFILLED_BYTES * count)):
        copied = _copy_ms(driver, moved, len(triples), _repeats(triples[0]))
        # The refilled run comes last: it leaves nothing but poison, which costs more to judge.
        if refill:
            compared = _refilled_ms(driver, module, triples)
        else:
            compared = _compare_ms(driver, module, triples, refill)
        yield Row(
            2,
            f"compare 2^{power}{' and poison' if refill else ''}, share of copy bandwidth",
            copied / compared,
            "",
            wanted,
            note=(
                f"{compared:.4f} ms, {moved / compared / 1e9:.2f} TB/s; copy of as many bytes "
                f"{copied:.4f} ms, {moved / copied / 1e9:.2f} TB/s; {len(triples)} sets in turn"
            ),
        )


def _refilled_ms(driver: Any, module: Any, triples: Sequence[Triple]) -> float:
    """Return the time of comparing and poisoning; outputs are written again before each repeat."""
    made = _comparisons(driver, module, triples, True)
    kept = [t[0].clone() for t in triples]
    nbytes = kept[0].numel() * 4
    begin, end = driver.Event(), driver.Event()
    taken: list[float] = []
    for _ in range(_repeats(triples[0]) // 2 + 2):
        for triple, copy in zip(triples, kept, strict=True):
            driver.memcpy_dtod_async(triple[0].data_ptr(), copy.data_ptr(), nbytes)
        begin.record()
        for comparison in made:
            comparison.launch()
        end.record()
        end.synchronize()
        taken.append(begin.time_till(end) / len(made))
    for comparison in made:
        comparison.free()
    return statistics.median(taken[2:])


def _patterns(driver: Any, module: Any, count: int) -> Iterator[Row]:
    copied = _copy_ms(driver, READ_BYTES * count, 1, 30)
    for pattern in ("equal", "zeros", "NaN"):
        compared = _compare_ms(driver, module, _triples(count, pattern), False)
        yield Row(
            2,
            f"compare 2^27, output {pattern}, share of copy bandwidth",
            copied / compared,
            note=f"{compared:.4f} ms",
        )


def _blocks(driver: Any, module: Any, count: int) -> Iterator[Row]:
    triples = _triples(count, "noise")
    for blocks in (MOST_BLOCKS // 2, 2 * MOST_BLOCKS, 4 * MOST_BLOCKS):
        compared = _compare_ms(driver, module, triples, False, blocks)
        yield Row(2, f"compare 2^27 with {blocks} blocks", compared, "ms")


def _against_allclose(driver: Any, module: Any, count: int) -> Iterator[Row]:
    import torch

    triples = _triples(count, "noise")
    compared = _compare_ms(driver, module, triples, False)
    out, reference, _ = triples[0]
    taken: list[float] = []
    for _ in range(12):
        torch.cuda.synchronize()
        began = time.perf_counter()
        torch.allclose(out, reference, rtol=1e-4, atol=1e-4)
        taken.append(1e3 * (time.perf_counter() - began))
    usual = statistics.median(taken[2:])
    yield Row(
        2,
        "torch.allclose at 2^28 over the comparison with two references",
        usual / compared,
        "times",
        10.0 * 8 / READ_BYTES,
        note=(
            f"allclose {usual:.2f} ms for one reference, 8 bytes an element; ours "
            f"{compared:.3f} ms for two, 16 bytes: 10 times a byte is wanted"
        ),
    )


def _small_cells(driver: Any, module: Any) -> Iterator[Row]:
    import torch

    triples = [_data(SMALL, "noise") for _ in range(FOLDED)]
    torch.cuda.synchronize()
    for cells, target in ((1, None), (FOLDED, 2.0)):
        comparison = Comparison(driver, module)
        comparison.prepare([_job(t, False) for t in triples[:cells]], [])
        rounds = LAUNCHES if cells == 1 else LAUNCHES // 20
        for _ in range(20):
            comparison.launch()
        driver.Context.synchronize()
        began = time.perf_counter()
        for _ in range(rounds):
            comparison.launch()
        host = (time.perf_counter() - began) / rounds / cells * 1e6
        driver.Context.synchronize()
        whole = (time.perf_counter() - began) / rounds / cells * 1e6
        began = time.perf_counter()
        for _ in range(rounds):
            comparison.launch()
            comparison.read()
        answered = (time.perf_counter() - began) / rounds / cells * 1e6
        comparison.free()
        yield Row(
            2,
            f"host time of comparing 2^12 elements, {cells} in a launch",
            host,
            "µs/cell",
            target,
            at_least=False,
            note=f"{whole:.2f} µs until all are done; {answered:.2f} µs with the records read",
        )
