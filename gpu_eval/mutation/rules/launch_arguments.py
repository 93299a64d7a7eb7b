"""Faults of the launch plan: dimensions, extents and tensors confused."""

# ruff: noqa: D102 (``sites`` is documented where it is declared)

from collections.abc import Iterator
from itertools import pairwise

from gpu_eval.mutation.launch import (
    Field,
    LaunchSite,
    PlanEdit,
    integer_arguments,
    pointer_arguments,
)
from gpu_eval.mutation.rules.launch import LaunchByLaunch
from gpu_eval.problems.plan import ArgumentType
from suiteopt.matrix.schema import Family

_AXES = ((0, 1), (0, 2), (1, 2))


class _AxesSwapped(LaunchByLaunch):
    """Swaps two different extents of a field."""

    field: Field

    def edits(self, site: LaunchSite) -> Iterator[PlanEdit]:
        texts = site.launch.grid if self.field is Field.GRID else site.launch.block
        for a, b in _AXES:
            if texts[a].strip() != texts[b].strip() and "1" not in (texts[a], texts[b]):
                yield site.set_all(self.field, {a: texts[b], b: texts[a]})


class LaunchBlockSwapped(_AxesSwapped):
    """Swaps two dimensions of the block."""

    name = "launch-block-swapped"
    family = Family.INDEXING
    field = Field.BLOCK


class LaunchGridSwapped(_AxesSwapped):
    """Swaps two dimensions of the grid."""

    name = "launch-grid-swapped"
    family = Family.INDEXING
    field = Field.GRID


class LaunchIntegersSwapped(LaunchByLaunch):
    """Passes two neighbouring extents in the wrong order."""

    name = "launch-integers-swapped"
    family = Family.INDEXING

    def edits(self, site: LaunchSite) -> Iterator[PlanEdit]:
        found = integer_arguments(site.launch)
        for (i, a), (j, b) in pairwise(found):
            if a.type is b.type and j == i + 1 and a.value != b.value:
                yield site.set_all(Field.ARGUMENT, {i: b.value, j: a.value})


class LaunchPointerAliased(LaunchByLaunch):
    """Passes one tensor for another of equal shape."""

    name = "launch-pointer-aliased"
    family = Family.INDEXING

    def edits(self, site: LaunchSite) -> Iterator[PlanEdit]:
        shapes = site.context.shapes
        for index, argument in pointer_arguments(site.launch):
            shape = shapes.get(argument.value)
            for name, other in shapes.items():
                if shape is not None and name != argument.value and other == shape:
                    yield site.set(Field.ARGUMENT, index, name)
                    break


class LaunchPointersSwapped(LaunchByLaunch):
    """Passes two tensors of equal shape in the wrong order."""

    name = "launch-pointers-swapped"
    family = Family.INDEXING

    def edits(self, site: LaunchSite) -> Iterator[PlanEdit]:
        shapes = site.context.shapes
        found = [(i, a) for i, a in pointer_arguments(site.launch) if a.value in shapes]
        for (i, a), (j, b) in pairwise(found):
            if a.value != b.value and shapes[a.value] == shapes[b.value]:
                yield site.set_all(Field.ARGUMENT, {i: b.value, j: a.value})


class LaunchDivisorWrong(LaunchByLaunch):
    """Divides a float argument by another extent of the problem."""

    name = "launch-divisor-wrong"
    family = Family.INDEXING

    def edits(self, site: LaunchSite) -> Iterator[PlanEdit]:
        for index, argument in enumerate(site.launch.arguments):
            top, slash, bottom = (part.strip() for part in argument.value.partition("/"))
            if argument.type is not ArgumentType.FLOAT or not slash:
                continue
            others = [d for d in site.context.dimensions if d != bottom]
            if bottom in site.context.dimensions and others:
                yield site.set(Field.ARGUMENT, index, f"{top} / {others[0]}")


class _ConstantPerturbed(LaunchByLaunch):
    """Passes a float constant that is wrong; epsilons have rules of their own."""

    family = Family.PRECISION
    divisor: str  # plans allow one division and no product

    def edits(self, site: LaunchSite) -> Iterator[PlanEdit]:
        for index, argument in enumerate(site.launch.arguments):
            plain = "/" not in argument.value and "eps" not in argument.value
            if argument.type is ArgumentType.FLOAT and plain:
                yield site.set(Field.ARGUMENT, index, f"{argument.value} / {self.divisor}")


class LaunchConstantPerturbedLarge(_ConstantPerturbed):
    """Passes a constant that is wrong by one percent."""

    name = "launch-constant-off-1e-2"
    divisor = "0.99"


class LaunchConstantPerturbedTiny(_ConstantPerturbed):
    """Passes a constant that is wrong by one in a hundred thousand."""

    name = "launch-constant-off-1e-5"
    divisor = "0.99999"
