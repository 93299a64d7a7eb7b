"""What lanes ask of pycuda, on a CPU: streams whose work is done a piece at a time, in any order.

Memory is this process's own, kernels are Python functions, ``compare.cu`` runs on the host device.
As on a GPU, whatever is not queued on a stream waits for all of them: where one hangs, that is an
`AssertionError` here, since the host would wait forever.
"""

import ctypes
import random
import struct
from collections.abc import Callable
from dataclasses import dataclass, field
from types import SimpleNamespace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from gpu_eval.devices.cuda_compare import COMMON, ENTRY, JOB, PARTIAL
from tests.gpu_eval.devices.compare_cases import Kernel

Work = Callable[[], object]


class Error(Exception):
    """A call that failed."""


class MemoryEnd(Error):
    """No memory is left."""


def words(address: int, count: int) -> NDArray[np.uint32]:
    """Return the 32-bit words at an address."""
    return np.ctypeslib.as_array((ctypes.c_uint32 * count).from_address(address))


def floats(address: int, count: int) -> NDArray[np.float32]:
    """Return the floats at an address."""
    return words(address, count).view(np.float32)


@dataclass
class Stream:
    """Work in its order; ``hung`` once its head never ends."""

    work: list[Work] = field(default_factory=list)
    done: int = 0
    hung: bool = False

    @property
    def busy(self) -> bool:
        """Whether there is a piece of work that can be done now."""
        if self.hung or self.done == len(self.work):
            return False
        head = self.work[self.done]
        return not isinstance(head, Wait) or head()

    def step(self) -> None:
        if self.busy:
            self.work[self.done]()
            self.done += not self.hung

    def wait_for_event(self, event: "Event") -> None:
        self.work.append(Wait(event.stream, event.place))


@dataclass
class Wait:
    """Work of a stream that is done once another one has come to some place."""

    stream: Stream
    place: int

    def __call__(self) -> bool:
        return self.stream.done >= self.place


@dataclass
class Allocation:
    driver: "StandIn"
    address: int
    nbytes: int

    def __int__(self) -> int:
        return self.address

    def free(self) -> None:
        self.driver.settle()
        del self.driver.memory[self.address]


@dataclass
class Event:
    driver: "StandIn"
    stream: Stream = field(default_factory=Stream)
    place: int = 0

    def record(self, stream: Stream) -> None:
        self.driver.check()
        self.stream, self.place = stream, len(stream.work)

    def query(self) -> bool:
        self.driver.advance()
        self.driver.check()
        return self.stream.done >= self.place

    def synchronize(self) -> None:
        while not self.query():
            assert self.driver.busy, "the host waits forever"

    def time_since(self, earlier: "Event") -> float:
        assert earlier.stream is self.stream
        return 1.0


@dataclass
class Function:
    """A kernel: called with the driver, its grid and its arguments when its turn comes."""

    driver: "StandIn"
    action: Callable[..., None]
    codes: str = ""

    def prepare(self, codes: str) -> "Function":
        self.codes = codes
        return self

    def prepared_call(self, grid: Any, block: Any, *values: Any) -> None:
        self.driver.settle()
        struct.pack(self.codes, *values)
        self.action(self.driver, Stream(), grid, *values)

    def set_attribute(self, attribute: str, value: int) -> None:
        self.driver.check()

    def prepared_async_call(
        self, grid: Any, block: Any, stream: Stream, *values: Any, shared_size: int = 0
    ) -> None:
        self.driver.check()
        struct.pack(self.codes, *values)
        if shared_size > 200_000:
            raise Error("too much shared memory")
        # Looks at the ground come with runs; what is counted is runs and their comparisons.
        self.driver.launched += self.action is not self.driver.uncounted
        self.driver.queue(stream, lambda: self.action(self.driver, stream, grid, *values))


