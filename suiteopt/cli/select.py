"""`suiteopt select`: the best inputs of every problem."""

import shlex
from collections.abc import Mapping
from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer

from suiteopt.cli.options import (
    IncompleteOption,
    JsonOption,
    LockedOption,
    MatrixOption,
    ObjectiveOption,
    OracleOption,
    SolverOption,
    TargetOption,
)
from suiteopt.cli.select_tables import tell, tell_review
from suiteopt.console import command_words, print_json, stderr
from suiteopt.errors import UserError
from suiteopt.export.registry import get_target
from suiteopt.export.shortened import shortened, warning
from suiteopt.export.suite_oracle import raised_tolerances
from suiteopt.matrix.denominator import Denominator
from suiteopt.matrix.files import write_atomic
from suiteopt.matrix.ledger import record_opening
from suiteopt.matrix.store import Matrix, resolve_matrix
from suiteopt.selection.export import to_suite
from suiteopt.selection.review import review_matrix, reviewed_without
from suiteopt.selection.select import select as choose
from suiteopt.selection.settle import settle
from suiteopt.selection.wishes import Wishes
from suiteopt.suite import Suite
from suiteopt.suite_json import dump


class DetectPer(StrEnum):
    """Of what a required detection is asked."""

    PROBLEM = "problem"
    FAMILY = "family"
    OVERALL = "overall"


def select(
    budget: Annotated[
        int | None,
        typer.Option(
            "--budget",
            "-k",
            metavar="K",
            help="Inputs per problem, at most; 2 unless another limit is given.",
        ),
    ] = None,
    matrix: MatrixOption = None,
    oracle: OracleOption = None,
    target: TargetOption = None,
    tolerance: Annotated[
        float | None,
        typer.Option("--tolerance", help="Tolerance that the target's harness will be run at."),
    ] = None,
    solver: SolverOption = "auto",
    total: Annotated[
        int | None,
        typer.Option("--total-budget", metavar="N", help="Inputs of all problems, at most."),
    ] = None,
    max_bytes: Annotated[
        int | None, typer.Option("--max-bytes", metavar="B", help="Bytes of the suite, at most.")
    ] = None,
    max_ms: Annotated[
        float | None,
        typer.Option("--max-ms", metavar="MS", help="Milliseconds of a substrate, at most."),
    ] = None,
    kills: Annotated[
        int, typer.Option("--kills", metavar="R", help="Members that have to kill a fault.")
    ] = 1,
    detect: Annotated[
        float | None,
        typer.Option(
            "--detect", metavar="SHARE", help="Fewest inputs, within the budget, for this share."
        ),
    ] = None,
    per: Annotated[
        DetectPer, typer.Option("--per", help="Of what --detect asks that share.")
    ] = DetectPer.PROBLEM,
    overall: Annotated[
        bool, typer.Option("--overall", help="Ask --detect of all problems together.")
    ] = False,
    include: Annotated[
        list[str] | None, typer.Option("--include", metavar="ID", help="Input to be chosen.")
    ] = None,
    exclude: Annotated[
        list[str] | None, typer.Option("--exclude", metavar="ID", help="Input not to be chosen.")
    ] = None,
    extend: Annotated[
        Path | None,
        typer.Option("--extend", metavar="SUITE", help="Keep the members of this suite."),
    ] = None,
    review: Annotated[
        str | None,
        typer.Option(
            "--review",
            metavar="WHAT",
            help="Choose nothing; say which inputs of a suite file, a protocol, or the `pool` "
            "are redundant, dominated, or the sole killer of a fault.",
        ),
    ] = None,
    objective: ObjectiveOption = None,
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
    if overall and per is not DetectPer.PROBLEM:
        raise UserError("--overall and --per ask --detect of different things; give one of them")
    if review is not None:
        _refuse_beside_review(
            {
                "--budget": budget,
                "--total-budget": total,
                "--max-bytes": max_bytes,
                "--max-ms": max_ms,
                "--detect": detect,
                "--include": include,
                "--exclude": exclude,
                "--extend": extend,
                "--objective": objective,
                "--output": output,
            }
        )
        question = settle(
            opened,
            oracle,
            2,
            capabilities,
            denominator,
            locked,
            incomplete,
        )
        if Path(review).is_file():
            _members(Path(review), opened, "review")
        rows = review_matrix(opened, question, review)
        left_out = reviewed_without(opened, review)
        if locked:
            record_opening(opened, "", {"reviewed": review})
        if json:
            print_json({"oracle": question.oracle.name, "present": review,
                        "left_out": dict(left_out),
                        "rows": [row.as_dict() for row in rows]})  # fmt: skip
        else:
            tell_review(rows, left_out)
        return
    wishes = Wishes(detect, "overall" if overall else per.value, total, max_bytes, max_ms, kills)
    kept = [] if extend is None else _members(extend, opened, "extend")
    if budget is None and not wishes.bounded:
        budget = 2
    if budget is not None and capabilities is None and kills > max(budget, 1):
        raise UserError(
            f"{budget} inputs cannot kill a fault {kills} times; give --budget {kills} or more"
        )
    chosen = choose(
        opened,
        budget,
        oracle,
        capabilities=capabilities,
        target=target,
        solver=solver,
        include=[*(include or ()), *kept],
        exclude=exclude or (),
        wishes=wishes,
        denominator=denominator,
        locked=locked,
        allow_incomplete=incomplete,
        objective=objective,
    )
    if wishes.bounded and not chosen.members:
        raise UserError("no input keeps within these limits; give larger ones")
    suite = to_suite(chosen, opened, _command())
    if locked:
        record_opening(opened, suite.hash, {"fitted_share": chosen.fitted_share})
    if output is not None:
        write_atomic(output, dump(suite).encode())
    # Without a target nobody knows yet at what shapes the tolerances will be applied.
    short = shortened(suite) if target is not None else ()
    if short:
        stderr().print(f"warning: {warning(short)}", soft_wrap=True, markup=False)
    answer = {
        **chosen.as_dict(),
        "shortened": [one.to_json() for one in short],
        "suite": None if output is None else str(output),
    }
    if json:
        print_json(answer)
        return
    tell(chosen)
    if output is not None:
        stderr().print(f"wrote {output}", soft_wrap=True)


def _refuse_beside_review(options: Mapping[str, object]) -> None:
    for name, value in options.items():
        if value is not None and value != []:
            raise UserError(f"--review chooses nothing; leave {name} out")


def _members(path: Path, matrix: Matrix, verb: str) -> list[str]:
    suite = Suite.open(path)
    raised = raised_tolerances(suite, matrix)
    if raised:
        raise UserError(
            f"{path} has {len(raised)} tolerances that 'gpu-eval confirm' raised, and this works "
            f"by the matrix's own; {verb} the suite that was confirmed"
        )
    return [member.input for part in suite.problems for member in part.members]


def _command() -> str:
    return shlex.join(["suiteopt", *command_words()])
