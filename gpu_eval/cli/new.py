"""``gpu-eval new``: a whole working problem to start from."""

import shlex
from pathlib import Path
from typing import Annotated

import typer

from gpu_eval.cli.output import Json, show


def new(
    name: Annotated[str, typer.Argument(help="Name of the problem, for example my_gelu.")],
    directory: Annotated[
        Path, typer.Option("--directory", help="Corpus directory to put it in.")
    ] = Path("problems"),
    as_json: Json = False,
) -> None:
    """Write a working problem, with kernel, reference and controls, outside this checkout."""
    from gpu_eval.problems.scaffold import new_problem

    created = new_problem(name, directory)
    place = shlex.quote(directory.as_posix())
    show(
        as_json,
        {"problem": name, "directory": str(created)},
        f"{created} holds a working problem; check it with\n"
        f"    gpu-eval corpus check user/{name} --corpus {place}\n"
        f"and measure it with\n"
        f"    gpu-eval run --problem user/{name} --corpus {place} --output {name}-matrix",
    )
