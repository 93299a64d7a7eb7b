"""``gpu-eval corpus``: which problems there are, and whether they are right."""

from collections.abc import Mapping
from dataclasses import asdict
from typing import Annotated, Any

import typer

from gpu_eval.cli.output import Corpora, DeviceName, Json, absolute, show, table
from suiteopt.errors import UserError

app = typer.Typer(help="List and check problems.", no_args_is_help=True)


@app.command("list")
def list_problems(corpus: Corpora = None, as_json: Json = False) -> None:
    """List all problems with their substrates and controls."""
    problems = _load(corpus)
    rows = [
        {
            "problem": p.id,
            "name": p.name,
            "benchmark": p.benchmark,
            "operation_class": str(p.operation_class),
            "substrates": [s.name for s in p.substrates],
            "controls": [c.name for c in p.controls],
        }
        for p in problems.values()
    ]
    lines = table("Problems", "problem", "name", "class", "substrates", "controls#")
    for row in rows:
        lines.add_row(
            row["problem"],
            row["name"],
            row["operation_class"],
            ", ".join(row["substrates"]),
            str(len(row["controls"])),
        )
    show(as_json, {"problems": rows}, lines)


@app.command()
def check(
    problems: Annotated[list[str] | None, typer.Argument(help="Ids of problems.")] = None,
    everything: Annotated[bool, typer.Option("--all", help="Check all problems.")] = False,
    profile: Annotated[str, typer.Option("--profile", help="demo, quick or full.")] = "demo",
    device: DeviceName = "auto",
    corpus: Corpora = None,
    as_json: Json = False,
) -> None:
    """Check every substrate and control against fp64 on every shape and recipe.

    Exits with code 1 if one is wrong.
    """
    from gpu_eval.campaign.plan import find_profile
    from gpu_eval.devices.registry import open_device
    from gpu_eval.problems.check import check_problem

    known = _load(corpus)
    if problems and everything:
        raise UserError("give either problems or --all, not both")
    unknown = [name for name in problems or () if name not in known]
    if unknown:
        raise UserError(f"there is no problem '{unknown[0]}'; known are {', '.join(known)}")
    chosen = list(problems or known)
    find_profile(profile)
    opened = open_device(device)
    reports = [check_problem(known[name], opened, profile) for name in chosen]
    rows = [asdict(report) for report in reports]
    show(as_json, {"problems": rows})
    if not all(report.passed for report in reports):
        raise typer.Exit(1)


def _load(corpus: Corpora) -> Mapping[str, Any]:
    from pathlib import Path

    from gpu_eval.problems.loader import load_corpus

    return load_corpus([Path(directory) for directory in absolute(corpus)]).problems
