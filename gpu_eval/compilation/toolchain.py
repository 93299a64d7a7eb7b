"""The host compiler: where it is, what it can do, with which options it runs."""

import platform
import shutil
import subprocess
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path

from suiteopt.errors import UserError

RUNTIME = Path(__file__).resolve().parent.parent / "devices"
"""Where the headers and sources of the host device lie."""

MINIMUM_VERSION = 11

_V3 = frozenset({"avx", "avx2", "bmi1", "bmi2", "f16c", "fma", "abm", "movbe"})
# Enough for every unit: gcc must not decide about one mutant by the size of its neighbours.
_STABLE_INLINING = ("--param=large-unit-insns=100000000", "--param=inline-unit-growth=1000000")
_KERNEL_OPTIONS = (
    "-std=gnu++17",
    "-O1",
    "-ffp-contract=fast",  # as nvcc's -fmad=true
    "-fexpensive-optimizations",  # without it gcc fuses nothing at -O1
    "-fwrapv",  # integer overflow wraps on a GPU
    "-fno-strict-aliasing",
    "-fno-finite-loops",  # or gcc deletes a mutant's endless loop
    "-fno-math-errno",
    "-fno-exceptions",
    "-fno-rtti",
    "-fno-asynchronous-unwind-tables",
    "-fno-stack-protector",
    "-fstack-clash-protection",  # no frame steps over a fiber's guard
    "-fcf-protection=none",
    "-fno-gnu-unique",
    "-U_FORTIFY_SOURCE",
    "-fPIC",
    "-fvisibility=hidden",
    "-ffunction-sections",
    "-fdata-sections",
    "-Wa,-L",  # keeps the names of constants, which machine_code.py needs
    "-w",
)


@dataclass(frozen=True)
class Toolchain:
    """A compiler that was found and asked for its version.

    Attributes
    ----------
    compiler : str
        Path of g++.
    version : str
        First line of ``g++ --version``.
    machine : tuple of str
        Options that name the instruction set.
    note : str
        A sentence where the machine cannot run the usual instruction set; else empty.
    """

    compiler: str
    version: str
    machine: tuple[str, ...]
    note: str

    def kernel_options(self) -> tuple[str, ...]:
        """Return the options that kernels are compiled with."""
        options = tuple(
            o
            for o in _KERNEL_OPTIONS
            if not (o.startswith("-fcf-protection") and platform.machine() != "x86_64")
        )
        return (*options, *self.machine, *_STABLE_INLINING)

    def library_options(self) -> tuple[str, ...]:
        """Return the options that the launcher and comparator are compiled with."""
        return (
            "-std=c++17",
            "-O2",
            "-ffp-contract=off",
            "-fPIC",
            "-fvisibility=hidden",
            *self.machine,
        )


def cpu_flags() -> frozenset[str]:
    """Return the feature flags of this machine's first processor (empty where unknown)."""
    try:
        text = Path("/proc/cpuinfo").read_text()
    except OSError:
        return frozenset()
    for line in text.splitlines():
        if line.startswith(("flags", "Features")):
            return frozenset(line.partition(":")[2].split())
    return frozenset()


def machine_options(machine: str, flags: frozenset[str]) -> tuple[tuple[str, ...], str]:
    """Choose the instruction set; a fixed one, so that results do not vary by host.

    Returns
    -------
    tuple of (options, note)
        The note is empty where the usual set is used.
    """
    if machine == "x86_64":
        if flags >= _V3:
            return ("-march=x86-64-v3",), ""
        missing = ", ".join(sorted(_V3 - flags))
        return (
            ("-march=x86-64",),
            f"this processor lacks {missing}: kernels are compiled for plain x86-64, without fused "
            "multiply-add, so results differ in the last bits from those of other machines",
        )
    if machine in ("aarch64", "arm64"):
        return ("-march=armv8-a",), "kernels are compiled for aarch64; x86-64 results may differ"
    return (), f"the host device is made for x86-64 and aarch64; {machine} is untested"


@lru_cache(maxsize=1)
def find_toolchain() -> Toolchain:
    """Find g++.

    Raises
    ------
    UserError
        If there is none, it is too old, or this is not Linux.
    """
    if platform.system() != "Linux":
        raise UserError(
            f"the host device runs on Linux only, not on {platform.system()}; "
            "use a Linux machine or container"
        )
    compiler = shutil.which("g++")
    if compiler is None:
        raise UserError(
            "no C++ compiler: the host device needs g++ 11 or newer; install it "
            "(Debian and Ubuntu: apt install g++)"
        )
    try:
        done = subprocess.run(
            [compiler, "-dumpfullversion", "-dumpversion"],
            capture_output=True,
            text=True,
            check=True,
            timeout=30,
        )
        about = subprocess.run(
            [compiler, "--version"], capture_output=True, text=True, check=True, timeout=30
        )
        major = int(done.stdout.strip().split(".")[0])
    except (OSError, subprocess.SubprocessError, ValueError) as error:
        raise UserError(f"the compiler {compiler} does not answer --version: {error}") from error
    if major < MINIMUM_VERSION:
        raise UserError(
            f"g++ {done.stdout.strip()} is too old for the host device; install g++ "
            f"{MINIMUM_VERSION} or newer"
        )
    options, note = machine_options(platform.machine(), cpu_flags())
    return Toolchain(compiler, about.stdout.splitlines()[0], options, note)
