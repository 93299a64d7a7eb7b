"""`suiteopt survivors`: which faults escape a check, and why."""

from pathlib import Path
from typing import Annotated

import typer

from suiteopt.audit.checks import Check, protocol_check, suite_check
from suiteopt.audit.left_out import left_out_sentences
from suiteopt.audit.reasons import EXPLANATIONS
from suiteopt.audit.survivors import Source, Survey, survey
from suiteopt.cli.audit_tables import table
from suiteopt.cli.format import share
from suiteopt.cli.options import IncompleteOption, JsonOption, MatrixOption, OracleOption
from suiteopt.console import print_json, stdout
from suiteopt.errors import UserError
from suiteopt.matrix.denominator import Denominator
from suiteopt.matrix.store import Matrix, resolve_matrix
from suiteopt.protocols import load_protocol
from suiteopt.suite import Suite

BUDGET = 2
LISTED = 20

_SOURCES = {
    Source.POOL: "in the pool",
    Source.UNSAFE: "in the pool, rejects correct kernels",
    Source.WITNESS: "only in the witness pool",
}


def survivors(
    suite: Annotated[
        Path | None, typer.Option("--suite", metavar="FILE", help="A suite that select wrote.")
    ] = None,
    protocol: Annotated[
        str | None,
        typer.Option("--protocol", "-p", metavar="P", help="A protocol's name or a .toml file."),
    ] = None,
    oracle: OracleOption = None,
    denominator: Annotated[
        Denominator, typer.Option("--denominator", help="Which mutants count.")
    ] = Denominator.WITNESSED,
    matrix: MatrixOption = None,
    incomplete: IncompleteOption = False,
    json: JsonOption = False,
) -> None:
    """Say why each fault that escapes a check escapes; by default the two best inputs' own."""
    if suite is not None and protocol is not None:
        raise UserError("--suite and --protocol are two checks; give one of them")
    if oracle is not None and (suite is not None or protocol is not None):
        raise UserError("a suite or a protocol brings its own oracle; leave --oracle out")
    opened = Matrix.open(resolve_matrix(matrix))
    if not opened.meta.complete and not incomplete:
        raise UserError(
            f"the matrix at {opened.path} is incomplete; finish it with `gpu-eval resume`, or give "
            "--allow-incomplete to take the problems that are measured"
        )
    check = _check(opened, suite, protocol, oracle, incomplete, denominator)
    found = survey(opened, check, denominator)
    if json:
        print_json(found.as_dict())
    else:
        _tell(found)


def _check(
    matrix: Matrix,
    suite: Path | None,
    protocol: str | None,
    oracle: str | None,
    incomplete: bool,
    denominator: Denominator,
) -> Check:
    if protocol is not None:
        return protocol_check(matrix, load_protocol(protocol))
    if suite is not None:
        return suite_check(matrix, Suite.open(suite), str(suite))
    from suiteopt.selection.export import to_suite
    from suiteopt.selection.select import select

    chosen = select(matrix, BUDGET, oracle, denominator=denominator, allow_incomplete=incomplete)
    return suite_check(matrix, to_suite(chosen, matrix, ""), f"best {BUDGET}, {chosen.oracle}")


def _tell(found: Survey) -> None:
    console = stdout()
    count = len(found.survivors)
    console.print(
        f"{found.check}: {count} of {found.mutants} faults survive "
        f"({share(count / found.mutants)})  ({found.label})",
        soft_wrap=True,
    )
    for sentence in left_out_sentences(found.left_out):
        console.print(sentence, soft_wrap=True)
    families = list(found.by_family)
    rows = table("reason", "all#", *(f"{family}#" for family in families), "what it means")
    for reason, number in found.by_reason.items():
        rows.add_row(
            str(reason),
            str(number),
            *(str(found.by_family[family].get(reason, "")) for family in families),
            EXPLANATIONS[reason],
        )
    console.print(rows)
    if found.missing:
        console.print("recipes that would catch survivors, the strongest first:")
        missing = table("recipe", "catches#", "where it is", "problems")
        for recipe in found.missing:
            missing.add_row(
                recipe.recipe,
                str(recipe.catches),
                _SOURCES[recipe.source],
                ", ".join(recipe.problems),
            )
        console.print(missing)
    listed = table("survivor", "reason", "needs#", "tolerance#")
    for survivor in found.survivors[:LISTED]:
        listed.add_row(
            survivor.implementation,
            str(survivor.reason),
            "-" if survivor.error is None else f"{survivor.error:.2g}",
            "-" if survivor.tolerance is None else f"{survivor.tolerance:.2g}",
        )
    console.print(listed)
    if count > LISTED:
        console.print(f"and {count - LISTED} more; --json lists all, `suiteopt show` one with diff")
