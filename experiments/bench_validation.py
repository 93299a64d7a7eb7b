"""How fast validation is: 100 synthetic problems of 64 inputs and 70 mutants, read from disk.

Two figures: what one split needs (reading, calibration, choice of every suite, 20 repeats of 5
folds), and all that `suiteopt crossval` answers (five splits, every control kind held out twice,
wider denominators, scaled tolerances, published conditions). Wall clock depends on what else the
machine does, so processor seconds stand beside it; give one thread to the linear algebra, or
waiting threads are counted as work:

Run: OPENBLAS_NUM_THREADS=1 python -m experiments.bench_validation [--problems 100]
Writes experiments/results/bench_validation.json and bench_validation.md.
"""

import argparse
import json
import os
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from experiments.synthetic_matrix import write_synthetic
from suiteopt.console import run_script
from suiteopt.matrix.store import Matrix
from suiteopt.selection.cases import cases
from suiteopt.selection.enumerate import enumerate_best
from suiteopt.selection.question import Objective, ask
from suiteopt.selection.select import select
from suiteopt.validation.crossval import FOLDS, REPEATS, cross_validate
from suiteopt.validation.scores import split_figures, to_choose
from suiteopt.validation.splits import Split, random_folds, site_folds, site_groups
from suiteopt.validation.suites import Coverage, HeldOut

RESULTS = Path(__file__).parent / "results"


def timed(call: Callable[[], Any]) -> tuple[Any, dict[str, float]]:
    """Return a result with the wall-clock and processor seconds it took."""
    wall, processor = time.perf_counter(), time.process_time()
    result = call()
    return result, {
        "seconds": time.perf_counter() - wall,
        "processor_seconds": time.process_time() - processor,
    }


def one_split(path: Path, split: Split, objective: Objective) -> float | None:
    """Read, calibrate, and cross-validate over one split; from a matrix that nothing has cached."""
    matrix = Matrix.open(path)
    found = list(cases(matrix, ask(None)))
    families = [(case.problem, family) for case in found for family in case.families]
    if split == Split.RANDOM:
        plan = random_folds(families, FOLDS, REPEATS)
    else:
        plan = site_folds(site_groups([s for case in found for s in case.sites]), FOLDS, REPEATS)
    held_out = objective == Objective.HELD_OUT
    suites = HeldOut(matrix, found, 2, "auto") if held_out else Coverage(found, 2, "auto")
    (chosen,) = suites.in_folds([to_choose(plan, found)])
    return split_figures(split, plan, found, suites.refitters, chosen).held_out_share


def measure(problems: int) -> dict[str, Any]:
    """Write the matrix and measure on it."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "matrix"
        write_synthetic(path, problems)
        instances = [case.instance for case in cases(Matrix.open(path), ask(None))]
        enumerate_best(instances[0], 2)
        _, pairs = timed(lambda: [enumerate_best(instance, 2) for instance in instances])
        chosen, selecting = timed(lambda: select(Matrix.open(path), 2))
        random, by_chance = timed(lambda: one_split(path, Split.RANDOM, Objective.HELD_OUT))
        site, by_site = timed(lambda: one_split(path, Split.SITE, Objective.HELD_OUT))
        plain, by_coverage = timed(lambda: one_split(path, Split.SITE, Objective.COVERAGE))
        whole, everything = timed(lambda: cross_validate(Matrix.open(path), 2))
    return {
        "problems": problems,
        "cpus": os.cpu_count(),
        "load_average": os.getloadavg()[0],
        "rows": {
            "all best pairs, in memory": pairs,
            "select from disk": {**selecting, "share": chosen.fitted_share},
            "random split, from disk": {**by_chance, "share": random},
            "site split, from disk": {**by_site, "share": site},
            "site split by coverage, from disk": {**by_coverage, "share": plain},
            "all of crossval, from disk": {**everything, "share": whole.primary.held_out_share},
        },
    }


def table(result: dict[str, Any]) -> str:
    """Write the table in Markdown."""
    lines = [
        "# Validation, measured",
        "",
        f"{result['problems']} synthetic problems, 64 inputs, 70 mutants, 8 controls, k = 2; "
        f"{REPEATS} repeats of {FOLDS} folds, calibration inside; {result['cpus']} cores, load "
        f"average {result['load_average']:.1f}: wall clock is as long as the machine was busy.",
        "",
        "| what | seconds | processor seconds | detected or held out |",
        "|---|---|---|---|",
    ]
    for name, row in result["rows"].items():
        shown = "-" if row.get("share") is None else f"{row['share']:.1%}"
        lines.append(
            f"| {name} | {row['seconds']:.2f} | {row['processor_seconds']:.2f} | {shown} |"
        )
    return "\n".join([*lines, ""])


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--problems", type=int, default=100)
    result = measure(parser.parse_args().problems)
    RESULTS.mkdir(exist_ok=True)
    (RESULTS / "bench_validation.json").write_text(json.dumps(result, indent=2) + "\n")
    (RESULTS / "bench_validation.md").write_text(table(result))


if __name__ == "__main__":
    run_script(main)
