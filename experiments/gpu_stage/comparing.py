"""The comparison beside a device-to-device copy that moves as many bytes, and small cells."""

import statistics
import time
from collections.abc import Iterator
from typing import Any

from experiments.gpu_stage.compare_timing import (
    READ_BYTES,
    REFILLED_BYTES,
    compare_ms,
    copy_ms,
    data,
    job,
    refilled_ms,
    repeats_of,
    triples_of,
)
from experiments.gpu_stage.rows import Options, Row
from gpu_eval.devices.cuda_compare import ENTRY, MOST_BLOCKS, Comparison, ZoneJob, job_table

SIZES = {1 << 20: None, 1 << 24: 0.90, 1 << 27: 0.95, 1 << 28: 0.95}
"""Numbers of elements, and the share of copy bandwidth that is wanted."""
SMALL = 1 << 12
FOLDED = 256
LAUNCHES = 2_000


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

    triples = [data(5_003, "noise", "cpu") for _ in range(3)]
    table, owners = job_table([job(t, True) for t in triples], [ZoneJob(0, 9, 0, 1)])
    assert len(table) == 4
    assert len(owners) == 3 * 5 + 1
    assert not torch.allclose(triples[0][0], triples[0][1], rtol=0.0, atol=0.0)
    for count in SIZES:
        yield Row(2, f"compare {count} elements", None, note=f"no GPU: {ENTRY} was not launched")


def _against_copy(driver: Any, module: Any, count: int, wanted: float | None) -> Iterator[Row]:
    triples = triples_of(count, "noise")
    power = count.bit_length() - 1
    for refill, moved in ((False, READ_BYTES * count), (True, REFILLED_BYTES * count)):
        copied = copy_ms(driver, moved, len(triples), repeats_of(triples[0]))
        # The refilled run comes last: it leaves nothing but poison, which costs more to judge.
        if refill:
            compared = refilled_ms(driver, module, triples)
        else:
            compared = compare_ms(driver, module, triples, refill)
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


def _patterns(driver: Any, module: Any, count: int) -> Iterator[Row]:
    copied = copy_ms(driver, READ_BYTES * count, 1, 30)
    for pattern in ("equal", "zeros", "NaN"):
        compared = compare_ms(driver, module, triples_of(count, pattern), False)
        yield Row(
            2,
            f"compare 2^27, output {pattern}, share of copy bandwidth",
            copied / compared,
            note=f"{compared:.4f} ms",
        )


def _blocks(driver: Any, module: Any, count: int) -> Iterator[Row]:
    triples = triples_of(count, "noise")
    for blocks in (MOST_BLOCKS // 2, 2 * MOST_BLOCKS, 4 * MOST_BLOCKS):
        compared = compare_ms(driver, module, triples, False, blocks)
        yield Row(2, f"compare 2^27 with {blocks} blocks", compared, "ms")


def _against_allclose(driver: Any, module: Any, count: int) -> Iterator[Row]:
    import torch

    triples = triples_of(count, "noise")
    compared = compare_ms(driver, module, triples, False)
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

    triples = [data(SMALL, "noise") for _ in range(FOLDED)]
    torch.cuda.synchronize()
    for cells, target in ((1, None), (FOLDED, 2.0)):
        comparison = Comparison(driver, module)
        comparison.prepare([job(t, False) for t in triples[:cells]], [])
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
