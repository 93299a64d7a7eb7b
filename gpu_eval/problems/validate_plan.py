"""Checking sources, kernels and launch plans of a definition."""

from collections.abc import Iterator, Mapping, Sequence

from gpu_eval.problems import expressions
from gpu_eval.problems.definition import Problem, Substrate
from gpu_eval.problems.loader import INCLUDE, all_substrates, launches, sources
from gpu_eval.problems.locate import Definition
from gpu_eval.problems.plan import (
    Argument,
    ArgumentType,
    Launch,
    Repeat,
    ResolvedLaunch,
    Step,
    When,
    evaluate_float,
)
from gpu_eval.problems.signatures import Signature, read_source
from gpu_eval.problems.tensors import all_specs, contract, dimensions, smallest_sizes
from suiteopt.errors import UserError

MAX_THREADS = 1024
MAX_GRID = (2**31 - 1, 65535, 65535)
MAX_SHARED = 48 * 1024

_FUNCTIONS = {
    ArgumentType.POINTER: "pointer",
    ArgumentType.INT32: "int32",
    ArgumentType.INT64: "int64",
    ArgumentType.FLOAT: "float32",
}


def check_substrates(problem: Problem, definition: Definition) -> None:
    """Check every CUDA implementation of a problem, its controls' included.

    Raises
    ------
    UserError
        With file, line and reason.
    """
    for substrate in all_substrates(problem):
        if not substrate.source.endswith(".cu"):
            raise definition.error(f"'{substrate.source}' is not a .cu file", substrate.source)
        signatures = _read_sources(problem, substrate, definition)
        known = frozenset(contract(problem)) | frozenset(problem.scalars)
        for workspace in substrate.plan.workspaces:
            _check_expression(workspace.elements, known, definition)
        if not substrate.plan.steps:
            raise definition.error(
                f"substrate '{substrate.name}' launches nothing", substrate.name, "Substrate"
            )
        for launch, names in _launches(substrate.plan.steps, known, definition):
            _check_launch(problem, substrate, launch, names, signatures, definition)
        _check_outputs(problem, substrate, definition)
        for values in (contract(problem), dimensions(problem, smallest_sizes(problem))):
            _check_resolved(problem, substrate, values, definition)


def _read_sources(
    problem: Problem, substrate: Substrate, definition: Definition
) -> dict[str, Signature]:
    for name in (substrate.source, *substrate.headers):
        if not any((root / name).is_file() for root in (problem.directory, INCLUDE)):
            raise definition.error(
                f"no source file '{name}' beside the definition or in {INCLUDE.name}/", name
            )
    files = sources(problem, substrate)
    signatures: dict[str, Signature] = {}
    for name, text in files.items():
        own = problem.directory / name
        path = own if own.is_file() else INCLUDE / name
        facts = read_source(path, text)
        for include in facts.includes:
            if include.name not in files:
                raise UserError(
                    f'{path}:{include.line}: includes "{include.name}", which is not among the '
                    f"headers of substrate '{substrate.name}' of problem {problem.id}; add it there"
                )
        for signature in facts.signatures:
            if signature.kernel in signatures:
                raise UserError(
                    f"{path}:{signature.line}: kernel '{signature.kernel}' is defined twice"
                )
            signatures[signature.kernel] = signature
    return signatures


def _launches(
    steps: Sequence[Step], names: frozenset[str], definition: Definition
) -> Iterator[tuple[Launch, frozenset[str]]]:
    """Yield launches with the names that their expressions may use; check conditions and loops."""
    for step in steps:
        match step:
            case Launch():
                yield step, names
            case When():
                _check_expression(step.condition, names, definition)
                yield from _launches((*step.steps, *step.otherwise), names, definition)
            case Repeat():
                _check_expression(step.start, names, definition)
                _check_expression(step.stop, names, definition)
                yield from _launches(step.steps, names | {step.variable}, definition)


