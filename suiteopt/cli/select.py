"""`suiteopt select`: the best inputs of every problem."""

import shlex
from pathlib import Path
from typing import Annotated

import typer
from rich.table import Table

from suiteopt.cli.format import share
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
from suiteopt.console import command_words, print_json, stderr, stdout
from suiteopt.errors import UserError
from suiteopt.export.registry import get_target
from suiteopt.matrix.denominator import Denominator
from suiteopt.matrix.files import write_atomic
from suiteopt.matrix.ledger import record_opening
from suiteopt.matrix.store import Matrix, resolve_matrix
from suiteopt.selection.export import to_suite
from suiteopt.selection.report import MatrixSelection
from suiteopt.selection.select import select as choose
from suiteopt.suite_json import dump


def select(
    budget: BudgetOption = 2,
    matrix: MatrixOption = None,
    oracle: OracleOption = None,
    target: TargetOption = None,
    tolerance: Annotated[
        float | None,
        typer.Option("--tolerance", help="Tolerance that the target's harness will be run at."),
    ] = None,
    solver: SolverOption = "auto",
    detect: Annotated[
        float | None,
        typer.Option(
            "--detect", metavar="SHARE", help="Fewest inputs, within the budget, for this share."
        ),
    ] = None,
    overall: Annotated[
        bool, typer.Option("--overall", help="Ask --detect of all problems together.")
    ] = False,
    include: Annotated[
        list[str] | None, typer.Option("--include", metavar="ID", help="Input to be chosen.")
    ] = None,
    exclude: Annotated[
        list[str] | None, typer.Option("--exclude", metavar="ID", help="Input not to be chosen.")
    ] = None,
    denominator: Annotated[
        Denominator, typer.Option("--denominator", help="Which mutants count.")
    ] = Denominator.WITNESSED,
    output: Annotated[
        Path | None, typer.Option("--output", "-o", metavar="FILE", help="Write the suite here.")
    ] = None,
    locked: LockedOption = False,
    incomplete: IncompleteOption = False,
    json: JsonOption = False,
) -> None:
    """Choose the inputs that detect the most faults, at most K a problem."""
    opened = Matrix.open(resolve_matrix(matrix))
    capabilities = None
    if target is not None:
        options = {} if tolerance is None else {"tolerance": tolerance}
        capabilities = get_target(target, **options).capabilities
    elif tolerance is not None:
        raise UserError("--tolerance belongs to a target; give --target T, or --oracle fixed:T")
    chosen = choose(
        opened,
        budget,
        oracle,
        capabilities=capabilities,
        target=target,
        solver=solver,
        include=include or (),
        exclude=exclude or (),
        detect=detect,
        detect_overall=overall,
        denominator=denominator,
        locked=locked,
        allow_incomplete=incomplete,
    )
    suite = to_suite(chosen, opened, _command())
    if locked:
        record_opening(opened, suite.hash, {"fitted_share": chosen.fitted_share})
    if output is not None:
        write_atomic(output, dump(suite).encode())
    answer = {**chosen.as_dict(), "suite": None if output is None else str(output)}
    if json:
        print_json(answer)
        return
    _tell(chosen)
    if output is not None:
        stderr().print(f"wrote {output}", soft_wrap=True)


def _command() -> str:
    return shlex.join(["suiteopt", *command_words()])


def _tell(chosen: MatrixSelection) -> None:
    console = stdout()
    console.print(
        f"{chosen.members} inputs for {len(chosen.problems)} problems under {chosen.oracle}"
        + (f" for {chosen.target}" if chosen.target else "")
        + f"  ({chosen.label})",
        soft_wrap=True,
    )
    problems = Table(box=None, pad_edge=False)
    for heading in ("problem", "faults", "detected", "proof", "optima", "members"):
        problems.add_column(heading, justify="right" if heading in {"faults", "optima"} else "left")
    for part in chosen.problems:
        problems.add_row(
            part.problem,
            str(part.tally.mutants),
            share(part.tally.share),
            str(part.selection.status),
            "" if part.selection.optima is None else str(part.selection.optima),
            ", ".join(name.removeprefix(f"{part.problem}:") for name in part.selection.members),
        )
    console.print(problems)
    families = Table(box=None, pad_edge=False)
    for heading in ("family", "faults", "detected", "missed"):
        families.add_column(heading, justify="left" if heading == "family" else "right")
    for name, tally in chosen.by_family.items():
        families.add_row(name, str(tally.mutants), str(tally.detected), share(tally.missed_share))
    console.print(families)
    console.print(
        f"detects {share(chosen.fitted_share)} of {chosen.tally.mutants} faults "
        f"(macro {share(chosen.fitted_macro_share)}, distinct behaviours "
        f"{share(chosen.distinct_share)}); {chosen.false_rejections} correct cells rejected; "
        f"{chosen.status} in {chosen.seconds:.2f} s",
        soft_wrap=True,
    )
    hidden = chosen.tally.mutants - chosen.in_output.mutants
    if hidden:
        console.print(
            f"detects {share(chosen.in_output.share)} of the {chosen.in_output.mutants} that show "
            f"in an output; the other {hidden} leave elements unwritten over a stale right result, "
            "write beside the output or race, which poison, guard zones and a sanitizer find",
            soft_wrap=True,
        )
