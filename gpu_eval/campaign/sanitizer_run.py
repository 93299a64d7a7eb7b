"""Runs mutants of a matrix under compute-sanitizer: evidence beside the matrix, not in it."""

import shutil
import tempfile
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from gpu_eval.campaign.layout import Layout
from gpu_eval.campaign.pool import realise
from gpu_eval.campaign.sanitizer_build import rebuild
from gpu_eval.campaign.sanitizer_choice import choose_input
from gpu_eval.devices.planted import PLANTED, planted_job, planted_subject
from gpu_eval.devices.sanitizer import Finding, Sanitizer, SanitizerVerdict
from gpu_eval.devices.sanitizer_job import JobDirectory
from gpu_eval.devices.sanitizer_reports import Tool
from gpu_eval.problems.definition import Problem
from gpu_eval.problems.tensors import dimensions, shape_of
from suiteopt.errors import UserError
from suiteopt.matrix.schema import Kind
from suiteopt.matrix.store import Matrix


@dataclass(frozen=True)
class Checked:
    """What the tools said of a problem's mutants.

    Attributes
    ----------
    problem, input : str
        Ids.
    findings : mapping of str to mapping of Tool to Finding
        By mutant; without the tools that were left out.
    left_out : mapping of Tool to str
        Tools whose word does not count here, and why.
    refused : mapping of str to str
        Mutants that did not run, and why.
    """

    problem: str
    input: str
    findings: Mapping[str, Mapping[Tool, Finding]]
    left_out: Mapping[Tool, str]
    refused: Mapping[str, str]

    @property
    def whole(self) -> bool:
        """Whether every tool has a result on every mutant."""
        failed = SanitizerVerdict.FAILED
        results = [f.verdict != failed for row in self.findings.values() for f in row.values()]
        return not self.left_out and not self.refused and all(results)


class Watch:
    """A sanitizer and a GPU, and room for what they need.

    Parameters
    ----------
    sanitizer : Sanitizer
    architecture : str
        Of the GPU, such as ``sm_90``.
    tools : sequence of Tool
    ordinal : int
        Which GPU.
    jobs : int
        Threads that compile.
    say : callable
        Told what begins.
    """

    def __init__(
        self,
        sanitizer: Sanitizer,
        architecture: str,
        tools: Sequence[Tool],
        ordinal: int = 0,
        jobs: int = 1,
        say: Callable[[str], None] = lambda text: None,
    ) -> None:
        self._sanitizer = sanitizer
        self._architecture = architecture
        self._tools = tools
        self._ordinal = ordinal
        self._jobs = jobs
        self._say = say
        self._unusable: dict[Tool, str] = {}

    def run(
        self,
        matrix: Matrix,
        problems: Mapping[str, Problem],
        chosen: Mapping[str, Sequence[str]],
        inputs: Collection[str] = (),
    ) -> list[Checked]:
        """Check the chosen mutants, problem by problem.

        Parameters
        ----------
        matrix : Matrix
        problems : mapping of str to Problem
        chosen : mapping of str to sequence of str
            Ids of mutants by problem.
        inputs : collection of str
            Ids of inputs to run on in place of the cheapest.

        Raises
        ------
        UserError
            If no tool sees its planted fault, or an input cannot be made.
        """
        with tempfile.TemporaryDirectory(prefix="gpu-eval-") as name:
            room = Path(name)
            self._control(room / "planted")
            return [
                self._problem(matrix, problems[problem], mutants, inputs, room)
                for problem, mutants in chosen.items()
            ]

    def _control(self, directory: Path) -> None:
        """Let every tool look at a planted fault: one that does not see it is left out."""
        directory.mkdir()
        job = planted_job(directory, self._ordinal)
        for number, tool in enumerate(self._tools):
            self._say(f"{tool}: a planted fault")
            subject = planted_subject(PLANTED[tool], number, self._architecture)
            finding = self._sanitizer.check(tool, job, [subject])[number]
            if finding.verdict != SanitizerVerdict.ACCUSED:
                told = f"{finding.verdict}: {finding.first}" if finding.first else finding.verdict
                self._unusable[tool] = f"it did not see a planted fault ({told})"
        if len(self._unusable) == len(self._tools):
            tool, reason = next(iter(self._unusable.items()))
            raise UserError(
                f"compute-sanitizer is of no use here: under {tool}, {reason}; "
                "it must know this GPU and its driver"
            )

    def _problem(
        self,
        matrix: Matrix,
        problem: Problem,
        mutants: Sequence[str],
        inputs: Collection[str],
        room: Path,
    ) -> Checked:
        table = matrix.implementations_of(problem.id)
        pool_input = choose_input(matrix, problem, inputs)
        kinds = table["kind"].astype(str)
        substrates = table.loc[kinds == Kind.SUBSTRATE, "implementation"].astype(str).tolist()
        self._say(f"{problem.id}: {len(mutants)} mutants, on {pool_input.id}")
        rebuilt = rebuild(
            problem,
            table,
            [*substrates, *mutants],
            pool_input.shape,
            self._architecture,
            Layout(room).cache,
            self._jobs,
        )
        left_out = dict(self._unusable)
        found: dict[str, dict[Tool, Finding]] = {m: {} for m in mutants if m in rebuilt.subjects}
        for name in substrates:
            if name in rebuilt.refused:
                reason = f"the substrate {name} cannot be the control: {rebuilt.refused[name]}"
                left_out |= dict.fromkeys(self._tools, reason)
        usable = [tool for tool in self._tools if tool not in left_out]
        if usable and found:
            values = dimensions(problem, pool_input.shape)
            directory = room / "input"
            directory.mkdir()
            job = JobDirectory(
                directory,
                realise(problem, pool_input),
                {
                    spec.name: _nbytes(shape_of(spec, values), spec.dtype)
                    for spec in problem.outputs
                },
                self._ordinal,
            )
            for tool in usable:
                self._say(f"{problem.id}: {tool}")
                controls = [rebuilt.subjects[name] for name in substrates]
                for number, finding in self._sanitizer.check(tool, job, controls).items():
                    if finding.verdict != SanitizerVerdict.CLEAN:
                        name = substrates[number - 1]
                        left_out[tool] = f"the substrate {name} is not clean: {_told(finding)}"
                if tool in left_out:
                    continue
                subjects = [rebuilt.subjects[name] for name in found]
                findings = self._sanitizer.check(tool, job, subjects)
                for name in found:
                    found[name][tool] = findings[rebuilt.subjects[name].number]
            shutil.rmtree(directory)
        refused = {m: rebuilt.refused[m] for m in mutants if m in rebuilt.refused}
        return Checked(problem.id, pool_input.id, found, left_out, refused)


def _nbytes(shape: Sequence[int], dtype: str) -> int:
    import math

    import torch

    size: int = getattr(torch, dtype).itemsize
    return math.prod(shape) * size


def _told(finding: Finding) -> str:
    return finding.first or str(finding.verdict)
