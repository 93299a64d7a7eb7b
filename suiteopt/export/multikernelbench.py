"""The target ``multikernelbench``: input groups in reference files that only evaluation reads.

A reference file may define ``get_input_groups()``, which the check iterates over in place of five
draws of ``get_inputs()``, and of which the timing takes the first. But a reference file is also the
prompt. So hardened copies lie in ``suiteopt_reference/``, and the function that evaluation asks
for a reference's path, ``get_ref_src_path``, gets two lines; prompts are built from another path
and see nothing.

A group sequence is lazy. The five published draws come first, so the timing stays on the original
inputs and what fails today still fails; the members follow. Tolerance and comparator are the
harness's, parameters are the model's.
"""

import re
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, ClassVar

from suiteopt.errors import UserError
from suiteopt.export.fixed_oracle import FixedOracleTarget, without
from suiteopt.export.forward import order_tensors
from suiteopt.export.kernelbench_problems import bare, problem_number, require_benchmark
from suiteopt.export.literals import comment, literal
from suiteopt.export.package import package_files
from suiteopt.export.patching import MARK, insert_at_start
from suiteopt.export.target import RenderedFile, template
from suiteopt.export.unfit import without_unfit
from suiteopt.matrix.files import sha256
from suiteopt.suite import ProblemSuite, Suite

HARNESS = "utils/utils.py"
REFERENCES = "reference"
OWN_DRAWS = 5

_DIGITS = {"three": "3", "four": "4"}

LINES = [
    'hardened = os.path.join(config.project_root_path, "suiteopt_reference", '
    f"dataset[op]['category'], f'{{op}}.py')  {MARK}",
    f"if os.path.exists(hardened): return hardened  {MARK}",
]


class MultiKernelBench(FixedOracleTarget):
    """Input groups for MultiKernelBench."""

    name: ClassVar[str] = "multikernelbench"
    title: ClassVar[str] = "MultiKernelBench: input groups in an overlay of references"
    home: ClassVar[str] = "suiteopt_reference"
    touches: ClassVar[tuple[str, ...]] = (HARNESS,)
    trials: ClassVar[str] = "input groups after five own draws"
    published: ClassVar[float] = 1e-4
    own_first: ClassVar[bool] = True

    def recognise(self, repo: Path) -> None:
        """Look for the references and for a check that takes input groups."""
        for need in (REFERENCES, HARNESS, "utils/correctness.py"):
            if not (repo / need).exists():
                raise UserError(
                    f"{repo} is no checkout of MultiKernelBench (it has no {need}); give the "
                    "directory that holds reference/ and utils/"
                )
        if "get_input_groups" not in (repo / "utils/correctness.py").read_text(errors="replace"):
            raise UserError(f"the check in {repo} takes no input groups; use a later version")

    def restrict(self, suite: Suite, repo: Path) -> tuple[Suite, tuple[str, ...]]:
        """Leave out problems that have no reference of their name, or share it with another."""
        missing = {}
        claims: dict[str, list[str]] = {}
        for problem in suite.problems:
            require_benchmark(problem, self.name)
            found = self._references(repo, problem)
            if len(found) == 1:
                claims.setdefault(found[0], []).append(problem.problem)
            else:
                missing[problem.problem] = (
                    f"{len(found) or 'no'} references are called as {problem.name}"
                )
        # Numbers tell such problems apart, and references have none.
        for reference, claimants in claims.items():
            for one in claimants if len(claimants) > 1 else ():
                others = ", ".join(other for other in claimants if other != one)
                missing[one] = f"{REFERENCES}/{reference} could be {others} as well by its name"
        suite, absent = without(suite, missing, self.name)
        suite, unfit = without_unfit(suite, repo, self)
        return suite, (*absent, *unfit)

    def hidden_path(self, problem: ProblemSuite) -> str:
        """``suiteopt_reference/suite.json``; the reference's copy is known with the checkout."""
        return f"{self.home}/suite.json"

    def problem_path(self, repo: Path, problem: ProblemSuite) -> str:
        """``reference/<category>/<operation>.py``, the operation named as measured."""
        found = self._references(repo, problem)
        if len(found) != 1:
            raise UserError(f"{repo} has {len(found) or 'no'} references for {problem.name}")
        return f"{REFERENCES}/{found[0]}"

    def job_details(self, problem: ProblemSuite, repo: Path) -> Mapping[str, Any]:
        """Where the hardened copy lies, and how many draws come first."""
        reference = self.problem_path(repo, problem)
        return {"overlay": self._overlay_path(reference), "own": OWN_DRAWS}

    def render(
        self,
        suite: Suite,
        repo: Path,
        original: Callable[[str], bytes | None],
        preserved: Callable[[str], str],
    ) -> tuple[RenderedFile, ...]:
        """Return the package, one copy a reference, and the patched path function."""
        harness = original(HARNESS)
        assert harness is not None
        groups = template("multikernelbench_groups.py").read_bytes()
        rendered = [
            *package_files(self.home, suite),
            RenderedFile(f"{self.home}/input_groups.py", groups),
            RenderedFile(HARNESS, insert_at_start(harness, HARNESS, "get_ref_src_path", LINES)),
        ]
        for problem in suite.problems:
            if problem.members:
                reference = self.problem_path(repo, problem)
                text = (repo / reference).read_bytes()
                order_tensors(problem.members[0].values, text, reference)
                content = _overlay(problem, suite, reference, text)
                rendered.append(RenderedFile(self._overlay_path(reference), content))
        return tuple(rendered)

    def loader(self) -> Path:
        """The script that loads references as the harness does."""
        return template("multikernelbench_loader.py")

    def _overlay_path(self, reference: str) -> str:
        return f"{self.home}/{reference.removeprefix(f'{REFERENCES}/')}"

    @staticmethod
    def _references(repo: Path, problem: ProblemSuite) -> list[str]:
        wanted = bare(problem.name.removeprefix(str(problem_number(problem))))
        return sorted(
            f"{path.parent.name}/{path.name}"
            for path in (repo / REFERENCES).glob("*/*.py")
            if _spelled(path.stem) == wanted
        )


def _spelled(operation: str) -> str:
    """Return an operation's name as the problems have it: no operation's starts with a digit."""
    return re.sub("^(three|four)dim", lambda found: _DIGITS[found[1]] + "d", bare(operation))


def _overlay(problem: ProblemSuite, suite: Suite, reference: str, definition: bytes) -> bytes:
    header = (
        "Added by suiteopt. Do not show this file to a model that the benchmark judges; what",
        "stands above is the benchmark's own, byte for byte.",
        f"Problem   {problem.problem} ({problem.name})",
        f"Suite     {suite.hash}",
    )
    block = template("multikernelbench_overlay.txt").read_text(encoding="utf-8")
    for key, value in {
        "PROBLEM": problem.problem,
        "REFERENCE": reference,
        "SHA256": sha256(definition),
        "OWN": OWN_DRAWS,
    }.items():
        block = block.replace(f"<<{key}>>", literal(value))
    head = "\n".join(comment(line) for line in header)
    end = b"" if definition.endswith(b"\n") else b"\n"
    return definition + end + f"\n\n{head}\n{block}".encode()
