"""Where arenas lie in a worker's ground, and how closely the rest is looked at: plain arithmetic.

The ground (`gpu_eval.devices.cuda_ground`) is counted in chunks. Each holds the same words, so that
what a stray access reads depends on how far it strays and not on whose arena it strays from.
"""

from collections.abc import Collection, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

CHUNK = 512 * 4093
"""Bytes after which the ground's words begin anew. 4093 is prime: two buffers of a run mostly lie
no multiple of this apart, so that what is copied from behind one to behind the other shows."""

RESERVED_BYTES = 24 << 30
"""Memory of a GPU that no ground may take: cases that are made, contexts that live and die."""

SHARES = 10
"""Workers of a GPU that may have their ground at one time: four at work, the lost ones whose memory
the driver has not taken back yet, and their successors."""

MOST_BYTES = 16 << 30
LEAST_BYTES = 512 << 20
"""A smaller ground is not worth having."""

REACH_BYTES = 8 << 30
"""How far a 32-bit index of floats can be off."""

GAPS_BYTES = 1 << 30
"""Ground between neighbouring arenas, all of it together: a stray access that goes less far than
one of these gaps meets no neighbour."""

NEAR_BYTES = 32 << 20
MIDDLE_BYTES = 512 << 20
MIDDLE_SAMPLE = 16
SAMPLE = 128
"""How closely the ground is looked at before and behind the first arena: each word where it is
near, then one sector of 32 bytes in 16, in the end one in 128. Most indices are off by a small
multiple of a tensor. ``ground.cu`` knows no fewer than one in 128."""

MOST_WATCHED = 128
"""Chunks of which each word is looked at since they were found damaged."""


@dataclass(frozen=True, slots=True)
class Place:
    """A piece of the ground that an arena has: device address and size in bytes."""

    address: int
    nbytes: int


@dataclass(frozen=True, slots=True)
class Stretch:
    """Consecutive chunks."""

    first: int
    count: int

    @property
    def end(self) -> int:
        """The first chunk behind them."""
        return self.first + self.count


def share(memory: int) -> int:
    """Return the bytes of a worker's ground on a GPU with so much memory; 0 for none."""
    part = min((memory - RESERVED_BYTES) // SHARES, MOST_BYTES)
    return part if part >= LEAST_BYTES else 0


def chunks_of(nbytes: int) -> int:
    """Return how many chunks it takes to hold some bytes."""
    return -(-nbytes // CHUNK)


def divide(chunks: int, lanes: int, each: int) -> tuple[Stretch, ...]:
    """Return where the arenas of some lanes lie, in a ground of so many chunks.

    Most of what is left lies behind the last of them, up to what an index can reach: indices stray
    upwards more often and farther than downwards. Whoever runs alone does so in the first place,
    which has the least before it: where nothing is fatal there, nothing within that reach is in
    the other places.

    Parameters
    ----------
    chunks : int
        Of the whole ground.
    lanes : int
        At least 1.
    each : int
        Chunks of an arena.

    Returns
    -------
    tuple of Stretch
        One a lane, in ascending order; empty if there is no room for all of them with at least a
        chunk before and behind.
    """
    left = chunks - lanes * each
    if left < 2:
        return ()
    gap = min(left // 8, chunks_of(GAPS_BYTES)) // (lanes - 1) if lanes > 1 else 0
    around = left - gap * (lanes - 1)
    behind = min(chunks_of(REACH_BYTES), around - max(around // 5, 1))
    front = around - behind
    return tuple(Stretch(front + lane * (each + gap), each) for lane in range(lanes))


def closeness(
    chunks: int, taken: Sequence[Stretch], watched: Collection[int]
) -> NDArray[np.uint32]:
    """Return of each chunk how closely it is looked at: one sector in so many; 0 for not at all.

    Parameters
    ----------
    chunks : int
        Of the whole ground.
    taken : sequence of Stretch
        Those that belong to arenas.
    watched : collection of int
        Chunks that are looked at closely.
    """
    found = np.full(chunks, SAMPLE, np.uint32)
    for nbytes, sample in ((MIDDLE_BYTES, MIDDLE_SAMPLE), (NEAR_BYTES, 1)):
        for stretch in taken[:1]:
            more = chunks_of(nbytes)
            found[max(stretch.first - more, 0) : stretch.end + more] = sample
    found[list(watched)] = 1
    for stretch in taken:
        found[stretch.first : stretch.end] = 0
    return found


def hull(damaged: NDArray[np.uint32], exact: bool) -> Stretch:
    """Return what to write anew where some chunks are known to be damaged.

    Parameters
    ----------
    damaged : array of uint32
        Changed words that were seen in each chunk; at least one is not 0.
    exact : bool
        Whether every word was looked at. Where only a sample was, a quarter of the distance between
        the outermost chunks is added on either side, and what counts as near at the least.
    """
    places = np.flatnonzero(damaged)
    first, end = int(places[0]), int(places[-1]) + 1
    more = 0 if exact else max((end - first) // 4, chunks_of(NEAR_BYTES))
    first, end = max(first - more, 0), min(end + more, len(damaged))
    return Stretch(first, end - first)


def runs_of(chunks: NDArray[np.intp]) -> list[Stretch]:
    """Return ascending chunk numbers as stretches."""
    if not len(chunks):
        return []
    parts = np.split(chunks, np.flatnonzero(np.diff(chunks) != 1) + 1)
    return [Stretch(int(part[0]), len(part)) for part in parts]


def watched_of(damaged: NDArray[np.uint32]) -> frozenset[int]:
    """Return the chunks to look at closely after some were found damaged, evenly spread."""
    places = np.flatnonzero(damaged)
    wanted = min(len(places), MOST_WATCHED)
    return frozenset(int(places[i * len(places) // wanted]) for i in range(wanted))
