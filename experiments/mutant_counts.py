"""Compiles every fault of the corpus and counts what it is, by family, operation, rule, problem.

``nvrtc`` takes NVRTC's SASS for sm_90 and launch plans on the shapes of the profile ``contract``:
what a campaign on an H100 or H200 counts, for which no GPU is needed. ``g++`` takes the machine
code of the CPU and the profile ``demo``: what ``gpu-eval mutants list --all --device cpu`` counts.
A run writes its own half of the table and leaves the other one; with ``--cache`` one that was
interrupted compiles nothing twice.

    python -m experiments.mutant_counts {nvrtc,g++,page} [--cache DIR] [--jobs N]

Writes experiments/results/mutant-counts.json and mutant-counts.md, and docs/rules.md from the
catalogue and them; ``page`` does the latter alone.
"""

import argparse
import json
import sys
import tempfile
from collections import Counter
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

from experiments.mutant_tables import CLASSES, Counts, page, render
from gpu_eval.campaign.equivalence import Classified
from gpu_eval.campaign.survey import Compile, classified_mutants
from gpu_eval.problems.definition import Problem
from gpu_eval.problems.loader import load_corpus
from suiteopt.matrix.files import write_atomic
from suiteopt.matrix.schema import Family, ImplementationClass, OperationClass

RESULT = Path(__file__).resolve().parent / "results" / "mutant-counts.json"
PAGE = Path(__file__).resolve().parents[1] / "docs" / "rules.md"
ARCHITECTURE = "sm_90"
PROFILES = {"nvrtc": "contract", "g++": "demo"}


def main(arguments: list[str]) -> None:
    """Compile, count and write both files."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("compiler", choices=(*PROFILES, "page"))
    parser.add_argument("--cache", type=Path)
    parser.add_argument("--jobs", type=int, default=2)
    options = parser.parse_args(arguments)
    if options.compiler != "page":
        with tempfile.TemporaryDirectory() as scratch:
            half = measure(options.compiler, options.cache or Path(scratch), options.jobs)
        found = {**known(), options.compiler: half}
        ordered = {name: found[name] for name in PROFILES if name in found}
        write_atomic(RESULT, (json.dumps(ordered, indent=1) + "\n").encode())
    write_atomic(RESULT.with_suffix(".md"), render(known()).encode())
    write_atomic(PAGE, page(known()).encode())


def known() -> dict[str, Any]:
    """Return what was counted before, by compiler."""
    found: dict[str, Any] = json.loads(RESULT.read_text()) if RESULT.exists() else {}
    return found


def measure(name: str, cache: Path, jobs: int) -> dict[str, Any]:
    """Sort out the faults of all problems with one compiler."""
    compile_all, description = compiler(name)
    rows: list[tuple[Problem, Classified]] = []
    problems = tuple(load_corpus().problems.values())
    for problem in problems:
        mutants = classified_mutants(problem, PROFILES[name], compile_all, cache, jobs)
        rows += [(problem, mutant) for mutant in mutants]
        print(problem.id, tally(m for _, m in rows), file=sys.stderr, flush=True)
    return {
        "compiler": description,
        "profile": PROFILES[name],
        "problems": len(problems),
        "substrates": sum(len(problem.substrates) for problem in problems),
        "rules": len({rule_of(mutant) for _, mutant in rows}),
        **tally(mutant for _, mutant in rows),
        "by_family": {str(f): tally(m for _, m in rows if family_of(m) == f) for f in Family},
        "by_operation": by_operation(rows),
        "by_rule": grouped(rows, lambda _, mutant: rule_of(mutant)),
        "by_problem": grouped(rows, lambda problem, _: problem.id),
    }


def compiler(name: str) -> tuple[Compile, str]:
    """Return how to compile, and the compiler in words."""
    if name == "nvrtc":
        from gpu_eval.compilation.nvrtc import NvrtcCompiler, nvrtc_version

        return NvrtcCompiler(ARCHITECTURE).compile, f"NVRTC {nvrtc_version()} for {ARCHITECTURE}"
    from gpu_eval.devices.host import HostDevice

    device = HostDevice()
    return device.compile, device.describe()["compiler"]


def tally(mutants: Iterable[Classified]) -> Counts:
    """Count faults: all, and each class."""
    counts = Counter(mutant.cls for mutant in mutants)
    return {
        "generated": counts.total(),
        **{name: counts[ImplementationClass(name)] for name in CLASSES},
    }


def by_operation(rows: list[tuple[Problem, Classified]]) -> dict[str, dict[str, Counts]]:
    """Count the faults of each operation class that the corpus holds, by family."""
    present = {problem.operation_class for problem, _ in rows}
    return {
        str(operation): {
            str(family): tally(
                mutant
                for problem, mutant in rows
                if problem.operation_class is operation and family_of(mutant) == family
            )
            for family in Family
        }
        for operation in OperationClass
        if operation in present
    }


def grouped(
    rows: list[tuple[Problem, Classified]], key: Callable[[Problem, Classified], str]
) -> dict[str, Counts]:
    """Count the faults of each group, the groups in the order of their first fault."""
    groups: dict[str, list[Classified]] = {}
    for problem, mutant in rows:
        groups.setdefault(key(problem, mutant), []).append(mutant)
    return {name: tally(mutants) for name, mutants in groups.items()}


def rule_of(mutant: Classified) -> str:
    """Return the rule of a mutant."""
    return mutant.implementation.name


def family_of(mutant: Classified) -> Family:
    """Return the family of a mutant."""
    assert mutant.implementation.fault is not None
    return mutant.implementation.fault.family


if __name__ == "__main__":
    main(sys.argv[1:])
