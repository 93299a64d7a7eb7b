"""Launch plans as data: what a host wrapper around CUDA kernels does, without the wrapper.

A plan is a list of steps over named tensors, workspaces and integer expressions
(`gpu_eval.problems.expressions`). It resolves, for given dimensions, to concrete launches that
every device runs in order. Launch faults edit its expressions like any other source.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum

from gpu_eval.problems import expressions
from suiteopt.errors import UserError


class ArgumentType(StrEnum):
    """The C type of a kernel argument."""

    POINTER = "pointer"
    INT32 = "int32"
    INT64 = "int64"
    FLOAT = "float"


@dataclass(frozen=True, slots=True)
class Argument:
    """One kernel argument.

    ``value`` is a tensor or workspace name (pointer), an integer expression (int32, int64), or
    for floats a literal, a named scalar, or one division ``a / b`` of such.
    """

    type: ArgumentType
    value: str


def pointer(name: str) -> Argument:
    """Return a pointer to a named input, parameter, output or workspace."""
    return Argument(ArgumentType.POINTER, name)


def int32(expression: str) -> Argument:
    """Return an ``int`` argument."""
    return Argument(ArgumentType.INT32, expression)


def int64(expression: str) -> Argument:
    """Return a ``long long`` argument."""
    return Argument(ArgumentType.INT64, expression)


def float32(expression: str) -> Argument:
    """Return a ``float`` argument."""
    return Argument(ArgumentType.FLOAT, expression)


@dataclass(frozen=True, slots=True)
class Launch:
    """One kernel launch: ``kernel<<<grid, block, shared>>>(arguments)``; shared in bytes."""

    kernel: str
    grid: tuple[str, str, str]
    block: tuple[str, str, str]
    arguments: tuple[Argument, ...]
    shared: str = "0"


@dataclass(frozen=True, slots=True)
class When:
    """Steps that run only if a condition (an integer expression) is not zero."""

    condition: str
    steps: tuple["Step", ...]
    otherwise: tuple["Step", ...] = ()


@dataclass(frozen=True, slots=True)
class Repeat:
    """Steps repeated with ``variable`` running over ``range(start, stop)``."""

    variable: str
    start: str
    stop: str
    steps: tuple["Step", ...]


Step = Launch | When | Repeat


@dataclass(frozen=True, slots=True)
class Workspace:
    """Scratch memory: a name, elements (expression) of 4 bytes, zeroed before each run or not."""

    name: str
    elements: str
    zeroed: bool = False


@dataclass(frozen=True, slots=True)
class LaunchPlan:
    """Workspaces and steps of one substrate."""

    steps: tuple[Step, ...]
    workspaces: tuple[Workspace, ...] = ()

    def resolve(
        self, dimensions: Mapping[str, int], scalars: Mapping[str, float]
    ) -> "ResolvedPlan":
        """Evaluate every expression for concrete dimensions.

        Parameters
        ----------
        dimensions : mapping of str to int
            Sizes of named dimensions, derived ones and integer scalars included.
        scalars : mapping of str to float
            Named scalars that float arguments may use.

        Raises
        ------
        UserError
            If an expression is not allowed, or a name is unknown.
        """
        launches: list[ResolvedLaunch] = []
        _resolve_steps(self.steps, dict(dimensions), scalars, launches)
        workspaces = tuple(
            ResolvedWorkspace(w.name, expressions.evaluate(w.elements, dimensions), w.zeroed)
            for w in self.workspaces
        )
        return ResolvedPlan(tuple(launches), workspaces)


@dataclass(frozen=True, slots=True)
class ResolvedArgument:
    """An argument with its value: a tensor name, an int, or a float."""

    type: ArgumentType
    value: str | int | float


@dataclass(frozen=True, slots=True)
class ResolvedLaunch:
    """A launch with concrete sizes."""

    kernel: str
    grid: tuple[int, int, int]
    block: tuple[int, int, int]
    shared: int
    arguments: tuple[ResolvedArgument, ...]


@dataclass(frozen=True, slots=True)
class ResolvedWorkspace:
    """Scratch memory of concrete size, in elements of 4 bytes."""

    name: str
    elements: int
    zeroed: bool


@dataclass(frozen=True, slots=True)
class ResolvedPlan:
    """What a device runs; equal plans on all shapes in use are the same plan."""

    launches: tuple[ResolvedLaunch, ...]
    workspaces: tuple[ResolvedWorkspace, ...] = field(default=())


def evaluate_float(text: str, scalars: Mapping[str, float]) -> float:
    """Evaluate a float argument: a literal, a named scalar, or one division of such.

    Raises
    ------
    UserError
        If the text is anything else, names an unknown scalar, or divides by zero.
    """
    parts = [part.strip() for part in text.split("/")]
    if len(parts) > 2:
        raise UserError(f"float argument '{text}': at most one division is allowed")
    values = [_float_atom(part, text, scalars) for part in parts]
    if len(values) == 1:
        return values[0]
    if values[1] == 0:
        raise UserError(f"float argument '{text}': division by zero")
    return values[0] / values[1]


def _float_atom(part: str, text: str, scalars: Mapping[str, float]) -> float:
    if part in scalars:
        return float(scalars[part])
    try:
        return float(part)
    except ValueError:
        raise UserError(
            f"float argument '{text}': '{part}' is neither a number nor a named scalar"
        ) from None


def _resolve_steps(
    steps: tuple[Step, ...],
    dimensions: dict[str, int],
    scalars: Mapping[str, float],
    launches: list[ResolvedLaunch],
) -> None:
    for step in steps:
        match step:
            case Launch():
                launches.append(_resolve_launch(step, dimensions, scalars))
            case When():
                taken = expressions.evaluate(step.condition, dimensions) != 0
                chosen = step.steps if taken else step.otherwise
                _resolve_steps(chosen, dimensions, scalars, launches)
            case Repeat():
                start = expressions.evaluate(step.start, dimensions)
                stop = expressions.evaluate(step.stop, dimensions)
                for value in range(start, stop):
                    inner = dimensions | {step.variable: value}
                    _resolve_steps(step.steps, inner, scalars, launches)


def _resolve_launch(
    launch: Launch, dimensions: Mapping[str, int], scalars: Mapping[str, float]
) -> ResolvedLaunch:
    grid = tuple(expressions.evaluate(text, dimensions) for text in launch.grid)
    block = tuple(expressions.evaluate(text, dimensions) for text in launch.block)
    arguments: list[ResolvedArgument] = []
    for argument in launch.arguments:
        value: str | int | float
        match argument.type:
            case ArgumentType.POINTER:
                value = argument.value
            case ArgumentType.FLOAT:
                value = evaluate_float(argument.value, {**dimensions, **scalars})
            case _:
                value = expressions.evaluate(argument.value, dimensions)
        arguments.append(ResolvedArgument(argument.type, value))
    return ResolvedLaunch(
        kernel=launch.kernel,
        grid=(grid[0], grid[1], grid[2]),
        block=(block[0], block[1], block[2]),
        shared=expressions.evaluate(launch.shared, dimensions),
        arguments=tuple(arguments),
    )
