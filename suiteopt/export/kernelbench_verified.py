"""The target ``kernelbench-verified``: hidden files of KernelBench-Verified.

Its harness first runs the benchmark's own draws (five by default) and then, for a kernel that
passed them, executes ``hidden_tests/level<L>/<id>_hidden.py`` with ``torch`` and ``__file__`` and
judges every configuration of ``get_hidden_inputs()`` by ``torch.allclose(reference, candidate)``
at 1e-3 (``KB_FP32_TOL`` sets another tolerance). Only ``len()`` and iteration are used, so members
are served lazily; shapes and parameters are the problem's own, so a member can bring values only.

**The published configurations stay, before the members** (``keep_original``, the default). Then
the hardened check contains the published one: whatever that rejects is still rejected, so results
before and after can be compared, and no fault slips through because two new members were chosen
on the assumption of other draws. The price is the time of four more configurations. Without it
the members alone are served. Selection counts the own draws before the members
(`Capabilities.own_first`) and not the scalings, so its figures hold either way. The original
configurations are unseeded as published; here they are drawn under a stated seed, so that a
verdict can be repeated.

**One recipe module for all**: ``hidden_tests/suiteopt/recipes.py`` is a verbatim copy of
`suiteopt.inputs.recipes`, and ``members.py`` beside it is the lazy sequence. Every hidden file
names their SHA-256 and refuses others; so a maintainer reads them once, not once a problem.
"""

import json
import math
import posixpath
import re
from collections.abc import Callable, Mapping
from importlib.resources import files
from pathlib import Path, PurePosixPath
from typing import Any, ClassVar

from suiteopt.errors import UserError
from suiteopt.export.forward import order_tensors
from suiteopt.export.kernelbench_problems import find_problem, problem_number
from suiteopt.export.literals import comment, literal
from suiteopt.export.recipe_check import own_factor
from suiteopt.export.target import RenderedFile, Target
from suiteopt.export.unfit import without_unfit
from suiteopt.matrix.files import sha256
from suiteopt.matrix.schema import Need, Statistic
from suiteopt.selection.constraints import Capabilities
from suiteopt.suite import Member, ProblemSuite, Suite

PUBLISHED_TOLERANCE = 1e-3
TOLERANCE_VARIABLE = "KB_FP32_TOL"

_DEFINITIONS = "KernelBench"
_TEMPLATES = "templates"


class KernelBenchVerified(Target):
    """Hidden files of KernelBench-Verified.

    Parameters
    ----------
    tolerance : float
        What the harness will judge at: 1e-3, or what ``KB_FP32_TOL`` will be set to.
    keep_original : bool
        Whether the published configurations are served before the members.

    Raises
    ------
    UserError
        If the tolerance is no positive number.
    """

    name: ClassVar[str] = "kernelbench-verified"
    title: ClassVar[str] = "KernelBench-Verified: hidden inputs of level 1 to 3, values only"
    home: ClassVar[str] = "hidden_tests"
    trials: ClassVar[str] = "hidden configurations after five own draws"

    def __init__(self, tolerance: float = PUBLISHED_TOLERANCE, keep_original: bool = True) -> None:
        try:
            self._tolerance = float(tolerance)
        except (TypeError, ValueError):
            self._tolerance = math.nan
        if not (math.isfinite(self._tolerance) and self._tolerance > 0):
            raise UserError(
                f"the tolerance '{tolerance}' is no positive number; give one such as 1e-3"
            )
        self._keep_original = bool(keep_original)

    @property
    def capabilities(self) -> Capabilities:
        """Values only; own draws first; any number of members."""
        return Capabilities(
            needs=frozenset({Need.VALUES}),
            oracle=f"fixed:{self._tolerance:g}",
            member_limit=None,
            own_first=True,
        )

    @property
    def comparator(self) -> Statistic:
        """``torch.allclose(reference, candidate)``: the relative term is the candidate's."""
        return Statistic.ALLCLOSE_CANDIDATE

    @property
    def tolerance(self) -> float:
        """``atol`` and ``rtol`` of the check."""
        return self._tolerance

    @property
    def options(self) -> Mapping[str, Any]:
        """The options in force."""
        return {"tolerance": self._tolerance, "keep_original": self._keep_original}

    def recognise(self, repo: Path) -> None:
        """Look for the problem definitions, the hidden tests and a loader of them."""
        for need in (_DEFINITIONS, self.home, "src/eval.py"):
            if not (repo / need).exists():
                raise UserError(
                    f"{repo} is no checkout of KernelBench-Verified (it has no {need}); "
                    "give the directory that holds KernelBench/, hidden_tests/ and src/"
                )
        if "get_hidden_inputs" not in (repo / "src" / "eval.py").read_text(errors="replace"):
            raise UserError(
                f"{repo} is no checkout of KernelBench-Verified (its src/eval.py loads no hidden "
                "inputs); plain KernelBench has no hidden tests to export to"
            )

    def restrict(self, suite: Suite, repo: Path) -> tuple[Suite, tuple[str, ...]]:
        """Leave out problems that draw other inputs here than those that were measured."""
        return without_unfit(suite, repo, self)

    def hidden_path(self, problem: ProblemSuite) -> str:
        """``hidden_tests/level<L>/<id>_hidden.py``."""
        return f"{self.home}/level{problem.level}/{problem_number(problem)}_hidden.py"

    def problem_path(self, repo: Path, problem: ProblemSuite) -> str:
        """``KernelBench/level<L>/<id>_<name>.py``, the name as measured."""
        return find_problem(repo, _DEFINITIONS, problem, self.name)

    def notes(self, suite: Suite) -> tuple[str, ...]:
        """What the harness's settings must be for the suite's figures to hold."""
        notes = [
            "the suite was measured in float32 without TF32; half precision and TF32 runs of the "
            "harness were not measured"
        ]
        if self._tolerance != PUBLISHED_TOLERANCE:
            notes.append(
                f"the members were chosen for a tolerance of {self._tolerance:g}: run the "
                f"evaluation with {TOLERANCE_VARIABLE}={self._tolerance:g}"
            )
        return tuple(notes)

    def loader(self) -> Path:
        """The script that loads hidden files as the harness does."""
        return Path(str(files("suiteopt.export") / _TEMPLATES / "kernelbench_verified_loader.py"))

    def render(
        self,
        suite: Suite,
        repo: Path,
        original: Callable[[str], bytes | None],
        preserved: Callable[[str], str],
    ) -> tuple[RenderedFile, ...]:
        """Return recipes, lazy sequence and one hidden file a problem."""
        recipes = _resource("suiteopt.inputs", "recipes.py")
        members = _resource("suiteopt.export", f"{_TEMPLATES}/kernelbench_verified_members.py")
        support = (
            RenderedFile(f"{self.support}/recipes.py", recipes),
            RenderedFile(f"{self.support}/members.py", members),
        )
        hidden = []
        for problem in suite.problems:
            if not problem.members:
                continue
            path = self.hidden_path(problem)
            keep = self._keep_original and original(path) is not None
            definition = self.problem_path(repo, problem)
            text = _hidden_file(
                suite,
                problem,
                self._tolerance,
                problem_file=_relative(path, definition),
                tensors=order_tensors(
                    problem.members[0].values, (repo / definition).read_bytes(), definition
                ),
                original=_relative(path, preserved(path)) if keep else None,
                support=_relative(path, self.support),
                hashes={"recipes": sha256(recipes), "members": sha256(members)},
            )
            hidden.append(RenderedFile(path, text.encode()))
        return (*support, *hidden)


