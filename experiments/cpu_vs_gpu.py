"""Which verdicts differ between a CPU and a GPU, on the same faults, inputs and shapes, and why.

    gpu-eval run --profile quick --device cuda --output GPU
    python -m experiments.cpu_vs_gpu matrices/kernelbench-l1-6-cpu GPU

Prints a table for each of three oracles and writes experiments/results/cpu_vs_gpu.{json,md}: cells
that both devices ran, how many verdicts differ and why, what the suite of one device detects on
the other; the JSON has every mutant whose verdict differs.
"""

import sys
from collections import Counter
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from dataclasses import fields as fields_of
from typing import Any

import numpy as np
import pandas as pd

from experiments.comparison import run_comparison
from experiments.cpu_vs_gpu_reasons import REASONS, Evidence, explain
from experiments.two_matrices import (
    ORACLES,
    about,
    cells_of,
    crossed,
    markdown,
    require_same_inputs,
    suites_table,
    verdicts,
)
from suiteopt.matrix.denominator import Denominator
from suiteopt.matrix.oracle import parse_oracle
from suiteopt.matrix.schema import COUNTS, Kind
from suiteopt.matrix.store import Matrix

NAME = "cpu_vs_gpu"
SHOWN = 6
"""Mutants a reason that the page names, those with the most cells; the JSON has all."""


@dataclass(frozen=True)
class Difference:
    """A cell that one device kills and the other does not."""

    oracle: str
    problem: str
    implementation: str
    rule: str
    family: str
    input: str
    killed_on: str
    reason: str


def main(arguments: list[str]) -> int:
    """Compare two matrices and write both files."""
    about_it = __doc__.split("\n", 1)[0]
    return run_comparison(arguments, about_it, ("cpu", "gpu"), compared, report, NAME)


def compared(cpu: Matrix, gpu: Matrix) -> dict[str, Any]:
    """Return everything that is said about the two devices.

    Raises
    ------
    UserError
        If the two did not run on the same inputs.
    """
    require_same_inputs(cpu, gpu)
    differences: list[Difference] = []
    summary = []
    for oracle in ORACLES:
        known, found = 0, []
        for problem in cpu.problem_ids:
            cells, different = compare(cpu, gpu, problem, oracle)
            known += cells
            found += different
        reasons = Counter(d.reason for d in found)
        summary.append(
            {
                "oracle": oracle,
                "cells": known,
                "differ": len(found),
                "mutants": len({d.implementation for d in found}),
                "killed on the CPU alone": sum(d.killed_on == "cpu" for d in found),
                **{reason: reasons[reason] for reason in REASONS},
            }
        )
        differences += found
    return {
        "cpu": about(cpu),
        "gpu": about(gpu),
        "classes": classes(cpu, gpu),
        "oracles": summary,
        "suites": [crossed(cpu, gpu, name, Denominator.VALID) for name in ORACLES[1:]],
        "differences": grouped(differences),
    }


def compare(cpu: Matrix, gpu: Matrix, problem: str, oracle: str) -> tuple[int, list[Difference]]:
    """Return how many cells both devices know, and those whose verdicts differ."""
    judged = verdicts(cpu, gpu, problem, parse_oracle(oracle))
    column = str(judged.tables[0].oracle.comparator)
    rows = cpu.implementations_of(problem)
    rows = rows.set_index(rows["implementation"].astype(str))
    cells = [_without_gaps(cells_of(matrix, problem)) for matrix in (cpu, gpu)]
    limits = [dict(zip(t.inputs, t.tolerances, strict=True)) for t in judged.tables]
    unsteady = [set(side.index[side["disagreed"] > 0].get_level_values(0)) for side in cells]
    substrates = [str(n) for n in rows.index[rows["kind"] == Kind.SUBSTRATE]]
    errors: list[dict[Any, Any]] = [
        side.loc[side.index.isin(substrates, level=0), column].to_dict() for side in cells
    ]
    found = []
    for i, j in np.argwhere(judged.differ):
        name, where = judged.mutants[i], judged.inputs[j]
        row, kills = rows.loc[name], judged.kills[0][i, j]
        own = str(row["substrate"])
        kernels = [own] if own in substrates else substrates
        evidence = Evidence(
            column=column,
            family=str(row["family"]),
            unsteady=(name in unsteady[0], name in unsteady[1]),
            substrate=(_worst(errors[0], kernels, where), _worst(errors[1], kernels, where)),
            limits=(limits[0][where], limits[1][where]),
        )
        reason = explain(cells[0].loc[(name, where)], cells[1].loc[(name, where)], evidence)
        rule = "+".join(row["rules"])
        side = "cpu" if kills else "gpu"
        found.append(Difference(oracle, problem, name, rule, evidence.family, where, side, reason))
    return int(judged.known.sum()), found


