"""What the commands share: options, devices, and how an answer is given."""

import shlex
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Annotated, Any

import typer
from rich.table import Table

from suiteopt.console import command_words, print_json, stdout
from suiteopt.errors import UserError

Json = Annotated[
    bool, typer.Option("--json", help="Print exactly one JSON object on standard output.")
]
Corpora = Annotated[
    list[Path] | None,
    typer.Option("--corpus", help="A directory of further problems; may be given several times."),
]
Problems = Annotated[
    list[str] | None,
    typer.Option("--problem", help="Only this problem; may be given several times."),
]
Levels = Annotated[
    list[int] | None,
    typer.Option(
        "--level", help="All problems of this level of the benchmark; may be given several times."
    ),
]
DeviceName = Annotated[str, typer.Option("--device", help="auto, cpu or cuda.")]
Jobs = Annotated[
    int | None,
    typer.Option(
        "--jobs", min=1, help="Worker processes; by default one a core, four on each GPU."
    ),
]


def command_line() -> str:
    """Return the command line as it would be typed again."""
    return shlex.join(["gpu-eval", *command_words()])


def absolute(directories: Sequence[Path] | None) -> tuple[str, ...]:
    """Return directories as absolute names, which a resume from elsewhere can use."""
    found = []
    for directory in directories or ():
        if not directory.is_dir():
            raise UserError(f"{directory} is no directory; give one that holds */problem.py")
        found.append(str(directory.resolve()))
    return tuple(found)


def show(as_json: bool, answer: Mapping[str, Any], *tables: Table | str) -> None:
    """Give an answer: one JSON object, or tables and lines for people."""
    if as_json:
        print_json(answer)
        return
    console = stdout()
    for table in tables:
        if isinstance(table, str):  # a line stays one line, for whoever greps
            console.print(table, markup=False, soft_wrap=True)
        else:
            console.print(table)


def table(title: str, *columns: str) -> Table:
    """Return an empty table; columns whose name ends in ``#`` are numbers, set right."""
    result = Table(
        title=title or None,
        title_justify="left",
        show_header=any(column.rstrip("#") for column in columns),
        box=None,
        pad_edge=False,
    )
    for column in columns:
        number = column.endswith("#")
        # Ids are typed again: one that does not fit goes on in the next line, whole.
        result.add_column(
            column.rstrip("#"), justify="right" if number else "left", overflow="fold"
        )
    return result
