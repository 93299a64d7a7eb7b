"""What a wild kernel is: foreign code with a launch plan, a verdict and a public source."""

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from gpu_eval.devices.base import KernelSource
from gpu_eval.problems.loader import launched_kernels
from gpu_eval.problems.plan import Argument, Launch, LaunchPlan, Workspace
from gpu_eval.problems.plan_text import render

ONE = "1"
DIRECTORY = Path(__file__).parent


@dataclass(frozen=True, slots=True)
class Report:
    """A public report of what was wrong with whose kernel.

    Attributes
    ----------
    url : str
    who : str
        Who reported it, as the page names them.
    whose : str
        Whose kernel it was.
    """

    url: str
    who: str
    whose: str


@dataclass(frozen=True, slots=True)
class WildKernel:
    """A kernel as models and engineers write them: wrong after a report, or right.

    Attributes
    ----------
    problem : str
        Id of the problem that it answers.
    name : str
        Unique in the problem; its source is ``<problem>/<name>.cu`` beside this module, with
        underscores.
    wrong : bool
        What the author of this entry says of it, whatever any check says.
    what : str
        One sentence: what is wrong with it, or how it works.
    plan : LaunchPlan
    report : Report or None
        Where a wrong one comes from.
    """

    problem: str
    name: str
    wrong: bool
    what: str
    plan: LaunchPlan
    report: Report | None = None

    @property
    def id(self) -> str:
        """Its id in the matrix."""
        return f"{self.problem}:wild:{self.name}"

    @property
    def path(self) -> Path:
        """Where its source lies."""
        folder = DIRECTORY / self.problem.replace("/", "_")
        return folder / f"{self.name.replace('-', '_')}.cu"

    def files(self) -> dict[str, str]:
        """Return its sources by file name: one file that includes nothing of the corpus."""
        return {self.path.name: self.path.read_text("utf-8")}

    def kernel_source(self) -> KernelSource:
        """Return what a device compiles."""
        return KernelSource(
            id=self.id,
            files=self.files(),
            main=self.path.name,
            kernels=launched_kernels(self.plan),
        )

    def about(self) -> dict[str, Any]:
        """Return what travels with a matrix: JSON values only."""
        report = self.report
        return {
            "implementation": self.id,
            "name": self.name,
            "expected": "wrong" if self.wrong else "right",
            "what": self.what,
            "source": None
            if report is None
            else {"url": report.url, "who": report.who, "whose": report.whose},
        }


def wrong(problem: str, name: str, what: str, report: Report, plan: LaunchPlan) -> WildKernel:
    """Return a kernel that has a reported fault."""
    return WildKernel(problem, name, True, what, plan, report)


def right(problem: str, name: str, what: str, plan: LaunchPlan) -> WildKernel:
    """Return a kernel without a fault."""
    return WildKernel(problem, name, False, what, plan)


def launch(
    kernel: str,
    grid: Sequence[str],
    block: Sequence[str],
    arguments: Sequence[Argument],
) -> Launch:
    """Return a launch; dimensions that are not given are 1."""
    x, y, z = (*grid, ONE, ONE, ONE)[:3]
    a, b, c = (*block, ONE, ONE, ONE)[:3]
    return Launch(kernel, (x, y, z), (a, b, c), tuple(arguments))


def plan(*launches: Launch, workspaces: Sequence[Workspace] = ()) -> LaunchPlan:
    """Return a plan of launches in a row."""
    return LaunchPlan(launches, tuple(workspaces))


def kernels_hash(kernels: Sequence[WildKernel]) -> str:
    """Return SHA-256 over ids, plans and sources."""
    digest = hashlib.sha256()
    for kernel in kernels:
        parts: Mapping[str, str] = {"id": kernel.id, "plan": render(kernel.plan), **kernel.files()}
        for name, text in parts.items():
            digest.update(f"{name}\0{len(text)}\0{text}\0".encode())
    return digest.hexdigest()
