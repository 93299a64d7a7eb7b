"""One stretch of device memory that holds every buffer of a run, each between guard zones.

A zone is filled with a word of its own; a small overrun reads that word, and what it writes is
found by `Arena.zones`. A stray access beyond the whole arena meets the ground that it lies in
(`gpu_eval.devices.cuda_ground`); only beyond that, or where there is none, it is fatal.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from gpu_eval.devices.cuda_places import Place
from suiteopt.errors import UserError

ALIGNMENT = 256
GUARD_BYTES = 1 << 20
GUARD_WORD = 0x3FA5A5A5
"""Content of the first zone: a plain float in [1, 2), as on the host, so that an overrun that reads
gets an ordinary wrong value and not a NaN, which would flatter a check."""

_STEP = 0x51EB85  # odd, so that no two zones have the same word
_MANTISSA = 0x7FFFFF


def guard_word(number: int) -> int:
    """Return what a zone holds. What is read behind one buffer differs from what is behind another:
    a kernel that copies it there is seen."""
    return GUARD_WORD & ~_MANTISSA | (GUARD_WORD + number * _STEP) & _MANTISSA


@dataclass(frozen=True, slots=True)
class Buffer:
    """A named stretch of the arena: device address and size in bytes."""

    name: str
    address: int
    nbytes: int


@dataclass(frozen=True, slots=True)
class Zone:
    """A stretch between buffers: device address, size in 4-byte words, and what each holds."""

    address: int
    words: int
    word: int


def footprint(sizes: Mapping[str, int]) -> int:
    """Return the bytes of an arena that holds buffers of the given sizes."""
    return _places(sizes)[1]


def _places(sizes: Mapping[str, int]) -> tuple[list[tuple[str, int, int]], int]:
    """Return where each buffer begins and its size, and where the last zone ends."""
    offset = GUARD_BYTES
    places: list[tuple[str, int, int]] = []
    for name, nbytes in sizes.items():
        places.append((name, offset, nbytes))
        end = offset + nbytes + GUARD_BYTES
        offset = -(-end // ALIGNMENT) * ALIGNMENT
    return places, offset


class Arena:
    """Lays buffers out in a place that it is given, or else in an allocation of its own.

    Parameters
    ----------
    driver : module
        ``pycuda.driver``, with a current context.
    stream : pycuda.driver.Stream
        Where whatever it writes is queued.
    """

    def __init__(self, driver: Any, stream: Any) -> None:
        self._driver = driver
        self._stream = stream
        self._allocation: Any = None
        self._capacity = 0
        self._layout: tuple[tuple[str, int], ...] | None = None
        self.place: Place | None = None
        self.buffers: dict[str, Buffer] = {}
        self.zones: tuple[Zone, ...] = ()

    def lay_out(self, sizes: Mapping[str, int], place: Place | None = None) -> bool:
        """Place buffers of the given sizes (bytes); return whether anything moved.

        Sizes are multiples of 4. After a move every buffer holds the guard word.

        Parameters
        ----------
        sizes : mapping of str to int
        place : Place, optional
            Of at least the footprint: the last zone reaches to its end. None for an allocation of
            the arena's own.
        """
        layout = tuple(sizes.items())
        if layout == self._layout and place == self.place:
            return False
        self._layout = None
        places, offset = _places(sizes)
        if place is None:
            self._reserve(offset)
            base = int(self._allocation)
        else:
            self._release()
            base, offset = place.address, place.nbytes
        self.place = place
        self.buffers = {name: Buffer(name, base + at, size) for name, at, size in places}
        zones: list[Zone] = []
        start = 0
        for _, at, size in places:
            zones.append(Zone(base + start, (at - start) // 4, guard_word(len(zones))))
            start = at + size
        zones.append(Zone(base + start, (offset - start) // 4, guard_word(len(zones))))
        self.zones = tuple(zones)
        self._driver.memset_d32_async(base, GUARD_WORD, offset // 4, self._stream)
        self.restore_zones()
        self._layout = layout
        return True

    def restore_zones(self) -> None:
        """Fill every zone with its word again."""
        for zone in self.zones:
            self._driver.memset_d32_async(zone.address, zone.word, zone.words, self._stream)

    def free(self) -> None:
        """Give the memory back, the place included."""
        self._release()
        self.place = None
        self._layout = None

    def _release(self) -> None:
        if self._allocation is not None:
            self._allocation.free()
        self._allocation = None
        self._capacity = 0

    def _reserve(self, nbytes: int) -> None:
        if nbytes <= self._capacity:
            return
        self._release()
        try:
            self._allocation = self._driver.mem_alloc(nbytes)
        except self._driver.MemoryError:
            # What torch keeps for later is as good as free.
            import torch

            torch.cuda.empty_cache()
            try:
                self._allocation = self._driver.mem_alloc(nbytes)
            except self._driver.MemoryError as error:
                raise UserError(
                    f"the GPU has no room for the {nbytes >> 20} MiB of an input; "
                    "give --jobs a smaller number"
                ) from error
        self._capacity = nbytes
