"""What the ground around a GPU's arenas costs: taking it, looking at it, and losing it.

Each figure is the median of some repetitions, in milliseconds. The last two are whole processes
that take the device, with a ground or without, and lose it.

    python -m experiments.bench_ground
"""

import statistics
import subprocess
import sys
import time
from collections.abc import Callable
from typing import Any

import torch

from gpu_eval.devices.base import Case
from gpu_eval.devices.cuda import CudaDevice
from gpu_eval.devices.cuda_ground import Ground
from gpu_eval.devices.cuda_session import CudaSession
from gpu_eval.problems.plan import ResolvedPlan
from suiteopt.console import run_script

REPEATS = 7

LOST = """
import os, sys, torch
from gpu_eval.devices.cuda import CudaDevice
session = CudaDevice(0, int(sys.argv[1])).open()
torch.cuda.synchronize()
try:
    torch.zeros(8, device="cuda")[torch.full((1,), 1 << 40, device="cuda")].item()
finally:
    os._exit(0)
"""


def timed(action: Callable[[], Any], before: Callable[[], Any] = lambda: None) -> float:
    """Return the milliseconds of an action, the device's work included."""
    seconds = []
    for _ in range(REPEATS):
        before()
        torch.cuda.synchronize()
        begin = time.perf_counter()
        action()
        torch.cuda.synchronize()
        seconds.append(time.perf_counter() - begin)
    return 1e3 * statistics.median(seconds)


def process(nbytes: int) -> float:
    """Return the milliseconds of a process that takes the device and loses it."""
    seconds = []
    for _ in range(REPEATS):
        begin = time.perf_counter()
        command = [sys.executable, "-c", LOST, str(nbytes)]
        subprocess.run(command, capture_output=True, check=False, timeout=120)
        seconds.append(time.perf_counter() - begin)
    return 1e3 * statistics.median(seconds)


def rows(device: CudaDevice) -> dict[str, float]:
    """Measure everything."""
    found: dict[str, float] = {"GiB of ground": device.ground / 2**30}
    session = device.open()
    assert isinstance(session, CudaSession)
    driver, module = session._driver, session._compare_module
    x = torch.linspace(-1, 1, 1 << 22, device="cuda")
    session.bind(Case("x", {"x": x}, {"out": 2 * x}, {"out": 2 * x.double()}))
    lanes, held = session._lanes, list[Ground | None]()
    lanes.judge(session._case(), [{"out": 2 * x}])
    found["look at samples"] = timed(lambda: lanes.trespassed())
    found["look at everything"] = timed(lambda: lanes.trespassed(whole=True))
    ground = lanes._ground
    assert ground is not None
    found["write everything"] = timed(
        lambda: ground._write(type(ground._held[0])(0, ground.chunks), ground._closeness_at)
    )
    eight, one = [ResolvedPlan(())] * 8, [ResolvedPlan(())]
    case = session._case()
    found["from one lane to eight"] = timed(
        lambda: lanes._berths.ready(case, eight), lambda: lanes._berths.ready(case, one)
    )
    found["from eight lanes to one"] = timed(
        lambda: lanes._berths.ready(case, one), lambda: lanes._berths.ready(case, eight)
    )
    lanes.spare()

    def give_back() -> None:
        for one in held:
            if one is not None:
                one.free()
        held.clear()

    found["take and write"] = timed(
        lambda: held.append(Ground.take(driver, module, device.ground)), give_back
    )
    begin = time.perf_counter()
    give_back()
    found["give back"] = 1e3 * (time.perf_counter() - begin)
    session.close()
    found["a lost process without ground"] = process(0)
    found["a lost process with ground"] = process(device.ground)
    return found


def main() -> None:
    """Print a table."""
    for name, milliseconds in rows(CudaDevice()).items():
        print(f"| {name} | {milliseconds:.3f} |")


if __name__ == "__main__":
    run_script(main)
