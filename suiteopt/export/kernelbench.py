"""The target ``kernelbench``: problem files for evaluation only, under KernelBench's own harness.

KernelBench draws inputs by calling ``get_inputs()`` right after it seeded the generator, so the
seed tells the trials apart: an overlay of a problem file serves member i on trial i, its own draw
on the trials that are left, and the published input under the timing seed. Not a line of the
harness changes. What spoils this, and what is done about it:

- A problem file is also the prompt that models see. The overlay lies in ``suiteopt_overlay/``,
  where nothing looks for prompts; ``KernelBench/`` keeps every byte. ``evaluate.py`` beside it runs
  one of the harness's scripts with the overlay in place of the data set's text, and refuses
  scripts that make prompts, and the data set on a hub.
- A candidate runs in the definition's namespace and may overwrite its constants and helpers: the
  overlay executes the definition again in a namespace of its own, and keeps all in closures.
- The file is executed without ``__file__``: recipes and members are inside it.
- Another seed than 42 would silently serve no member: a seed that is neither a trial's nor the
  timing one raises. Fewer trials than members, and another precision, are seen in the harness's
  own frame: the one warns, the other raises.
- There are five trials at most, so five members; the strongest comes first, since a bare call of
  the harness runs one trial.
"""

import re
from collections.abc import Callable
from pathlib import Path, PurePosixPath
from typing import ClassVar

from suiteopt.errors import UserError
from suiteopt.export.forward import order_tensors
from suiteopt.export.kernelbench_problems import find_problem
from suiteopt.export.kernelbench_sidecar import DEFINITIONS, HARNESS
from suiteopt.export.literals import comment, literal
from suiteopt.export.options import positive
from suiteopt.export.package import recipes_source, runtime_source
from suiteopt.export.target import RenderedFile, Target, template
from suiteopt.export.unfit import without_unfit
from suiteopt.matrix.schema import Need, Statistic
from suiteopt.selection.constraints import Capabilities
from suiteopt.suite import Member, ProblemSuite, Suite

PUBLISHED_TOLERANCE = 1e-4
TIMING_SEED = 42
TRIAL_SEEDS = (734796314, 576165995, 2197670066, 839703249, 2584932063)
"""What the harness draws for its trials from ``torch.randint(0, 2**32 - 1, (1,))`` under 42."""


