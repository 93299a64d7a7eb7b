"""A CPU device that asks NVRTC which mutants are the same program on a GPU.

Two mutants that g++ tells apart may be one and the same to the compiler that counts. Wrapped in
`SassEquivalence`, a device compiles as it does and runs what it compiled, but its binaries carry
the hash of their SASS, so that equivalents and duplicates are those of a GPU. No GPU is needed.
"""

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from gpu_eval.compilation.nvrtc import NvrtcCompiler, nvrtc_version
from gpu_eval.devices.base import Binary, Device, KernelSource, Session

ARCHITECTURE = "sm_90"


class SassEquivalence(Device):
    """Another device, whose equal programs are those with equal SASS.

    Parameters
    ----------
    device : Device

    Raises
    ------
    MissingExtraError
        If NVRTC or its bindings are not installed.
    """

    def __init__(self, device: Device) -> None:
        self._device = device
        self._compiler = f"NVRTC {nvrtc_version()}"
        self.name = device.name
        self.torch_device = device.torch_device
        self.schedules = device.schedules
        self.deadline_floor = device.deadline_floor

    def describe(self) -> dict[str, str]:
        """Return what the device says, and where equivalence comes from."""
        return {
            **self._device.describe(),
            "equivalence": f"SASS for {ARCHITECTURE} by {self._compiler}",
        }

    def compile(self, sources: Sequence[KernelSource], cache: Path, jobs: int) -> Sequence[Binary]:
        """Compile for the device and for a GPU; what NVRTC refuses keeps the device's hash."""
        binaries = self._device.compile(sources, cache, jobs)
        cubins = NvrtcCompiler(ARCHITECTURE).compile(sources, cache / "sass", jobs)
        return [
            replace(binary, machine_code=cubin.machine_code)
            if binary.path is not None and cubin.path is not None
            else binary
            for binary, cubin in zip(binaries, cubins, strict=True)
        ]

    def open(self) -> Session:
        """Take the device in this process."""
        return self._device.open()
