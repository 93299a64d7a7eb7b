"""What selection and validation say of a matrix, in one table: what the method page quotes.

Run: python -m experiments.validation [--matrix DIR] [--budget 2] [--repeats 20]
Writes experiments/results/validation.json and validation.md.
"""

import argparse
from pathlib import Path
from typing import Any

from experiments.records import write_record
from suiteopt.cli.format import points, share
from suiteopt.console import run_script
from suiteopt.errors import UserError
from suiteopt.matrix.store import Matrix, resolve_matrix
from suiteopt.selection.question import Objective, ask
from suiteopt.selection.recipes import recommend
from suiteopt.validation.crossval import cross_validate
from suiteopt.validation.curve import curve

RESULTS = Path(__file__).parent / "results"
ORACLES = ("fixed:0.01", "fixed:0.001", "fixed:0.0001", "best-fixed", "any-comparator")


def measure(matrix: Matrix, budget: int, repeats: int) -> dict[str, Any]:
    """Measure everything but what `curve` and `recommend` need a question for."""
    main = cross_validate(matrix, budget, repeats=repeats, objective=Objective.HELD_OUT).as_dict()
    main.pop("seconds")
    others: dict[str, Any] = {}
    for oracle in ORACLES:
        try:
            found = cross_validate(matrix, budget, oracle, repeats=repeats).as_dict()
        except UserError as error:
            others[oracle] = {"refused": str(error)}
            continue
        others[oracle] = {
            "oracle": found["oracle"],
            "fitted_share": found["fitted_share"],
            "splits": {name: row["held_out_share"] for name, row in found["splits"].items()},
            "in_output": found["denominators"]["output"],
            "controls": {key: found["controls"][key] for key in ("held_out", "rejected")},
        }
    question = ask(None)
    return {
        "matrix": matrix.path.name,
        "id": matrix.id,
        "label": matrix.meta.label,
        "budget": budget,
        "repeats": repeats,
        "calibrated": main,
        "oracles": others,
        "curve": [point.as_dict() for point in curve(matrix, question, budget)],
        "recommend": recommend(matrix, question, budget).as_dict(),
    }


def table(result: dict[str, Any]) -> str:
    """Write the tables in Markdown."""
    main = result["calibrated"]
    lines = [
        f"# Validation of {result['matrix']}",
        "",
        f"{result['label']}; k = {result['budget']}, {result['repeats']} repeats, oracle "
        f"calibrated; {main['mutants']} faults in {main['problems']} problems.",
        "",
        "| split | held out | gap | oracle | random k | own draws | lift | in an output |",
        "|---|---|---|---|---|---|---|---|",
    ]
    for name, row in main["splits"].items():
        lines.append(
            f"| {name} | {share(row['held_out_share'])} | {points(row['gap_share'])} | "
            f"{share(row['oracle_share'])} | {share(row['random_share'])} | "
            f"{share(row['own_share'])} | {share(row['lift_share'])} | "
            f"{share(row['in_output_share'])} |"
        )
    lines += [
        "",
        "| denominator | faults | fitted | held out by site | own draws |",
        "|---|---|---|---|---|",
    ]
    for name, row in main["denominators"].items():
        lines.append(
            f"| {name.replace('_', ' ')} | {row['mutants']} | {share(row['fitted_share'])} | "
            f"{share(row['held_out_share'])} | {share(row.get('own_share'))} |"
        )
    minimal = main["dominators"]
    lines.append(
        f"| dominators | {minimal['minimal']} | {share(minimal['fitted_share'])} | - | "
        f"{share(minimal['own_share'])} |"
    )
    controls, nested = main["controls"], main["nested"]
    lines += [
        "",
        f"Controls never calibrated on: {controls['rejected']} of {controls['held_out']} cells on "
        f"members rejected (exact one-sided 95% bound over problems "
        f"{share(controls['bound_share'])}, over cells {share(controls['cell_bound_share'])}), "
        f"{controls['pool_rejected']} of {controls['pool_held_out']} on the pool. Suites of two "
        f"folds share {share(main['stability_share'])} of their members.",
    ]
    if nested is not None:
        lines.append(
            f"Safety chosen where it is not judged: {sorted(set(nested['safeties'].values()))}; "
            f"held out by site {share(nested['splits']['site']['held_out_share'])}, controls "
            f"{nested['controls']['rejected']} of {nested['controls']['held_out']} rejected."
        )
    published = main["published"]
    if published is not None:
        lines.append(
            f"Published conditions (1e-2, k = 2, random folds): {share(published['fitted_share'])} "
            f"fitted, {share(published['held_out_share'])} held out; families weighted as the "
            f"published rules {share(published['mix_fitted_share'])}, "
            f"{share(published['mix_held_out_share'])}; published, on other faults, 98.0%, 94.8%."
        )
    lines += [
        "",
        "| oracle | fitted | random | site | rule | substrate | in an output | rejected |",
        "|---|---|---|---|---|---|---|---|",
    ]
    for name, row in result["oracles"].items():
        if "refused" in row:
            lines.append(f"| {name} | refused: {row['refused']} |")
            continue
        label = name if name == row["oracle"] else f"{name} ({row['oracle']})"
        held = " | ".join(
            share(row["splits"][split]) for split in ("random", "site", "rule", "substrate")
        )
        lines.append(
            f"| {label} | {share(row['fitted_share'])} | {held} | "
            f"{share(row['in_output']['fitted_share'])} | "
            f"{row['controls']['rejected']} of {row['controls']['held_out']} |"
        )
    lines += [
        "",
        "| held out by | coverage | held-out objective | difference | p | verdict |",
        "|---|---|---|---|---|---|",
    ]
    for name, row in main["objectives"].items():
        p = row["sign_flip_p"]
        lines.append(
            f"| {name} | {share(row['plain_share'])} | {share(row['held_out_objective_share'])} | "
            f"{100 * (row['difference_share'] or 0):+.2f} | {'-' if p is None else f'{p:.3f}'} | "
            f"{row['verdict']} |"
        )
    families = sorted({family for point in result["curve"] for family in point["by_family"]})
    lines += [
        "",
        "| oracle | detected | " + " | ".join(families) + " | rejected | of the pool |",
        "|---" * (4 + len(families)) + "|",
    ]
    for point in result["curve"]:
        by_family = " | ".join(share(point["by_family"].get(family)) for family in families)
        lines.append(
            f"| {point['oracle']} | {share(point['detected_share'])} | {by_family} | "
            f"{point['rejected']} of {point['held_out']} | "
            f"{point['pool_rejected']} of {point['pool_held_out']} |"
        )
    generic = result["recommend"]
    names = ", ".join(recipe["name"] for recipe in generic["recipes"])
    lines += [
        "",
        f"Generic recipes: {names}. On problems that had no say they detect "
        f"{share(generic['left_out_share'])}; own draws {share(generic['own_share'])}, each "
        f"problem's own best {share(generic['best_share'])}.",
        "",
    ]
    return "\n".join(lines)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--matrix", type=Path, default=None)
    parser.add_argument("--budget", type=int, default=2)
    parser.add_argument("--repeats", type=int, default=20)
    given = parser.parse_args()
    matrix = Matrix.open(resolve_matrix(given.matrix))
    result = measure(matrix, given.budget, given.repeats)
    RESULTS.mkdir(exist_ok=True)
    write_record(RESULTS / "validation.json", result)
    (RESULTS / "validation.md").write_text(table(result))


if __name__ == "__main__":
    run_script(main)
