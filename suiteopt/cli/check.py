"""`suiteopt check`: judge foreign kernels by a suite, beside their benchmark's own check."""

import signal
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Annotated, Any, NoReturn

import typer
from rich.table import Table
from rich.text import Text

from suiteopt.check.candidates import (
    Candidate,
    find_suite_problem,
    one_candidate,
    run_candidates,
)
from suiteopt.check.judging import judge
from suiteopt.check.plain import plain
from suiteopt.check.settings import Settings
from suiteopt.check.verdict import CandidateReport, Outcome, Status, Verdict
from suiteopt.cli.options import JsonOption
from suiteopt.console import EXIT_CHECK_FAILED, print_json, stderr, stdout
from suiteopt.errors import UserError
from suiteopt.export.shortened import shortened, unrecorded, warning
from suiteopt.protocols import load_protocol
from suiteopt.suite import Suite
from suiteopt.suite_json import read

_STYLES = {Verdict.ACCEPTED: "green", Verdict.REJECTED: "red", Verdict.UNJUDGED: "yellow"}


def check(
    suite: Annotated[Path, typer.Argument(help="Suite that `suiteopt select -o` wrote.")],
    problem: Annotated[
        str,
        typer.Argument(
            metavar="PROBLEM|RUN", help="A problem of the suite; or a run's directory, for all."
        ),
    ],
    candidate: Annotated[
        Path | None,
        typer.Argument(help="File that defines ModelNew; or a run's directory, for one problem."),
    ] = None,
    reference: Annotated[
        Path | None,
        typer.Option(
            "--reference",
            metavar="FILE|DIR",
            help="The problem's file with Model, get_inputs and get_init_inputs, or a checkout "
            "of KernelBench.",
        ),
    ] = None,
    protocol: Annotated[
        str,
        typer.Option("--protocol", "-p", metavar="P", help="The own check beside the suite."),
    ] = "kernelbench",
    device: Annotated[
        str, typer.Option("--device", metavar="D", help="auto, cpu, cuda or cuda:<n>.")
    ] = "auto",
    timeout: Annotated[
        float, typer.Option("--timeout", metavar="S", help="Seconds of a candidate on one input.")
    ] = 60.0,
    load_timeout: Annotated[
        float,
        typer.Option("--load-timeout", metavar="S", help="Seconds to load, and compile, it."),
    ] = 600.0,
    max_bytes: Annotated[
        int | None,
        typer.Option(
            "--max-bytes",
            min=1,
            metavar="B",
            help="Largest inputs in bytes; by default a sixth of memory.",
        ),
    ] = None,
    json: JsonOption = False,
) -> None:
    """Judge kernels (ModelNew) by a suite; exit code 0 if all are accepted, 1 if some are not."""
    signal.signal(signal.SIGTERM, _stop)
    if reference is None:
        raise UserError(
            "check needs the right answers; give --reference with the problem's file, or with a "
            "checkout of KernelBench"
        )
    settings = Settings(_device(device), _seconds(load_timeout), _seconds(timeout), max_bytes)
    chosen, own = read(suite), load_protocol(protocol)
    candidates, skipped = _candidates(chosen, problem, candidate)
    telling = [_telling("judging {} ({} of {})"), _telling("  input {} ({} of {})")]
    if len(candidates) > 1:
        telling[1] = None  # a line a candidate is enough to see that it goes on
    used, reports = judge(candidates, chosen, own, reference, settings, *telling)
    if json:
        about = {"protocol": own.name, "reference": str(reference), "device": used}
        print_json(_document(suite, chosen, about, reports, skipped))
    else:
        _tell(reports, own.title, used)
        _notes(chosen, skipped)
    if any(report.verdict is not Verdict.ACCEPTED for report in reports):
        raise typer.Exit(EXIT_CHECK_FAILED)


def _candidates(
    suite: Suite, problem: str, candidate: Path | None
) -> tuple[tuple[Candidate, ...], tuple[str, ...]]:
    if candidate is None:
        if not Path(problem).is_dir():
            raise UserError(
                f"{problem} is no directory of candidates; give one, or a problem and a candidate"
            )
        return run_candidates(Path(problem), suite)
    found = find_suite_problem(suite, problem)
    if candidate.is_dir():
        return run_candidates(candidate, suite, found)
    return (one_candidate(candidate, found),), ()


