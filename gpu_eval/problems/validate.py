"""Refusing a wrong problem definition, with file, line and reason."""

from collections import Counter
from collections.abc import Iterable

from gpu_eval.problems import expressions
from gpu_eval.problems.definition import Problem, Structure
from gpu_eval.problems.loader import DEFINITION
from gpu_eval.problems.locate import TENSORS, Definition
from gpu_eval.problems.tensors import all_specs, contract, reduction_length, shape_of
from gpu_eval.problems.validate_plan import check_substrates
from gpu_eval.problems.validate_run import check_callables
from suiteopt.errors import UserError

MINIMUM_KINDS = 3
MINIMUM_OF_A_REDUCTION = 6

FLOAT = "float32"
INTEGERS = ("int32", "int64")
INPUT_DTYPES = {Structure.MASK: "bool", Structure.CLASS_IDS: "int64"}
"""What recipes make of structured inputs; of all others `FLOAT`."""


def validate(problem: Problem) -> None:
    """Check everything of a definition that needs no device.

    In order: names, sizes and expressions; sources, kernels and launch plans; reference,
    parameters and torch controls (run on tiny tensors); the controls that a problem must have.

    Parameters
    ----------
    problem : Problem
        As `gpu_eval.problems.loader` gives it: its sources are read and parsed.

    Raises
    ------
    UserError
        At the first thing that is wrong: ``<file>:<line>: problem <id>: <reason>``.
    """
    definition = Definition(problem.directory / DEFINITION, problem.id)
    _check_names(problem, definition)
    _check_sizes(problem, definition)
    check_substrates(problem, definition)
    check_callables(problem, definition)
    _check_controls(problem, definition)


def _check_names(problem: Problem, definition: Definition) -> None:
    if not problem.outputs:
        raise definition.error("has no output", problem.id)
    if not problem.substrates:
        raise definition.error("has no substrate; at least one CUDA kernel is needed", problem.id)
    _check_dtypes(problem, definition)
    sizes = [d.name for d in problem.dimensions] + [*problem.derived, *problem.scalars]
    tensors = [s.name for s in all_specs(problem)]
    implementations = [s.name for s in problem.substrates] + [c.name for c in problem.controls]
    _refuse_twice(sizes, "dimension, derived size or scalar", definition, "Dimension")
    _refuse_twice(tensors, "tensor", definition, *TENSORS)
    _refuse_twice(implementations, "substrate or control", definition, "Control", "Substrate")
    for name in (*sizes, *tensors):
        if not name.isidentifier():
            raise definition.error(f"'{name}' is not an identifier", name)
    for substrate in problem.substrates:
        workspaces = [w.name for w in substrate.plan.workspaces]
        _refuse_twice([*tensors, *workspaces], "tensor or workspace", definition, "Workspace")


def _check_dtypes(problem: Problem, definition: Definition) -> None:
    """Refuse inputs that no recipe makes, and outputs that nothing judges."""
    for spec in problem.inputs:
        wanted = INPUT_DTYPES.get(spec.structure, FLOAT)
        if spec.dtype != wanted:
            raise definition.error(
                f"input '{spec.name}' is {spec.dtype}; recipes make tensors of structure "
                f"'{spec.structure.value}' {wanted}",
                spec.name,
                *TENSORS,
            )
    for spec in problem.outputs:
        if spec.dtype not in (FLOAT, *INTEGERS):
            raise definition.error(
                f"output '{spec.name}' is {spec.dtype}; {FLOAT}, {' and '.join(INTEGERS)} can be "
                "judged",
                spec.name,
                *TENSORS,
            )
    floats = [spec.name for spec in problem.outputs if spec.dtype == FLOAT]
    integers = [spec.name for spec in problem.outputs if spec.dtype in INTEGERS]
    if floats and integers:
        raise definition.error(
            f"output '{floats[0]}' holds floats and '{integers[0]}' integers, which cannot be "
            "judged together; make two problems of it",
            integers[0],
            *TENSORS,
        )


def _refuse_twice(names: Iterable[str], what: str, definition: Definition, *functions: str) -> None:
    for name, count in Counter(names).items():
        if count > 1:
            raise definition.error(
                f"{what} '{name}' is defined {count} times; rename one", name, *functions
            )


def _check_sizes(problem: Problem, definition: Definition) -> None:
    for d in problem.dimensions:
        if d.tile < 1 or d.minimum < 1 or d.size < d.minimum:
            raise definition.error(
                f"dimension '{d.name}' has size {d.size}, minimum {d.minimum}, tile {d.tile}; "
                "tile and minimum are at least 1, the size at least the minimum",
                d.name,
                "Dimension",
            )
    values = {d.name: d.size for d in problem.dimensions}
    values |= {name: value for name, value in problem.scalars.items() if isinstance(value, int)}
    for name, text in problem.derived.items():
        values[name] = _evaluated(text, values, definition)
    for text in (problem.reduction_length, problem.work or "0", problem.held):
        _evaluated(text, values, definition)
    for spec in all_specs(problem):
        for text in spec.shape:
            _evaluated(text, values, definition)
        if min(shape_of(spec, values), default=1) < 1:
            shape = shape_of(spec, values)
            raise definition.error(
                f"tensor '{spec.name}' has the shape {shape}", spec.name, *TENSORS
            )


def _evaluated(text: str, values: dict[str, int], definition: Definition) -> int:
    try:
        return expressions.evaluate(text, values)
    except UserError as error:
        raise definition.error(str(error), text) from error


def _check_controls(problem: Problem, definition: Definition) -> None:
    counted = [c for c in problem.controls if not c.blind and not (problem.rounds and c.identical)]
    kinds = {c.kind for c in counted}
    which = "that neither are blind nor equal the reference" if problem.rounds else "(not blind)"
    if len(kinds) < MINIMUM_KINDS:
        raise definition.error(
            f"has {len(kinds)} kinds of controls {which} ({', '.join(sorted(kinds)) or 'none'}); "
            f"at least {MINIMUM_KINDS} are needed",
            "controls",
        )
    if reduction_length(problem, contract(problem)) <= 1 or not problem.rounds:
        return
    if len(counted) < MINIMUM_OF_A_REDUCTION:
        raise definition.error(
            f"reduces and has {len(counted)} controls {which}; at least "
            f"{MINIMUM_OF_A_REDUCTION} are needed",
            "controls",
        )
    if "serial" not in kinds:
        raise definition.error(
            "reduces and has no control of kind 'serial' (fp32, first term to last)", "controls"
        )
