"""The `suiteopt` command: optimise input suites over kill matrices."""

from typing import Annotated, NoReturn

import typer

from suiteopt.cli import (
    audit,
    check,
    crossval,
    exchange,
    export,
    import_,
    info,
    recommend,
    report,
    select,
    show,
    survivors,
    targets,
    verify,
)
from suiteopt.console import run_app

app = typer.Typer(
    name="suiteopt",
    help="Choose the smallest input suite that a wrong GPU kernel cannot pass.",
    no_args_is_help=True,
    add_completion=False,
    rich_markup_mode=None,
    pretty_exceptions_enable=False,
)
app.command("info")(info.info)
app.command("select")(select.select)
app.command("crossval")(crossval.crossval)
app.command("audit")(audit.audit)
app.command("survivors")(survivors.survivors)
app.command("recommend")(recommend.recommend)
app.command("show")(show.show)
app.command("targets")(targets.targets)
app.command("export")(export.export)
app.command("verify")(verify.verify)
app.command("check")(check.check)
app.command("report")(report.report)
app.command("exchange")(exchange.exchange)
app.command("import")(import_.import_)


def _version(wanted: bool) -> None:
    if wanted:
        from importlib.metadata import version

        typer.echo(f"suiteopt {version('kernel-suiteopt')}")
        raise typer.Exit


@app.callback()
def main(
    version: Annotated[
        bool,
        typer.Option("--version", callback=_version, is_eager=True, help="Print the version."),
    ] = False,
) -> None:
    """Choose the smallest input suite that a wrong GPU kernel cannot pass."""


def run() -> NoReturn:
    """Run the command line; the console script's entry."""
    run_app(app, "suiteopt")
