"""``gpu-eval run`` and ``gpu-eval resume``: measure a kill matrix."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from gpu_eval.cli.output import (
    Corpora,
    DeviceName,
    Jobs,
    Json,
    Levels,
    Problems,
    absolute,
    command_line,
    show,
    table,
)

if TYPE_CHECKING:
    from gpu_eval.campaign.run import Finished
    from gpu_eval.campaign.settings import Settings

Scheduler = Annotated[
    str,
    typer.Option(
        "--scheduler",
        help="Run on a Dask cluster: its address (tcp://host:8786), or local:N for N workers here.",
    ),
]
Output = Annotated[Path, typer.Option("--output", "-o", help="Directory of the matrix.")]


def run(
    output: Output,
    profile: Annotated[
        str, typer.Option("--profile", help="demo, quick or full; contract for GPUs.")
    ] = "demo",
    device: DeviceName = "auto",
    problem: Problems = None,
    level: Levels = None,
    corpus: Corpora = None,
    jobs: Jobs = None,
    sass: Annotated[
        bool,
        typer.Option(
            "--sass", help="On a CPU: what is equal to NVRTC (for sm_90) is one fault, not two."
        ),
    ] = False,
    wild: Annotated[
        bool,
        typer.Option(
            "--wild",
            help="Run kernels written after public reports, too; never calibrated or selected on.",
        ),
    ] = False,
    scheduler: Scheduler = "",
    dry_run: Annotated[
        bool, typer.Option("--dry-run", help="Say what it would cost on an H200, and do nothing.")
    ] = False,
    as_json: Json = False,
) -> None:
    """Measure a kill matrix: every fault of every problem on every input.

    A campaign that is interrupted or killed goes on with 'gpu-eval resume'. With --corpus and
    without --problem, only that corpus' problems are measured. Without --problem and --level,
    'demo' and 'quick' measure the same six problems always, 'full' and 'contract' all of them.
    """
    from gpu_eval.campaign.cluster import check_scheduler
    from gpu_eval.campaign.device_settings import on_device
    from gpu_eval.campaign.plan import find_profile
    from gpu_eval.campaign.progress import reporter
    from gpu_eval.campaign.run import judged_by_sass, start
    from gpu_eval.campaign.settings import Settings
    from gpu_eval.devices.registry import check_name, open_device

    corpora = absolute(corpus)
    find_profile(profile)
    if scheduler:
        check_scheduler(scheduler)
    if dry_run:
        check_name(device)
        asked = Settings(
            profile, device, tuple(problem or ()), tuple(level or ()), corpora, wild=wild
        )
        tell_estimate(asked, as_json)
        return
    opened = judged_by_sass(open_device(device), sass)
    asked = Settings(
        profile=profile,
        device=device,
        problems=tuple(problem or ()),
        levels=tuple(level or ()),
        corpora=corpora,
        command=command_line(),
        sass=sass,
        wild=wild,
    )
    settings = on_device(asked, opened, jobs)
    with reporter() as progress:
        finished = start(output, settings, opened, progress, scheduler)
    report(finished, as_json)


def resume(
    directory: Annotated[Path, typer.Argument(help="Directory of the campaign.")],
    scheduler: Scheduler = "",
    as_json: Json = False,
) -> None:
    """Go on with a campaign that was interrupted or killed."""
    from gpu_eval.campaign import run as campaign
    from gpu_eval.campaign.progress import reporter

    with reporter() as progress:
        finished = campaign.resume(directory, None, progress, scheduler)
    report(finished, as_json)


def tell_estimate(settings: "Settings", as_json: bool) -> None:
    """Say what a campaign would cost on a GPU; of a processor its size alone."""
    from dataclasses import asdict

    from gpu_eval.campaign.estimate import ESTIMATED_FOR, estimate
    from gpu_eval.campaign.plan import build_plan

    found = estimate(build_plan(settings), settings.skipped)
    timed = settings.device != "cpu"
    lines = table(
        f"What it would cost on {ESTIMATED_FOR}" if timed else "What would run, on a CPU",
        "problem", "inputs#", "contract scope#", "cells#", "MiB#", *(["seconds#"] if timed else []),
    )  # fmt: skip
    for row in found:
        figures = [row.inputs, row.contract_scope, row.cells, row.largest_bytes >> 20]
        seconds = [f"{row.seconds:.1f}"] if timed else []
        lines.add_row(row.problem, *map(str, figures), *seconds)
    cells, total = sum(row.cells for row in found), sum(row.seconds for row in found)
    answer = {
        "profile": settings.profile,
        "estimated_for": ESTIMATED_FOR if timed else None,
        "problems": [asdict(row) if timed else {**asdict(row), "seconds": None} for row in found],
        "cells": cells,
        "seconds": total if timed else None,
    }
    words = f"{cells} cells; how long a CPU takes is not estimated"
    if timed:
        words = (
            f"{cells} cells, {total:.0f} s of cells on {ESTIMATED_FOR}; inputs, controls, "
            "compiling and restarts come on top"
        )
    show(as_json, answer, lines, words)


def report(finished: "Finished", as_json: bool) -> None:
    """Say what a campaign came to."""
    from suiteopt.matrix.store import Matrix
    from suiteopt.matrix.summary import summarise

    matrix = Matrix.open(finished.path)
    summary = summarise(matrix).as_dict()
    answer = {
        "matrix": str(finished.path),
        **summary,
        "seconds": finished.seconds,
    }
    title = f"{finished.path} ({matrix.meta.label})"
    lines = table("", "", "#")
    for key in ("problems", "substrates", "rules"):
        lines.add_row(key, str(summary[key]))
    for key, figure in summary["mutants"].items():
        lines.add_row(f"mutants {key}", str(figure))
    for key in ("nulls", "controls", "inputs", "cells"):
        lines.add_row(key, str(summary[key]))
    lines.add_row("seconds", f"{finished.seconds:.1f}")
    invalid = matrix.inputs[~matrix.inputs["valid"].astype(bool)]
    notes = [
        f"invalid input {name}: {reason}"
        for name, reason in zip(invalid["input"], invalid["invalid_reason"], strict=True)
    ]
    show(as_json, answer, title, lines, *notes)
