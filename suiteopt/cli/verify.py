"""`suiteopt verify`: does an exported checkout keep its promises?"""

import signal
from collections.abc import Sequence
from pathlib import Path
from typing import Annotated, NoReturn

import typer

from suiteopt.cli.options import JsonOption, MatrixOption
from suiteopt.cli.verify_progress import shown
from suiteopt.console import EXIT_CHECK_FAILED, print_json, stderr, stdout
from suiteopt.export.finding import Finding
from suiteopt.export.verify import VerifyReport
from suiteopt.export.verify import verify as verify_export
from suiteopt.matrix.store import Matrix, resolve_matrix
from suiteopt.suite_json import read

_SHOWN = 12


def verify(
    directory: Annotated[Path, typer.Argument(help="Checkout that a suite was exported into.")],
    target: Annotated[
        str | None, typer.Option("--target", metavar="T", help="By default the one found.")
    ] = None,
    suite: Annotated[Path | None, typer.Option("--suite", help="What should be there.")] = None,
    matrix: MatrixOption = None,
    replay: Annotated[
        Path | None,
        typer.Option("--replay", metavar="DIR", help="Matrix that `gpu-eval replay` made."),
    ] = None,
    max_bytes: Annotated[
        int | None,
        typer.Option(
            "--max-bytes",
            min=1,
            help="Bytes of one configuration beyond which it is listed as unproved; three "
            "quarters of the free memory by default.",
        ),
    ] = None,
    json: JsonOption = False,
) -> None:
    """Load an export with the target's own loader and check every promise of its suite."""
    signal.signal(signal.SIGTERM, _stop)
    with shown() as progress:
        report = verify_export(
            directory,
            target=target,
            suite=None if suite is None else read(suite),
            # Kills are compared with the matrix that the suite was chosen on, so a replay needs it.
            matrix=Matrix.open(resolve_matrix(matrix)) if matrix or replay else None,
            replay=None if replay is None else Matrix.open(replay),
            max_bytes=max_bytes,
            progress=progress,
        )
    if json:
        print_json(report.to_json())
    else:
        _tell(report)
    if report.members == 0:
        # A check in which nothing ran must not look green.
        large = any("--max-bytes" in finding.what for finding in report.unproved)
        hint = "; raise --max-bytes" if large else ""
        stderr().print(f"no member was loaded{hint}", soft_wrap=True)
    if not report.ok or report.members == 0:
        raise typer.Exit(EXIT_CHECK_FAILED)


def _stop(*_signal: object) -> NoReturn:
    """End as Ctrl-C does: the loader's process and its temporary directory go with this one."""
    raise KeyboardInterrupt


def _tell(report: VerifyReport) -> None:
    console = stdout()
    console.print(
        f"{report.files} files, {report.members} members and {report.originals} original "
        f"configurations loaded; promises: {report.reproduced} reproduced, "
        f"{len(report.unproved)} unproved, {len(report.failed)} failed",
        soft_wrap=True,
    )
    for finding in report.failed[:_SHOWN]:
        console.print(f"  failed: {finding}", soft_wrap=True, markup=False)
    if len(report.failed) > _SHOWN:
        console.print(f"  and {len(report.failed) - _SHOWN} more failed; see --json")
    alike = grouped(report.unproved)
    for line in alike[:_SHOWN]:
        console.print(f"  unproved: {line}", soft_wrap=True, markup=False)
    if len(alike) > _SHOWN:
        console.print(f"  and {len(alike) - _SHOWN} more reasons; see --json")


def grouped(findings: Sequence[Finding]) -> list[str]:
    """Return one sentence a reason: which checks, of how many inputs of which problems, and why."""
    by_reason: dict[str, list[Finding]] = {}
    for finding in findings:
        by_reason.setdefault(finding.what, []).append(finding)
    lines = []
    for what, alike in by_reason.items():
        if len(alike) == 1:
            lines.append(str(alike[0]))
            continue
        checks = ", ".join(dict.fromkeys(finding.check for finding in alike))
        problems = ", ".join(dict.fromkeys(finding.problem for finding in alike))
        places = len({(finding.problem, finding.where) for finding in alike})
        lines.append(f"{checks} of {places} inputs of {problems}: {what}")
    return lines
