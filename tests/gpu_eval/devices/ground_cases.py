"""What the kernels of ``ground.cu`` do, said in numpy, and a ground small enough for tests."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from gpu_eval.devices import cuda_places
from tests.gpu_eval.devices.stand_in import StandIn, Stream, words

Words = NDArray[np.uint32]

CHUNK = 8192
CHUNKS = 96


def shrink(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let a ground of `CHUNKS` chunks of 8 KiB be as one of gigabytes."""
    monkeypatch.setattr(cuda_places, "CHUNK", CHUNK)
    monkeypatch.setattr(cuda_places, "NEAR_BYTES", 2 * CHUNK)
    monkeypatch.setattr(cuda_places, "MIDDLE_BYTES", 6 * CHUNK)
    monkeypatch.setattr(cuda_places, "GAPS_BYTES", 14 * CHUNK)
    monkeypatch.setattr(cuda_places, "LEAST_BYTES", 32 * CHUNK)


def pattern(count: int) -> Words:
    """Return the words that each chunk holds."""
    with np.errstate(over="ignore"):
        products = np.arange(count, dtype=np.uint32) * np.uint32(0x9E3779B1)
    return np.uint32(0x3F800000) | products >> np.uint32(9)


def looked_at(chunk: int, step: int, sectors: int) -> NDArray[np.intp]:
    """Return the sectors of 32 bytes of a chunk that a look sees, one in each `step`."""
    if step < 2:
        return np.arange(sectors if step else 0)
    found = []
    for group in range(-(-sectors // 128)):
        x = (chunk * 0x10001 + group) * 0x9E3779B1 & 0xFFFFFFFF
        x ^= x >> 15
        x = x * 0x735A2D97 & 0xFFFFFFFF
        found += [group * 128 + ((x >> 16) + more) % 128 for more in range(0, 128, step)]
    return np.array(sorted(sector for sector in found if sector < sectors), np.intp)


def seen(ground: Words, closeness: Words, whole: bool) -> Words:
    """Return the changed words of each chunk that a look sees."""
    rows = ground.reshape(len(closeness), -1)
    found = np.zeros(len(closeness), np.uint32)
    changed = (rows != pattern(rows.shape[1])).reshape(len(rows), -1, 8)
    for chunk, step in enumerate(closeness.tolist()):
        step = min(step, 1) if whole else step
        found[chunk] = changed[chunk, looked_at(chunk, step, changed.shape[1])].sum()
    return found


def fill(
    driver: StandIn, stream: Stream, grid: Any, ground: int, closeness: int, first: int, quads: int
) -> None:
    for chunk in range(first, first + grid[0]):
        if not closeness or words(closeness, chunk + 1)[chunk]:
            words(ground + 16 * quads * chunk, 4 * quads)[:] = pattern(4 * quads)


def look(
    driver: StandIn,
    stream: Stream,
    grid: Any,
    ground: int,
    closeness: int,
    counts: int,
    quads: int,
    whole: int,
) -> None:
    chunks = grid[0]
    found = seen(words(ground, 4 * quads * chunks), words(closeness, chunks), bool(whole))
    words(counts, chunks)[:] += found


KERNELS: dict[str, Callable[..., None]] = {"ground_fill": fill, "ground_look": look}
