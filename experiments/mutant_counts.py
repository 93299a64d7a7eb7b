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
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from types import MappingProxyType
from typing import Any

from gpu_eval.campaign.equivalence import Classified
from gpu_eval.campaign.survey import Compile, classified_mutants
from gpu_eval.mutation.between_stages import between_stages
from gpu_eval.mutation.catalogue import RULES, documentation, is_locked
from gpu_eval.problems.definition import Problem
from gpu_eval.problems.loader import load_corpus
from suiteopt.matrix.files import write_atomic
from suiteopt.matrix.schema import Family, ImplementationClass, OperationClass

RESULT = Path(__file__).resolve().parent / "results" / "mutant-counts.json"
PAGE = Path(__file__).resolve().parents[1] / "docs" / "rules.md"
ARCHITECTURE = "sm_90"
PROFILES = {"nvrtc": "contract", "g++": "demo"}
EMPTY: Mapping[tuple[str, str], str] = MappingProxyType(
    {
        ("elementwise", "synchronization"): "their threads exchange nothing, so that there is no "
        "barrier, shuffle or atomic to break",
    }
)
"""Why an operation class has no valid fault of a family."""
CLASSES = ("stillborn", "equivalent", "duplicate", "valid")

Counts = dict[str, int]


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


def render(found: Mapping[str, Mapping[str, Any]]) -> str:
    """Return the tables in Markdown."""
    lines = [
        "# Faults of level 1, compiled",
        "",
        "Made by `python -m experiments.mutant_counts`; nothing was run. A fault is *equivalent* "
        "whose machine code and launches are its substrate's, a *duplicate* whose are another "
        "fault's of the same substrate; *valid* is the rest of what compiles.",
    ]
    for name, half in found.items():
        lines += [
            "",
            f"## {name}",
            "",
            f"{half['compiler']}, launches on the shapes of the profile `{half['profile']}`; "
            f"{half['problems']} problems, {half['substrates']} substrates, {half['rules']} rules.",
            "",
            *_table("family", {**half["by_family"], "all": half}),
            "",
            "Valid faults by operation class and family (generated in brackets):",
            "",
            *_crossed(half["by_operation"]),
            "",
            *_sentences(half),
        ]
    return "\n".join(lines) + "\n"


def page(found: Mapping[str, Mapping[str, Any]]) -> str:
    """Return ``docs/rules.md``: the rules, and how many faults they make."""
    lines = [documentation(), between_stages(), "## How many faults that is", ""]
    for half in found.values():
        locked = sum(n["valid"] for rule, n in half["by_rule"].items() if is_locked(rule))
        lines += [
            f"Level 1 ({half['problems']} problems, {half['substrates']} kernels) has "
            f"{half['generated']:,} faults by {half['rules']} rules. Compiled with "
            f"{half['compiler']}, with launches on the shapes of the profile `{half['profile']}`, "
            f"{half['stillborn']} do not compile, {half['equivalent']} are equal to their kernel "
            f"and {half['duplicate']} to another fault of it; {half['valid']:,} are valid, "
            f"{locked:,} of them by locked rules. Valid faults by operation class and family, all "
            "that were made in brackets:",
            "",
            *_crossed(half["by_operation"]),
            "",
            *(f"Empty, {place}: {why}." for place, why in empty(half).items()),
            *(f"Not counted yet: {', '.join(late)}." for late in [uncounted(half)] if late),
            "",
        ]
    lines += [
        "`experiments/results/mutant-counts.json` has them by rule and by problem; "
        "`python -m experiments.mutant_counts` makes it and this page.",
    ]
    return "\n".join(lines) + "\n"


def uncounted(half: Mapping[str, Any]) -> list[str]:
    """Return the rules that have come since the faults were counted."""
    return [rule.name for rule in RULES if rule.name not in half["by_rule"]]


def empty(half: Mapping[str, Any]) -> dict[str, str]:
    """Return why there is no valid fault, for each operation class and family without one."""
    return {
        f"{operation} x {family}": EMPTY[operation, family]
        for operation, row in half["by_operation"].items()
        for family, counts in row.items()
        if not counts["valid"]
    }


def _table(title: str, rows: Mapping[str, Mapping[str, Any]]) -> list[str]:
    columns = ("generated", *CLASSES)
    return [
        f"| {' | '.join((title, *columns))} |",
        f"|---{'|---:' * len(columns)}|",
        *(
            f"| {name} | {' | '.join(f'{row[c]:,}' for c in columns)} |"
            for name, row in rows.items()
        ),
    ]


def _crossed(operations: Mapping[str, Mapping[str, Counts]]) -> list[str]:
    return [
        f"| operation | {' | '.join(Family)} | all |",
        f"|---{'|---:' * (len(Family) + 1)}|",
        *(
            f"| {name} | {' | '.join(_cell(row[f]) for f in Family)} | "
            f"{sum(row[f]['valid'] for f in Family):,} |"
            for name, row in operations.items()
        ),
    ]


def _cell(counts: Counts) -> str:
    return f"{counts['valid']:,} ({counts['generated']:,})"


def _sentences(half: Mapping[str, Any]) -> list[str]:
    reasons = [f"Empty, {place}: {why}." for place, why in empty(half).items()]
    barren = [name for name, counts in half["by_rule"].items() if not counts["valid"]]
    fewest = min(half["by_problem"].items(), key=lambda item: item[1]["valid"])
    most = max(half["by_problem"].items(), key=lambda item: item[1]["valid"])
    return [
        *reasons,
        f"Fewest valid faults of a problem: {fewest[1]['valid']} ({fewest[0]}); "
        f"most: {most[1]['valid']} ({most[0]}).",
        f"Rules with faults but none valid: {', '.join(barren) or 'none'}.",
    ]


if __name__ == "__main__":
    main(sys.argv[1:])
