"""``gpu-eval merge``: matrices of different problems into one, or some problems of a matrix."""

from pathlib import Path
from typing import Annotated

import typer

from gpu_eval.cli.output import Json, Problems, command_line, show


def merge(
    matrices: Annotated[list[Path], typer.Argument(help="Matrices of different problems.")],
    output: Annotated[Path, typer.Option("--output", "-o", help="Directory of the new matrix.")],
    problem: Problems = None,
    without: Annotated[
        list[str] | None,
        typer.Option("--without", help="Not this problem; may be given several times."),
    ] = None,
    as_json: Json = False,
) -> None:
    """Put matrices of different problems together, or choose problems of one.

    What does not fit is refused.
    """
    from gpu_eval.campaign.merge import merge_matrices

    merged = merge_matrices(
        matrices, output, command_line(), problems=problem or (), without=without or ()
    )
    problems = list(merged.problem_ids)
    show(
        as_json,
        {"matrix": str(output), "id": merged.id, "matrices": len(matrices), "problems": problems},
        f"{output} holds {len(problems)} problems of {_matrices(len(matrices))}",
    )


def _matrices(count: int) -> str:
    return "one matrix" if count == 1 else f"{count} matrices"