def _check_launch(
    problem: Problem,
    substrate: Substrate,
    launch: Launch,
    names: frozenset[str],
    signatures: Mapping[str, Signature],
    definition: Definition,
) -> None:
    signature = signatures.get(launch.kernel)
    if signature is None:
        found = ", ".join(signatures) or "none"
        raise definition.error(
            f"substrate '{substrate.name}' launches '{launch.kernel}', which {substrate.source} "
            f"and its headers do not define (found: {found})",
            launch.kernel,
        )
    for text in (*launch.grid, *launch.block, launch.shared):
        _check_expression(text, names, definition)
    if len(launch.arguments) != len(signature.parameters):
        raise definition.error(
            f"'{launch.kernel}' is launched with {len(launch.arguments)} arguments and takes "
            f"{len(signature.parameters)} ({signature.path.name}:{signature.line})",
            launch.kernel,
        )
    tensors = {s.name for s in all_specs(problem)}
    tensors |= {w.name for w in substrate.plan.workspaces}
    pairs = zip(launch.arguments, signature.parameters, strict=True)
    for number, (argument, parameter) in enumerate(pairs, start=1):
        if parameter.type is not argument.type:
            raise definition.error(
                f"argument {number} of '{launch.kernel}' is a {argument.type.value} "
                f"('{argument.value}'), but the kernel takes '{parameter.text}' "
                f"({signature.path.name}:{signature.line})",
                argument.value,
                _FUNCTIONS[argument.type],
            )
        _check_argument(problem, argument, tensors, names, definition)


def _check_argument(
    problem: Problem,
    argument: Argument,
    tensors: set[str],
    names: frozenset[str],
    definition: Definition,
) -> None:
    match argument.type:
        case ArgumentType.POINTER:
            if argument.value not in tensors:
                known = ", ".join(sorted(tensors))
                raise definition.error(
                    f"pointer '{argument.value}' names no tensor and no workspace; known: {known}",
                    argument.value,
                    "pointer",
                )
        case ArgumentType.FLOAT:
            try:
                scalars = dict.fromkeys(names, 1.0) | dict(problem.scalars)
                evaluate_float(argument.value, scalars)
            except UserError as error:
                raise definition.error(str(error), argument.value, "float32") from error
        case _:
            _check_expression(argument.value, names, definition)


def _check_expression(text: str, names: frozenset[str], definition: Definition) -> None:
    try:
        unknown = expressions.names(text) - names
    except UserError as error:
        raise definition.error(str(error), text) from error
    if unknown:
        known = ", ".join(sorted(names))
        raise definition.error(
            f"expression '{text}': unknown name '{min(unknown)}'; known: {known}", text
        )


def _check_outputs(problem: Problem, substrate: Substrate, definition: Definition) -> None:
    passed = {
        argument.value
        for launch in launches(substrate.plan.steps)
        for argument in launch.arguments
        if argument.type is ArgumentType.POINTER
    }
    for output in problem.outputs:
        if output.name not in passed:
            raise definition.error(
                f"substrate '{substrate.name}' passes the output '{output.name}' to no kernel",
                substrate.name,
                "Substrate",
            )


def _check_resolved(
    problem: Problem, substrate: Substrate, values: Mapping[str, int], definition: Definition
) -> None:
    try:
        plan = substrate.plan.resolve(values, problem.scalars)
    except UserError as error:
        raise definition.error(str(error), getattr(error, "text", substrate.name)) from error
    at = ", ".join(f"{d.name} = {values[d.name]}" for d in problem.dimensions)
    for workspace in plan.workspaces:
        if workspace.elements < 1:
            raise definition.error(
                f"workspace '{workspace.name}' has {workspace.elements} elements at {at}",
                workspace.name,
                "Workspace",
            )
    for launch in plan.launches:
        reason = _limits_broken(launch)
        if reason:
            raise definition.error(f"'{launch.kernel}' {reason} at {at}", launch.kernel)


def _limits_broken(launch: ResolvedLaunch) -> str:
    threads = launch.block[0] * launch.block[1] * launch.block[2]
    if min(launch.block) < 1 or threads > MAX_THREADS or launch.block[2] > 64:
        return f"has a block of {launch.block} threads; CUDA allows 1 to {MAX_THREADS}, z up to 64"
    if any(not 1 <= size <= most for size, most in zip(launch.grid, MAX_GRID, strict=True)):
        return f"has a grid of {launch.grid} blocks; CUDA allows 1 to {MAX_GRID}"
    if not 0 <= launch.shared <= MAX_SHARED:
        return (
            f"asks for {launch.shared} bytes of dynamic shared memory; 0 to {MAX_SHARED} are safe"
        )
    for argument in launch.arguments:
        if argument.type is ArgumentType.INT32 and not -(2**31) <= int(argument.value) < 2**31:
            return f"gets {argument.value} as an int, which it does not hold; use int64"
    return ""
