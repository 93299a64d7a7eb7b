"""What the inputs of a profile cost on this machine, problem by problem.

Makes one candidate, the first own draw and one witness of each problem, runs controls and
substrates on them, and prints seconds: to make the input, for all controls (and the slowest), and
for one cell.

    python -m experiments.gpu_costs contract cuda [PROBLEM ...]
"""

import subprocess
import sys
import tempfile
import time
from pathlib import Path

from gpu_eval.campaign.cases import CaseFactory
from gpu_eval.campaign.plan import find_profile
from gpu_eval.campaign.pool import candidate_pool
from gpu_eval.campaign.pool_input import PoolInput
from gpu_eval.campaign.shapes import Profile
from gpu_eval.campaign.witness_pool import witness_pool
from gpu_eval.devices.base import Case, Device, Session
from gpu_eval.problems.definition import Control, Problem
from gpu_eval.problems.loader import kernel_source, load_corpus
from gpu_eval.problems.tensors import dimensions
from suiteopt.matrix.schema import Statistic

REPEATS = 5
TOGETHER = 7
"""Problems that are looked at at the same time."""


def main(profile: str, device: str, names: list[str]) -> int:
    """Look at every problem in a process of its own."""
    waiting = names or list(load_corpus().problems)
    code = 0
    while waiting:
        batch, waiting = waiting[:TOGETHER], waiting[TOGETHER:]
        command = [sys.executable, "-m", "experiments.gpu_costs", "--one", profile, device]
        running = [subprocess.Popen([*command, name]) for name in batch]
        code = max([code, *(abs(process.wait()) for process in running)])
    return code


def one(profile: Profile, device: Device, problem: Problem) -> None:
    """Print the costs of one problem."""
    candidates = candidate_pool(problem, profile)
    chosen = [candidates[profile.scalings + 1], candidates[0], witness_pool(problem, profile)[0]]
    factory = CaseFactory(problem, device.torch_device)
    with device.open() as session, tempfile.TemporaryDirectory() as cache:
        for pool_input in chosen:
            print(_costs(problem, device, session, factory, pool_input, Path(cache)), flush=True)


def _costs(
    problem: Problem,
    device: Device,
    session: Session,
    factory: CaseFactory,
    pool_input: PoolInput,
    cache: Path,
) -> str:
    began = time.perf_counter()
    case = factory.get(pool_input).case
    session.bind(case)
    session.judge(case.reference)
    made = time.perf_counter() - began
    controls = {c.name: _timed(session, case, c) for c in problem.controls if c.run is not None}
    slowest = max(controls, key=lambda name: controls[name])
    cells = []
    sizes = dimensions(problem, pool_input.shape)
    for substrate in problem.substrates:
        (binary,) = device.compile([kernel_source(problem, substrate)], cache, 1)
        plan = substrate.plan.resolve(sizes, problem.scalars)
        outcome = session.run(binary, plan, deadline=30.0)
        began = time.perf_counter()
        for _ in range(REPEATS):
            outcome = session.run(binary, plan, deadline=30.0)
        cell = (time.perf_counter() - began) / REPEATS
        error = outcome.statistics.get(Statistic.TRUTH_RMS, float("nan"))
        cells.append(
            f"{cell * 1e3:.2f} ms ({outcome.seconds * 1e3:.2f}; {outcome.status} {error:.1e})"
        )
    return (
        f"{pool_input.id:34} make {made:.2f} controls {sum(controls.values()):.2f} "
        f"({slowest} {controls[slowest]:.2f}) cells {', '.join(cells)}"
    )


def _timed(session: Session, case: Case, control: Control) -> float:
    import torch

    began = time.perf_counter()
    assert control.run is not None
    with torch.no_grad():
        outputs = control.run(case.tensors)
    session.judge({name: output.contiguous() for name, output in outputs.items()})
    return time.perf_counter() - began


def _main(arguments: list[str]) -> int:
    from gpu_eval.devices.registry import open_device

    if arguments[0] == "--one":
        profile, device, problem = arguments[1:]
        one(find_profile(profile), open_device(device), load_corpus().problem(problem))
        return 0
    return main(arguments[0], arguments[1], arguments[2:])


if __name__ == "__main__":
    sys.exit(_main(sys.argv[1:]))
