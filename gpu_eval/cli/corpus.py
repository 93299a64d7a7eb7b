"""``gpu-eval corpus``: which problems there are, and whether they are right."""

import multiprocessing
import tempfile
from collections.abc import Iterator
from concurrent.futures import ProcessPoolExecutor
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer
from rich.table import Table

from gpu_eval.campaign.device_settings import cores, resolved_name
from gpu_eval.cli.output import (
    Corpora,
    DeviceName,
    Jobs,
    Json,
    Levels,
    absolute,
    show,
    table,
)
from suiteopt.errors import UserError

if TYPE_CHECKING:
    from gpu_eval.problems.check import CheckReport
    from gpu_eval.problems.loader import Corpus

app = typer.Typer(help="List and check problems.", no_args_is_help=True)


@app.command("list")
def list_problems(level: Levels = None, corpus: Corpora = None, as_json: Json = False) -> None:
    """List all problems, or those of a level, with their substrates and controls."""
    from gpu_eval.campaign.plan import of_levels

    problems = of_levels(list(_load(corpus).problems.values()), level or ())
    rows = [
        {
            "problem": p.id,
            "name": p.name,
            "benchmark": p.benchmark,
            "operation_class": str(p.operation_class),
            "substrates": [s.name for s in p.substrates],
            "controls": [c.name for c in p.controls],
        }
        for p in problems
    ]
    lines = table("Problems", "problem", "name", "class", "substrates", "controls#")
    for p in problems:
        substrates = ", ".join(s.name for s in p.substrates)
        lines.add_row(p.id, p.name, str(p.operation_class), substrates, str(len(p.controls)))
    show(as_json, {"problems": rows}, lines)


@app.command()
def check(
    problems: Annotated[list[str] | None, typer.Argument(help="Ids of problems.")] = None,
    everything: Annotated[bool, typer.Option("--all", help="Check all problems.")] = False,
    level: Levels = None,
    profile: Annotated[
        str, typer.Option("--profile", help="demo, quick or full; contract for GPUs.")
    ] = "demo",
    device: DeviceName = "auto",
    corpus: Corpora = None,
    jobs: Jobs = None,
    as_json: Json = False,
) -> None:
    """Check every substrate and control against fp64 on every shape and recipe.

    With --corpus and without names, only that corpus' problems are checked. Inputs on which
    PyTorch's own fp32 result is no answer either are not judged, and counted as such.

    Exits with code 1 if one is wrong, or nothing of a problem could be judged.
    """
    from gpu_eval.campaign.plan import find_profile, of_levels
    from gpu_eval.devices.registry import open_device

    if problems and everything:
        raise UserError("give either problems or --all, not both")
    if level and (problems or everything):
        raise UserError("give --level alone, without problems and --all")
    known = _load(corpus, built_in=bool(problems) or everything or not corpus)
    asked = [known.problem(name) for name in dict.fromkeys(problems or known.problems)]
    chosen = [problem.id for problem in of_levels(asked, level or ())]
    find_profile(profile)
    name = resolved_name(open_device(device))
    work = [_Work(problem, absolute(corpus), profile, name) for problem in chosen]
    reports = []
    with tempfile.TemporaryDirectory(prefix="gpu-eval-") as cache:
        for report in _checked(work, Path(cache), jobs or cores()):
            if not as_json:
                show(False, {}, _table(report))
            reports.append(report)
    failed = [
        f"{report.problem} {i.name}"
        for report in reports
        for i in report.implementations
        if not i.passed
    ]
    doubtful = [report for report in reports if report.doubt]
    if as_json:
        rows = [
            {**asdict(report), "passed": report.passed, "proven": report.proven}
            for report in reports
        ]
        unproven = {report.problem: report.doubt for report in doubtful}
        show(True, {"problems": rows, "failed": failed, "unproven": unproven})
    for report in doubtful:
        if report.passed:
            typer.echo(f"{report.problem}: {report.doubt}", err=True)
    if not all(report.passed for report in reports):
        nothing = [f"{report.problem} ({report.doubt})" for report in doubtful if not report.passed]
        typer.echo(f"error: not within the allowance: {', '.join(failed + nothing)}", err=True)
        raise typer.Exit(1)


@dataclass(frozen=True)
class _Work:
    """A problem to check, as another process can be told of it."""

    problem: str
    corpora: tuple[str, ...]
    profile: str
    device: str

    def done(self, cache: Path, jobs: int) -> "CheckReport":
        """Check it."""
        from gpu_eval.problems.check import check_named
        from gpu_eval.problems.loader import load_corpus

        problem = load_corpus([Path(c) for c in self.corpora]).problems[self.problem]
        return check_named(problem, self.device, self.profile, cache, jobs=jobs)


def _checked(work: "list[_Work]", cache: Path, jobs: int) -> "Iterator[CheckReport]":
    """Check problems in their order, on a processor several at a time."""
    if len(work) == 1 or jobs == 1 or work[0].device != "cpu":
        yield from (one.done(cache, jobs) for one in work)
        return
    from gpu_eval.campaign import processes

    processes.warm_up()
    workers = min(jobs, len(work))
    with ProcessPoolExecutor(workers, multiprocessing.get_context("forkserver")) as pool:
        try:
            yield from pool.map(_Work.done, work, [cache] * len(work), [1] * len(work))
        except BaseException:
            pool.shutdown(wait=False, cancel_futures=True)
            raise


def _table(report: "CheckReport") -> Table:
    lines = table(
        f"{report.problem}: {report.inputs} inputs, {len(report.invalid)} of them invalid, "
        f"{len(report.unjudged)} unjudged",
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


def _load(corpus: Corpora, built_in: bool = True) -> "Corpus":
    from gpu_eval.problems.loader import load_corpus

    return load_corpus([Path(directory) for directory in absolute(corpus)], built_in=built_in)
