"""Launch plans as rules see them: every expression with its place in the rendered text."""

import dataclasses
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from enum import StrEnum
from itertools import takewhile
from zlib import crc32

from gpu_eval.mutation.plan_paths import Path, replace_step, step_at, step_lines, walk_steps
from gpu_eval.problems import expressions
from gpu_eval.problems.plan import (
    Argument,
    ArgumentType,
    Launch,
    LaunchPlan,
    Step,
    Workspace,
)
from gpu_eval.problems.plan_text import render


class Field(StrEnum):
    """An expression of a launch that a fault may edit."""

    GRID = "grid"
    BLOCK = "block"
    SHARED = "shared"
    ARGUMENT = "argument"


@dataclass(frozen=True)
class PlanEdit:
    """One edit of a plan: a span of its rendered text, the text after, and the plan after."""

    start: int
    end: int
    after: str
    plan: LaunchPlan


@dataclass(frozen=True)
class PlanContext:
    """A plan with what launch rules need to know of its problem.

    Attributes
    ----------
    plan : LaunchPlan
    text : str
        The plan as `gpu_eval.problems.plan_text.render` gives it, which spans refer to.
    shapes : mapping of str to tuple of str
        Shapes, as expressions, of the problem's inputs and parameters and of workspaces.
    dimensions : tuple of str
        Names of the problem's dimensions, in order.
    outputs : mapping of str to tuple of str
        Shapes of the problem's outputs.
    constant : mapping of str to frozenset of int
        Of each kernel the positions of the pointers that it only reads. What a kernel that is
        missing reads and writes is not known.
    """

    plan: LaunchPlan
    text: str
    shapes: Mapping[str, tuple[str, ...]]
    dimensions: tuple[str, ...]
    outputs: Mapping[str, tuple[str, ...]] = dataclasses.field(default_factory=dict)
    constant: Mapping[str, frozenset[int]] = dataclasses.field(default_factory=dict)

    @classmethod
    def of(
        cls,
        plan: LaunchPlan,
        shapes: Mapping[str, tuple[str, ...]] | None = None,
        dimensions: tuple[str, ...] = (),
        outputs: Mapping[str, tuple[str, ...]] | None = None,
        constant: Mapping[str, frozenset[int]] | None = None,
    ) -> "PlanContext":
        """Return the context of a plan."""
        known = dict(shapes or {}) | {w.name: (w.elements,) for w in plan.workspaces}
        return cls(plan, render(plan), known, dimensions, outputs or {}, constant or {})

    def launches(self) -> Iterator["LaunchSite"]:
        """Yield every launch of the plan in the order of the rendered text."""
        for path, step, line in self.steps():
            if isinstance(step, Launch):
                yield LaunchSite(self, path, step, line)

    def steps(self) -> Iterator[tuple[Path, Step, int]]:
        """Yield every step with its path and the index of its line in the rendered text."""
        yield from walk_steps(self.plan.steps, (), "steps", len(self.plan.workspaces))

    def read_by(self, launch: Launch) -> list[str]:
        """Return the tensors that a launch only reads, none if that is not known."""
        constant = self.constant.get(launch.kernel, frozenset())
        return [a.value for i, a in pointer_arguments(launch) if i in constant]

    def written_by(self, launch: Launch) -> list[str]:
        """Return the tensors that a launch may write, none if that is not known."""
        constant = self.constant.get(launch.kernel)
        found = pointer_arguments(launch) if constant is not None else []
        return [a.value for i, a in found if i not in (constant or ())]

    def size(self, name: str) -> tuple[int, ...] | None:
        """Return what equals another tensor's if both have as many elements on every shape."""
        shape = self.shapes.get(name) or self.outputs.get(name)
        return None if shape is None else tuple(_elements(shape, salt) for salt in "ab")

    def line_start(self, line: int) -> int:
        """Return the offset at which a line of the rendered text begins."""
        lines = self.text.splitlines(keepends=True)
        return len("".join(lines[:line]).encode())

    def line_text(self, line: int) -> str:
        """Return a line of the rendered text without its line end."""
        return self.text.splitlines()[line]

    def replace_workspace(self, index: int, workspace: Workspace) -> PlanEdit:
        """Return the edit that replaces a workspace."""
        spaces = list(self.plan.workspaces)
        spaces[index] = workspace
        edited = replace(self.plan, workspaces=tuple(spaces))
        start = self.line_start(index)
        return PlanEdit(
            start,
            start + len(self.line_text(index).encode()),
            render(edited).splitlines()[index],
            edited,
        )

    def replace_steps(self, steps: tuple[Step, ...]) -> PlanEdit:
        """Return the edit that replaces all steps; its span are the lines that change."""
        edited = replace(self.plan, steps=steps)
        before, after = self.text.splitlines(keepends=True), render(edited).splitlines(True)
        same = _alike(before, after)
        tail = _alike(before[same:][::-1], after[same:][::-1])
        start = self.line_start(same)
        end = start + len("".join(before[same : len(before) - tail]).encode())
        return PlanEdit(start, end, "".join(after[same : len(after) - tail]), edited)

    def replace_lines(self, path: Path, line: int, steps: tuple[Step, ...]) -> PlanEdit:
        """Return the edit that replaces a whole step (all its lines) by others."""
        edited = replace_step(self.plan, path, steps)
        before, after = self.text.splitlines(keepends=True), render(edited).splitlines(True)
        removed = step_lines(step_at(self.plan, path))
        added = len(after) - len(before) + removed
        start = self.line_start(line)
        end = start + len("".join(before[line : line + removed]).encode())
        return PlanEdit(start, end, "".join(after[line : line + added]), edited)


