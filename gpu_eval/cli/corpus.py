"""``gpu-eval corpus``: which problems there are, and whether they are right."""

import tempfile
from collections.abc import Mapping
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer
from rich.table import Table

from gpu_eval.cli.output import Corpora, DeviceName, Json, absolute, cores, show, table
from suiteopt.errors import UserError

if TYPE_CHECKING:
    from gpu_eval.problems.check import CheckReport
    from gpu_eval.problems.definition import Problem

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
    for p in problems.values():
        substrates = ", ".join(s.name for s in p.substrates)
        lines.add_row(p.id, p.name, str(p.operation_class), substrates, str(len(p.controls)))
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
    sizes = find_profile(profile)
    opened = open_device(device)
    reports = []
    with tempfile.TemporaryDirectory(prefix="gpu-eval-") as cache:
        for name in chosen:
            report = check_problem(known[name], opened, sizes, Path(cache), jobs=cores())
            if not as_json:
                show(False, {}, _table(report))
            reports.append(report)
    failed = [
        f"{report.problem} {i.name}"
        for report in reports
        for i in report.implementations
        if not i.passed
    ]
    if as_json:
        rows = [{**asdict(report), "passed": report.passed} for report in reports]
        show(True, {"problems": rows, "failed": failed})
    if not all(report.passed for report in reports):
        what = ", ".join(failed) or "no input is valid"
        typer.echo(f"error: not within the allowance: {what}", err=True)
        raise typer.Exit(1)


def _table(report: "CheckReport") -> Table:
    lines = table(
        f"{report.problem}: {report.inputs} inputs, {len(report.invalid)} of them invalid",
        "implementation",
        "kind",
        "error#",
        "of allowance#",
        "on",
        "",
    )
    for row in report.implementations:
        lines.add_row(
            row.name,
            row.kind,
            f"{row.error:.2e}",
            f"{row.ratio:.2f}",
            row.input,
            "ok" if row.passed else row.reason or "WRONG",
        )
    return lines


def _load(corpus: Corpora) -> "Mapping[str, Problem]":
    from gpu_eval.problems.loader import load_corpus

    return load_corpus([Path(directory) for directory in absolute(corpus)]).problems