class StandIn:
    """The driver, and the one module that there is.

    Parameters
    ----------
    kernel : Kernel
        ``compare.cu``.
    kernels : dict of str to callable
        By name.
    seed : int
        Of the order in which streams advance.
    """

    Error = Error
    MemoryError = MemoryEnd
    function_attribute = SimpleNamespace(
        PREFERRED_SHARED_MEMORY_CARVEOUT="carve-out", MAX_DYNAMIC_SHARED_SIZE_BYTES="shared"
    )

    def __init__(
        self, kernel: Kernel, kernels: dict[str, Callable[..., None]], seed: int = 0
    ) -> None:
        self._kernel = kernel
        self._kernels = kernels
        self._random = random.Random(seed)
        self._streams: list[Stream] = []
        self.memory: dict[int, NDArray[np.uint8]] = {}
        self.limit = 1 << 40
        self.dead = ""
        self.launched = 0
        self.uncounted: Callable[..., None] | None = None
        self.most_busy = 0
        self.Context = SimpleNamespace(synchronize=self.settle)
        self.Stream = self._stream
        self.Event = lambda: Event(self)

    def _stream(self) -> Stream:
        self._streams.append(Stream())
        return self._streams[-1]

    # -- what streams do -----------------------------------------------------------------------

    def check(self) -> None:
        if self.dead:
            raise Error(self.dead)

    def queue(self, stream: Stream, work: Work) -> None:
        self.check()
        stream.work.append(work)

    def advance(self) -> None:
        """Do one piece of work on one of the streams that have some."""
        busy = self.busy
        self.most_busy = max(self.most_busy, len(busy))
        if busy and not self.dead:
            self._random.choice(busy).step()

    @property
    def busy(self) -> list[Stream]:
        return [stream for stream in self._streams if stream.busy]

    def settle(self) -> None:
        """Do all that is queued, as whatever is not on a stream has to wait for."""
        while not self.dead and any(s.done < len(s.work) for s in self._streams):
            assert not any(s.hung for s in self._streams), "the host waits forever"
            self.advance()
        self.check()

    # -- memory --------------------------------------------------------------------------------

    @property
    def held(self) -> int:
        return sum(part.nbytes for part in self.memory.values())

    def mem_get_info(self) -> tuple[int, int]:
        self.check()
        return self.limit - self.held, self.limit

    def mem_alloc(self, nbytes: int) -> Allocation:
        self.settle()
        if self.held + nbytes > self.limit:
            raise MemoryEnd("out of memory")
        room = np.full(nbytes + 256, 0xAB, np.uint8)
        address = room.ctypes.data + -room.ctypes.data % 256
        self.memory[address] = room
        return Allocation(self, address, nbytes)

    def pagelocked_empty(self, nbytes: int, dtype: Any) -> NDArray[Any]:
        self.settle()
        return np.zeros(nbytes, dtype)

    def memcpy_htod(self, address: int, array: NDArray[Any]) -> None:
        self.settle()
        ctypes.memmove(address, array.ctypes.data, array.nbytes)

    def memset_d32(self, address: int, word: int, count: int) -> None:
        self.settle()
        words(address, count)[:] = word

    def memcpy_dtod(self, to: int, source: int, nbytes: int) -> None:
        self.settle()
        ctypes.memmove(to, source, nbytes)

    def memset_d32_async(self, address: int, word: int, count: int, stream: Stream) -> None:
        def fill() -> None:
            words(address, count)[:] = word

        self.queue(stream, fill)

    def memcpy_dtod_async(self, to: int, source: int, nbytes: int, stream: Stream) -> None:
        def copy() -> None:
            ctypes.memmove(to, source, nbytes)

        self.queue(stream, copy)

    def memcpy_dtoh_async(self, array: NDArray[Any], source: int, stream: Stream) -> None:
        def copy() -> None:
            ctypes.memmove(array.ctypes.data, source, array.nbytes)

        self.queue(stream, copy)

    # -- modules -------------------------------------------------------------------------------

    def module_from_buffer(self, data: bytes) -> "StandIn":
        self.settle()
        return self

    def get_function(self, name: str) -> Function:
        self.settle()
        return Function(self, _compare if name == ENTRY else self._kernels[name])

    def compare(self, grid: tuple[int, int], *arguments: int) -> None:
        table, owners, _, commons, results, serial = arguments
        blocks = words(owners, grid[0]).view(np.int32)
        jobs = int(blocks.max()) + 1
        assert not words(commons, jobs * COMMON.itemsize // 4).any()
        rows = words(table, jobs * JOB.itemsize // 4).view(JOB)
        records = self._kernel.launched(rows, blocks, serial=serial)
        ctypes.memmove(results, records.ctypes.data, jobs * PARTIAL.itemsize)


def _compare(driver: StandIn, stream: Stream, grid: tuple[int, int], *arguments: int) -> None:
    driver.compare(grid, *arguments)
