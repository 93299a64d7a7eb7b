"""Faults of the launch plan: too few blocks, swapped dimensions, a workspace left dirty."""

# ruff: noqa: D102 (``sites`` is documented where it is declared)

import ast
from abc import abstractmethod
from collections.abc import Iterator
from dataclasses import replace

from gpu_eval.mutation.launch import (
    Field,
    LaunchSite,
    PlanContext,
    PlanEdit,
    integer_arguments,
)
from gpu_eval.mutation.rule import LaunchRule
from gpu_eval.problems import expressions
from gpu_eval.problems.plan import Repeat, When
from suiteopt.matrix.schema import Family

_AXES = ((0, 1), (0, 2), (1, 2))


def _is_number(text: str) -> bool:
    return not expressions.names(text)


class LaunchByLaunch(LaunchRule):
    """A rule that looks at one launch at a time."""

    def sites(self, context: PlanContext) -> Iterator[PlanEdit]:
        for site in context.launches():
            yield from self.edits(site)

    @abstractmethod
    def edits(self, site: LaunchSite) -> Iterator[PlanEdit]:
        """Yield every edit of one launch."""


class LaunchCeilToFloor(LaunchByLaunch):
    """Rounds the number of blocks down: ``ceil_div(a, b)`` becomes ``(a) // (b)``."""

    name = "launch-ceil-to-floor"
    family = Family.BOUNDARY

    def edits(self, site: LaunchSite) -> Iterator[PlanEdit]:
        for axis, text in enumerate(site.launch.grid):
            changed = _floored(text)
            if changed != text:
                yield site.set(Field.GRID, axis, changed)


def _floored(text: str) -> str:
    """Rewrite the first ``ceil_div`` call of an expression as a floor division."""
    tree = expressions.parse(text)
    for node in ast.walk(tree):
        if isinstance(node, ast.Call) and getattr(node.func, "id", "") == "ceil_div":
            a, b = (ast.get_source_segment(text.strip(), x) or "" for x in node.args)
            whole = ast.get_source_segment(text.strip(), node) or ""
            return text.replace(whole, f"(({a}) // ({b}))", 1)
    return text


class LaunchGridMinusOne(LaunchByLaunch):
    """Launches one block too few along an axis."""

    name = "launch-grid-minus-one"
    family = Family.BOUNDARY

    def edits(self, site: LaunchSite) -> Iterator[PlanEdit]:
        for axis, text in enumerate(site.launch.grid):
            if not _is_number(text):
                yield site.set(Field.GRID, axis, f"{text} - 1")


class LaunchGridPlusOne(LaunchByLaunch):
    """Launches one block too many along an axis."""

    name = "launch-grid-plus-one"
    family = Family.BOUNDARY

    def edits(self, site: LaunchSite) -> Iterator[PlanEdit]:
        for axis, text in enumerate(site.launch.grid):
            if not _is_number(text):
                yield site.set(Field.GRID, axis, f"{text} + 1")


class LaunchBlockHalved(LaunchByLaunch):
    """Launches half the threads of a block along an axis."""

    name = "launch-block-halved"
    family = Family.BOUNDARY

    def edits(self, site: LaunchSite) -> Iterator[PlanEdit]:
        for axis, text in enumerate(site.launch.block):
            if text.strip() == "1":
                continue
            if _is_number(text):
                yield site.set(Field.BLOCK, axis, str(expressions.evaluate(text, {}) // 2))
            else:
                yield site.set(Field.BLOCK, axis, f"({text}) // 2")


class LaunchBlockDoubled(LaunchByLaunch):
    """Launches twice the threads of a block along an axis."""

    name = "launch-block-doubled"
    family = Family.BOUNDARY

    def edits(self, site: LaunchSite) -> Iterator[PlanEdit]:
        for axis, text in enumerate(site.launch.block):
            if text.strip() == "1":
                continue
            if _is_number(text):
                yield site.set(Field.BLOCK, axis, str(expressions.evaluate(text, {}) * 2))
            else:
                yield site.set(Field.BLOCK, axis, f"({text}) * 2")


class LaunchSharedShort(LaunchByLaunch):
    """Asks for half the dynamic shared memory."""

    name = "launch-shared-short"
    family = Family.BOUNDARY

    def edits(self, site: LaunchSite) -> Iterator[PlanEdit]:
        if site.launch.shared.strip() != "0":
            yield site.set(Field.SHARED, 0, f"({site.launch.shared}) // 2")


class LaunchArgumentMinusOne(LaunchByLaunch):
    """Passes an extent that is one too small."""

    name = "launch-argument-minus-one"
    family = Family.BOUNDARY

    def edits(self, site: LaunchSite) -> Iterator[PlanEdit]:
        for index, argument in integer_arguments(site.launch):
            if not _is_number(argument.value):
                yield site.set(Field.ARGUMENT, index, f"{argument.value} - 1")


class LaunchArgumentPlusOne(LaunchByLaunch):
    """Passes an extent that is one too large."""

    name = "launch-argument-plus-one"
    family = Family.BOUNDARY

    def edits(self, site: LaunchSite) -> Iterator[PlanEdit]:
        for index, argument in integer_arguments(site.launch):
            if not _is_number(argument.value):
                yield site.set(Field.ARGUMENT, index, f"{argument.value} + 1")


class LaunchZeroingDropped(LaunchRule):
    """Leaves an accumulating workspace as the last run left it."""

    name = "launch-zeroing-dropped"
    family = Family.BOUNDARY

    def sites(self, context: PlanContext) -> Iterator[PlanEdit]:
        for index, workspace in enumerate(context.plan.workspaces):
            if workspace.zeroed:
                yield context.replace_workspace(index, replace(workspace, zeroed=False))


class LaunchLeftOut(LaunchRule):
    """Leaves out one launch of several."""

    name = "launch-left-out"
    family = Family.BOUNDARY

    def sites(self, context: PlanContext) -> Iterator[PlanEdit]:
        sites = list(context.launches())
        for site in sites if len(sites) > 1 else ():
            yield site.remove()


class LaunchRepeatShort(LaunchRule):
    """Repeats a step of the plan once too few."""

    name = "launch-repeat-short"
    family = Family.BOUNDARY

    def sites(self, context: PlanContext) -> Iterator[PlanEdit]:
        for path, step, line in context.steps():
            if isinstance(step, Repeat):
                shorter = replace(step, stop=f"({step.stop}) - 1")
                yield context.replace_lines(path, line, (shorter,))


class LaunchConditionForced(LaunchRule):
    """Takes one branch of the plan whatever the shape is."""

    name = "launch-condition-forced"
    family = Family.BOUNDARY

    def sites(self, context: PlanContext) -> Iterator[PlanEdit]:
        for path, step, line in context.steps():
            if isinstance(step, When):
                yield context.replace_lines(path, line, (replace(step, condition="1"),))
                yield context.replace_lines(path, line, (replace(step, condition="0"),))
