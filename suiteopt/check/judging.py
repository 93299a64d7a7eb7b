"""Candidates against a suite: who is asked what.

This process imports neither torch nor any model. A referee's process makes inputs and compares; a
candidate's process gets inputs as bytes and leaves outputs as bytes.
"""

from collections.abc import Callable, Sequence
from contextlib import closing
from pathlib import Path

from suiteopt.check.candidates import Candidate, by_problem, find_reference
from suiteopt.check.session import Session, open_session, own_draws
from suiteopt.check.settings import Settings
from suiteopt.check.trial import Trial
from suiteopt.check.verdict import CandidateReport
from suiteopt.errors import UserError
from suiteopt.protocols.protocol import Protocol
from suiteopt.suite import Suite


def judge(
    candidates: Sequence[Candidate],
    suite: Suite,
    protocol: Protocol,
    reference: Path,
    settings: Settings,
    progress: Callable[[str, int, int], None] | None = None,
    each_input: Callable[[str, int, int], None] | None = None,
) -> tuple[str, tuple[CandidateReport, ...]]:
    """Judge candidates by a suite, and beside it by their benchmark's own check.

    Parameters
    ----------
    candidates : sequence of Candidate
    suite : Suite
    protocol : Protocol
        The own check.
    reference : Path
        A problem's file, for one problem, or a checkout of KernelBench.
    settings : Settings
    progress : callable, optional
        Is told each candidate as its turn comes: name, how many were begun, of how many.
    each_input : callable, optional
        Is told each input of a candidate likewise.

    Returns
    -------
    str
        The device.
    tuple of CandidateReport

    Raises
    ------
    UserError
        If a reference is missing, is not the problem's, or fails.
    """
    own_draws(protocol)
    groups = by_problem(candidates)
    if len(groups) > 1 and not reference.is_dir():
        raise UserError(
            f"the candidates are for {len(groups)} problems, and {reference} is one problem's "
            "file; give a checkout of KernelBench"
        )
    found = [find_reference(reference, problem) for problem, _ in groups]  # all, before any runs
    reports: list[CandidateReport] = []
    device = settings.device
    ordered = [candidate for _, group in groups for candidate in group]
    with closing(_OneAhead(ordered, settings)) as line:
        for path, (problem, group) in zip(found, groups, strict=True):
            with open_session(path, problem, suite, protocol, settings) as session:
                device = session.device
                for candidate in group:
                    if progress is not None:
                        progress(candidate.name, len(reports) + 1, len(candidates))
                    reports.append(line.run(session, each_input))
    return device, tuple(reports)


class _OneAhead:
    """Trials in their order; the next one's process starts while this one's works."""

    def __init__(self, candidates: Sequence[Candidate], settings: Settings) -> None:
        self._waiting = list(candidates)
        self._settings = settings
        self._started: list[Trial] = []
        self._start()

    def run(
        self, session: Session, progress: Callable[[str, int, int], None] | None
    ) -> CandidateReport:
        """Run the first that was not run."""
        trial = self._started[0]
        self._start()
        report = trial.run(session, progress)
        trial.close()
        self._started.remove(trial)
        return report

    def close(self) -> None:
        """End what was started."""
        for trial in self._started:
            trial.close()

    def _start(self) -> None:
        if self._waiting:
            self._started.append(Trial(self._waiting.pop(0), self._settings))
