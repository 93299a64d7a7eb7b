"""Which files are candidates for which problems, and where the references are."""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from suiteopt.errors import UserError
from suiteopt.export.kernelbench_problems import BENCHMARK, bare, find_problem, problem_number
from suiteopt.suite import ProblemSuite, Suite

LAYOUT = "level_<l>_problem_<id>_sample_<s>_kernel.py"
_NAME = re.compile(r"level_(\d+)_problem_(\d+)_sample_(\d+)_kernel\.py", flags=re.ASCII)
DEFINITIONS = "KernelBench"
DTYPE = "float32"


@dataclass(frozen=True)
class Candidate:
    """A file that defines ``ModelNew``.

    Attributes
    ----------
    path : Path
        Absolute.
    name : str
        As it is shown.
    problem : ProblemSuite
    """

    path: Path
    name: str
    problem: ProblemSuite


def find_suite_problem(suite: Suite, name: str) -> ProblemSuite:
    """Return a problem of a suite by its id (``level1/019``) or its name (``19_ReLU``).

    Raises
    ------
    UserError
        If the suite has none, or no members for it.
    """
    found = [problem for problem in suite.problems if name in (problem.problem, problem.name)]
    if not found:
        known = ", ".join(problem.problem for problem in suite.problems) or "no problem"
        raise UserError(f"the suite has no problem '{name}'; it has {known}")
    if not found[0].members:
        raise UserError(f"the suite has no members for {name}; select again with a larger budget")
    return found[0]


def one_candidate(path: Path, problem: ProblemSuite) -> Candidate:
    """Return a single file as a candidate.

    Raises
    ------
    UserError
        If there is no such file.
    """
    if not path.is_file():
        raise UserError(f"there is no candidate {path}; give a Python file that defines ModelNew")
    return Candidate(path.resolve(), str(path), problem)


def run_candidates(
    directory: Path, suite: Suite, only: ProblemSuite | None = None
) -> tuple[tuple[Candidate, ...], tuple[str, ...]]:
    """Return the candidates of a run of KernelBench, or of a directory of such runs.

    Parameters
    ----------
    directory : Path
        ``runs/<run>`` or ``runs``.
    suite : Suite
    only : ProblemSuite, optional
        Leave out the other problems' candidates.

    Returns
    -------
    tuple of Candidate
        By problem, run and number of the sample.
    tuple of str
        Files of the layout for which the suite has no members.

    Raises
    ------
    UserError
        If no file has the layout's name, or the suite has members for none.
    """
    places = [*directory.glob("*_kernel.py"), *directory.glob("*/*_kernel.py")]
    named = [(path, match) for path in places if (match := _NAME.fullmatch(path.name))]
    if not named:
        raise UserError(f"{directory} holds no candidate; KernelBench names them {LAYOUT}")
    problems = {
        (problem.level, problem_number(problem)): problem
        for problem in suite.problems
        if problem.benchmark == BENCHMARK and problem.members
    }
    found: list[tuple[tuple[int, int, str, int], Candidate]] = []
    skipped = []
    for path, match in named:
        level, number, sample = (int(part) for part in match.groups())
        problem = problems.get((level, number))
        if problem is None:
            skipped.append(str(path))
        elif only is None or problem.problem == only.problem:
            order = (level, number, path.parent.name, sample)
            found.append((order, Candidate(path.resolve(), str(path), problem)))
    if not found:
        wanted = only.problem if only else "any of its candidates' problems"
        raise UserError(f"{directory} and the suite share no problem; select on {wanted} first")
    found.sort(key=lambda pair: pair[0])
    return tuple(candidate for _, candidate in found), tuple(sorted(skipped))


def find_reference(reference: Path, problem: ProblemSuite) -> Path:
    """Return the file that defines a problem: the one given, or the one in a checkout.

    Raises
    ------
    UserError
        If there is none, or the problem was measured in another dtype than this check runs in.
    """
    if problem.dtype != DTYPE:
        raise UserError(
            f"{problem.problem} was measured in {problem.dtype}, and candidates run in {DTYPE}; "
            "a dtype that was not measured is not judged"
        )
    if reference.is_dir():
        return (reference / find_problem(reference, DEFINITIONS, problem, "check")).resolve()
    if not reference.is_file():
        raise UserError(
            f"there is no reference {reference}; give a problem's file or a checkout of KernelBench"
        )
    stem = reference.stem
    if re.fullmatch(r"\d+_\w+", stem, flags=re.ASCII) and bare(stem) != bare(problem.name):
        raise UserError(
            f"{reference} is named as another problem than {problem.problem} ({problem.name}); "
            "give that one's file"
        )
    return reference.resolve()


def by_problem(candidates: Sequence[Candidate]) -> list[tuple[ProblemSuite, list[Candidate]]]:
    """Return candidates in groups of one problem, in the order of their first."""
    groups: dict[str, list[Candidate]] = {}
    for candidate in candidates:
        groups.setdefault(candidate.problem.problem, []).append(candidate)
    return [(group[0].problem, group) for group in groups.values()]