def _hidden_file(
    suite: Suite,
    problem: ProblemSuite,
    tolerance: float,
    *,
    problem_file: str,
    tensors: list[str],
    original: str | None,
    support: str,
    hashes: Mapping[str, str],
) -> str:
    template = _resource("suiteopt.export", f"{_TEMPLATES}/kernelbench_verified_hidden.txt")
    header = (
        f"Problem   {problem.problem} ({problem.name})",
        f"Matrix    {suite.matrix_id} ({suite.matrix_device})",
        f"Suite     {suite.hash}",
        f"Chosen by {suite.command}",
        f"Oracle    {suite.oracle}",
        f"Detected  {problem.detected} of {problem.mutants} injected faults",
        *_measured(problem),
        f"Exported  suiteopt export --to {KernelBenchVerified.name}",
    )
    values = {
        "HEADER": "\n".join(comment(line) for line in header),
        "PROBLEM_FILE": literal(problem_file),
        "ORIGINAL": literal(original),
        "TENSORS": literal(tensors),
        "TOLERANCE": literal(tolerance),
        "MEMBERS": literal([_member(member) for member in problem.members]),
        "SUPPORT": literal(support),
        "MEMBERS_SHA256": literal(hashes["members"]),
        "RECIPES_SHA256": literal(hashes["recipes"]),
    }
    # In one pass, so that nothing in a value can pass for a placeholder.
    return re.sub(r"<<(\w+)>>", lambda match: values[match[1]], template.decode())


def _measured(problem: ProblemSuite) -> tuple[str, ...]:
    shapes = {json.dumps(member.shape) for member in problem.members}
    return tuple(f"Measured  at {shape}, served at the problem's own" for shape in sorted(shapes))


def _member(member: Member) -> dict[str, Any]:
    return {
        "input": member.input,
        "seed": member.seed,
        "values": {tensor: _recipe(recipe) for tensor, recipe in member.values.items()},
    }


def _recipe(recipe: Mapping[str, Any]) -> dict[str, Any]:
    """Return a recipe as a hidden file states it; the own draw and multiples of it as a factor."""
    factor = own_factor(recipe)
    if factor is not None:
        return {"own": factor}
    return dict(recipe)


def _resource(package: str, name: str) -> bytes:
    place = files(package)
    for part in PurePosixPath(name).parts:
        place = place / part
    return place.read_bytes()


def _relative(path: str, other: str) -> str:
    """Return ``other`` as seen from the directory of ``path``; both relative to the checkout."""
    return posixpath.relpath(other, posixpath.dirname(path))
