"""Runs mutants of a matrix under compute-sanitizer: evidence beside the matrix, not in it."""

import math
import shutil
import tempfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from gpu_eval.campaign.layout import Layout
from gpu_eval.campaign.pool import realise
from gpu_eval.campaign.pool_input import PoolInput
from gpu_eval.campaign.sanitizer_build import rebuild
from gpu_eval.devices.planted import PLANTED, planted_job, planted_subject
from gpu_eval.devices.sanitizer import Sanitizer
from gpu_eval.devices.sanitizer_job import JobDirectory, SanitizerSubject
from gpu_eval.devices.sanitizer_reports import Tool
from gpu_eval.devices.sanitizer_settle import Finding, SanitizerVerdict
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
        inputs: Mapping[str, PoolInput],
    ) -> Iterator[Checked]:
        """Check the chosen mutants and yield what was found, problem by problem.

        Parameters
        ----------
        matrix : Matrix
        problems : mapping of str to Problem
        chosen : mapping of str to sequence of str
            Ids of mutants by problem.
        inputs : mapping of str to PoolInput
            What to run on, by problem.

        Raises
        ------
        UserError
            If no tool sees its planted fault, or an input cannot be made.
        """
        with tempfile.TemporaryDirectory(prefix="gpu-eval-") as name:
            room = Path(name)
            self._control(room / "planted")
            for problem, mutants in chosen.items():
                yield self._problem(matrix, problems[problem], mutants, inputs[problem], room)

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
        pool_input: PoolInput,
        room: Path,
    ) -> Checked:
        table = matrix.implementations_of(problem.id)
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
        if found and len(left_out) < len(self._tools):
            directory = room / "input"
            directory.mkdir()
            job = _job(problem, pool_input, directory, self._ordinal)
            controls = {name: rebuilt.subjects[name] for name in substrates}
            subjects = {name: rebuilt.subjects[name] for name in found}
            for tool in (tool for tool in self._tools if tool not in left_out):
                self._say(f"{problem.id}: {tool}")
                accused = self._accused(tool, job, controls)
                if accused:
                    left_out[tool] = accused
                    continue
                findings = self._sanitizer.check(tool, job, list(subjects.values()))
                for name, subject in subjects.items():
                    found[name][tool] = findings[subject.number]
            shutil.rmtree(directory)
        refused = {m: rebuilt.refused[m] for m in mutants if m in rebuilt.refused}
        return Checked(problem.id, pool_input.id, found, left_out, refused)

    def _accused(
        self, tool: Tool, job: JobDirectory, controls: Mapping[str, SanitizerSubject]
    ) -> str:
        """Say which substrate a tool does not find clean, or nothing."""
        findings = self._sanitizer.check(tool, job, list(controls.values()))
        for name, subject in controls.items():
            finding = findings[subject.number]
            if finding.verdict != SanitizerVerdict.CLEAN:
                return f"the substrate {name} is not clean: {finding.first or finding.verdict}"
        return ""


def _job(problem: Problem, pool_input: PoolInput, directory: Path, ordinal: int) -> JobDirectory:
    """Make an input, and room for the outputs."""
    import torch

    values = dimensions(problem, pool_input.shape)
    sizes = {
        spec.name: math.prod(shape_of(spec, values)) * getattr(torch, spec.dtype).itemsize
        for spec in problem.outputs
    }
    return JobDirectory(directory, realise(problem, pool_input), sizes, ordinal)
