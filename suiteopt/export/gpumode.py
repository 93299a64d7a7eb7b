"""The target ``gpumode``: tests in the ``task.yml`` of reference-kernels.

A test is the keyword arguments of a task's ``generate_input``, written to a text file and read back
by ``eval.py`` with a regular expression: what does not match it never arrives. A suite's dimensions
become fields of the task's own names; values need a patch, which is two lines at the end of
``reference.py`` and one file: ``generate_input`` then takes the number of a member and fills its
input tensors. A problem of such a suite has the benchmark ``gpumode`` and its task's path as name.

A field that would change nothing is refused: one that the grammar does not carry, that
``generate_input`` does not take, or takes and never uses. The tests that are there are looked
through for such fields too. ``task.yml`` keeps every byte but for the lines that are added.
"""

import posixpath
import re
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, ClassVar

from suiteopt.errors import UserError
from suiteopt.export.gpumode_task import Task, read_task
from suiteopt.export.gpumode_yaml import with_items
from suiteopt.export.literals import comment, literal
from suiteopt.export.own_oracle import OwnOracleTarget
from suiteopt.export.package import recipes_source, runtime_source
from suiteopt.export.patching import MARK, append
from suiteopt.export.target import RenderedFile, template
from suiteopt.matrix.schema import Need
from suiteopt.selection.constraints import Capabilities
from suiteopt.suite import Member, ProblemSuite, Suite

BENCHMARK = "gpumode"
PROBLEMS = "problems"
MEMBERS = "suiteopt_members.py"
FIELD = "member"

LINES = [
    f"from suiteopt_members import harden  {MARK}",
    f"generate_input = harden(generate_input)  {MARK}",
]


class GpuMode(OwnOracleTarget):
    """Tests for reference-kernels."""

    name: ClassVar[str] = "gpumode"
    title: ClassVar[str] = "GPU MODE reference-kernels: tests of a task"
    home: ClassVar[str] = f"{PROBLEMS}/suiteopt"
    touches: ClassVar[tuple[str, ...]] = tuple(
        f"{PROBLEMS}/*/*/{name}" for name in ("task.yml", "reference.py", MEMBERS)
    )
    trials: ClassVar[str] = "one test a member, after the task's own"
    draws: ClassVar[bool] = False
    carried = frozenset({Need.VALUES, Need.SHAPES, Need.NONFINITE})

    @property
    def capabilities(self) -> Capabilities:
        """Values and shapes, at the tolerance of the task; no draws of a CUDA generator."""
        return Capabilities(self.carried, None, None, own_first=False, draws=False)

    def recognise(self, repo: Path) -> None:
        """Look for tasks."""
        if not any((repo / PROBLEMS).glob("*/*/task.yml")):
            raise UserError(
                f"{repo} is no checkout of reference-kernels (it has no problems/*/*/task.yml); "
                "give the directory that holds problems/"
            )

    def hidden_path(self, problem: ProblemSuite) -> str:
        """``problems/<set>/<task>/task.yml``."""
        if problem.benchmark != BENCHMARK:
            raise UserError(
                f"{problem.problem} is a problem of '{problem.benchmark}', and {self.name} holds "
                f"tasks of '{BENCHMARK}', named by their path; measure the task ('gpu-eval new')"
            )
        return f"{PROBLEMS}/{problem.name}/task.yml"

    def problem_path(self, repo: Path, problem: ProblemSuite) -> str:
        """``problems/<set>/<task>/reference.py``."""
        path = f"{PROBLEMS}/{problem.name}/reference.py"
        if ".." in problem.name.split("/") or not (repo / path).exists():
            raise UserError(f"{repo} has no task {problem.name}; name the problem by its path")
        return path

    def render(
        self,
        suite: Suite,
        repo: Path,
        original: Callable[[str], bytes | None],
        preserved: Callable[[str], str],
    ) -> tuple[RenderedFile, ...]:
        """Return tests, patched reference and members of each task."""
        rendered = []
        for problem in suite.problems:
            if not problem.members:
                continue
            tests, reference = self.hidden_path(problem), self.problem_path(repo, problem)
            task = read_task(repo, tests, reference, original)
            added = [
                _test(task, problem, member, number)
                for number, member in enumerate(problem.members, 1)
            ]
            _require_same_check(task, problem)
            files = [{"name": MEMBERS, "source": MEMBERS}]
            place = posixpath.dirname(tests)
            yaml = with_items(task.yaml, tests, {"files": files, "tests": added})
            rendered += [
                RenderedFile(tests, yaml),
                RenderedFile(reference, append(task.reference, LINES)),
                RenderedFile(f"{place}/{MEMBERS}", _members(suite, problem, task)),
            ]
        return tuple(rendered)

    def restrict(self, suite: Suite, repo: Path) -> tuple[Suite, tuple[str, ...]]:
        """Say which fields of tests that are there change nothing."""
        notes = []
        for problem in suite.problems:
            tests, reference = self.hidden_path(problem), self.problem_path(repo, problem)
            task = read_task(repo, tests, reference, lambda path: (repo / path).read_bytes())
            idle = task.idle_fields() - {FIELD}
            if idle:
                notes.append(
                    f"tests of {problem.name} that are there have fields that change nothing: "
                    f"{', '.join(sorted(idle))}"
                )
            if task.tolerances is None:
                notes.append(
                    f"the check of {problem.name} is code of its own: that it judges as "
                    f"{suite.oracle} could not be read from it"
                )
        return suite, tuple(notes)

    def notes(self, suite: Suite) -> tuple[str, ...]:
        """What is public."""
        return (
            *super().notes(suite),
            "tasks and their tests are public: use --seed-from, or keep this checkout private, "
            "if kernels must not recognise the members",
        )

    def loader(self) -> Path:
        """The script that loads tests as ``eval.py`` does."""
        return template("gpumode_loader.py")


