"""``gpu-eval assemble``: a matrix of the problems of a campaign that are whole so far."""

from pathlib import Path
from typing import Annotated

import typer

from gpu_eval.cli.output import Json, command_line, show


def assemble(
    campaign: Annotated[Path, typer.Argument(help="Directory of an unfinished campaign.")],
    output: Annotated[Path, typer.Option("--output", "-o", help="Directory of the new matrix.")],
    device_of: Annotated[
        Path | None,
        typer.Option(
            "--device-of",
            help="A matrix of the same device, for a campaign that does not say what its was.",
        ),
    ] = None,
    as_json: Json = False,
) -> None:
    """Write a matrix of the problems of a campaign that are whole so far.

    The campaign stays as it is and can be gone on with; no device is needed.
    """
    from gpu_eval.campaign.progress import reporter
    from gpu_eval.campaign.whole_problems import assemble_whole

    with reporter() as progress:
        found = assemble_whole(campaign, output, command_line(), progress, device_of)
    whole, missing = len(found.problems), len(found.missing)
    rest = f"the other {missing} go on" if missing else "what is left of it goes on"
    show(
        as_json,
        {
            "matrix": str(output),
            "id": found.id,
            "problems": list(found.problems),
            "missing": list(found.missing),
        },
        f"{output} holds {whole} problems of {whole + missing}; {rest} with "
        f"'gpu-eval resume {campaign}'",
    )
