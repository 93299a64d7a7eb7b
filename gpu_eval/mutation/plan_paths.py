"""Steps of a launch plan by where they stand, and how many lines they take when rendered."""

from collections.abc import Iterator
from dataclasses import replace

from gpu_eval.problems.plan import Launch, LaunchPlan, Repeat, Step, When

Path = tuple[tuple[str, int], ...]
"""Where a step stands: (``steps`` or ``otherwise``, index) from the outermost step inwards."""


def replace_step(plan: LaunchPlan, path: Path, steps: tuple[Step, ...]) -> LaunchPlan:
    """Return a plan in which the step at a path is replaced by others (or none)."""
    return replace(plan, steps=_replaced(plan.steps, [i for _, i in path], path, steps))


def _replaced(
    steps: tuple[Step, ...], indices: list[int], path: Path, new: tuple[Step, ...]
) -> tuple[Step, ...]:
    index = indices[0]
    if len(path) == 1:
        return steps[:index] + new + steps[index + 1 :]
    outer = steps[index]
    branch = path[1][0]
    match outer:
        case When() if branch == "otherwise":
            inner = _replaced(outer.otherwise, indices[1:], path[1:], new)
            changed: Step = replace(outer, otherwise=inner)
        case When() | Repeat():
            changed = replace(outer, steps=_replaced(outer.steps, indices[1:], path[1:], new))
        case _:
            raise AssertionError("a launch has no steps inside")
    return (*steps[:index], changed, *steps[index + 1 :])


def step_at(plan: LaunchPlan, path: Path) -> Step:
    """Return the step at a path."""
    steps = plan.steps
    for position, (_, index) in enumerate(path):
        step = steps[index]
        if position + 1 == len(path):
            return step
        if isinstance(step, When) and path[position + 1][0] == "otherwise":
            steps = step.otherwise
        elif not isinstance(step, Launch):
            steps = step.steps
    raise AssertionError("a path names at least one step")


def step_lines(step: Step) -> int:
    """Return how many lines a step takes in the rendered text."""
    match step:
        case Launch():
            return 1
        case When():
            extra = 1 + sum(map(step_lines, step.otherwise)) if step.otherwise else 0
            return 1 + sum(map(step_lines, step.steps)) + extra
        case Repeat():
            return 1 + sum(map(step_lines, step.steps))


def walk_steps(
    steps: tuple[Step, ...], path: Path, branch: str, line: int
) -> Iterator[tuple[Path, Step, int]]:
    """Yield steps and those inside them with their paths and lines of the rendered text."""
    for index, step in enumerate(steps):
        here = (*path, (branch, index))
        yield here, step, line
        match step:
            case When():
                yield from walk_steps(step.steps, here, "steps", line + 1)
                below = line + 2 + sum(map(step_lines, step.steps))
                yield from walk_steps(step.otherwise, here, "otherwise", below)
            case Repeat():
                yield from walk_steps(step.steps, here, "steps", line + 1)
            case Launch():
                pass
        line += step_lines(step)