def _test(task: Task, problem: ProblemSuite, member: Member, number: int) -> dict[str, Any]:
    """Return the fields of a member's test, in the order of ``generate_input``."""
    fields = {**member.shape, FIELD: number}
    where = f"{member.input} for the task {problem.name}"
    for name in member.shape:
        if name not in task.parameters:
            raise UserError(
                f"{where} has the dimension {name}, and generate_input takes "
                f"{', '.join(task.parameters)}: the field would change nothing"
            )
        if name not in task.used:
            raise UserError(f"{where}: generate_input takes {name} and never uses it")
    if "seed" in task.parameters:
        # The harness combines it with a secret of its own; members do not depend on it.
        fields["seed"] = number
    missing = [name for name in task.required if name not in fields]
    if missing:
        raise UserError(f"{where} does not say {', '.join(missing)}, which generate_input needs")
    ordered = {name: fields[name] for name in (*task.parameters, FIELD) if name in fields}
    for name, value in ordered.items():
        if not task.carries(name, value):
            raise UserError(
                f"{where}: the harness reads tests by the pattern {task.grammar}, which does not "
                f"carry '{name}: {value}'"
            )
    return ordered


def _require_same_check(task: Task, problem: ProblemSuite) -> None:
    """Refuse members that were chosen at another tolerance than the task's check applies."""
    if task.tolerances is None:
        return
    absolute, relative = task.tolerances
    for member in problem.members:
        kind, _, ratio = member.comparator.partition("@")
        same = (
            kind == "allclose_reference"
            and member.tolerance == absolute
            and abs(float(ratio or 1) * absolute - relative) <= 1e-9 * relative
        )
        if not same:
            wanted = f"allclose_reference@{relative / absolute:g}:{absolute:g}"
            raise UserError(
                f"{member.input} was chosen for {member.comparator} at {member.tolerance:g}, and "
                f"the task {problem.name} judges by atol {absolute:g} and rtol {relative:g}; "
                f"select with --oracle {wanted}"
            )


def _members(suite: Suite, problem: ProblemSuite, task: Task) -> bytes:
    places = task.places(tuple(problem.members[0].values), problem.name)
    header = (
        f"Task      {problem.name}",
        f"Matrix    {suite.matrix_id} ({suite.matrix_device})",
        f"Suite     {suite.hash}",
        f"Oracle    {suite.oracle}",
    )
    document: list[Mapping[str, Any]] = [
        {"input": member.input, "seed": member.seed, "values": dict(member.values)}
        for member in problem.members
    ]
    text = template("gpumode_members.txt").read_text(encoding="utf-8")
    values = {
        "HEADER": "\n".join(comment(line) for line in header),
        "PLACES": literal(places),
        "MEMBERS": literal(document),
        "RECIPES": literal(recipes_source().decode()),
        "RUNTIME": literal(runtime_source().decode()),
    }
    # In one pass, so that nothing in a value can pass for a placeholder.
    return re.sub(r"<<(\w+)>>", lambda match: values[match[1]], text).encode()
