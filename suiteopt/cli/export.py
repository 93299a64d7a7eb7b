"""`suiteopt export`: write a suite into a benchmark's checkout, or take it out again."""

from pathlib import Path
from typing import Annotated

import typer

from suiteopt.cli.options import JsonOption
from suiteopt.console import print_json, stderr, stdout
from suiteopt.errors import UserError
from suiteopt.export.exporter import export as write_export
from suiteopt.export.exporter import remove
from suiteopt.export.registry import get_target
from suiteopt.export.reports import ExportReport, RemovalReport
from suiteopt.export.seeds import reseed
from suiteopt.export.shortened import warning
from suiteopt.suite_json import read


def export(
    suite: Annotated[
        Path | None, typer.Argument(help="Suite file that `suiteopt select -o` wrote.")
    ] = None,
    to: Annotated[str | None, typer.Option("--to", metavar="T", help="Target.")] = None,
    repo: Annotated[
        Path | None, typer.Option("--repo", metavar="DIR", help="Checkout of the benchmark.")
    ] = None,
    dry_run: Annotated[
        bool, typer.Option("--dry-run", help="Change nothing; print the change as a diff.")
    ] = False,
    allow_dirty: Annotated[
        bool,
        typer.Option(
            "--allow-dirty", help="Also replace files that are not committed; they are kept."
        ),
    ] = False,
    undo: Annotated[
        bool, typer.Option("--remove", help="Take the export out again, to the byte.")
    ] = False,
    keep_original: Annotated[
        bool,
        typer.Option(
            "--keep-original/--members-only",
            help="Serve the benchmark's published configurations before the members, or not.",
        ),
    ] = True,
    tolerance: Annotated[
        float | None,
        typer.Option("--tolerance", help="Tolerance that the harness will be run at."),
    ] = None,
    megabytes: Annotated[
        float | None,
        typer.Option("--megabytes", help="Of one member's tensors, where they are written out."),
    ] = None,
    seed_from: Annotated[
        str | None,
        typer.Option(
            "--seed-from",
            metavar="ENV",
            help="Make the members again under seeds from the secret in this environment variable.",
        ),
    ] = None,
    output: Annotated[
        Path | None,
        typer.Option("--output", "-o", metavar="FILE", help="Also write the suite as exported."),
    ] = None,
    json: JsonOption = False,
) -> None:
    """Export a suite into a benchmark's checkout."""
    if repo is None:
        raise UserError("no checkout is named; give it as --repo DIR")
    if undo:
        given = {
            "a suite": suite is not None,
            "--dry-run": dry_run,
            "--allow-dirty": allow_dirty,
            "--seed-from": seed_from is not None,
            "--output": output is not None,
        }
        for name in (name for name, there in given.items() if there):
            raise UserError(
                f"--remove takes an export out and needs --repo alone; leave {name} out"
            )
        removal = remove(repo, to)
        if json:
            print_json(removal.to_json())
        else:
            _tell_removal(removal)
        return
    if suite is None or to is None:
        raise UserError("give a suite file and a target: suiteopt export SUITE --to T --repo DIR")
    if output is not None and dry_run:
        raise UserError("--dry-run writes nothing; leave --output out, or --dry-run")
    options: dict[str, object] = {} if keep_original else {"keep_original": False}
    if tolerance is not None:
        options["tolerance"] = tolerance
    if megabytes is not None:
        options["megabytes"] = megabytes
    chosen, seeds = read(suite), None
    if seed_from is not None:
        chosen, seeds = reseed(chosen, seed_from)
    if output is not None:
        chosen.save(output)  # before the checkout changes: it may not be writable
    report = write_export(
        chosen,
        get_target(to, **options),
        repo,
        dry_run=dry_run,
        seeds=seeds,
        allow_dirty=allow_dirty,
    )
    if report.shortened:
        stderr().print(f"warning: {warning(report.shortened)}", soft_wrap=True, markup=False)
    if json:
        print_json(report.to_json())
    else:
        _tell(report)


def _tell(report: ExportReport) -> None:
    console = stderr() if report.dry_run else stdout()
    verb = "would write" if report.dry_run else "wrote"
    console.print(
        f"{verb} {report.files} files with {report.members} members into {report.repo} "
        f"({len(report.created)} new, {len(report.changed)} changed, "
        f"{len(report.removed)} removed)",
        soft_wrap=True,
    )
    for note in report.notes:
        console.print(f"note: {note}", soft_wrap=True)
    if report.dry_run:
        typer.echo(report.diff, nl=False)


def _tell_removal(report: RemovalReport) -> None:
    stdout().print(
        f"restored {len(report.restored)} files and deleted {len(report.deleted)} in {report.repo}",
        soft_wrap=True,
    )
