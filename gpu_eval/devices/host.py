"""The host device: unchanged CUDA C++ compiled with g++ and run on a CPU."""

import platform
from collections.abc import Sequence
from pathlib import Path

from gpu_eval.compilation.host import HostCompiler
from gpu_eval.compilation.toolchain import find_toolchain
from gpu_eval.devices.base import Binary, Device, KernelSource
from gpu_eval.devices.host_session import HostSession


class HostDevice(Device):
    """A CPU that runs kernels as a GPU would, one thread at a time.

    Parameters
    ----------
    cache : Path, optional
        Where the device's own library is kept; default
        `gpu_eval.compilation.cache.default_cache`.

    Notes
    -----
    Schedule 0 runs blocks, warps and lanes from the first to the last, schedule 1 from the last to
    the first; outputs differ only where there is a race. `open` in the process that runs, not
    before a fork.
    """

    name = "host"
    torch_device = "cpu"
    schedules = 2

    def __init__(self, cache: Path | None = None) -> None:
        self._cache = cache

    def describe(self) -> dict[str, str]:
        """Return model, compiler and options.

        Raises
        ------
        UserError
            If there is no compiler.
        """
        toolchain = find_toolchain()
        described = {
            "name": self.name,
            "model": _processor(),
            "machine": platform.machine(),
            "compiler": toolchain.version,
            "options": " ".join(toolchain.kernel_options()),
        }
        if toolchain.note:
            described["note"] = toolchain.note
        return described

    def compile(self, sources: Sequence[KernelSource], cache: Path, jobs: int) -> Sequence[Binary]:
        """Compile many implementations in few units; see `Device.compile`.

        Raises
        ------
        UserError
            If there is no compiler, or the cache cannot be written.
        """
        return HostCompiler(find_toolchain()).compile(sources, cache, jobs)

    def open(self) -> HostSession:
        """Build and load the device's library where necessary, and return a session."""
        from gpu_eval.devices.host_library import load_library

        return HostSession(load_library(find_toolchain(), self._cache))


def _processor() -> str:
    """Return the processor's name as the system gives it."""
    try:
        text = Path("/proc/cpuinfo").read_text()
    except OSError:
        return platform.processor() or platform.machine()
    for line in text.splitlines():
        if line.startswith("model name"):
            return line.partition(":")[2].strip()
    return platform.processor() or platform.machine()