def _device(text: str) -> str:
    kind, colon, number = text.partition(":")
    if text in ("auto", "cpu") or (kind == "cuda" and number.isdecimal() == bool(colon)):
        return text
    raise UserError(f"there is no device '{text}'; use auto, cpu, cuda or cuda:<n>")


def _seconds(value: float) -> float:
    if not 0 < value < 1e9:
        raise UserError(f"a deadline of {value:g} seconds is none; give more than 0")
    return value


def _stop(*_signal: object) -> NoReturn:
    """End as Ctrl-C does: candidates and their directories go with this process."""
    raise KeyboardInterrupt


def _telling(words: str) -> Callable[[str, int, int], None] | None:
    """Say on standard error what runs: a large candidate takes minutes."""
    console = stderr()
    return lambda name, number, total: console.print(
        words.format(plain(name), number, total), soft_wrap=True
    )


def _document(
    path: Path,
    suite: Suite,
    about: Mapping[str, str],
    reports: Sequence[CandidateReport],
    skipped: Sequence[str],
) -> dict[str, Any]:
    return {
        "suite": {"file": str(path), "hash": suite.hash, "oracle": suite.oracle},
        **about,
        "counts": _counts(reports),
        "candidates": [report.to_json() for report in reports],
        "skipped": list(skipped),
    }


def _counts(reports: Sequence[CandidateReport]) -> dict[str, int]:
    verdicts = Counter(report.verdict for report in reports)
    return {
        "candidates": len(reports),
        **{str(verdict): verdicts[verdict] for verdict in Verdict},
        "accepted_by_own_check": sum(r.own_verdict is Verdict.ACCEPTED for r in reports),
    }


def _tell(reports: Sequence[CandidateReport], own: str, device: str) -> None:
    console = stdout()
    console.print(_details(reports[0]) if len(reports) == 1 else _overview(reports))
    counts = _counts(reports)
    plural = "" if counts["candidates"] == 1 else "s"
    console.print(
        f"{counts['candidates']} candidate{plural} on {device}: {counts['accepted']} accepted, "
        f"{counts['rejected']} rejected, {counts['unjudged']} unjudged; the own check ({own}) "
        f"accepts {counts['accepted_by_own_check']}",
        soft_wrap=True,
    )


def _details(report: CandidateReport) -> Table:
    table = Table(box=None, pad_edge=False)
    for heading in ("input", "comparator", "critical", "tolerance", "verdict", "why"):
        right = heading in ("critical", "tolerance")
        table.add_column(heading, justify="right" if right else "left", overflow="fold")
    for outcome in (*report.own, *report.members):
        table.add_row(
            Text(plain(outcome.name)),
            outcome.comparator,
            _critical(outcome),
            f"{outcome.tolerance:.3g}",
            str(outcome.status),
            Text(plain(outcome.why)),
        )
    return table


def _critical(outcome: Outcome) -> str:
    if outcome.critical is not None:
        return f"{outcome.critical:.3g}"
    return "none" if outcome.status is Status.REJECTED else ""


def _overview(reports: Sequence[CandidateReport]) -> Table:
    table = Table(box=None, pad_edge=False)
    for heading in ("candidate", "problem", "own check", "suite", "verdict", "why"):
        table.add_column(heading, overflow="fold")
    for report in reports:
        table.add_row(
            Text(plain(Path(report.candidate).name)),
            report.problem,
            str(report.own_verdict),
            str(report.suite_verdict),
            Text(str(report.verdict), style=_STYLES[report.verdict]),
            Text(plain(report.why)),
        )
    return table


def _notes(suite: Suite, skipped: Sequence[str]) -> None:
    console = stderr()
    if skipped:
        console.print(
            f"{len(skipped)} candidates were left out: the suite has no members for their problems",
            soft_wrap=True,
        )
    short = shortened(suite)
    if short:
        console.print(f"warning: {warning(short)}", soft_wrap=True, markup=False)
    elif unrecorded(suite):
        console.print(
            "the members' tolerances were measured on the host at shortened shapes, and errors "
            "grow with the reduction: at other shapes a rejection close to the tolerance may be "
            "a right kernel's",
            soft_wrap=True,
        )