@dataclass(frozen=True)
class LaunchSite:
    """One launch of a plan and where it stands in the rendered text."""

    context: PlanContext
    path: Path
    launch: Launch
    line: int

    def set(self, field: Field, index: int, text: str) -> PlanEdit:
        """Return the edit that replaces one expression (an argument keeps its type)."""
        spans = self._spans()
        start, end = spans[field, index]
        return PlanEdit(start, end, text, self._with(field, {index: text}))

    def set_all(self, field: Field, texts: Mapping[int, str]) -> PlanEdit:
        """Return the edit that replaces several expressions of one field; one span covers them."""
        edited = self._with(field, texts)
        spans = self._spans()
        indices = sorted(texts)
        start, end = spans[field, indices[0]][0], spans[field, indices[-1]][1]
        before = self.context.text.encode()
        after = render(edited).encode()
        return PlanEdit(start, end, after[start : end + len(after) - len(before)].decode(), edited)

    def remove(self) -> PlanEdit:
        """Return the edit that leaves the launch out."""
        return self.context.replace_lines(self.path, self.line, ())

    def _with(self, field: Field, texts: Mapping[int, str]) -> LaunchPlan:
        launch = self.launch
        match field:
            case Field.GRID | Field.BLOCK:
                old = launch.grid if field is Field.GRID else launch.block
                new = tuple(texts.get(i, text) for i, text in enumerate(old))
                three = (new[0], new[1], new[2])
                launch = (
                    replace(launch, grid=three)
                    if field is Field.GRID
                    else replace(launch, block=three)
                )
            case Field.SHARED:
                launch = replace(launch, shared=texts[0])
            case Field.ARGUMENT:
                new_arguments = tuple(
                    Argument(a.type, texts.get(i, a.value)) for i, a in enumerate(launch.arguments)
                )
                launch = replace(launch, arguments=new_arguments)
        return replace_step(self.context.plan, self.path, (launch,))

    def _spans(self) -> dict[tuple[Field, int], tuple[int, int]]:
        """Return the byte span of every expression; follows the format of `render`."""
        line = self.context.line_text(self.line)
        position = self.context.line_start(self.line) + len(line) - len(line.lstrip(" "))
        spans: dict[tuple[Field, int], tuple[int, int]] = {}

        def take(prefix: str, text: str, key: tuple[Field, int] | None) -> None:
            nonlocal position
            position += len(prefix.encode())
            if key is not None:
                spans[key] = (position, position + len(text.encode()))
            position += len(text.encode())

        take(self.launch.kernel, "<<<(", None)
        for field, texts in ((Field.GRID, self.launch.grid), (Field.BLOCK, self.launch.block)):
            for index, text in enumerate(texts):
                take(", " if index else "", text, (field, index))
            take("), (" if field is Field.GRID else "), ", "", None)
        take("", self.launch.shared, (Field.SHARED, 0))
        take(">>>(", "", None)
        for index, argument in enumerate(self.launch.arguments):
            prefix = (", " if index else "") + argument.type.value + " "
            take(prefix, argument.value, (Field.ARGUMENT, index))
        return spans


def _alike(one: list[str], other: list[str]) -> int:
    """Return how many of the first lines are the same."""
    return sum(1 for _ in takewhile(lambda pair: pair[0] == pair[1], zip(one, other, strict=False)))


def _elements(shape: tuple[str, ...], salt: str) -> int:
    """Return a number of elements where each name has a size of its own."""
    found = 1
    for text in shape:
        sizes = {name: 2 + crc32(f"{salt} {name}".encode()) for name in expressions.names(text)}
        found *= expressions.evaluate(text, sizes)
    return found


def integer_arguments(launch: Launch) -> list[tuple[int, Argument]]:
    """Return the integer arguments of a launch with their positions."""
    wanted = (ArgumentType.INT32, ArgumentType.INT64)
    return [(i, a) for i, a in enumerate(launch.arguments) if a.type in wanted]


def pointer_arguments(launch: Launch) -> list[tuple[int, Argument]]:
    """Return the pointer arguments of a launch with their positions."""
    return [(i, a) for i, a in enumerate(launch.arguments) if a.type is ArgumentType.POINTER]
