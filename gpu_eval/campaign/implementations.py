"""Every implementation of a problem: substrates, controls, nulls, mutants and wild kernels."""

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass, replace

from gpu_eval.devices.base import KernelSource
from gpu_eval.mutation.catalogue import faults, is_locked
from gpu_eval.mutation.fault import Fault
from gpu_eval.problems.definition import Control, Problem, Substrate
from gpu_eval.problems.loader import kernel_source, sources
from gpu_eval.problems.nulls import NULLS
from gpu_eval.problems.plan import LaunchPlan
from gpu_eval.problems.wild import WildKernel, wild_kernels
from suiteopt.errors import UserError
from suiteopt.matrix.schema import Kind


@dataclass(frozen=True)
class Implementation:
    """A row of the matrix, before anything is compiled.

    Attributes
    ----------
    id : str
    kind : Kind
    name : str
        Of the substrate, control, null or wild kernel; of a mutant its rule.
    substrate : str
        Id of the implementation that was edited, or of itself; empty for torch callables.
    source : KernelSource or None
        What is compiled; a launch fault has the source of its substrate. None: torch callable.
    plan : LaunchPlan or None
    fault : Fault or None
        Of a mutant.
    control : Control or None
        Of a control.
    locked : bool
        Its rule is set aside.
    wild : WildKernel or None
        Of a wild kernel.
    """

    id: str
    kind: Kind
    name: str
    substrate: str = ""
    source: KernelSource | None = None
    plan: LaunchPlan | None = None
    fault: Fault | None = None
    control: Control | None = None
    locked: bool = False
    wild: WildKernel | None = None

    @property
    def is_launch_fault(self) -> bool:
        """Whether the edit is one of the launch plan."""
        return self.fault is not None and self.fault.plan is not None


def implementations(
    problem: Problem,
    *,
    wild: bool = False,
    sites: int | None = None,
    found: Sequence[Sequence[Fault]] | None = None,
) -> tuple[Implementation, ...]:
    """List the implementations of a problem; the same corpus gives the same list.

    Parameters
    ----------
    problem : Problem
    wild : bool
        Whether the wild kernels are among them: after all others, so that nothing else moves.
    sites : int or None
        At how many sites of a substrate a rule is applied, chosen by a hash of the fault's id;
        None for all. What a rule makes at many sites is mostly the same fault again.
    found : sequence of sequences of Fault, optional
        What `problem_faults` gives, where that is known.
    """
    substrates = [_substrate(problem, substrate) for substrate in problem.substrates]
    controls = [_control(problem, control) for control in problem.controls]
    nulls = [
        Implementation(f"{problem.id}:null:{null.name}", Kind.NULL, null.name) for null in NULLS
    ]
    found = problem_faults(problem, sites) if found is None else found
    mutants = [
        _mutant(fault, implementation)
        for implementation, faults_of_it in zip(substrates, found, strict=True)
        for fault in faults_of_it
    ]
    foreign = [_wild(kernel) for kernel in wild_kernels(problem)] if wild else []
    return (*substrates, *controls, *nulls, *mutants, *foreign)


def problem_faults(problem: Problem, sites: int | None) -> tuple[tuple[Fault, ...], ...]:
    """Return the faults of each substrate, each rule at so many sites of it.

    Raises
    ------
    UserError
        If a source cannot be parsed.
    """
    try:
        return tuple(
            _thinned(faults(problem, one, sources(problem, one), one.plan), sites)
            for one in problem.substrates
        )
    except UserError as error:  # it names the file, which many problems have
        raise UserError(f"problem {problem.id}: {error}") from error


def _substrate(problem: Problem, substrate: Substrate) -> Implementation:
    name = f"{problem.id}:substrate:{substrate.name}"
    source = replace(kernel_source(problem, substrate), id=name)
    return Implementation(
        name, Kind.SUBSTRATE, substrate.name, substrate=name, source=source, plan=substrate.plan
    )


def _wild(kernel: WildKernel) -> Implementation:
    return Implementation(
        kernel.id,
        Kind.WILD,
        kernel.name,
        substrate=kernel.id,
        source=kernel.kernel_source(),
        plan=kernel.plan,
        wild=kernel,
    )


def _control(problem: Problem, control: Control) -> Implementation:
    name = f"{problem.id}:control:{control.name}"
    if control.substrate is None:
        return Implementation(name, Kind.CONTROL, control.name, control=control)
    source = kernel_source(problem, control.substrate)
    source = replace(source, id=name, flags=(*source.flags, *control.flags))
    return Implementation(
        name,
        Kind.CONTROL,
        control.name,
        substrate=name,
        source=source,
        plan=control.substrate.plan,
        control=control,
    )


def _thinned(found: tuple[Fault, ...], sites: int | None) -> tuple[Fault, ...]:
    """Keep so many faults of each rule, in their order: those whose ids hash lowest."""
    if sites is None:
        return found
    hashes = [hashlib.sha256(fault.id.encode()).hexdigest() for fault in found]
    ranks: dict[str, list[str]] = {}
    for fault, rank in zip(found, hashes, strict=True):
        ranks.setdefault(fault.rule, []).append(rank)
    last = {rule: sorted(some)[:sites][-1] for rule, some in ranks.items()}
    return tuple(f for f, rank in zip(found, hashes, strict=True) if rank <= last[f.rule])


def _mutant(fault: Fault, original: Implementation) -> Implementation:
    source = original.source
    assert source is not None
    if fault.plan is None:
        source = replace(source, id=fault.id, files=fault.apply(source.files))
    return Implementation(
        fault.id,
        Kind.MUTANT,
        fault.rule,
        substrate=original.id,
        source=source,
        plan=fault.plan or original.plan,
        fault=fault,
        locked=is_locked(fault.rule),
    )
