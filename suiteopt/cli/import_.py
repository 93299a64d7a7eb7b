"""`suiteopt import`: kill matrices of other mutation tools."""

import shlex
from pathlib import Path
from typing import Annotated

import typer

from suiteopt.cli.options import JsonOption
from suiteopt.console import command_words, print_json, stdout
from suiteopt.errors import UserError
from suiteopt.importers.formats import Format, read_kill_map
from suiteopt.importers.write import problem_name, write_matrix
from suiteopt.matrix.tables import cells_file, is_safe_name


def import_(
    source: Annotated[
        Path, typer.Argument(help="A report of Stryker, PIT or Major, a CSV table, or an .npz.")
    ],
    output: Annotated[
        Path, typer.Option("--output", "-o", metavar="DIR", help="Write the matrix here.")
    ],
    form: Annotated[
        Format, typer.Option("--format", help="By default told by the file.")
    ] = Format.AUTO,
    name: Annotated[
        str | None, typer.Option("--name", help="Id of the problem; by default the file's name.")
    ] = None,
    incomplete: Annotated[
        bool,
        typer.Option(
            "--allow-incomplete",
            help="Take a tool's matrix that lacks results; select and crossval then ask for this, "
            "too, and count what is not known as no kill.",
        ),
    ] = False,
    json: JsonOption = False,
) -> None:
    """Read another tool's kill matrix, so that select, crossval and audit work on it."""
    problem = name or problem_name(source)
    safe = is_safe_name(cells_file(problem)) and problem.isprintable()
    if not safe or not problem.strip("./-"):
        raise UserError(f"the name {problem!r} is no file name; give another --name")
    found = read_kill_map(source, form)
    matrix = write_matrix(
        found, problem, output, shlex.join(["suiteopt", *command_words()]), incomplete
    )
    answer = {
        "matrix": str(output),
        "id": matrix.id,
        "tool": found.tool,
        "problem": problem,
        "mutants": len(found.mutants),
        "killed": found.killed,
        "tests": len(found.tests),
        "unknown": found.unknown,
        "complete": not found.gap,
        "notes": list(found.notes),
        "gap": found.gap or None,
    }
    if json:
        print_json(answer)
        return
    console = stdout()
    console.print(
        f"{output}: {answer['mutants']} mutants of {found.tool}, {found.killed} killed, by "
        f"{answer['tests']} tests",
        soft_wrap=True,
    )
    for sentence in found.notes:
        console.print(f"note: {sentence}", soft_wrap=True)
    if found.gap:
        console.print(
            f"incomplete: {found.unknown} results are not known; {found.gap}", soft_wrap=True
        )
