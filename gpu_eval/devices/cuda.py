"""The cuda device: NVRTC to machine code, pycuda to run it."""

import copy
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from gpu_eval.compilation.nvrtc import (
    NvrtcCompiler,
    compile_options,
    nvrtc_version,
)
from gpu_eval.devices import cuda_code, cuda_places
from gpu_eval.devices.base import Binary, Device, KernelSource, Session
from suiteopt.errors import MissingExtraError, UserError

MINIMUM_BYTES = 2 << 30
MINIMUM_CAPABILITY = (8, 0)
"""Of ``cp.async``, by which ``compare.cu`` copies ahead."""

OPEN_TRIES = 4
OPEN_SECONDS = 3.0
"""How often and with what pause a worker asks for a GPU that does not answer: a driver that clears
up after a poisoned context may deny for a moment that there is one."""


class CudaDevice(Device):
    """One NVIDIA GPU.

    Parameters
    ----------
    ordinal : int
        Which, as the driver counts them.
    ground : int, optional
        Bytes that each worker keeps around its arenas, so that stray accesses are not fatal
        (`gpu_eval.devices.cuda_ground`); what the GPU's memory allows if not given, 0 for none.

    Raises
    ------
    UserError
        If there is no driver, no such GPU, it is too old or has too little memory, or a package is
        missing.
    """

    name = "cuda"
    torch_device = "cuda"
    schedules = 2
    # Several workers take turns on a GPU, and a neighbour's end stalls it for about a second.
    deadline_floor = 1.0
    isolated = True
    flushes_atomics = True
    standby = 4

    def __init__(self, ordinal: int = 0, ground: int | None = None) -> None:
        self.ordinal = ordinal
        device = _device(ordinal)
        self._model = str(device.name())
        major, minor = device.compute_capability()
        if (major, minor) < MINIMUM_CAPABILITY:
            raise UserError(
                f"{self._model} has the compute capability {major}.{minor}, and the comparison of "
                "outputs needs 8.0; use an A100 or a later GPU, or --device cpu"
            )
        self.architecture = f"sm_{major}{minor}"
        self._memory = int(device.total_memory())
        self.ground = cuda_places.share(self._memory) if ground is None else ground
        self._code: dict[str, bytes] = {}
        if self._memory < MINIMUM_BYTES:
            raise UserError(
                f"{self._model} has {self._memory >> 20} MiB of memory, and a campaign needs "
                f"{MINIMUM_BYTES >> 20}; use a larger GPU or --device cpu"
            )

    def describe(self) -> dict[str, str]:
        """Return model, driver, compiler and options."""
        import torch

        self._own_code()
        version = _driver().get_driver_version()
        return {
            "name": self.name,
            "model": self._model,
            "architecture": self.architecture,
            "memory": f"{self._memory >> 20} MiB",
            "driver": f"CUDA {version // 1000}.{version % 1000 // 10}",
            "compiler": f"NVRTC {nvrtc_version()}",
            "torch": str(torch.__version__),
            "options": " ".join(
                o for o in compile_options(self.architecture) if "include-path" not in o
            ),
        }

    def compile(self, sources: Sequence[KernelSource], cache: Path, jobs: int) -> Sequence[Binary]:
        """Compile many implementations; see `Device.compile`."""
        return NvrtcCompiler(self.architecture).compile(sources, cache, jobs)

    def parts(self) -> Sequence[Device]:
        """Return this GPU and every other of the same model."""
        driver = _driver()
        found = [copy.copy(self) for _ in range(driver.Device.count())]
        for ordinal, device in enumerate(found):
            device.ordinal = ordinal
        return [d for d in found if str(driver.Device(d.ordinal).name()) == self._model]

    def warm(self) -> None:
        """Make the context and load what inputs and references need: a second or two."""
        import torch

        from gpu_eval.devices import cuda_hash
        from suiteopt.inputs.recipes import RECIPES, generate

        self._own_code()
        torch.cuda.set_device(self.ordinal)
        square = torch.ones(8, 8, device="cuda")
        for tensor in (square, square.double()):
            (tensor @ tensor).sum().item()
        # A driver loads a kernel when it is first used, which whoever waits for an input would
        # wait for too.
        cuda_hash.use()
        for name in RECIPES:
            made = generate(name, (8, 8), 0, {}, "cuda")
            bool((torch.isfinite(made.double()) & (made.abs() > 1)).any())
        # Importing pycuda takes a moment, too, and a session begins with it.
        _driver()

    def open(self) -> Session:
        """Take the GPU in this process; one that has just been lost is waited for."""
        from gpu_eval.devices.cuda_session import CudaSession

        compare = self._own_code()[cuda_code.COMPARISON]
        for _ in range(OPEN_TRIES - 1):
            try:
                return CudaSession(_driver(), self.ordinal, compare, self.ground)
            except (UserError, RuntimeError):
                time.sleep(OPEN_SECONDS)
        return CudaSession(_driver(), self.ordinal, compare, self.ground)

    def _own_code(self) -> dict[str, bytes]:
        """Compile this package's own kernels, once: a described device carries them along."""
        if not self._code:
            self._code = {
                program: cuda_code.machine_code(program, self.architecture)
                for program in cuda_code.PROGRAMS
            }
        cuda_code.keep(self.architecture, self._code)
        return self._code


def _driver() -> Any:
    """Import and initialise pycuda's driver module."""
    try:
        import pycuda.driver as driver
    except ImportError as error:
        if "libcuda" in str(error):
            raise UserError(
                "there is no NVIDIA driver on this machine (libcuda was not found); "
                "use --device cpu, or a machine with a GPU"
            ) from error
        raise MissingExtraError("pycuda", "gpu") from error
    try:
        driver.init()
    except driver.Error as error:
        raise UserError(
            f"the NVIDIA driver does not start ({error}); use --device cpu, or a machine with a GPU"
        ) from error
    return driver


def _device(ordinal: int) -> Any:
    driver = _driver()
    count = driver.Device.count()
    if ordinal >= count:
        raise UserError(
            f"there is no GPU {ordinal}, the driver has {count}; use --device cpu, or one of them"
        )
    return driver.Device(ordinal)
