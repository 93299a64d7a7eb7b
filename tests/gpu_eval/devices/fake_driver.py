"""Stands for ``pycuda.driver``: checks what it is asked for, runs nothing, and acts as planned.

``FAKE_ACTS`` (JSON) says by the number of an implementation what its kernels do: ``hang``,
``crash`` (which poisons the context), ``refuse`` (the launch), ``exit``. Every launch is a line in
the file ``FAKE_LAUNCHES``: its mangled name.
"""

import json
import os
import re
import struct
import time
from collections.abc import Sequence
from enum import Enum
from pathlib import Path
from typing import Any

STATE: dict[str, Any] = {"act": "", "poisoned": False, "live": 0}


class Error(Exception):
    """Base of what the driver raises."""


class LogicError(Error):
    """Something went wrong in an earlier launch."""


class function_attribute(Enum):
    """Attributes of functions."""

    MAX_DYNAMIC_SHARED_SIZE_BYTES = 1


def init() -> None:
    """Start the driver."""


def get_driver_version() -> int:
    """Return a version."""
    return 13000


class Device:
    """A GPU."""

    def __init__(self, ordinal: int) -> None:
        assert ordinal == 0

    @staticmethod
    def count() -> int:
        return 1

    def name(self) -> str:
        return "none"

    def compute_capability(self) -> tuple[int, int]:
        return (9, 0)

    def total_memory(self) -> int:
        return 80 << 30

    def make_context(self) -> "Context":
        return Context()


class Context:
    """The context of the process."""

    @staticmethod
    def synchronize() -> None:
        if STATE["act"] == "hang":
            time.sleep(600)
        if STATE["act"] == "exit":
            os._exit(139)
        if STATE["act"] == "crash":
            STATE["poisoned"] = True
        STATE["act"] = ""
        _check()

    @staticmethod
    def pop() -> None:
        _check()

    def detach(self) -> None:
        assert STATE["live"] == 0, "memory was not given back"


class DeviceAllocation:
    """Memory that remembers how much of it was written."""

    def __init__(self, size: int) -> None:
        assert size > 0
        self.size = size
        STATE["live"] += 1

    def __int__(self) -> int:
        return id(self)

    def free(self) -> None:
        STATE["live"] -= 1


def mem_alloc(size: int) -> DeviceAllocation:
    """Allocate."""
    _check()
    return DeviceAllocation(size)


def memcpy_htod(target: DeviceAllocation, source: Any) -> None:
    """Copy; a buffer is as large as what goes into it."""
    _check()
    assert source.nbytes == target.size


def memset_d8(target: DeviceAllocation, value: int, size: int) -> None:
    """Fill a whole buffer."""
    assert (value, size) == (0, target.size)


class Function:
    """A kernel of a module."""

    def __init__(self, name: str) -> None:
        self.name = name

    def prepare(self, codes: str) -> None:
        self.codes = codes

    def prepared_call(
        self, grid: Sequence[int], block: Sequence[int], *values: Any, shared_size: int
    ) -> None:
        struct.pack(self.codes, *values)
        assert len(grid) == len(block) == 3
        assert shared_size >= 0
        found = re.search(r"hgm(\d{5})", self.name)
        assert found is not None
        acts = json.loads(os.environ.get("FAKE_ACTS", "{}"))
        act = acts.get(str(int(found.group(1))), "")
        if act == "refuse" and "planted" not in self.name:
            raise LogicError("cuLaunchKernel failed: invalid argument")
        STATE["act"] = "" if "planted" in self.name else act
        with Path(os.environ["FAKE_LAUNCHES"]).open("a") as file:
            file.write(self.name + "\n")


class Module:
    """A loaded cubin."""

    def __init__(self, cubin: bytes) -> None:
        self.cubin = cubin

    def get_function(self, name: str) -> Function:
        assert name.encode() in self.cubin
        return Function(name)


def module_from_buffer(cubin: bytes) -> Module:
    """Load."""
    _check()
    return Module(cubin)


def _check() -> None:
    if STATE["poisoned"]:
        raise LogicError("cuCtxSynchronize failed: an illegal memory access was encountered")
