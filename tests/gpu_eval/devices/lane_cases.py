"""Lanes on a stand-in for pycuda, with kernels that do what a mutant may do."""

from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch

from gpu_eval.devices import cuda_arena, cuda_kernels, cuda_lane
from gpu_eval.devices.base import Binary, Case, Job, Outcome
from gpu_eval.devices.cuda_case import BoundCase, bound
from gpu_eval.devices.cuda_ground import Ground
from gpu_eval.devices.cuda_kernels import Kernels
from gpu_eval.devices.cuda_lanes import Lanes
from gpu_eval.problems.plan import ResolvedPlan, ResolvedWorkspace
from tests.gpu_eval.devices import ground_cases
from tests.gpu_eval.devices.compare_cases import Kernel
from tests.gpu_eval.devices.conftest import integer, plan, tensor
from tests.gpu_eval.devices.stand_in import StandIn, Stream, floats

N = 301
GUARD = 4096


def good(driver: StandIn, stream: Stream, grid: Any, x: int, out: int, n: int) -> None:
    floats(out, n)[:] = 2 * floats(x, n)


def _near_good(driver: StandIn, stream: Stream, grid: Any, x: int, out: int, n: int) -> None:
    floats(out, n)[:] = 2 * floats(x, n)
    floats(out, n)[17] *= np.float32(1.001)


def _overruns(driver: StandIn, stream: Stream, grid: Any, x: int, out: int, n: int) -> None:
    floats(out, n)[:] = 2 * floats(x, n)
    floats(out, n + 1)[n] = 3


def _writes_input(driver: StandIn, stream: Stream, grid: Any, x: int, out: int, n: int) -> None:
    floats(out, n)[:] = 2 * floats(x, n)
    floats(x, n)[:] += 1


def _most(driver: StandIn, stream: Stream, grid: Any, x: int, out: int, n: int) -> None:
    floats(out, n)[3:] = 2 * floats(x, n)[3:]


def _once(driver: StandIn, stream: Stream, grid: Any, x: int, out: int, n: int) -> None:
    """Leave an element, and add to the others what is there: stale or poison."""
    floats(out, n)[1:] = 2 * floats(x, n)[1:] + np.isfinite(floats(out, n)[1:])


def _not_a_number(driver: StandIn, stream: Stream, grid: Any, x: int, out: int, n: int) -> None:
    floats(out, n)[:] = 2 * floats(x, n)
    floats(out, n)[5] = np.inf


def _scratch(driver: StandIn, stream: Stream, grid: Any, x: int, w: int, out: int, n: int) -> None:
    floats(w, n)[:] += 2 * floats(x, n)
    floats(out, n)[:] = floats(w, n)


def _hangs(driver: StandIn, stream: Stream, grid: Any, x: int, out: int, n: int) -> None:
    stream.hung = True


def _faults(driver: StandIn, stream: Stream, grid: Any, x: int, out: int, n: int) -> None:
    driver.dead = "an illegal memory access was encountered"


KERNELS: dict[str, Callable[..., None]] = {
    "good": good,
    "near_good": _near_good,
    "overruns": _overruns,
    "writes_input": _writes_input,
    "most": _most,
    "once": _once,
    "not_a_number": _not_a_number,
    "scratch": _scratch,
    "hangs": _hangs,
    "faults": _faults,
}
BINARY = Binary("planted", Path(__file__), "", tuple(KERNELS), "")
"""Any file will do: the stand-in does not look into it."""


def of(kernel: str, **options: Any) -> ResolvedPlan:
    return plan(kernel, [tensor("x"), tensor("out"), integer(N)], **options)


def scratch(zeroed: bool, elements: int = N) -> ResolvedPlan:
    arguments = [tensor("x"), tensor("work"), tensor("out"), integer(N)]
    work = (ResolvedWorkspace("work", elements, zeroed),)
    return plan("scratch", arguments, workspaces=work)


PLANS = {
    "good": of("good"),
    "near_good": of("near_good"),
    "most": of("most"),
    "once": of("once"),
    "not_a_number": of("not_a_number"),
    "zeroed": scratch(True),
    "not zeroed": scratch(False),
    "larger": scratch(True, 3 * N),
    "refused": of("good", grid=0),
    "too much": of("good", shared=1 << 20),
    "nothing": ResolvedPlan(()),
}
OUTSIDE = {"overruns": of("overruns"), "writes_input": of("writes_input")}


def jobs_of(names: list[str], deadline: float = 60.0) -> list[Job]:
    plans = PLANS | OUTSIDE
    return [
        Job(BINARY, plans.get(name) or of(name), place % 2, deadline)
        for place, name in enumerate(names)
    ]


class Same(dict[str, str]):
    """Every name for itself."""

    def __missing__(self, key: str) -> str:
        return key


@dataclass
class Bench:
    """Lanes on a stand-in, with a case."""

    driver: StandIn
    lanes: Lanes
    case: BoundCase

    def run(self, names: list[str], deadline: float = 60.0) -> list[Outcome]:
        return self.lanes.run(self.case, jobs_of(names, deadline))

    def arenas(self) -> list[int]:
        """Return the address of each lane's first input."""
        return [lane._arena.buffers["x"].address for lane in self.lanes._berths.lanes]


Make = Callable[..., Bench]


def bench_on(kernel: Kernel, monkeypatch: pytest.MonkeyPatch, grounded: bool) -> Make:
    monkeypatch.setattr(cuda_arena, "GUARD_BYTES", GUARD)
    monkeypatch.setattr(cuda_kernels, "entry_points", lambda binary: Same())
    monkeypatch.setattr(cuda_lane, "upload", lambda given: given)
    ground_cases.shrink(monkeypatch)
    nbytes = ground_cases.CHUNKS * ground_cases.CHUNK if grounded else 0

    def make(seed: int = 0, more: dict[str, Callable[..., None]] | None = None) -> Bench:
        driver = StandIn(kernel, KERNELS | ground_cases.KERNELS | (more or {}), seed)
        driver.uncounted = ground_cases.look
        x = torch.linspace(-1, 1, N)
        case = bound(Case("x", {"x": x}, {"out": 2 * x}, {"out": 2 * x.double()}), False)
        lanes = Lanes(driver, driver, Kernels(driver), Ground.take(driver, driver, nbytes))
        assert (lanes._ground is not None) == grounded
        lanes.begin(case)
        return Bench(driver, lanes, case)

    return make


def plain(outcomes: list[Outcome]) -> list[Outcome]:
    """Leave out what says how long it took."""
    return [replace(outcome, seconds=0.0) for outcome in outcomes]