def _without_gaps(cells: pd.DataFrame) -> pd.DataFrame:
    names = [str(count) for count in COUNTS]
    return cells.fillna(dict.fromkeys(names, 0))


def _worst(errors: Mapping[Any, Any], kernels: list[str], where: str) -> float:
    """Return the largest statistic of correct kernels on an input; 0 where none was run."""
    found = [float(errors.get((kernel, where), 0.0)) for kernel in kernels]
    return max((np.inf if np.isnan(value) else value for value in found), default=0.0)


def classes(cpu: Matrix, gpu: Matrix) -> list[dict[str, Any]]:
    """Count the mutants by what each compiler made of them."""
    sides = []
    for matrix in (cpu, gpu):
        table = matrix.implementations
        kept = table[table["kind"] == Kind.MUTANT]
        sides.append(kept.set_index(kept["implementation"].astype(str))["class"].astype(str))
    pairs = Counter(zip(sides[0], sides[1].reindex(sides[0].index), strict=True))
    return [
        {"cpu": str(a), "gpu": str(b), "mutants": number}
        for (a, b), number in sorted(pairs.items())
    ]


def grouped(differences: list[Difference]) -> list[dict[str, Any]]:
    """Return one entry for each oracle, mutant, device and reason, with its inputs in a line."""
    groups: dict[tuple[str, ...], list[str]] = {}
    for difference in differences:
        fields = asdict(difference)
        where = fields.pop("input").partition(":")[2]
        groups.setdefault(tuple(fields.values()), []).append(where)
    names = [field.name for field in fields_of(Difference) if field.name != "input"]
    return [
        {**dict(zip(names, key, strict=True)), "cells": len(inputs), "inputs": " ".join(inputs)}
        for key, inputs in groups.items()
    ]


def report(document: Mapping[str, Any]) -> str:
    """Return the tables as Markdown."""
    devices = [document[side]["device"].get("model", side) for side in ("cpu", "gpu")]
    lines = [
        "# CPU against GPU",
        "",
        f"Made by `python -m experiments.{NAME}`: {devices[0]} against {devices[1]}, the same "
        "faults, inputs and shapes. The JSON beside this page has every mutant with its inputs.",
        "",
        *markdown([list(document["oracles"][0]), *(list(o.values()) for o in document["oracles"])]),
        "",
        "Reasons, the first that holds:",
        "",
        *(f"- **{name}**: {text}." for name, text in REASONS.items()),
        "",
        "What each compiler made of the faults:",
        "",
        *markdown(
            [
                ["on the CPU", "on the GPU", "mutants"],
                *(list(c.values()) for c in document["classes"]),
            ]
        ),
        "",
        "Two inputs a problem, chosen on A (the CPU) or B (the GPU) and measured on both, of the "
        "valid mutants (a GPU's headline counts those alone that are witnessed at contract scope, "
        "of which shortened shapes have few):",
        "",
        *suites_table(document["suites"]),
        "",
        f"Mutants by reason under {ORACLES[1]}, with the number of inputs (C: killed on the CPU "
        "alone, G: on the GPU alone):",
        "",
        *(f"- {name}: {_named(document['differences'], name)}" for name in REASONS),
    ]
    return "\n".join(lines) + "\n"


def _named(differences: list[dict[str, Any]], reason: str) -> str:
    """Return the mutants of a reason with the most cells, as text."""
    own = [d for d in differences if d["reason"] == reason and d["oracle"] == ORACLES[1]]
    own.sort(key=lambda d: (-d["cells"], d["implementation"]))
    names = [
        f"{d['implementation'].removeprefix('level1/')} ({d['killed_on'][0].upper()} {d['cells']})"
        for d in own[:SHOWN]
    ]
    rest = f", and {len(own) - SHOWN} more" if len(own) > SHOWN else ""
    return (", ".join(names) or "none") + rest


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
