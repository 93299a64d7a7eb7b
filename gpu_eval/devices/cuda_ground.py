"""The ground of a worker: one large allocation in which arenas lie, so that few accesses are fatal.

Whatever a mutant touches by an index that is off by less than gigabytes lies in memory of this
object. A stray read finds a known word, a stray write is found afterwards by `Ground.look`.
"""

from collections.abc import Sequence
from typing import Any

import numpy as np

from gpu_eval.devices import cuda_places
from gpu_eval.devices.cuda_places import Place, Stretch

KERNELS = ("ground_fill", "ground_look")

_THREADS = 256
_PARTS = 4
"""Blocks that share a chunk."""

FREE_SHARE = 8
"""A ground leaves this part of a GPU's memory free at least; otherwise it is halved."""


class Ground:
    """Memory around arenas that belongs to nobody, and whose words are known.

    Everything but `follow` is done while no lane is at work. Words are written on the default
    stream, for which lanes' streams wait.

    Parameters
    ----------
    driver : module
        ``pycuda.driver``, with a current context.
    module : object
        The loaded module of ``ground.cu``.
    chunks : int
        Its size.

    Raises
    ------
    pycuda.driver.MemoryError
        If there is not so much memory.
    """

    def __init__(self, driver: Any, module: Any, chunks: int) -> None:
        self._driver = driver
        self.chunks = chunks
        nbytes = 4 * chunks
        # Whatever was had before memory ends is given back with this object.
        self._allocation = driver.mem_alloc(chunks * cuda_places.CHUNK)
        self._small = [driver.mem_alloc(nbytes) for _ in range(2)]
        self._base, self._closeness_at, self._counts = map(int, (self._allocation, *self._small))
        self._seen = driver.pagelocked_empty(nbytes, np.uint8).view(np.uint32)
        self._quads = cuda_places.CHUNK // 16
        self._fill = module.get_function("ground_fill").prepare("PPII")
        self._look = module.get_function("ground_look").prepare("PPPII")
        self._stream = driver.Stream()
        self._done = driver.Event()
        self._pending = False
        self._case = ""
        self._watched: frozenset[int] = frozenset()
        self._held: tuple[Stretch, ...] = ()
        self._closeness = cuda_places.closeness(chunks, (), ())
        self._said: tuple[tuple[Stretch, ...], frozenset[int]] = (self._held, self._watched)
        driver.memcpy_htod(self._closeness_at, self._closeness)
        self._write(Stretch(0, chunks))

    @classmethod
    def take(cls, driver: Any, module: Any, nbytes: int) -> "Ground | None":
        """Return a ground of at most so many bytes: half of that, and so on, where there is less
        memory; None where little is left."""
        while nbytes >= max(cuda_places.LEAST_BYTES, 2 * cuda_places.CHUNK):
            free, total = driver.mem_get_info()
            if free - nbytes >= total // FREE_SHARE:
                try:
                    return cls(driver, module, nbytes // cuda_places.CHUNK)
                except driver.MemoryError:
                    pass  # somebody else was faster
            nbytes //= 2
        return None

    def begin(self, case: str) -> None:
        """Begin a case: what was watched because of another one is not any more."""
        if case != self._case:
            self._case, self._watched = case, frozenset()

    # -- places of arenas ----------------------------------------------------------------------

    def places(self, lanes: int, nbytes: int) -> tuple[Place, ...]:
        """Return where arenas of so many bytes lie; nothing if there is no room for them."""
        each = cuda_places.chunks_of(nbytes)
        return tuple(
            Place(self._base + s.first * cuda_places.CHUNK, s.count * cuda_places.CHUNK)
            for s in cuda_places.divide(self.chunks, lanes, each)
        )

    def hold(self, places: Sequence[Place]) -> None:
        """Let arenas have these places; all that others had is ground again."""
        chunk = cuda_places.CHUNK
        taken = tuple(Stretch((p.address - self._base) // chunk, p.nbytes // chunk) for p in places)
        for stretch in self._held:
            if stretch not in taken:
                self._write(stretch)
        self._held = taken
        before = self._closeness
        self._say()
        if before is self._closeness:
            return
        # Where fewer words were looked at, something may be left that is nobody's fault now.
        closer = np.flatnonzero((self._closeness > 0) & (self._closeness < before))
        for stretch in cuda_places.runs_of(closer):
            self._write(stretch)

    # -- what was written there ----------------------------------------------------------------

    def follow(self, signs: Sequence[Any], whole: bool = False) -> None:
        """Queue a look behind some events, and return; `read` tells what it found.

        Parameters
        ----------
        signs : sequence of pycuda.driver.Event
            Recorded when lanes have done what they are at.
        whole : bool
            Whether to look at every word.
        """
        driver, stream = self._driver, self._stream
        for sign in signs:
            stream.wait_for_event(sign)
        driver.memset_d32_async(self._counts, 0, self.chunks, stream)
        self._look.prepared_async_call(
            (self.chunks, _PARTS),
            (_THREADS, 1, 1),
            stream,
            self._base,
            self._closeness_at,
            self._counts,
            self._quads,
            int(whole),
        )
        driver.memcpy_dtoh_async(self._seen, self._counts, stream)
        self._done.record(stream)
        self._pending = True

    def read(self, exact: bool = False) -> int:
        """Return how many changed words the look that was queued saw; 0 if none was.

        It is waited for, and the ground is written anew where it saw some.
        """
        if not self._pending:
            return 0
        self._pending = False
        self._done.synchronize()
        damaged = int(self._seen.sum(dtype=np.int64))
        if damaged:
            self._write(cuda_places.hull(self._seen, exact), self._closeness_at)
        return damaged

    def look(self, whole: bool = False) -> int:
        """Return how many changed words a look sees now; write the ground anew there.

        Parameters
        ----------
        whole : bool
            Whether to look at every word, which takes milliseconds. Where some are found changed,
            later looks of this case see every word of their chunks.
        """
        self.follow((), whole)
        damaged = self.read(exact=whole)
        if whole and damaged:
            self._watched |= cuda_places.watched_of(self._seen)
            self._say()
        return damaged

    def free(self) -> None:
        """Give the memory back; the arenas in it are gone."""
        for allocation in (self._allocation, *self._small):
            allocation.free()

    def _say(self) -> None:
        """Have it on the device how closely each chunk is looked at."""
        if self._said == (self._held, self._watched):
            return
        self._said = (self._held, self._watched)
        self._closeness = cuda_places.closeness(self.chunks, *self._said)
        self._driver.memcpy_htod(self._closeness_at, self._closeness)

    def _write(self, stretch: Stretch, closeness: int = 0) -> None:
        """Write the ground's words; with the address of ``closeness`` not where arenas lie."""
        self._fill.prepared_call(
            (stretch.count, _PARTS),
            (_THREADS, 1, 1),
            self._base,
            closeness,
            stretch.first,
            self._quads,
        )
