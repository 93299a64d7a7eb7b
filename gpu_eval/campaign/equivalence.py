"""Which mutants are the substrate, or each other: equal machine code and equal launches.

Nothing is run for this. Two implementations of one substrate behave equally if their machine
code is equal and their plans resolve to the same launches on every shape in use.
"""

from collections.abc import Callable, Hashable, Mapping, Sequence
from dataclasses import dataclass

from gpu_eval.campaign.implementations import Implementation
from gpu_eval.devices.base import Binary
from gpu_eval.problems.plan import LaunchPlan
from suiteopt.errors import UserError
from suiteopt.matrix.schema import ImplementationClass, Kind

Resolver = Callable[[LaunchPlan, Mapping[str, int]], Hashable]
"""Gives the launches of a plan for a shape; raises `UserError` where it cannot."""


@dataclass(frozen=True)
class Classified:
    """What became of an implementation.

    Attributes
    ----------
    implementation : Implementation
    binary : Binary or None
        None for torch callables.
    cls : ImplementationClass
    duplicate_of : str
        Id of the mutant that stands for a duplicate.
    merged : tuple of Implementation
        Of a representative: itself and all its duplicates, in order.
    """

    implementation: Implementation
    binary: Binary | None
    cls: ImplementationClass
    duplicate_of: str = ""
    merged: tuple[Implementation, ...] = ()

    @property
    def runs(self) -> bool:
        """Whether it has cells."""
        return self.cls == ImplementationClass.VALID


def classify(
    implementations: Sequence[Implementation],
    binaries: Mapping[str, Binary],
    shapes: Sequence[Mapping[str, int]],
    resolve: Resolver,
) -> tuple[Classified, ...]:
    """Sort mutants into stillborn, equivalent, duplicate and valid; others are valid.

    Parameters
    ----------
    implementations : sequence of Implementation
    binaries : mapping of str to Binary
        By the id of the `KernelSource`.
    shapes : sequence of mappings
        Every shape in use.
    resolve : callable

    Returns
    -------
    tuple of Classified
        In the order of ``implementations``.
    """
    launches = _Launches(shapes, resolve)
    first: dict[tuple[str, str, int], str] = {}
    groups: dict[str, list[Implementation]] = {}
    verdicts: list[tuple[ImplementationClass, str]] = []
    for implementation in implementations:
        binary = _binary_of(implementation, binaries)
        verdict = (ImplementationClass.VALID, "")
        if implementation.kind == Kind.SUBSTRATE and binary is not None:
            assert implementation.plan is not None
            key = (implementation.id, binary.machine_code, launches.number(implementation.plan))
            first[key] = ""
        elif implementation.kind == Kind.MUTANT and binary is not None:
            if binary.path is None:
                verdict = (ImplementationClass.STILLBORN, "")
            else:
                assert implementation.plan is not None
                number = launches.number(implementation.plan)
                key = (implementation.substrate, binary.machine_code, number)
                found = first.setdefault(key, implementation.id)
                if found == "":
                    verdict = (ImplementationClass.EQUIVALENT, "")
                else:
                    groups.setdefault(found, []).append(implementation)
                    if found != implementation.id:
                        verdict = (ImplementationClass.DUPLICATE, found)
        verdicts.append(verdict)
    return tuple(
        Classified(
            implementation,
            _binary_of(implementation, binaries),
            cls,
            duplicate_of,
            tuple(groups.get(implementation.id, (implementation,))),
        )
        for implementation, (cls, duplicate_of) in zip(implementations, verdicts, strict=True)
    )


def _binary_of(implementation: Implementation, binaries: Mapping[str, Binary]) -> Binary | None:
    return None if implementation.source is None else binaries[implementation.source.id]


class _Launches:
    """Numbers plans by what they resolve to on every shape."""

    def __init__(self, shapes: Sequence[Mapping[str, int]], resolve: Resolver) -> None:
        self._shapes = shapes
        self._resolve = resolve
        self._numbers: dict[tuple[Hashable, ...], int] = {}
        self._known: dict[LaunchPlan, int] = {}

    def number(self, plan: LaunchPlan) -> int:
        """Return a number that two plans share if they are the same on every shape."""
        if plan not in self._known:
            resolved = tuple(self._on(plan, shape) for shape in self._shapes)
            self._known[plan] = self._numbers.setdefault(resolved, len(self._numbers))
        return self._known[plan]

    def _on(self, plan: LaunchPlan, shape: Mapping[str, int]) -> Hashable:
        try:
            return self._resolve(plan, shape)
        except UserError as error:
            return str(error)
