"""`suiteopt exchange`: results in other tools' formats, and the gate for CI."""

from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer

from suiteopt.audit.checks import Check, protocol_check, suite_check
from suiteopt.audit.left_out import left_out_json, left_out_sentences
from suiteopt.audit.score import audit_check
from suiteopt.cli.format import share
from suiteopt.cli.options import IncompleteOption, JsonOption, MatrixOption, outside
from suiteopt.console import EXIT_CHECK_FAILED, print_json, stderr, stdout
from suiteopt.errors import UserError
from suiteopt.exchange.gate import Gate
from suiteopt.exchange.junit import junit_xml
from suiteopt.exchange.major import major_files
from suiteopt.exchange.outcomes import outcomes, pool_check
from suiteopt.exchange.stryker import stryker_report
from suiteopt.export.tree import write_tree
from suiteopt.matrix.denominator import Denominator
from suiteopt.matrix.files import write_atomic
from suiteopt.matrix.jsonable import dumps
from suiteopt.matrix.store import Matrix, resolve_matrix
from suiteopt.protocols import load_oracle, load_protocol
from suiteopt.suite import Suite


class ExchangeFormat(StrEnum):
    """What `suiteopt exchange` writes."""

    STRYKER = "stryker"  # mutation-testing-elements, JSON
    MAJOR = "major"  # killMap.csv, covMap.csv, testMap.csv, mutants.log; a folder a problem
    JUNIT = "junit"  # XML


def exchange(
    form: Annotated[
        ExchangeFormat, typer.Argument(metavar="FORMAT", help="stryker, major or junit.")
    ],
    output: Annotated[
        Path,
        typer.Option("--output", "-o", metavar="PATH", help="File to write; of major a directory."),
    ],
    suite: Annotated[
        Path | None, typer.Option("--suite", metavar="FILE", help="The check: a suite's inputs.")
    ] = None,
    protocol: Annotated[
        str | None,
        typer.Option("--protocol", "-p", metavar="P", help="The check: a protocol, or its .toml."),
    ] = None,
    oracle: Annotated[
        str | None,
        typer.Option("--oracle", metavar="O", help="The check: the whole pool under this oracle."),
    ] = None,
    fail_under: Annotated[
        float | None,
        typer.Option("--fail-under", metavar="SHARE", help="Exit with 1 under this detection."),
    ] = None,
    per_problem: Annotated[
        bool, typer.Option("--per-problem", help="Ask --fail-under of every problem.")
    ] = False,
    no_rejections: Annotated[
        bool, typer.Option("--no-rejections", help="Exit with 1 if a correct kernel is rejected.")
    ] = False,
    denominator: Annotated[
        Denominator, typer.Option("--denominator", help="Which mutants count.")
    ] = Denominator.WITNESSED,
    matrix: MatrixOption = None,
    incomplete: IncompleteOption = False,
    json: JsonOption = False,
) -> None:
    """Write what a check detects for other tools, and fail if it is not enough."""
    gate = Gate(fail_under, per_problem, no_rejections)
    opened = Matrix.open(resolve_matrix(matrix))
    if not opened.meta.complete and not incomplete:
        raise UserError(
            f"the matrix at {opened.path} is incomplete; finish it with `gpu-eval resume`, or give "
            "--allow-incomplete to count what was not run as no kill"
        )
    outside(output, opened)
    check = _check(opened, suite, protocol, oracle)
    audit = audit_check(opened, check, denominator)
    failures = gate.failures(audit)
    written = [output]
    if form == ExchangeFormat.JUNIT:
        write_atomic(output, junit_xml(audit, gate))
    elif form == ExchangeFormat.STRYKER:
        report = stryker_report(opened, check, outcomes(opened, check, denominator))
        write_atomic(output, (dumps(report, indent=1) + "\n").encode())
    else:
        files = major_files(opened, outcomes(opened, check, denominator), incomplete)
        write_tree(output, {name: text.encode() for name, text in files.items()})
        written = [output / name for name in files]
    answer = {
        "format": str(form),
        "check": check.name,
        "label": audit.label,
        "mutants": audit.tally.mutants,
        "detected_share": audit.tally.share,
        "left_out": left_out_json(audit.left_out),
        "rejected_controls": list(audit.rejected_controls),
        "failures": failures,
        "files": [str(path) for path in written],
    }
    if json:
        print_json(answer)
    else:
        stdout().print(
            f"{check.name} detects {share(audit.tally.share)} of {audit.tally.mutants} faults  "
            f"({audit.label})",
            soft_wrap=True,
        )
        for sentence in left_out_sentences(audit.left_out):
            stderr().print(sentence, soft_wrap=True)
        stderr().print(f"wrote {output}", soft_wrap=True)
        for sentence in failures.values():
            stderr().print(f"failed: {sentence}", soft_wrap=True)
    if failures:
        raise typer.Exit(EXIT_CHECK_FAILED)


def _check(matrix: Matrix, suite: Path | None, protocol: str | None, oracle: str | None) -> Check:
    given = [name for name, value in
             {"--suite": suite, "--protocol": protocol, "--oracle": oracle}.items()
             if value is not None]  # fmt: skip
    if len(given) > 1:
        raise UserError(f"{' and '.join(given)} are different checks; give one of them")
    if suite is not None:
        return suite_check(matrix, Suite.open(suite), suite.name)
    if protocol is not None:
        return protocol_check(matrix, load_protocol(protocol))
    return pool_check(matrix, load_oracle(oracle or "calibrated"))
