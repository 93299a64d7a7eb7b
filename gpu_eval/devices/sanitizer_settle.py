"""What one process under compute-sanitizer settles, and what it leaves open."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum

from gpu_eval.devices.sanitized import OK
from gpu_eval.devices.sanitizer_reports import Report, Transcript

NAME = "compute-sanitizer"
PRINT_LIMIT = 5000
"""Reports that a process prints; beyond, the tool says nothing about whoever comes later."""


class SanitizerVerdict(StrEnum):
    """What a tool has to say of an implementation."""

    CLEAN = "clean"
    ACCUSED = "accused"
    LAUNCH_ERROR = "launch_error"
    CRASH = "crash"
    TIMEOUT = "timeout"
    FAILED = "failed"


@dataclass(frozen=True)
class Finding:
    """What a tool found on one implementation.

    Attributes
    ----------
    verdict : SanitizerVerdict
        ``failed``: the tool itself came to no result.
    count : int
        Reports about it.
    at_least : bool
        There were more that the tool did not print.
    first : str
        The first report in one line; of the other verdicts what happened.
    """

    verdict: SanitizerVerdict
    count: int = 0
    at_least: bool = False
    first: str = ""


@dataclass(frozen=True)
class Attempt:
    """One process: what the tool printed, and how far the program came.

    Attributes
    ----------
    transcript : Transcript
    ended : mapping of int to tuple of str and str
        Status and message of each implementation that came to its end.
    current : int or None
        The one under way when the program ended or was stopped.
    stopped : bool
        It took longer than its deadline.
    """

    transcript: Transcript
    ended: Mapping[int, tuple[str, str]]
    current: int | None
    stopped: bool


def settle(numbers: Sequence[int], attempt: Attempt) -> dict[int, Finding]:
    """Say what a run has settled; whoever is not in the answer has to run again.

    Parameters
    ----------
    numbers : sequence of int
        In the order in which they ran. One alone is always settled.
    attempt : Attempt
    """
    transcript = attempt.transcript
    alone = len(numbers) == 1
    named: dict[int, list[Report]] = {}
    nameless = 0
    last = len(numbers)
    for report in transcript.reports:
        number = numbers[0] if alone else report.number
        if number is not None and number in numbers:
            named.setdefault(number, []).append(report)
            last = numbers.index(number)
        else:
            nameless += 1
    cut = transcript.cut or len(transcript.reports) >= PRINT_LIMIT
    trusted = transcript.complete and not nameless and not attempt.stopped
    found: dict[int, Finding] = {}
    for place, number in enumerate(numbers):
        status, message = attempt.ended.get(number, ("", ""))
        if number in named:
            reports = named[number]
            at_least = cut and place == last
            found[number] = Finding(
                SanitizerVerdict.ACCUSED, len(reports), at_least, reports[0].line
            )
        elif number == attempt.current and attempt.stopped:
            found[number] = Finding(SanitizerVerdict.TIMEOUT, first="it did not come to an end")
        elif status not in ("", OK):
            found[number] = Finding(SanitizerVerdict(status), first=message)
        elif status == OK and trusted and not (cut and place > last):
            found[number] = Finding(SanitizerVerdict.CLEAN)
        elif alone:
            found[number] = Finding(SanitizerVerdict.FAILED, first=_why(attempt))
    return found


def _why(attempt: Attempt) -> str:
    if attempt.stopped:
        return f"{NAME} did not start the program"
    transcript = attempt.transcript
    # The program's last line is that of a traceback; the tool's first says what it met.
    words = [*transcript.said[-1:], *transcript.remarks[:1]]
    return words[0][:200] if words else f"{NAME} ended without a summary"
