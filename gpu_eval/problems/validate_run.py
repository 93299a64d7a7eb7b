"""Checking the torch callables of a definition on tiny tensors, and shapes at the contract's."""

import traceback
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from typing import TYPE_CHECKING

from gpu_eval.problems.definition import ParameterSpec, Problem, Structure, Tensors, TensorSpec
from gpu_eval.problems.locate import TENSORS, Definition
from gpu_eval.problems.tensors import contract, dimensions, shape_of, smallest_sizes
from suiteopt.errors import UserError

if TYPE_CHECKING:
    import torch
    from torch import Tensor


def check_callables(problem: Problem, definition: Definition) -> None:
    """Run reference, parameters, magnitude and torch controls at the smallest congruent shape.

    The reference also runs on meta tensors (shapes without data) at the contract's sizes, where
    its operations can do that.

    Raises
    ------
    UserError
        If one of them raises (at the line where it does), or gives other names, shapes or dtypes
        than declared.
    """
    with _one_thread():
        _check_callables(problem, definition)


@contextmanager
def _one_thread() -> Iterator[None]:
    """Compute with one thread: of tensors this small others take longer to wake than to help."""
    import torch

    before = torch.get_num_threads()
    torch.set_num_threads(1)
    try:
        yield
    finally:
        torch.set_num_threads(before)


def _check_callables(problem: Problem, definition: Definition) -> None:
    import torch

    values = dimensions(problem, smallest_sizes(problem))
    generator = torch.Generator().manual_seed(0)
    tensors = {spec.name: _draw(spec, values, generator) for spec in problem.inputs}
    tensors |= _parameters(problem, values, definition)

    def checked(run: Callable[[Tensors], Tensors], given: Tensors, what: str) -> None:
        dtype = next(iter(given.values())).dtype if given else torch.float32
        with torch.no_grad():
            outputs = _called(run, given, what, definition)
        _compare(problem, outputs, values, dtype, what, definition)

    checked(problem.reference, tensors, "the reference")
    wide = {n: t.double() if t.is_floating_point() else t for n, t in tensors.items()}
    checked(problem.reference, wide, "the reference in fp64")
    if problem.magnitude is not None:
        checked(problem.magnitude, wide, "the magnitude")
    value_of = problem.value_of
    if value_of is not None:
        checked(lambda given: value_of(given, problem.reference(given)), wide, "'value_of'")
    for control in problem.controls:
        if (control.run is None) == (control.substrate is None):
            raise definition.error(
                f"control '{control.name}' needs either a torch callable or a substrate",
                control.name,
                "Control",
            )
        if control.run is not None:
            checked(control.run, tensors, f"control '{control.name}'")
    _check_contract(problem, definition)


def _draw(spec: TensorSpec, values: Mapping[str, int], generator: "torch.Generator") -> "Tensor":
    import torch

    shape = shape_of(spec, values)
    match spec.structure:
        case Structure.CLASS_IDS | Structure.MASK:
            return torch.zeros(shape, dtype=getattr(torch, spec.dtype))
        case Structure.PROBABILITY_ROWS:
            return torch.full(shape, 1.0 / max(shape[-1], 1), dtype=getattr(torch, spec.dtype))
    return torch.rand(shape, generator=generator).to(getattr(torch, spec.dtype))


def _parameters(
    problem: Problem, values: Mapping[str, int], definition: Definition
) -> dict[str, "Tensor"]:
    import torch

    shapes = {spec.name: shape_of(spec, values) for spec in problem.parameters}
    if not shapes:
        return {}
    if problem.initialise is None:
        raise definition.error("has parameters and no 'initialise'", next(iter(shapes)), *TENSORS)
    initialise = problem.initialise
    with torch.random.fork_rng(devices=[]):
        drawn = _called(lambda _: initialise(shapes), {}, "'initialise'", definition)
    if {name: tuple(tensor.shape) for name, tensor in drawn.items()} != shapes:
        got = {name: tuple(tensor.shape) for name, tensor in drawn.items()}
        raise definition.error(
            f"'initialise' gives the shapes {got}; declared: {shapes}", next(iter(shapes)), *TENSORS
        )
    return dict(drawn)


def _called(
    run: Callable[[Tensors], Tensors], tensors: Tensors, what: str, definition: Definition
) -> Tensors:
    import torch

    try:
        outputs = run(tensors)
    except Exception as error:
        frames = traceback.extract_tb(error.__traceback__)
        lines = [f.lineno for f in frames if f.filename == str(definition.path)]
        line = lines[-1] if lines else definition.line()
        reason = " ".join(f"{type(error).__name__}: {error}".split())[:300]
        raise UserError(
            f"{definition.path}:{line}: problem {definition.problem}: {what} fails with {reason}"
        ) from error
    if not isinstance(outputs, Mapping) or not all(
        isinstance(tensor, torch.Tensor) for tensor in outputs.values()
    ):
        code = getattr(run, "__code__", None)
        line = definition.line()
        if code is not None and code.co_filename == str(definition.path):
            line = code.co_firstlineno
        raise UserError(
            f"{definition.path}:{line}: problem {definition.problem}: {what} does not return a "
            "mapping of names to tensors"
        )
    return outputs


def _compare(
    problem: Problem,
    outputs: Tensors,
    values: Mapping[str, int],
    dtype: "torch.dtype",
    what: str,
    definition: Definition,
) -> None:
    declared = {spec.name: shape_of(spec, values) for spec in problem.outputs}
    got = {name: tuple(tensor.shape) for name, tensor in outputs.items()}
    sizes = ", ".join(f"{d.name} = {values[d.name]}" for d in problem.dimensions)
    if got != declared:
        raise definition.error(
            f"{what} gives the outputs {got} at {sizes}; declared: {declared}",
            next(iter(declared)),
            *TENSORS,
        )
    dtypes = {spec.name: spec.dtype for spec in problem.outputs}
    for name, tensor in outputs.items():
        found = str(tensor.dtype).removeprefix("torch.")
        if not tensor.is_floating_point() and found != dtypes[name]:
            raise definition.error(
                f"{what} gives '{name}' as {found}; declared: {dtypes[name]}", name, *TENSORS
            )
        if tensor.is_floating_point() and tensor.dtype != dtype:
            raise definition.error(
                f"{what} gives '{name}' as {tensor.dtype} on inputs of {dtype}; keep the dtype",
                name,
                *TENSORS,
            )


def _check_contract(problem: Problem, definition: Definition) -> None:
    import torch

    values = contract(problem)
    specs: tuple[TensorSpec | ParameterSpec, ...] = (*problem.inputs, *problem.parameters)
    tensors = {
        spec.name: torch.empty(
            shape_of(spec, values),
            dtype=getattr(torch, spec.dtype if isinstance(spec, TensorSpec) else "float32"),
            device="meta",
        )
        for spec in specs
    }
    try:
        with torch.no_grad():
            outputs = problem.reference(tensors)
    except Exception:
        # Operations without a meta form, or that look at data; the tiny run has judged them.
        return
    _compare(problem, outputs, values, torch.float32, "the reference", definition)
