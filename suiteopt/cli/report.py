"""`suiteopt report`: one page to read, with its figures and tables."""

import shlex
from pathlib import Path
from typing import Annotated

import typer

from suiteopt.cli.options import (
    IncompleteOption,
    JsonOption,
    MatrixOption,
    TargetOption,
    outside,
)
from suiteopt.cli.step_progress import steps
from suiteopt.console import command_words, print_json, stderr
from suiteopt.errors import UserError
from suiteopt.matrix.denominator import Denominator
from suiteopt.matrix.store import Matrix, resolve_matrix


def report(
    output: Annotated[
        Path, typer.Option("--output", "-o", metavar="DIR", help="Write the report here.")
    ],
    place: Annotated[
        Path | None,
        typer.Argument(metavar="MATRIX", help="Kill matrix; the same as --matrix."),
    ] = None,
    matrix: MatrixOption = None,
    protocol: Annotated[
        str,
        typer.Option("--protocol", "-p", metavar="P", help="The check before: a name or a .toml."),
    ] = "kernelbench",
    suite: Annotated[
        Path | None,
        typer.Option("--suite", metavar="FILE", help="The check after; by default the best K."),
    ] = None,
    budget: Annotated[
        int | None, typer.Option("--budget", "-k", metavar="K", help="Inputs per problem; 2.")
    ] = None,
    oracle: Annotated[
        str | None,
        typer.Option("--oracle", metavar="O", help="As select takes it; by default its own."),
    ] = None,
    target: TargetOption = None,
    repeats: Annotated[
        int, typer.Option("--repeats", min=1, help="Repeats of cross-validation.")
    ] = 20,
    denominator: Annotated[
        Denominator, typer.Option("--denominator", help="Which mutants count.")
    ] = Denominator.WITNESSED,
    incomplete: IncompleteOption = False,
    json: JsonOption = False,
) -> None:
    """Write one self-contained page: detection before and after, and what is behind it."""
    from suiteopt.report.collect import Wanted, collect
    from suiteopt.report.write import write_report

    if place is not None and matrix is not None:
        raise UserError("the matrix is given twice; give it once, as an argument or by --matrix")
    if suite is not None and any(value is not None for value in (budget, oracle, target)):
        raise UserError("--suite brings its own budget, oracle and target; leave them out")
    opened = Matrix.open(resolve_matrix(place or matrix))
    outside(output, opened)
    wanted = Wanted(
        protocol=protocol,
        suite=suite,
        budget=2 if budget is None else budget,
        oracle=oracle,
        target=target,
        repeats=repeats,
        denominator=denominator,
        incomplete=incomplete,
        command=shlex.join(["suiteopt", *command_words()]),
    )
    with steps("reporting") as tell:
        content = collect(opened, wanted, tell)
    written = write_report(content, output)
    if json:
        answer = {"page": str(written[0]), "files": [str(path) for path in written],
                  "absent": dict(content.absent)}  # fmt: skip
        print_json(answer)
        return
    console = stderr()
    console.print(f"wrote {written[0]} and {len(written) - 1} files beside it", soft_wrap=True)
    for sentence in dict.fromkeys(content.absent.values()):
        console.print(f"left out: {sentence}", soft_wrap=True)
