"""`suiteopt audit`: what a benchmark's own check misses, why, and how far inputs may go."""

from collections.abc import Iterable, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Annotated, Any

import typer

from suiteopt.audit.comparison import Comparison, compare
from suiteopt.cli import audit_tables as tables
from suiteopt.cli.options import IncompleteOption, JsonOption, MatrixOption, outside
from suiteopt.console import print_json, stderr, stdout
from suiteopt.errors import UserError
from suiteopt.matrix.denominator import Denominator
from suiteopt.matrix.files import write_atomic
from suiteopt.matrix.schema import Statistic
from suiteopt.matrix.store import Matrix, resolve_matrix
from suiteopt.protocols import (
    Protocol,
    judged_problems,
    judges_alike,
    known_protocols,
    load_protocol,
)

DEFAULT_PROTOCOL = "kernelbench"


def audit(
    protocol: Annotated[
        str | None,
        typer.Option(
            "--protocol",
            "-p",
            metavar="P",
            help="A shipped protocol's name or a .toml file; without it, all shipped ones.",
        ),
    ] = None,
    start: Annotated[
        str | None,
        typer.Option("--from", metavar="A", help="Split the gain of --to over this protocol."),
    ] = None,
    end: Annotated[
        str | None, typer.Option("--to", metavar="B", help="The protocol that gains.")
    ] = None,
    blind_band: Annotated[
        bool,
        typer.Option("--blind-band", help="Largest relative error that is accepted, by length."),
    ] = False,
    ceiling: Annotated[
        bool,
        typer.Option("--ceiling", help="Where correct kernels begin to be rejected, by recipe."),
    ] = False,
    refereeability: Annotated[
        bool,
        typer.Option("--refereeability", help="Which problems can be refereed, and what to fix."),
    ] = False,
    comparator: Annotated[
        str | None,
        typer.Option(
            "--comparator",
            metavar="C",
            help="Of --ceiling: a statistic of the matrix; allclose_candidate by default.",
        ),
    ] = None,
    figure: Annotated[
        Path | None,
        typer.Option("--figure", metavar="FILE", help="Of --blind-band: draw it as SVG."),
    ] = None,
    denominator: Annotated[
        Denominator | None,
        typer.Option("--denominator", help="Which mutants count; witnessed by default."),
    ] = None,
    matrix: MatrixOption = None,
    incomplete: IncompleteOption = False,
    json: JsonOption = False,
) -> None:
    """Audit a check: what it detects and misses, and whom it wrongs."""
    modes = {
        "--from/--to": start is not None or end is not None,
        "--blind-band": blind_band,
        "--ceiling": ceiling,
        "--refereeability": refereeability,
    }
    asked = [name for name, wanted in modes.items() if wanted]
    if len(asked) > 1:
        raise UserError(f"{' and '.join(asked)} are different questions; ask one at a time")
    if figure is not None and not blind_band:
        raise UserError("--figure belongs to --blind-band; give both")
    if comparator is not None and not ceiling:
        raise UserError("--comparator belongs to --ceiling; give both")
    if denominator is not None and asked and asked != ["--from/--to"]:
        raise UserError(f"{asked[0]} counts no mutants; leave --denominator out")
    if protocol is not None and asked in (["--from/--to"], ["--ceiling"]):
        raise UserError(f"--protocol does not go with {asked[0]}; leave it out")
    if figure is not None and figure.suffix.lower() != ".svg":
        raise UserError(f"--figure is drawn as SVG, and {figure} is named otherwise; call it .svg")
    counted = denominator or Denominator.WITNESSED
    opened = Matrix.open(resolve_matrix(matrix))
    if not opened.meta.complete and not incomplete:
        raise UserError(
            f"the matrix at {opened.path} is incomplete; finish it with `gpu-eval resume`, or give "
            "--allow-incomplete to audit the problems that are measured"
        )
    if asked == ["--from/--to"]:
        answer, shown = _decompose(opened, start, end, counted)
    elif blind_band:
        answer, shown = _blind_band(opened, protocol, figure)
    elif ceiling:
        answer, shown = _ceiling(opened, comparator or Statistic.ALLCLOSE_CANDIDATE)
    elif refereeability:
        answer, shown = _refereeability(opened, protocol)
    elif protocol is not None:
        answer, shown = _protocol(opened, protocol, counted)
    else:
        answer, shown = _overview(opened, counted)
    if json:
        print_json(answer)
        return
    console = stdout()
    for part in shown:
        console.print(part, soft_wrap=isinstance(part, str))


