"""The command line ``gpu-eval``: makes kill matrices."""

from typing import NoReturn

import typer

from gpu_eval.cli import assemble, confirm, corpus, merge, mutants, new, replay, witness
from gpu_eval.cli import run as campaign
from suiteopt.console import run_app

RESUME = "if a campaign was under way, nothing is lost: go on with 'gpu-eval resume DIR'"

app = typer.Typer(
    name="gpu-eval",
    help="Measure kill matrices: real faults in real CUDA kernels, on a GPU or a CPU.",
    no_args_is_help=True,
    add_completion=False,
    rich_markup_mode=None,
    pretty_exceptions_enable=False,
)
app.command()(campaign.run)
app.command()(campaign.resume)
app.add_typer(corpus.app, name="corpus")
app.add_typer(mutants.app, name="mutants")
app.command()(witness.witness)
app.command()(new.new)
app.command()(replay.replay)
app.command()(confirm.confirm)
app.command()(merge.merge)
app.command()(assemble.assemble)


def run() -> NoReturn:
    """Run the command line; exit code 0 fine, 1 a check failed, 2 usage or bad input."""
    run_app(app, "gpu-eval", RESUME)
