"""What configurations say together, and which files are candidates."""

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from suiteopt.check.candidates import run_candidates
from suiteopt.check.verdict import CandidateReport, Outcome, Status, Verdict, verdict_of
from tests.suiteopt.check.candidates import sample_suite, write_run

A, R, C, P = Status.ACCEPTED, Status.REJECTED, Status.CANNOT, Status.PARAMETERS


def outcomes(*statuses: Status) -> tuple[Outcome, ...]:
    return tuple(Outcome(str(n), s, "rms", 1.0, why=str(s)) for n, s in enumerate(statuses))


@pytest.mark.parametrize(
    ("statuses", "verdict"),
    [
        ((A, A), Verdict.ACCEPTED),
        ((A, R), Verdict.REJECTED),
        ((A, C), Verdict.ACCEPTED),
        ((C, C), Verdict.UNJUDGED),
        ((), Verdict.UNJUDGED),
        ((A, P), Verdict.UNJUDGED),
        ((P, R), Verdict.REJECTED),
        ((A, Status.TIMEOUT), Verdict.REJECTED),
        ((A, Status.DIED, Status.CLOSED), Verdict.REJECTED),
        ((Status.NEEDS_GPU,), Verdict.UNJUDGED),
    ],
)
def test_one_rejection_is_enough_and_silence_is_none(
    statuses: tuple[Status, ...], verdict: Verdict
) -> None:
    assert verdict_of(outcomes(*statuses)) is verdict


@given(st.lists(st.sampled_from(Status)), st.lists(st.sampled_from(Status)))
def test_nobody_is_accepted_without_acceptance_by_the_suite(
    own: list[Status], members: list[Status]
) -> None:
    report = CandidateReport("c.py", "p", outcomes(*own), outcomes(*members))
    silent = {A, C, P, Status.NEEDS_GPU}
    assert (report.verdict is Verdict.REJECTED) == bool({*own, *members} - silent)
    if report.verdict is Verdict.ACCEPTED:
        assert {*own, *members} <= {A, C}
        assert A in members
        assert report.own_verdict is Verdict.ACCEPTED or set(own) <= {C}
    assert bool(report.why) == any(status is not A for status in (*own, *members))


def test_an_own_check_that_cannot_run_leaves_it_to_the_members() -> None:
    assert CandidateReport("c", "p", outcomes(C, C), outcomes(A)).verdict is Verdict.ACCEPTED
    assert CandidateReport("c", "p", outcomes(A), outcomes(C)).verdict is Verdict.UNJUDGED


def test_the_reason_shown_is_one_that_rejects() -> None:
    report = CandidateReport("c", "p", outcomes(A, C), outcomes(C, R))
    assert report.why == "1: rejected"


def test_a_run_or_a_directory_of_runs_is_found(tmp_path: Path) -> None:
    suite = sample_suite()
    first = write_run(tmp_path / "runs" / "first")
    write_run(tmp_path / "runs" / "second")
    alone, skipped = run_candidates(first, suite)
    assert (len(alone), len(skipped)) == (6, 1)
    both, _ = run_candidates(tmp_path / "runs", suite)
    assert len(both) == 12
    assert {candidate.path.parent.name for candidate in both[:8]} == {"first", "second"}
    only, _ = run_candidates(first, suite, suite.problems[1])
    assert {candidate.problem.problem for candidate in only} == {"level1/040"}
