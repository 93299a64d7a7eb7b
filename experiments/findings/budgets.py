"""What one, two and three chosen inputs a problem detect: by split, over every denominator."""

from collections.abc import Mapping
from typing import Any

from experiments.findings.common import Finding, report, scope, table
from experiments.findings.two_inputs import PUBLISHED as AT_TWO
from suiteopt.cli.format import share
from suiteopt.console import run_script
from suiteopt.matrix.denominator import Denominator
from suiteopt.matrix.store import Matrix
from suiteopt.validation.crossval import cross_validate
from suiteopt.validation.splits import Split

ORACLE = "calibrated"
BUDGETS = (1, 2, 3)
PUBLISHED = {str(AT_TWO["budget"]): AT_TWO}
KEPT = (
    "budget", "oracle", "objective", "strength", "repeats", "mutants", "problems", "fitted_share",
    "splits", "denominators", "dominators",
)  # fmt: skip
"""What is kept of a cross-validation; `two_inputs` has the rest for two inputs."""


def find(matrix: Matrix) -> Finding:
    ours, rows = {}, []
    for budget in BUDGETS:
        found = cross_validate(matrix, budget, ORACLE, brief=True).as_dict()
        kept = {key: found[key] for key in KEPT}
        kept["by_denominator"] = by_denominator(found)
        kept["controls"] = {key: found["controls"][key] for key in ("rejected", "held_out")}
        ours[str(budget)] = kept
        rows += [
            (
                f"{budget}, {name.replace('_', ' ')}",
                str(row["mutants"]),
                share(row["fitted_share"]),
                *(share(row["held_out_share"].get(split)) for split in map(str, Split)),
            )
            for name, row in kept["by_denominator"].items()
        ]
    return Finding(
        title="One, two and three inputs a problem: fitted and held out",
        published=PUBLISHED,
        ours=ours,
        tables=[table(("k, denominator", "faults", "fitted", *map(str, Split)), rows)],
        words=[
            "Published is k = 2 alone, at 1e-2 for every input and on random folds; here every "
            "input has a tolerance of its own.",
            "All figures of one k are of the same suites, chosen on the witnessed faults; over "
            "the valid ones and those that the pool kills, folds are by site alone.",
            scope(matrix),
        ],
    )


def by_denominator(found: Mapping[str, Any]) -> dict[str, dict[str, Any]]:
    """Return, for every denominator, the faults, the fitted share and the held-out one by split.

    Parameters
    ----------
    found : mapping
        The answer of ``suiteopt crossval``.
    """
    in_splits = {
        "witnessed": "held_out_share",
        str(Denominator.OUTPUT): "in_output_share",
        "distinct": "distinct_share",
        "macro_problems": "held_out_macro_share",
        "macro_families": "held_out_macro_family_share",
    }
    return {
        name: {
            "mutants": row["mutants"],
            "fitted_share": row["fitted_share"],
            "held_out_share": {
                split: figures[in_splits[name]] for split, figures in found["splits"].items()
            }
            if name in in_splits
            else {str(Split.SITE): row["held_out_share"]},
        }
        for name, row in found["denominators"].items()
    }


def main() -> None:
    report("budgets", find)


if __name__ == "__main__":
    run_script(main)
