"""`suiteopt crossval`: how well suites do on faults that they were not chosen on."""

from dataclasses import replace
from typing import Annotated

import typer

from suiteopt.cli.crossval_tables import _tell_curve, tell
from suiteopt.cli.options import (
    BudgetOption,
    IncompleteOption,
    JsonOption,
    LockedOption,
    MatrixOption,
    ObjectiveOption,
    OracleOption,
    SolverOption,
    TargetOption,
)
from suiteopt.console import print_json
from suiteopt.errors import UserError
from suiteopt.export.registry import get_target
from suiteopt.matrix.denominator import Denominator
from suiteopt.matrix.ledger import record_opening
from suiteopt.matrix.store import Matrix, resolve_matrix
from suiteopt.selection.question import Objective, ask
from suiteopt.validation.crossval import FOLDS, REPEATS, cross_validate
from suiteopt.validation.curve import curve as measure_curve
from suiteopt.validation.locked import members_hash


def crossval(
    budget: BudgetOption = 2,
    matrix: MatrixOption = None,
    oracle: OracleOption = None,
    target: TargetOption = None,
    solver: SolverOption = "auto",
    folds: Annotated[
        int | None,
        typer.Option("--folds", help="Folds of a repeat.", show_default=str(FOLDS)),
    ] = None,
    repeats: Annotated[
        int, typer.Option("--repeats", help="Repeats of the random and the site split.")
    ] = REPEATS,
    curve: Annotated[
        bool,
        typer.Option(
            "--curve", help="Measure detection against false rejection over safety and tolerance."
        ),
    ] = False,
    seed: Annotated[int, typer.Option("--seed", min=0, max=2**31, help="Of the folds.")] = 0,
    denominator: Annotated[
        Denominator, typer.Option("--denominator", help="Which mutants count.")
    ] = Denominator.WITNESSED,
    objective: ObjectiveOption = None,
    locked: LockedOption = False,
    incomplete: IncompleteOption = False,
    json: JsonOption = False,
) -> None:
    """Cross-validate the choice over random, site and rule splits."""
    opened = Matrix.open(resolve_matrix(matrix))
    if curve:
        if oracle is not None or locked or objective == Objective.HELD_OUT:
            raise UserError(
                "--curve goes over oracles of its own, chooses by coverage and counts no locked "
                "rule; leave --oracle, --objective held-out and --open-locked out"
            )
        asked = ask(
            None,
            None if target is None else replace(get_target(target).capabilities, oracle=None),
            denominator,
            False,
            incomplete,
        )
        points = [point.as_dict() for point in measure_curve(opened, asked, budget, solver)]
        if json:
            print_json(
                {
                    "budget": budget,
                    "target": target,
                    "objective": str(Objective.COVERAGE),
                    "curve": points,
                }
            )
        else:
            _tell_curve(points)
        return
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
        objective=objective,
    )
    answer = validated.as_dict()
    if validated.locked_rules is not None:
        held_out = {name: row["held_out_share"] for name, row in answer["splits"].items()}
        record_opening(
            opened,
            members_hash(validated.locked_rules.members),
            {
                "locked_rules": answer["locked_rules"],
                "fitted_share": answer["fitted_share"],
                "held_out_share": held_out,
            },
        )
    if json:
        print_json(answer)
    else:
        tell(answer, validated.chosen_by)
