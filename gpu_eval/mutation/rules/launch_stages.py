"""Faults of the launch plan between stages: bypassed, in the wrong order, of the wrong tensor."""

# ruff: noqa: D102 (``sites`` is documented where it is declared)

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import pairwise

from gpu_eval.mutation.launch import Field, PlanContext, PlanEdit, pointer_arguments
from gpu_eval.mutation.rule import LaunchRule
from gpu_eval.problems.plan import Argument, ArgumentType, Launch, Repeat, Step, When
from suiteopt.matrix.schema import Family


class LaunchBypassed(LaunchRule):
    """Leaves a stage out and passes its input on: what read its output reads what it read."""

    name = "launch-bypassed"
    family = Family.BOUNDARY

    def sites(self, context: PlanContext) -> Iterator[PlanEdit]:
        steps = context.plan.steps
        for index, step in enumerate(steps):
            made = _made(context, steps[:index], step)
            if made is None or not isinstance(step, Launch):
                continue
            rest = (*steps[:index], *steps[index + 1 :])
            for given in context.read_by(step):
                if context.size(given) != context.size(made) or given == made:
                    continue
                if made in context.outputs and _is_scratch(context, given):
                    yield context.replace_steps(_renamed(rest, {given: made}))
                elif made not in context.outputs and not _aliased(context, rest, made, given):
                    yield context.replace_steps(_renamed(rest, {made: given}))


class LaunchTensorOfEqualSize(LaunchRule):
    """Passes another tensor of as many elements, however their shapes are written."""

    name = "launch-tensor-of-equal-size"
    family = Family.INDEXING

    def sites(self, context: PlanContext) -> Iterator[PlanEdit]:
        scratch = {space.name for space in context.plan.workspaces}
        written: dict[str, list[str]] = {}  # what exists so far, and what it was made from
        for site in context.launches():
            read = context.read_by(site.launch)
            for index, argument in pointer_arguments(site.launch):
                own = argument.value
                others = [
                    name
                    for name, shape in context.shapes.items()
                    if name != own
                    and shape != context.shapes.get(own)
                    and context.size(name) == context.size(own)
                    and (name in written or name not in scratch)
                    and name not in written.get(own, ())  # `LaunchBypassed` passes that
                ]
                if own in read and others:
                    yield site.set(Field.ARGUMENT, index, others[0])
            for name in context.written_by(site.launch):
                written.setdefault(name, read)


class LaunchOrderSwapped(LaunchRule):
    """Runs two stages in the wrong order: each reads and writes what the other should."""

    name = "launch-order-swapped"
    family = Family.BOUNDARY

    def sites(self, context: PlanContext) -> Iterator[PlanEdit]:
        steps = context.plan.steps
        for index, (first, second) in enumerate(pairwise(steps)):
            if not isinstance(first, Launch) or not isinstance(second, Launch):
                continue
            for names in self._exchanges(context, steps[:index], first, second):
                late = _renamed((first,), {names[0]: names[1], names[1]: names[2]})
                early = _renamed((second,), {names[1]: names[0], names[2]: names[1]})
                yield context.replace_steps((*steps[:index], *early, *late, *steps[index + 2 :]))

    def _exchanges(
        self, context: PlanContext, before: Sequence[Step], first: Launch, second: Launch
    ) -> Iterator[tuple[str, str, str]]:
        """Yield what the first stage reads, what it hands on, and what the second writes.

        One name three times: both update it in place.
        """
        held = {name for step in before for name in _names(step)}
        in_place = set(context.written_by(first)) & set(context.written_by(second)) & held
        if in_place:
            name = min(in_place)
            yield name, name, name
            return
        middle = _made(context, before, first)
        last = _made(context, (*before, first), second)
        if middle is None or last is None or middle not in context.read_by(second):
            return
        for given in context.read_by(first):
            sizes = {context.size(name) for name in (given, middle, last)}
            if len(sizes) == 1 and None not in sizes and given != middle:
                yield given, middle, last


def _made(context: PlanContext, before: Sequence[Step], step: Step) -> str | None:
    """Return the only tensor that a launch writes, if nothing before it uses that one."""
    if not isinstance(step, Launch):
        return None
    written = context.written_by(step)
    if len(written) != 1 or context.size(written[0]) is None:
        return None
    used = {name for one in before for name in _names(one)} | set(context.read_by(step))
    return None if written[0] in used else written[0]


def _is_scratch(context: PlanContext, name: str) -> bool:
    return any(space.name == name for space in context.plan.workspaces)


def _aliased(context: PlanContext, rest: Sequence[Step], made: str, given: str) -> bool:
    """Return whether passing one tensor for another of equal shape is the same fault already."""
    shapes = context.shapes
    equal = [n for n, shape in shapes.items() if n != made and shape == shapes.get(made)]
    uses = [name for step in rest for name in _names(step)].count(made)
    return uses == 1 and equal[:1] == [given]


def _names(step: Step) -> list[str]:
    """Return the tensors that a step passes, in order."""
    if isinstance(step, Launch):
        return [argument.value for _, argument in pointer_arguments(step)]
    inner = (*step.steps, *step.otherwise) if isinstance(step, When) else step.steps
    return [name for one in inner for name in _names(one)]


def _renamed(steps: Sequence[Step], names: Mapping[str, str]) -> tuple[Step, ...]:
    """Return steps that pass other tensors."""
    found: list[Step] = []
    for step in steps:
        match step:
            case Launch():
                found.append(
                    replace(step, arguments=tuple(_argument(a, names) for a in step.arguments))
                )
            case When():
                inner = _renamed(step.steps, names)
                found.append(replace(step, steps=inner, otherwise=_renamed(step.otherwise, names)))
            case Repeat():
                found.append(replace(step, steps=_renamed(step.steps, names)))
    return tuple(found)


def _argument(argument: Argument, names: Mapping[str, str]) -> Argument:
    if argument.type is not ArgumentType.POINTER:
        return argument
    return replace(argument, value=names.get(argument.value, argument.value))
