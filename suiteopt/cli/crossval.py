"""`suiteopt crossval`: how well suites do on faults that they were not chosen on."""

from typing import Annotated, Any

import typer
from rich.table import Table

from suiteopt.cli.format import interval, points, share
from suiteopt.cli.options import (
    BudgetOption,
    IncompleteOption,
    JsonOption,
    LockedOption,
    MatrixOption,
    OracleOption,
    SolverOption,
    TargetOption,
)
from suiteopt.console import print_json, stdout
from suiteopt.export.registry import get_target
from suiteopt.matrix.denominator import Denominator
from suiteopt.matrix.ledger import record_opening
from suiteopt.matrix.store import Matrix, resolve_matrix
from suiteopt.validation.crossval import FOLDS, REPEATS, cross_validate


def crossval(
    budget: BudgetOption = 2,
    matrix: MatrixOption = None,
    oracle: OracleOption = None,
    target: TargetOption = None,
    solver: SolverOption = "auto",
    folds: Annotated[int, typer.Option("--folds", help="Folds of a repeat.")] = FOLDS,
    repeats: Annotated[
        int, typer.Option("--repeats", help="Repeats of the random and the site split.")
    ] = REPEATS,
    seed: Annotated[int, typer.Option("--seed", min=0, max=2**31, help="Of the folds.")] = 0,
    denominator: Annotated[
        Denominator, typer.Option("--denominator", help="Which mutants count.")
    ] = Denominator.WITNESSED,
    locked: LockedOption = False,
    incomplete: IncompleteOption = False,
    json: JsonOption = False,
) -> None:
    """Cross-validate the choice over random, site and rule splits."""
    opened = Matrix.open(resolve_matrix(matrix))
    validated = cross_validate(
        opened,
        budget,
        oracle,
        capabilities=None if target is None else get_target(target).capabilities,
        target=target,
        solver=solver,
        folds=folds,
        repeats=repeats,
        seed=seed,
        denominator=denominator,
        locked=locked,
        allow_incomplete=incomplete,
    )
    answer = validated.as_dict()
    if locked:
        held_out = {name: row["held_out_share"] for name, row in answer["splits"].items()}
        record_opening(
            opened, "", {"fitted_share": answer["fitted_share"], "held_out_share": held_out}
        )
    if json:
        print_json(answer)
    else:
        _tell(answer)


def _tell(answer: dict[str, Any]) -> None:
    console = stdout()
    console.print(
        f"budget {answer['budget']} under {answer['oracle']}: fitted "
        f"{share(answer['fitted_share'])} of {answer['mutants']} faults  ({answer['label']})",
        soft_wrap=True,
    )
    splits = Table(box=None, pad_edge=False)
    for heading in ("split", "held out", "gap", "interval", "p", "oracle", "random-k", "own draws"):
        splits.add_column(heading, justify="left" if heading == "split" else "right")
    for name, row in answer["splits"].items():
        p = row["sign_flip_p"]
        splits.add_row(
            name,
            share(row["held_out_share"]),
            points(row["gap_share"]),
            interval(row["interval"]),
            "-" if p is None else f"{p:.3f}",
            share(row["oracle_share"]),
            share(row["random_share"]),
            share(row["own_share"]),
        )
    console.print(splits)
    problems = Table(box=None, pad_edge=False)
    for heading in (
        "problem",
        "faults",
        "fitted",
        "random split",
        "site split",
        "rule split",
        "own",
    ):
        problems.add_column(heading, justify="left" if heading == "problem" else "right")
    for row in answer["rows"]:
        held_out = [row["splits"][name]["held_out_share"] for name in ("random", "site", "rule")]
        problems.add_row(
            row["problem"],
            str(row["mutants"]),
            share(row["fitted_share"]),
            *(share(value) for value in held_out),
            share(row["own_share"]),
        )
    console.print(problems)
    controls = answer["controls"]
    console.print(
        f"controls never calibrated on: {controls['rejected']} of {controls['held_out']} rejected "
        f"(95% bound {share(controls['bound_share'])}); choice stable over folds: "
        f"{share(answer['stability_share'])}; {answer['seconds']:.1f} s",
        soft_wrap=True,
    )