Answer = tuple[Mapping[str, Any], Iterable[Any]]


def _overview(matrix: Matrix, denominator: Denominator) -> Answer:
    compared = compare(matrix, list(known_protocols().values()), denominator)
    answer = {
        "protocols": {
            found.protocol: {**found.as_dict(), "only": list(compared.only(found.protocol))}
            for found in compared.audits
        },
        "missed_by_all": list(compared.missed_by_all),
        "compared_problems": len(compared.common),
        "not_compared": compared.refused,
    }
    return answer, tables.overview(compared)


def _protocol(matrix: Matrix, name: str, denominator: Denominator) -> Answer:
    mine = load_protocol(name)
    compared = against_others(matrix, mine, denominator)
    found = next(audit for audit in compared.audits if audit.protocol == mine.name)
    answer = {
        **found.as_dict(),
        "title": mine.title,
        "compared": [other for other in compared.names if other != mine.name],
        "compared_problems": len(compared.common),
        "not_compared": compared.refused,
        "only": list(compared.only(mine.name)),
        "missed_by_all": list(compared.missed_by_all),
    }
    return answer, tables.protocol(found, mine, compared)


def against_others(matrix: Matrix, mine: Protocol, denominator: Denominator) -> Comparison:
    """Compare a protocol with the shipped ones that differ from it in more than the name.

    Raises
    ------
    UserError
        If the matrix cannot answer the protocol itself.
    """
    dtypes = set(matrix.problems["dtype"].astype(str))

    def is_another_check(other: Protocol) -> bool:
        if other.name == mine.name:
            return False
        try:
            return other.inputs != mine.inputs or not judges_alike(other, mine, dtypes)
        except UserError:  # one has no tolerance for a dtype; the comparison says which
            return True

    others = [other for other in known_protocols().values() if is_another_check(other)]
    compared = compare(matrix, [mine, *others], denominator)
    if mine.name in compared.refused:
        raise UserError(compared.refused[mine.name])
    return compared


def _decompose(
    matrix: Matrix, start: str | None, end: str | None, denominator: Denominator
) -> Answer:
    from suiteopt.audit.decomposition import decompose

    if start is None or end is None:
        raise UserError("a gain needs two protocols; give --from A and --to B")
    first, second = load_protocol(start), load_protocol(end)
    if first.name == second.name and start != end:
        first, second = (
            replace(one, name=f"{one.name} ({place})")
            for one, place in ((first, start), (second, end))
        )
    found = decompose(matrix, first, second, denominator)
    return found.as_dict(), tables.decomposition(found)


def _blind_band(matrix: Matrix, name: str | None, figure: Path | None) -> Answer:
    from suiteopt.audit.blind_band import blind_band

    if figure is not None:
        outside(figure, matrix)
    found = blind_band(matrix, load_protocol(name or DEFAULT_PROTOCOL))
    if figure is not None:
        from suiteopt.audit.figure import band_svg

        write_atomic(figure, band_svg([found]))
        stderr().print(f"wrote {figure}", soft_wrap=True)
    return found.as_dict(), tables.blind_band(found)


def _ceiling(matrix: Matrix, comparator: str) -> Answer:
    from suiteopt.audit.ceiling import ceilings
    from suiteopt.matrix.tables import comparators

    known = comparators(matrix.meta.ratios)
    if comparator not in known:
        raise UserError(
            f"the matrix at {matrix.path} keeps no {comparator!r}; use one of {', '.join(known)}"
        )
    found = ceilings(matrix, comparator)
    return found.as_dict(), tables.ceilings(found)


def _refereeability(matrix: Matrix, name: str | None) -> Answer:
    from suiteopt.audit.ceiling import TOLERANCES
    from suiteopt.audit.refereeability import refereeability

    mine = load_protocol(name or DEFAULT_PROTOCOL)
    found = refereeability(matrix, mine)
    left_out = judged_problems(matrix, mine).left_out
    answer = {
        "protocol": mine.name,
        "label": matrix.meta.label,
        "comparator": mine.oracle.comparator,
        "tolerances": list(TOLERANCES),
        "problems": [row.as_dict(TOLERANCES) for row in found],
        "left_out": dict(left_out),
    }
    return answer, tables.refereeability(found, mine, matrix.meta.label, left_out)
