"""Finding the problem files of KernelBench and of the benchmarks that took them over."""

import re
from pathlib import Path

from suiteopt.errors import UserError
from suiteopt.suite import ProblemSuite

BENCHMARK = "kernelbench"


def find_problem(repo: Path, definitions: str, problem: ProblemSuite, target: str) -> str:
    """Return ``<definitions>/level<L>/<id>_<name>.py``, the name as measured.

    Raises
    ------
    UserError
        If the checkout has no such problem, or another one under that number.
    """
    require_benchmark(problem, target)
    directory = f"{definitions}/level{problem.level}"
    number = problem_number(problem)
    found = sorted(path.name for path in (repo / directory).glob(f"{number}_*.py"))
    if len(found) != 1:
        raise UserError(
            f"{repo / directory} has {len(found) or 'no'} files for problem {number} "
            f"({problem.name}); export into the version of the benchmark that was measured"
        )
    if bare(found[0].removesuffix(".py")) != bare(problem.name):
        raise UserError(
            f"problem {number} of level {problem.level} is {found[0]} in {repo}, and "
            f"{problem.name} was measured; export into the version that was measured"
        )
    return f"{directory}/{found[0]}"


def require_benchmark(problem: ProblemSuite, target: str) -> None:
    """Refuse a problem of another benchmark."""
    if problem.benchmark != BENCHMARK:
        raise UserError(
            f"{problem.problem} is a problem of '{problem.benchmark}', and {target} holds "
            f"problems of '{BENCHMARK}'"
        )


def problem_number(problem: ProblemSuite) -> int:
    """Return the number that a problem's name starts with.

    Raises
    ------
    UserError
        If it starts with none.
    """
    match = re.fullmatch(r"(\d+)_\w+", problem.name, flags=re.ASCII)
    if match is None:
        raise UserError(
            f"the name '{problem.name}' of {problem.problem} does not start with the number of "
            "a problem of KernelBench, such as 19_ReLU; select again on a matrix of KernelBench"
        )
    return int(match[1])


def bare(name: str) -> str:
    """Return a name's letters and digits, in lower case."""
    return re.sub(r"[^a-z0-9]", "", name.lower())
