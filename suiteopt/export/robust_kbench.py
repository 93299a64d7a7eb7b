"""The target ``robust-kbench``: a configuration list beside each task's own.

A task's configurations are keyword arguments for ``get_inputs`` and ``Model``. The harness takes a
list by name (``--config_fname``), so the members stand in ``config_hardened.json``, as entries of
the list that goes to both functions, and nothing that exists changes but ``func_forward.py``, which
gets four lines at its end: they let both functions take the keyword ``member``. With it, inputs
and parameters are the member's; the first entry stays the task's own.

The tasks' own draws are normal, KernelBench's are uniform: an own draw, or a multiple of it, would
not be the input that was measured, and is not carried.
"""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any, ClassVar

from suiteopt.errors import UserError
from suiteopt.export.fixed_oracle import FixedOracleTarget, without
from suiteopt.export.forward import order_tensors
from suiteopt.export.kernelbench_problems import bare, problem_number, require_benchmark
from suiteopt.export.literals import literal
from suiteopt.export.package import package_files
from suiteopt.export.patching import MARK, append
from suiteopt.export.target import RenderedFile, template
from suiteopt.export.task_parameters import unknown_parameter
from suiteopt.export.unfit import without_unfit
from suiteopt.matrix.schema import Need
from suiteopt.suite import ProblemSuite, Suite

TASKS = "tasks/kernelbench"
DEFINITION = "func_forward.py"
PUBLISHED_CONFIG = "config_forward.json"
CONFIG = "config_hardened.json"


class RobustKBench(FixedOracleTarget):
    """Configuration lists for robust-kbench."""

    name: ClassVar[str] = "robust-kbench"
    title: ClassVar[str] = "robust-kbench: configuration lists of the KernelBench tasks"
    home: ClassVar[str] = "suiteopt_hardened"
    touches: ClassVar[tuple[str, ...]] = (f"{TASKS}/*/*/{DEFINITION}", f"{TASKS}/*/*/{CONFIG}")
    trials: ClassVar[str] = "entries of the shared configurations, each run five times"
    draws: ClassVar[bool] = False
    published: ClassVar[float] = 1e-5
    carried: ClassVar[frozenset[Need]] = frozenset({Need.VALUES, Need.PARAMETERS})

    def recognise(self, repo: Path) -> None:
        """Look for the tasks and the harness."""
        for need in (TASKS, "robust_kbench/config_task.py"):
            if not (repo / need).exists():
                raise UserError(
                    f"{repo} is no checkout of robust-kbench (it has no {need}); give the "
                    "directory that holds tasks/ and robust_kbench/"
                )

    def restrict(self, suite: Suite, repo: Path) -> tuple[Suite, tuple[str, ...]]:
        """Leave out problems that have no task, or another one under their number."""
        missing = {}
        for problem in suite.problems:
            require_benchmark(problem, self.name)
            place = repo / self._task(problem)
            names = [path.stem for path in place.glob(f"{problem_number(problem)}_*.py")]
            if not (place / DEFINITION).exists():
                missing[problem.problem] = f"there is no {self._task(problem)}"
            elif bare(problem.name) not in [bare(name) for name in names]:
                missing[problem.problem] = (
                    f"{self._task(problem)} is {', '.join(names)}, and {problem.name} was measured"
                )
            elif unknown := unknown_parameter((place / DEFINITION).read_bytes(), problem):
                missing[problem.problem] = (
                    f"members set the parameter {unknown}, and which is meant cannot be told from "
                    f"{self._task(problem)}/{DEFINITION}"
                )
        suite, absent = without(suite, missing, self.name)
        suite, unfit = without_unfit(suite, repo, self, PUBLISHED_CONFIG)
        return suite, (*absent, *unfit)

    def hidden_path(self, problem: ProblemSuite) -> str:
        """``tasks/kernelbench/level_<L>/task_<id>/config_hardened.json``."""
        return f"{self._task(problem)}/{CONFIG}"

    def problem_path(self, repo: Path, problem: ProblemSuite) -> str:
        """The task's ``func_forward.py``."""
        return f"{self._task(problem)}/{DEFINITION}"

    def notes(self, suite: Suite) -> tuple[str, ...]:
        """What the harness's settings must be."""
        return (
            f"run the harness with --config_fname {CONFIG} and --precision fp32, without the "
            "multi settings",
            "the harness compiles with --use_fast_math, and the suite was measured without: what "
            "that permits counts as a fault here",
        )

    def render(
        self,
        suite: Suite,
        repo: Path,
        original: Callable[[str], bytes | None],
        preserved: Callable[[str], str],
    ) -> tuple[RenderedFile, ...]:
        """Return the package, and definition and configuration of each task."""
        rendered = [
            *package_files(self.home, suite),
            RenderedFile(f"{self.home}/task.py", template("robust_task.py").read_bytes()),
        ]
        for problem in suite.problems:
            if not problem.members:
                continue
            path = self.problem_path(repo, problem)
            definition = original(path)
            assert definition is not None
            order_tensors(problem.members[0].values, definition, path)
            rendered.append(RenderedFile(path, append(definition, _lines(problem))))
            published = f"{self._task(problem)}/{PUBLISHED_CONFIG}"
            config = _config((repo / published).read_bytes(), published, len(problem.members))
            rendered.append(RenderedFile(self.hidden_path(problem), config))
        return tuple(rendered)

    def loader(self) -> Path:
        """The script that loads tasks as the harness does."""
        return template("robust_loader.py")

    @staticmethod
    def _task(problem: ProblemSuite) -> str:
        return f"{TASKS}/level_{problem.level}/task_{problem_number(problem)}"


def _lines(problem: ProblemSuite) -> list[str]:
    return [
        f"import importlib.util, pathlib  {MARK}",
        '_spec = importlib.util.spec_from_file_location("suiteopt_task", pathlib.Path(__file__)'
        f'.resolve().parents[4] / "suiteopt_hardened/task.py")  {MARK}',
        f"_task = importlib.util.module_from_spec(_spec); _spec.loader.exec_module(_task)  {MARK}",
        f"get_inputs = _task.harden({literal(problem.problem)}, Model, get_inputs)  {MARK}",
    ]


def _config(published: bytes, where: str, members: int) -> bytes:
    """Return a task's configurations, with the members among those for both functions."""
    try:
        config: dict[str, list[dict[str, Any]]] = json.loads(published)
        shared = config["single_shared_configs"]
        config["single_shared_configs"] = [
            *shared,
            *({**shared[0], "member": number} for number in range(1, members + 1)),
        ]
    except (ValueError, KeyError, IndexError, TypeError) as error:
        raise UserError(f"{where} is no configuration of a task: {error}") from error
    return (json.dumps(config, indent=4) + "\n").encode()
