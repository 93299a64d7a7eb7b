"""``gpu-eval replay``: run the members of a suite on every implementation again."""

from pathlib import Path
from typing import Annotated

import typer

from gpu_eval.cli.output import (
    Corpora,
    DeviceName,
    Jobs,
    Json,
    absolute,
    command_line,
)
from gpu_eval.cli.run import report


def replay(
    suite: Annotated[Path, typer.Argument(help="A suite, as 'suiteopt select -o' writes it.")],
    output: Annotated[Path, typer.Option("--output", "-o", help="Directory of the new matrix.")],
    device: DeviceName = "auto",
    corpus: Corpora = None,
    jobs: Jobs = None,
    as_json: Json = False,
) -> None:
    """Measure a suite's members again: what 'suiteopt verify --replay' compares promises with.

    Every substrate, control, null and mutant of the suite's problems runs on every member; the
    result is a small matrix.
    """
    from gpu_eval.campaign.device_settings import on_device
    from gpu_eval.campaign.progress import reporter
    from gpu_eval.campaign.run import start
    from gpu_eval.campaign.settings import Settings
    from gpu_eval.devices.registry import open_device
    from suiteopt.suite import Suite

    chosen = Suite.open(suite)
    corpora = absolute(corpus)
    opened = open_device(device)
    asked = Settings(
        profile="replay",
        device=device,
        corpora=corpora,
        command=command_line(),
        suite=chosen.to_json(),
    )
    settings = on_device(asked, opened, jobs)
    with reporter() as progress:
        if chosen.matrix_device == "cuda" and settings.device == "cpu":
            progress.note(
                "this suite was measured on a GPU; at its shapes a CPU takes many hours. "
                "For a CPU choose one from a CPU matrix: suiteopt select --matrix DIR"
            )
        finished = start(output, settings, opened, progress)
    report(finished, as_json)
