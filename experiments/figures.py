"""Draws the README's figure from a matrix: what each check misses, by family of faults.

``python -m experiments.figures [--matrix DIR]`` writes ``docs/figures/missed-by-family.svg`` and
the numbers behind it, ``experiments/results/missed-by-family.json``.
"""

import argparse
from pathlib import Path
from typing import Any

from experiments.checks import CheckRow, all_checks
from suiteopt.console import run_script
from suiteopt.matrix.files import write_atomic
from suiteopt.matrix.jsonable import dumps
from suiteopt.matrix.store import Matrix, resolve_matrix

ROOT = Path(__file__).resolve().parents[1]
FIGURE = ROOT / "docs" / "figures" / "missed-by-family.svg"
RESULT = ROOT / "experiments" / "results" / "missed-by-family.json"
COLOURS = ("#b3362b", "#d9833d", "#e5c07b", "#9db8d2", "#4a7fb0", "#1f4e79")


def main() -> None:
    """Score the checks and draw them."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--matrix", type=Path)
    arguments = parser.parse_args()
    matrix = Matrix.open(resolve_matrix(arguments.matrix))
    rows = all_checks(matrix)
    result = {
        "matrix": matrix.path.name,
        "label": matrix.meta.label,
        "checks": {row.name: _numbers(row) for row in rows},
    }
    write_atomic(RESULT, dumps(result).encode())
    draw(rows, matrix.meta.label)


def draw(rows: list[CheckRow], label: str) -> None:
    """Write the figure; the same numbers give the same bytes."""
    import matplotlib as mpl

    mpl.use("svg")
    import matplotlib.pyplot as plt

    mpl.rcParams["svg.hashsalt"] = "suiteopt"
    mpl.rcParams["font.size"] = 9
    groups = ["all", "in an output", *rows[0].by_family]
    figure, axes = plt.subplots(figsize=(9, 3.4))
    width = 0.8 / len(rows)
    for index, (row, colour) in enumerate(zip(rows, COLOURS, strict=True)):
        tallies = [row.all, row.in_output, *row.by_family.values()]
        missed = [100 * (tally.missed_share or 0.0) for tally in tallies]
        places = [group + (index - (len(rows) - 1) / 2) * width for group in range(len(groups))]
        axes.bar(places, missed, width, color=colour, label=row.name)
    axes.set_xticks(range(len(groups)), groups)
    axes.set_ylabel("wrong kernels accepted, %")
    axes.set_title(f"{rows[0].all.mutants} faults witnessed wrong ({label})", fontsize=9)
    axes.spines[["top", "right"]].set_visible(False)
    axes.legend(frameon=False, ncols=2)
    figure.tight_layout()
    FIGURE.parent.mkdir(parents=True, exist_ok=True)
    figure.savefig(FIGURE, metadata={"Date": None})


def _numbers(row: CheckRow) -> dict[str, Any]:
    return {
        "mutants": row.all.mutants,
        "detected_share": row.all.share,
        "in_output_mutants": row.in_output.mutants,
        "in_output_share": row.in_output.share,
        "missed_by_family": {name: tally.missed_share for name, tally in row.by_family.items()},
        "held_out_share": dict(row.held_out),
        "held_out_in_output_share": dict(row.held_out_in_output),
        "rejected": row.rejected,
        "controls": row.controls,
    }


if __name__ == "__main__":
    run_script(main)
