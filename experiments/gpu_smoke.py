"""Does the cuda device run the corpus?  A first look on a new machine; prints one line a kernel."""

import sys
import time
from pathlib import Path

import torch

from gpu_eval.campaign.cases import CaseFactory
from gpu_eval.campaign.pool import candidate_pool
from gpu_eval.campaign.shapes import PROFILES
from gpu_eval.devices.registry import open_device
from gpu_eval.problems.loader import kernel_source, load_corpus
from gpu_eval.problems.tensors import dimensions


def main() -> int:
    """Run every substrate on the demo inputs of every problem."""
    device = open_device(sys.argv[1] if len(sys.argv) > 1 else "cuda")
    print(device.describe(), flush=True)
    bad = 0
    with device.open() as session:
        for problem in load_corpus().problems.values():
            factory = CaseFactory(problem, device.torch_device)
            pool = candidate_pool(problem, PROFILES["demo"])
            sources = [kernel_source(problem, s) for s in problem.substrates]
            binaries = device.compile(sources, Path("/tmp/gpu-smoke-cache"), 4)
            for substrate, binary in zip(problem.substrates, binaries, strict=True):
                started, worst, statuses = time.perf_counter(), 0.0, set()
                for member in pool:
                    case = factory.get(member).case
                    session.bind(case)
                    plan = substrate.plan.resolve(
                        dimensions(problem, member.shape), problem.scalars
                    )
                    for schedule in range(device.schedules):
                        outcome = session.run(binary, plan, schedule=schedule)
                        statuses.add(outcome.status.value)
                        worst = max(worst, outcome.statistics.get("truth_rms", 9e9))
                seconds = time.perf_counter() - started
                bad += statuses != {"ok"}
                print(
                    f"{problem.id} {substrate.name:16} {sorted(statuses)} "
                    f"worst d/RMS {worst:.2e} {seconds / len(pool) / 2 * 1e3:.2f} ms",
                    flush=True,
                )
    torch.cuda.synchronize() if device.torch_device == "cuda" else None
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main())
