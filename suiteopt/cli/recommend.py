"""`suiteopt recommend`: the recipes to take for a problem that has no matrix."""

from typing import Annotated, Any

import typer
from rich.table import Table

from suiteopt.cli.format import share
from suiteopt.cli.options import (
    BudgetOption,
    IncompleteOption,
    JsonOption,
    MatrixOption,
    OracleOption,
    SolverOption,
    TargetOption,
)
from suiteopt.console import print_json, stdout
from suiteopt.export.registry import get_target
from suiteopt.matrix.denominator import Denominator
from suiteopt.matrix.store import Matrix, resolve_matrix
from suiteopt.selection.constraints import check_budget
from suiteopt.selection.recipes import recommend as choose
from suiteopt.selection.settle import settle
from suiteopt.selection.solve import parse_solver


def recommend(
    budget: BudgetOption = 2,
    matrix: MatrixOption = None,
    oracle: OracleOption = None,
    target: TargetOption = None,
    solver: SolverOption = "auto",
    operation: Annotated[
        str | None,
        typer.Option(
            "--operation", metavar="CLASS", help="Learn from problems of this class alone."
        ),
    ] = None,
    denominator: Annotated[
        Denominator, typer.Option("--denominator", help="Which mutants count.")
    ] = Denominator.WITNESSED,
    incomplete: IncompleteOption = False,
    json: JsonOption = False,
) -> None:
    """Recommend K recipes for a problem without a matrix, judged by leaving problems out."""
    opened = Matrix.open(resolve_matrix(matrix))
    capabilities = None if target is None else get_target(target).capabilities
    check_budget(budget, capabilities)
    parse_solver(solver)
    question = settle(opened, oracle, budget, capabilities, denominator, False, incomplete, solver)
    answer = choose(opened, question, budget, operation, solver).as_dict()
    answer |= {"target": target, "label": opened.meta.label}
    if json:
        print_json(answer)
    else:
        _tell(answer)


def _tell(answer: dict[str, Any]) -> None:
    console = stdout()
    recipes = Table(box=None, pad_edge=False)
    for heading in ("recipe", "values", "parameters", "shape", "problems"):
        recipes.add_column(heading, justify="right" if heading == "problems" else "left")
    for row in answer["recipes"]:
        recipes.add_row(
            row["name"], row["values"], row["parameters"], row["shape"], str(row["problems"])
        )
    console.print(recipes)
    rows = Table(box=None, pad_edge=False)
    for heading in ("left out", "class", "faults", "detected", "own", "best", "recipes"):
        left = heading in {"left out", "class", "recipes"}
        rows.add_column(heading, justify="left" if left else "right")
    for row in answer["rows"]:
        absent = f" (not there: {', '.join(row['missing'])})" if row["missing"] else ""
        rows.add_row(
            row["problem"],
            row["operation"],
            str(row["mutants"]),
            share(row["detected_share"]),
            share(row["own_share"]),
            share(row["best_share"]),
            ", ".join(row["recipes"]) + absent,
        )
    console.print(rows)
    console.print(
        f"on problems that had no say: {share(answer['left_out_share'])} (macro "
        f"{share(answer['left_out_macro_share'])}); own draws {share(answer['own_share'])}; the "
        f"best {answer['budget']} inputs of each problem {share(answer['best_share'])}  "
        f"({answer['label']})",
        soft_wrap=True,
    )
