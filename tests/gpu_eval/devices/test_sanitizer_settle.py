"""What one process under the tool settles, and what it leaves open."""

from collections.abc import Sequence
from pathlib import Path
from typing import cast

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gpu_eval.compilation.labelled import Labelled
from gpu_eval.devices.sanitizer import Sanitizer
from gpu_eval.devices.sanitizer_job import JobDirectory, SanitizerSubject
from gpu_eval.devices.sanitizer_reports import Report, Tool, Transcript
from gpu_eval.devices.sanitizer_settle import PRINT_LIMIT, Attempt, SanitizerVerdict, settle
from gpu_eval.problems.plan import ResolvedPlan

OK = ("ok", "")


def report(number: int | None) -> Report:
    place = f"at hgm{number:05d}::k(float *)+0x10" if number is not None else "at 0x10"
    return Report("Invalid __global__ read of size 4 bytes", (place,))


def attempt(
    *reports: Report,
    ended: dict[int, tuple[str, str]] | None = None,
    current: int | None = None,
    stopped: bool = False,
    complete: bool = True,
    cut: bool = False,
    remarks: tuple[str, ...] = (),
    said: tuple[str, ...] = (),
) -> Attempt:
    transcript = Transcript(reports, remarks, said, complete, cut)
    return Attempt(transcript, ended or {}, current, stopped)


def verdicts(numbers: list[int], run: Attempt) -> dict[int, str]:
    return {number: str(found.verdict) for number, found in settle(numbers, run).items()}


def test_reports_go_to_whom_they_name_whatever_their_order() -> None:
    run = attempt(report(3), report(1), report(3), ended={1: OK, 2: OK, 3: OK})
    found = settle([1, 2, 3], run)
    assert {n: (str(f.verdict), f.count) for n, f in found.items()} == {
        1: ("accused", 1),
        2: ("clean", 0),
        3: ("accused", 2),
    }
    assert found[1].first.endswith("at k(float *)+0x10")


def test_without_a_summary_nobody_is_clean() -> None:
    run = attempt(report(1), ended={1: OK, 2: OK}, complete=False)
    assert verdicts([1, 2], run) == {1: "accused"}


def test_a_report_that_names_nobody_leaves_all_others_open() -> None:
    run = attempt(report(None), report(1), ended={1: OK, 2: OK, 3: OK})
    assert verdicts([1, 2, 3], run) == {1: "accused"}
    # Alone, it can only be about the one that ran.
    assert verdicts([2], attempt(report(None), ended={2: OK})) == {2: "accused"}


@pytest.mark.parametrize("cut", [False, True])
def test_beyond_the_limit_silence_means_nothing(cut: bool) -> None:
    number = 1 if cut else PRINT_LIMIT
    ended = dict.fromkeys((1, 2, 3, 4), OK)
    found = settle([1, 2, 3, 4], attempt(report(1), *[report(3)] * number, ended=ended, cut=cut))
    assert {n: (str(f.verdict), f.at_least) for n, f in found.items()} == {
        1: ("accused", False),
        2: ("clean", False),
        3: ("accused", True),
    }


def test_whoever_hangs_is_settled_and_his_company_runs_again() -> None:
    run = attempt(ended={1: OK}, current=2, stopped=True, complete=False)
    assert verdicts([1, 2, 3], run) == {2: "timeout"}


def test_a_crash_is_settled_and_those_behind_it_run_again() -> None:
    ended = {1: OK, 2: ("crash", "LogicError: illegal address")}
    found = settle([1, 2, 3], attempt(ended=ended))
    assert {n: str(f.verdict) for n, f in found.items()} == {1: "clean", 2: "crash"}
    assert found[2].first == "LogicError: illegal address"


def test_a_crash_with_a_report_is_an_accusation() -> None:
    run = attempt(report(2), ended={1: OK, 2: ("crash", "launch failed")})
    assert verdicts([1, 2], run) == {1: "clean", 2: "accused"}


def test_one_alone_is_always_settled() -> None:
    lost = attempt(current=1, complete=False, remarks=("Error: no attachable process found",))
    found = settle([1], lost)[1]
    assert (found.verdict, found.first) == (
        SanitizerVerdict.FAILED,
        "Error: no attachable process found",
    )
    assert verdicts([1], attempt()) == {1: "failed"}
    broken = attempt(remarks=("Target application returned an error",), said=("KeyError: 'x'",))
    assert settle([1], broken)[1].first == "KeyError: 'x'"
    assert verdicts([1], attempt(ended={1: OK})) == {1: "clean"}


EXPECTED = {
    "clean": "clean",
    "accused": "accused",
    "flood": "accused",
    "nameless": "accused",
    "hang": "timeout",
    "crash": "crash",
    "die": "failed",
}
LIMIT = 7


class Simulated(Sanitizer):
    """Runs implementations that behave as they are told, by their numbers."""

    def __init__(self, behaviours: Sequence[str]) -> None:
        super().__init__(Path("none"), 1.0)
        self.behaviours = behaviours
        self.runs = 0

    def _attempt(
        self, tool: Tool, job: JobDirectory, subjects: Sequence[SanitizerSubject]
    ) -> Attempt:
        self.runs += 1
        reports: list[Report] = []
        ended: dict[int, tuple[str, str]] = {}
        for number in (subject.number for subject in subjects):
            behaviour = self.behaviours[number]
            if behaviour == "hang":
                # What the tool had not printed is lost with it.
                return attempt(current=number, ended=ended, stopped=True, complete=False)
            if behaviour == "die":
                return attempt(*reports[:LIMIT], current=number, ended=ended, complete=False)
            reports += [report(number)] * {"accused": 2, "flood": LIMIT + 3}.get(behaviour, 0)
            reports += [report(None)] * (behaviour == "nameless")
            ended[number] = ("crash", "lost") if behaviour == "crash" else OK
            if behaviour == "crash":
                break
        return attempt(*reports[:LIMIT], ended=ended, cut=len(reports) > LIMIT)


@given(st.lists(st.sampled_from(list(EXPECTED)), max_size=12))
def test_whatever_the_company_everyone_gets_his_own_verdict(behaviours: list[str]) -> None:
    tool = Simulated(behaviours)
    subjects = [
        SanitizerSubject(number, Labelled("", b"", {}), ResolvedPlan(()))
        for number in range(len(behaviours))
    ]
    found = tool.check(Tool.MEMCHECK, cast(JobDirectory, None), subjects)
    verdicts = [str(found[number].verdict) for number in range(len(behaviours))]
    assert verdicts == [EXPECTED[behaviour] for behaviour in behaviours]
    assert tool.runs <= 2 * len(behaviours)
