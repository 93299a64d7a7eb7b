from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path

import pytest
import torch

from gpu_eval.devices.base import Binary, Case, KernelSource, Outcome
from gpu_eval.devices.host import HostDevice
from gpu_eval.devices.host_session import HostSession
from gpu_eval.problems.plan import (
    ArgumentType,
    ResolvedArgument,
    ResolvedLaunch,
    ResolvedPlan,
    ResolvedWorkspace,
)


@pytest.fixture(scope="session")
def cache(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("cache")


@pytest.fixture(scope="session")
def device(cache: Path) -> HostDevice:
    return HostDevice(cache)


@pytest.fixture(scope="session")
def session(device: HostDevice) -> Iterator[HostSession]:
    with device.open() as opened:
        yield opened


def tensor(name: str) -> ResolvedArgument:
    return ResolvedArgument(ArgumentType.POINTER, name)


def integer(value: int) -> ResolvedArgument:
    return ResolvedArgument(ArgumentType.INT32, value)


def number(value: float) -> ResolvedArgument:
    return ResolvedArgument(ArgumentType.FLOAT, value)


def plan(
    kernel: str,
    arguments: list[ResolvedArgument],
    grid: int | tuple[int, int, int] = 1,
    block: int | tuple[int, int, int] = 32,
    shared: int = 0,
    workspaces: tuple[ResolvedWorkspace, ...] = (),
) -> ResolvedPlan:
    grid = grid if isinstance(grid, tuple) else (grid, 1, 1)
    block = block if isinstance(block, tuple) else (block, 1, 1)
    launch = ResolvedLaunch(kernel, grid, block, shared, tuple(arguments))
    return ResolvedPlan((launch,), workspaces)


@dataclass
class Bench:
    """Compiles one source and runs its kernels."""

    session: HostSession
    binary: Binary
    number: int = field(default=0)

    def run(
        self,
        what: ResolvedPlan,
        tensors: Mapping[str, torch.Tensor],
        reference: torch.Tensor,
        *,
        schedule: int = 0,
        deadline: float = 5.0,
    ) -> Outcome:
        self.number += 1
        self.session.bind(
            Case(
                f"{self.binary.id}/{self.number}",
                tensors,
                {"out": reference.float()},
                {"out": reference.double()},
            )
        )
        return self.session.run(self.binary, what, schedule=schedule, deadline=deadline)

    def out(self) -> torch.Tensor:
        return self.session.outputs()["out"]


Compile = Callable[..., Bench]


@pytest.fixture(scope="session")
def compiled(device: HostDevice, session: HostSession, cache: Path) -> Compile:
    known: dict[str, Binary] = {}

    def make(source: str, *kernels: str, flags: tuple[str, ...] = ()) -> Bench:
        key = source + repr(kernels) + repr(flags)
        if key not in known:
            kernel_source = KernelSource(
                f"test{len(known)}", {"kernel.cu": source}, "kernel.cu", kernels, flags
            )
            (known[key],) = device.compile([kernel_source], cache, 1)
        assert known[key].path is not None, known[key].error
        return Bench(session, known[key])

    return make
