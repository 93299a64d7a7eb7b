"""The target ``kernelbench-sidecar``: a package beside KernelBench's harness and one call of it.

``src/kernelbench/hardened`` is a package of its own; ``eval.py`` gets three lines, after its check
and before it measures time: a kernel that passed the published check is judged by the members
too. So what fails today still fails, prompts and problem files stay as they are, and timing is on
the published inputs. Members carry values, parameters (the same for both models, by name and
shape) and their own comparators and tolerances, and there can be any number of them.

A problem is recognised by the text of its definition, white space apart, so that the data set on
a hub and the one in the checkout both work, and a changed definition is not judged by members
that were measured on another one.
"""

import ast
import hashlib
from collections.abc import Callable
from pathlib import Path
from typing import ClassVar

from suiteopt.errors import UserError
from suiteopt.export.forward import order_tensors
from suiteopt.export.kernelbench_problems import find_problem
from suiteopt.export.own_oracle import OwnOracleTarget
from suiteopt.export.package import package_files
from suiteopt.export.patching import MARK, insert_after
from suiteopt.export.target import RenderedFile, template
from suiteopt.export.unfit import without_unfit
from suiteopt.suite import ProblemSuite, Suite

HARNESS = "src/kernelbench/eval.py"
DEFINITIONS = "KernelBench"

CALL = [
    f"from kernelbench.hardened import check_hardened  {MARK}",
    f"check_hardened(kernel_exec_result, original_model_src, original_model, custom_model,  {MARK}",
    f"               device=device, precision=precision, verbose=verbose)  {MARK}",
]


class KernelBenchSidecar(OwnOracleTarget):
    """A hardened-inputs package for KernelBench, called once by its harness."""

    name: ClassVar[str] = "kernelbench-sidecar"
    title: ClassVar[str] = "KernelBench with a package beside its harness (recommended)"
    home: ClassVar[str] = "src/kernelbench/hardened"
    touches: ClassVar[tuple[str, ...]] = (HARNESS,)
    trials: ClassVar[str] = "after the published check has passed"
    # The published draws run first, but at the published tolerance: crediting them at a member's
    # own would promise kills that nobody makes. Own draws can be members instead.
    own_first = False

    def recognise(self, repo: Path) -> None:
        """Look for the problem definitions and the harness."""
        for need in (DEFINITIONS, HARNESS):
            if not (repo / need).exists():
                raise UserError(
                    f"{repo} is no checkout of KernelBench (it has no {need}); give the "
                    "directory that holds KernelBench/ and src/kernelbench/"
                )

    def restrict(self, suite: Suite, repo: Path) -> tuple[Suite, tuple[str, ...]]:
        """Leave out problems that draw other inputs here than those that were measured."""
        return without_unfit(suite, repo, self)

    def hidden_path(self, problem: ProblemSuite) -> str:
        """All problems are in one file."""
        return f"{self.home}/suite.json"

    def problem_path(self, repo: Path, problem: ProblemSuite) -> str:
        """``KernelBench/level<L>/<id>_<name>.py``, the name as measured."""
        return find_problem(repo, DEFINITIONS, problem, self.name)

    def notes(self, suite: Suite) -> tuple[str, ...]:
        """What the harness's settings must be."""
        return (
            *super().notes(suite),
            "members were measured in float32 without TF32: run with precision=fp32; another "
            "precision is refused when a kernel is judged",
        )

    def render(
        self,
        suite: Suite,
        repo: Path,
        original: Callable[[str], bytes | None],
        preserved: Callable[[str], str],
    ) -> tuple[RenderedFile, ...]:
        """Return the package and the patched harness."""
        sources = {}
        for problem in suite.problems:
            if problem.members:
                path = self.problem_path(repo, problem)
                text = (repo / path).read_bytes()
                order_tensors(problem.members[0].values, text, path)  # or it is refused here
                sources[source_id(text.decode())] = problem.problem
        harness = original(HARNESS)
        assert harness is not None
        return (
            *package_files(self.home, suite, {"sources": sources}),
            RenderedFile(f"{self.home}/__init__.py", template("sidecar_package.py").read_bytes()),
            RenderedFile(HARNESS, patched(harness)),
        )

    def loader(self) -> Path:
        """The script that loads the package as the harness does."""
        return template("sidecar_loader.py")


def patched(harness: bytes) -> bytes:
    """Return the harness with the call of the package after its own check."""

    def is_check(node: ast.stmt) -> bool:
        return (
            isinstance(node, ast.Assign)
            and isinstance(node.value, ast.Call)
            and isinstance(node.value.func, ast.Name)
            and node.value.func.id == "run_and_check_correctness"
        )

    return insert_after(harness, HARNESS, is_check, CALL, "check a kernel's outputs")


def source_id(text: str) -> str:
    """Return what a definition is recognised by: the hash of its text without white space."""
    return hashlib.sha256("".join(text.split()).encode()).hexdigest()
