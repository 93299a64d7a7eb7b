"""Times of the comparison and of copies, on buffers that no cache holds."""

import statistics
from collections.abc import Callable, Sequence
from typing import Any

from gpu_eval.devices.cuda_compare import MOST_BLOCKS, Comparison, OutputJob

POISON = 0x7FC0DEAD
READ_BYTES, REFILLED_BYTES = 16, 20
"""What a compared element moves: fp32 output and reference, fp64 truth; the poison on top."""
ROTATED_BYTES = 1 << 30
"""Buffers are taken in turn, so many of them that a cache of 50 MiB is no help."""

Triple = tuple[Any, Any, Any]


def data(count: int, pattern: str, device: str = "cuda") -> Triple:
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


def job(triple: Triple, refill: bool) -> OutputJob:
    out, reference, truth = (int(t.data_ptr()) for t in triple)
    return OutputJob(out, reference, truth, int(triple[0].numel()), POISON, refill)


def event_ms(driver: Any, calls: Sequence[Callable[[], Any]], repeats: int) -> float:
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


def comparisons(
    driver: Any, module: Any, triples: Sequence[Triple], refill: bool, blocks: int = MOST_BLOCKS
) -> list[Comparison]:
    made = [Comparison(driver, module) for _ in triples]
    for comparison, triple in zip(made, triples, strict=True):
        comparison.prepare([job(triple, refill)], [], blocks)
    return made


def compare_ms(
    driver: Any, module: Any, triples: Sequence[Triple], refill: bool, blocks: int = MOST_BLOCKS
) -> float:
    made = comparisons(driver, module, triples, refill, blocks)
    try:
        return event_ms(driver, [c.launch for c in made], repeats_of(triples[0]))
    finally:
        for comparison in made:
            comparison.free()


def repeats_of(triple: Triple) -> int:
    return 30 if triple[0].numel() >= 1 << 27 else 100


def copy_ms(driver: Any, moved: int, sets: int, repeats: int) -> float:
    """Return the time of a copy that reads and writes so many bytes in all."""
    half = moved // 2
    buffers = [(driver.mem_alloc(half), driver.mem_alloc(half)) for _ in range(sets)]
    try:
        calls = [
            lambda to=to, of=of: driver.memcpy_dtod_async(int(to), int(of), half)
            for to, of in buffers
        ]
        return event_ms(driver, calls, repeats)
    finally:
        for pair in buffers:
            for buffer in pair:
                buffer.free()


def triples_of(count: int, pattern: str) -> list[Triple]:
    import torch

    torch.cuda.empty_cache()
    sets = max(1, min(64, ROTATED_BYTES // (READ_BYTES * count)))
    made = [data(count, pattern) for _ in range(sets)]
    torch.cuda.synchronize()
    torch.cuda.empty_cache()
    return made


def refilled_ms(driver: Any, module: Any, triples: Sequence[Triple]) -> float:
    """Return the time of comparing and poisoning; outputs are written again before each repeat."""
    made = comparisons(driver, module, triples, True)
    kept = [t[0].clone() for t in triples]
    nbytes = kept[0].numel() * 4
    begin, end = driver.Event(), driver.Event()
    taken: list[float] = []
    for _ in range(repeats_of(triples[0]) // 2 + 2):
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
