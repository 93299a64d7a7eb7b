"""The host device's C++ library: built once into a cache, loaded, and described to ctypes."""

import ctypes
import subprocess
import tempfile
from enum import IntEnum
from pathlib import Path

from gpu_eval.compilation.cache import content_hash, default_cache, write_atomically
from gpu_eval.compilation.toolchain import RUNTIME, Toolchain
from suiteopt.errors import UserError
from suiteopt.matrix.schema import COUNTS, STATISTICS

_SOURCES = ("host_run.cpp", "host_grid.cpp", "host_arena.cpp", "host_compare.cpp")
_BUILD_SECONDS = 120.0


class Ending(IntEnum):
    """How a run ended; the order is that of ``host_run.cpp``."""

    OK = 0
    NONFINITE = 1
    OUT_OF_BOUNDS = 2
    UNWRITTEN = 3
    CRASH = 4
    TIMEOUT = 5
    LAUNCH_ERROR = 6


class BufferRole(IntEnum):
    """What a buffer holds before a run; the order is that of ``host_arena.h``."""

    INPUT = 0
    OUTPUT = 1
    ZEROED = 2
    SCRATCH = 3


class BufferSpecification(ctypes.Structure):
    """`Arena::Specification`."""

    _fields_ = (
        ("name", ctypes.c_char_p),
        ("role", ctypes.c_int),
        ("bytes", ctypes.c_uint64),
        ("content", ctypes.c_void_p),
        ("reference", ctypes.c_void_p),
        ("truth", ctypes.c_void_p),
    )


class Index3(ctypes.Structure):
    """Three unsigned sizes."""

    _fields_ = (("x", ctypes.c_uint32), ("y", ctypes.c_uint32), ("z", ctypes.c_uint32))


class KernelRecord(ctypes.Structure):
    """`Kernel`: a line of an implementation's table."""

    _fields_ = (
        ("name", ctypes.c_char_p),
        ("entry", ctypes.c_void_p),
        ("signature", ctypes.c_char_p),
    )


class LaunchRecord(ctypes.Structure):
    """`Launch`: a kernel with its sizes and arguments."""

    _fields_ = (
        ("kernel", ctypes.POINTER(KernelRecord)),
        ("arguments", ctypes.POINTER(ctypes.c_void_p)),
        ("grid", Index3),
        ("block", Index3),
        ("shared", ctypes.c_uint64),
    )


class Comparison(ctypes.Structure):
    """`Comparison`: statistics and counts in the order of the schema."""

    _fields_ = (
        ("statistics", ctypes.c_double * len(STATISTICS)),
        ("counts", ctypes.c_uint64 * len(COUNTS)),
        ("hash", ctypes.c_uint64),
    )


class RunResult(ctypes.Structure):
    """`Result` of one cell."""

    _fields_ = (
        ("comparison", Comparison),
        ("seconds", ctypes.c_double),
        ("unwritten", ctypes.c_uint64),
        ("ending", ctypes.c_int32),
        ("divergent", ctypes.c_int32),
        ("message", ctypes.c_char * 256),
    )


def load_library(toolchain: Toolchain, cache: Path | None = None) -> ctypes.CDLL:
    """Build the library where it is not in the cache, load it and set it up.

    Parameters
    ----------
    toolchain : Toolchain
    cache : Path, optional
        Default: `gpu_eval.compilation.cache.default_cache`.

    Raises
    ------
    UserError
        If it cannot be built, stored, or loaded.
    """
    files = sorted((*RUNTIME.glob("host_*.cpp"), *RUNTIME.glob("host_*.h")))
    options = toolchain.library_options()
    key = content_hash(
        [toolchain.version, *options, *(p.name + "\n" + p.read_text() for p in files)]
    )
    path = (cache or default_cache()).absolute() / f"libhostgpu-{key[:32]}.so"
    if not path.is_file():
        write_atomically(path, _build(toolchain, options))
    try:
        library = ctypes.CDLL(str(path))
    except OSError as error:
        raise UserError(f"cannot load {path}: {error}; delete it and run again") from error
    _declare(library)
    if library.hostgpu_setup() != 0:
        raise UserError(f"the host device cannot start: {library.hostgpu_error().decode()}")
    return library


def _build(toolchain: Toolchain, options: tuple[str, ...]) -> bytes:
    with tempfile.TemporaryDirectory(prefix="suiteopt-") as scratch:
        built = Path(scratch) / "library.so"
        sources = [str(RUNTIME / name) for name in _SOURCES]
        command = [toolchain.compiler, *options, "-shared", *sources, "-o", str(built)]
        command += ["-Wl,-z,now", "-ldl", "-lpthread", "-lrt"]
        try:
            done = subprocess.run(command, capture_output=True, text=True, timeout=_BUILD_SECONDS)
        except (OSError, subprocess.TimeoutExpired) as error:
            raise UserError(f"cannot build the host device's library: {error}") from error
        if done.returncode:
            raise UserError(
                "cannot build the host device's library: "
                + next(iter(done.stderr.splitlines()), "the compiler gave no message")
            )
        return built.read_bytes()


def _declare(library: ctypes.CDLL) -> None:
    pointer = ctypes.c_void_p
    signatures: dict[str, tuple[object, list[object]]] = {
        "hostgpu_setup": (ctypes.c_int, []),
        "hostgpu_error": (ctypes.c_char_p, []),
        "hostgpu_arena": (pointer, [ctypes.POINTER(BufferSpecification), ctypes.c_int]),
        "hostgpu_arena_free": (None, [pointer]),
        "hostgpu_address": (pointer, [pointer, ctypes.c_int]),
        "hostgpu_output": (pointer, [pointer, ctypes.c_int]),
        "hostgpu_load": (pointer, [ctypes.c_char_p]),
        "hostgpu_unload": (None, [pointer]),
        "hostgpu_kernels": (ctypes.POINTER(KernelRecord), [pointer, ctypes.c_char_p]),
        "hostgpu_run": (
            None,
            [
                pointer,
                pointer,
                pointer,
                ctypes.POINTER(LaunchRecord),
                ctypes.c_int,
                ctypes.c_int,
                ctypes.c_double,
                ctypes.POINTER(RunResult),
            ],
        ),
        "hostgpu_compare_begin": (None, [ctypes.POINTER(Comparison)]),
        "hostgpu_compare": (
            None,
            [ctypes.POINTER(Comparison), pointer, pointer, pointer, ctypes.c_uint64],
        ),
    }
    for name, (result, arguments) in signatures.items():
        function = getattr(library, name)
        function.restype = result
        function.argtypes = arguments
