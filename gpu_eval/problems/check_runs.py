"""Running what a problem holds, kernels and torch callables alike."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from gpu_eval.devices.base import Binary, Case, Device, Outcome, Session
from gpu_eval.problems.definition import Control, Problem, Substrate
from gpu_eval.problems.flushed import adds_atomically
from gpu_eval.problems.loader import kernel_source
from suiteopt.errors import UserError
from suiteopt.matrix.schema import Status

if TYPE_CHECKING:
    from torch import Tensor

SUBSTRATE = "substrate"
"""What stands for a control's kind where an implementation is a substrate."""

DEADLINE = 30.0
"""Seconds; a verified kernel that takes longer on a campaign's shapes hangs."""


@dataclass(frozen=True)
class Runnable:
    """A substrate or control, ready to run.

    Attributes
    ----------
    problem : Problem
    name, kind : str
        Kind is `SUBSTRATE` or the control's kind.
    control : Control or None
        Given for torch controls.
    substrate, binary : Substrate, Binary or None
        Given for CUDA implementations.
    flushes : bool
        Whether it adds by atomics that take subnormal numbers for zero here.
    """

    problem: Problem
    name: str
    kind: str
    control: Control | None = None
    substrate: Substrate | None = None
    binary: Binary | None = None
    flushes: bool = False

    def launched(self, session: Session, values: Mapping[str, int]) -> Outcome:
        """Run a CUDA implementation on the session's current case, and judge."""
        assert self.substrate is not None
        assert self.binary is not None
        plan = self.substrate.plan.resolve(values, self.problem.scalars)
        return session.run(self.binary, plan, deadline=DEADLINE)

    def called(self, case: Case) -> "dict[str, Tensor] | Outcome":
        """Return what a torch callable gives; one that raises is a crash, as a kernel's is.

        Raises
        ------
        OutOfMemoryError
            Which says nothing about the callable.
        """
        import torch

        assert self.control is not None
        assert self.control.run is not None
        try:
            with torch.no_grad():
                outputs = self.control.run(case.tensors)
        except torch.OutOfMemoryError:
            raise
        except Exception as error:
            reason = " ".join(f"{type(error).__name__}: {error}".split())
            return Outcome(Status.CRASH, message=reason)
        return {name: output.contiguous() for name, output in outputs.items()}


def outcomes(
    runs: Sequence[Runnable], session: Session, case: Case, values: Mapping[str, int]
) -> list[Outcome]:
    """Run all on the session's current case, which is ``case``, and judge, in their order.

    Torch callables are judged several at a time: to wait for a GPU that others use, too, takes
    longer than most of them.
    """
    from gpu_eval.campaign.callables import in_company

    found: dict[int, Outcome] = {}
    callables = []
    for row, run in enumerate(runs):
        if run.binary is None:
            callables.append(row)
        else:
            found[row] = run.launched(session, values)
    for rows in in_company(callables, case):
        given = {}
        for row in rows:
            output = runs[row].called(case)
            if isinstance(output, Outcome):
                found[row] = output
            else:
                given[row] = output
        if given:
            found.update(zip(given, session.judge_many(list(given.values())), strict=True))
    return [found[row] for row in range(len(runs))]


def compile_all(problem: Problem, device: Device, cache: Path, jobs: int) -> list[Runnable]:
    """Return substrates, then controls, in the definition's order, kernels compiled.

    Raises
    ------
    UserError
        If a kernel does not compile.
    """
    kernels: list[tuple[str, str, Substrate, tuple[str, ...]]] = [
        (s.name, SUBSTRATE, s, ()) for s in problem.substrates
    ]
    kernels += [
        (c.name, c.kind, c.substrate, c.flags) for c in problem.controls if c.substrate is not None
    ]
    sources = [
        kernel_source(problem, substrate, identifier=f"{problem.id}:{name}", flags=flags)
        for name, _, substrate, flags in kernels
    ]
    compiled: dict[str, Runnable] = {}
    for (name, kind, substrate, _), source, binary in zip(
        kernels, sources, device.compile(sources, cache, jobs), strict=True
    ):
        if binary.path is None:
            path = problem.directory / substrate.source
            raise UserError(f"{path}: '{name}' does not compile: {binary.error}")
        flushes = device.flushes_atomics and adds_atomically(source.files)
        compiled[name] = Runnable(problem, name, kind, None, substrate, binary, flushes)
    substrates = [compiled[s.name] for s in problem.substrates]
    controls = [
        compiled.get(c.name) or Runnable(problem, c.name, c.kind, control=c)
        for c in problem.controls
    ]
    return substrates + controls
