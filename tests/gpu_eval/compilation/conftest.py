import subprocess
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import pytest

from gpu_eval.compilation.host import HostCompiler
from gpu_eval.compilation.toolchain import find_toolchain
from gpu_eval.devices.base import KernelSource


@dataclass
class Recorder:
    """Runs commands and keeps them; can be told what to pretend instead."""

    commands: list[list[str]] = field(default_factory=list)
    units: list[str] = field(default_factory=list)

    def __call__(
        self, command: Sequence[str], **options: Any
    ) -> "subprocess.CompletedProcess[str]":
        self.commands.append(list(command))
        if "-c" in command:
            self.units.append((options["cwd"] / "unit.cpp").read_text())
        return subprocess.run(command, **options)

    @property
    def compilations(self) -> int:
        return sum("-c" in command for command in self.commands)


@pytest.fixture
def recorder() -> Recorder:
    return Recorder()


@pytest.fixture
def compiler(recorder: Recorder) -> HostCompiler:
    return HostCompiler(find_toolchain(), recorder)


def source(name: str, text: str, *kernels: str, **more: Any) -> KernelSource:
    files = {"kernel.cu": text, **more.pop("headers", {})}
    return KernelSource(name, files, "kernel.cu", kernels or ("k",), **more)