class KernelBench(Target):
    """Evaluation-only problem files for KernelBench.

    Parameters
    ----------
    tolerance : float
        What the harness judges at: 1e-4 at its present version, 1e-2 at 0.1 and before.
    """

    name: ClassVar[str] = "kernelbench"
    title: ClassVar[str] = "KernelBench, harness unchanged: an overlay of problem files"
    home: ClassVar[str] = "suiteopt_overlay"
    trials: ClassVar[str] = "member i on trial i, told by the trial's seed"

    def __init__(self, tolerance: float = PUBLISHED_TOLERANCE) -> None:
        self._tolerance = positive("tolerance", tolerance)

    @property
    def capabilities(self) -> Capabilities:
        """Values only, at most as many members as trials."""
        return Capabilities(
            needs=frozenset({Need.VALUES}),
            oracle=f"fixed:{self._tolerance:g}",
            member_limit=len(TRIAL_SEEDS),
            own_first=False,
        )

    @property
    def comparator(self) -> Statistic:
        """``torch.allclose(reference, candidate)``."""
        return Statistic.ALLCLOSE_CANDIDATE

    @property
    def tolerance(self) -> float:
        """``atol`` and ``rtol`` of the check."""
        return self._tolerance

    @property
    def options(self) -> dict[str, float]:
        """The options in force."""
        return {"tolerance": self._tolerance}

    def recognise(self, repo: Path) -> None:
        """Look for the problem definitions and for a harness that draws its trials' seeds."""
        for need in (DEFINITIONS, HARNESS):
            if not (repo / need).exists():
                raise UserError(
                    f"{repo} is no checkout of KernelBench (it has no {need}); give the "
                    "directory that holds KernelBench/ and src/kernelbench/"
                )
        if "correctness_trial_seeds" not in (repo / HARNESS).read_text(errors="replace"):
            raise UserError(
                f"the harness in {repo} does not draw its trials' seeds as the version that was "
                "read; use the target kernelbench-sidecar"
            )

    def restrict(self, suite: Suite, repo: Path) -> tuple[Suite, tuple[str, ...]]:
        """Leave out problems that draw other inputs here than those that were measured."""
        return without_unfit(suite, repo, self)

    def hidden_path(self, problem: ProblemSuite) -> str:
        """``suiteopt_overlay/KernelBench/level<L>/<name>.py``, the name as measured."""
        return f"{self.home}/{DEFINITIONS}/level{problem.level}/{problem.name}.py"

    def problem_path(self, repo: Path, problem: ProblemSuite) -> str:
        """``KernelBench/level<L>/<id>_<name>.py``, the name as measured."""
        return find_problem(repo, DEFINITIONS, problem, self.name)

    def notes(self, suite: Suite) -> tuple[str, ...]:
        """How the overlay is used."""
        return (
            "prompts see nothing of this: evaluate with 'python suiteopt_overlay/evaluate.py "
            "scripts/eval_from_generations.py dataset_src=local ...', five trials, seed 42, fp32",
            "members replace the trials' own draws, the first of them the first",
        )

    def render(
        self,
        suite: Suite,
        repo: Path,
        original: Callable[[str], bytes | None],
        preserved: Callable[[str], str],
    ) -> tuple[RenderedFile, ...]:
        """Return the script that evaluates and one overlay a problem."""
        overlays = [
            RenderedFile(self.hidden_path(problem), self._overlay(suite, problem, repo))
            for problem in suite.problems
            if problem.members
        ]
        evaluate = template("kernelbench_evaluate.py").read_bytes()
        return (RenderedFile(f"{self.home}/evaluate.py", evaluate), *overlays)

    def loader(self) -> Path:
        """The script that loads overlays as the harness does."""
        return template("kernelbench_loader.py")

    def _overlay(self, suite: Suite, problem: ProblemSuite, repo: Path) -> bytes:
        path = self.problem_path(repo, problem)
        if PurePosixPath(path).name != f"{problem.name}.py":
            raise UserError(f"{path} was measured under the name {problem.name}; select again")
        definition = (repo / path).read_bytes()
        tensors = order_tensors(problem.members[0].values, definition, path)
        header = (
            "Everything below was added by suiteopt. Do not show this file to a model that the",
            "benchmark judges; the definition above is the benchmark's own, byte for byte.",
            f"Problem   {problem.problem} ({problem.name})",
            f"Matrix    {suite.matrix_id} ({suite.matrix_device})",
            f"Suite     {suite.hash}",
            f"Oracle    {suite.oracle}",
        )
        values = {
            "TENSORS": literal(tensors if len(tensors) > 1 else None),
            "MEMBERS": literal([_member(member) for member in problem.members]),
            "SEEDS": literal(list(TRIAL_SEEDS)),
            "TIMING_SEED": literal(TIMING_SEED),
            "DEFINITION": literal(definition.decode()),
            "RUNTIME": literal(runtime_source().decode()),
            "RECIPES": literal(recipes_source().decode()),
        }
        block = template("kernelbench_overlay.txt").read_text(encoding="utf-8")
        # In one pass, so that nothing in a value can pass for a placeholder.
        block = re.sub(r"<<(\w+)>>", lambda match: values[match[1]], block)
        head = "\n".join(comment(line) for line in header)
        end = b"" if definition.endswith(b"\n") else b"\n"
        return definition + end + f"\n\n{head}\n\n{block}".encode()


def _member(member: Member) -> dict[str, object]:
    return {
        "input": member.input,
        "seed": member.seed,
        "values": {tensor: dict(recipe) for tensor, recipe in member.values.items()},
    }
