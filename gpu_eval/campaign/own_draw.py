"""The benchmark's own draw, made as its harness makes it: torch's CPU generator and its seeds."""

from collections.abc import Collection, Iterator, Mapping
from contextlib import contextmanager
from typing import TYPE_CHECKING

from gpu_eval.problems.definition import OwnDraw, Problem, Structure, TensorSpec
from gpu_eval.problems.expressions import evaluate
from gpu_eval.problems.tensors import shape_of
from suiteopt.errors import UserError
from suiteopt.inputs.recipes import generate, tensor_seed

if TYPE_CHECKING:
    from torch import Tensor

INITIAL_SEED = 42
"""KernelBench seeds both models' parameters with this number."""

TRIAL_SEEDS = (734796314, 576165995, 2197670066, 839703249, 2584932063)
"""What ``torch.randint(0, 2**32 - 1, (1,))`` gives for five trials after seed 42."""


WIDE_CHUNK = 1 << 22
"""Elements that a GPU makes at a time: few launches, and little memory for what lies between."""


@contextmanager
def seeded(seed: int) -> Iterator[None]:
    """Seed torch's CPU generator for a while and leave it as it was found."""
    import torch

    state = torch.get_rng_state()
    try:
        # Not torch.manual_seed, which would seed every GPU's generator too.
        torch.default_generator.manual_seed(seed)
        with torch.device("cpu"):
            yield
    finally:
        torch.set_rng_state(state)


def own_draw(
    problem: Problem,
    values: Mapping[str, int],
    seed: int,
    hashed: Collection[str] = (),
    device: str = "cpu",
) -> "dict[str, Tensor]":
    """Draw all inputs in their order, as ``get_inputs()`` does right after the seed is set.

    Parameters
    ----------
    problem : Problem
    values : mapping of str to int
        Sizes as `gpu_eval.problems.tensors.dimensions` gives them.
    seed : int
        One of `TRIAL_SEEDS`, or any other.
    hashed : collection of str
        Inputs too large for torch's CPU generator: made on ``device`` in the same distribution by
        the recipes ``uniform`` and ``normal`` (class ids, masks and signs from ``uniform``); they
        take nothing from the generator but scales.
    device : str

    Returns
    -------
    dict of str to Tensor
        On the CPU, the hashed ones on ``device``; each in the dtype of its spec, contiguous.
    """
    with seeded(seed):
        return {
            spec.name: (
                _hashed(spec, values, seed, device) if spec.name in hashed else _draw(spec, values)
            )
            for spec in problem.inputs
        }


def initial_parameters(problem: Problem, values: Mapping[str, int]) -> "dict[str, Tensor]":
    """Initialise the parameters as the benchmark does, under seed 42; float32, on the CPU.

    Raises
    ------
    UserError
        If the problem has parameters and no initialisation, or that gives other tensors than
        the definition names.
    """
    import torch

    if not problem.parameters:
        return {}
    if problem.initialise is None:
        raise UserError(
            f"problem {problem.id} has parameters and no 'initialise'; give it a function that "
            "draws them as the benchmark's model does"
        )
    shapes = {spec.name: shape_of(spec, values) for spec in problem.parameters}
    with seeded(INITIAL_SEED), torch.no_grad():
        drawn = dict(problem.initialise(shapes))
    found = {name: tuple(tensor.shape) for name, tensor in drawn.items()}
    if found != shapes:
        raise UserError(
            f"problem {problem.id}: 'initialise' gives {found}, and the definition wants {shapes}"
        )
    return {name: drawn[name].detach().to(torch.float32).contiguous() for name in shapes}


_LAST_INITIAL: dict[object, "dict[str, Tensor]"] = {}
"""The last initialisation for a GPU: most inputs of a problem share it, and to draw the weights of
a large linear layer takes half a second. Copied to the device each time, so that no kernel reaches
it; on a processor a kernel would."""


def shared_parameters(
    problem: Problem, values: Mapping[str, int], device: str
) -> "dict[str, Tensor]":
    """Return `initial_parameters`, on the CPU; for a GPU those of the last call if they are equal.

    Parameters
    ----------
    problem : Problem
    values : mapping of str to int
    device : str
        Where they are wanted.
    """
    if device == "cpu":
        return initial_parameters(problem, values)
    shapes = tuple(shape_of(spec, values) for spec in problem.parameters)
    key = (problem.id, problem.initialise, shapes)
    if key not in _LAST_INITIAL:
        _LAST_INITIAL.clear()
        _LAST_INITIAL[key] = initial_parameters(problem, values)
    return _LAST_INITIAL[key]


def is_scalable(spec: TensorSpec) -> bool:
    """Whether multiplying a tensor by a number keeps its contract."""
    discrete = {Structure.SIGNS, Structure.MASK, Structure.CLASS_IDS, Structure.PROBABILITY_ROWS}
    return spec.structure not in discrete and spec.dtype.startswith(("float", "bfloat"))


def _hashed(spec: TensorSpec, values: Mapping[str, int], seed: int, device: str) -> "Tensor":
    import torch

    shape = shape_of(spec, values)
    choices = _choices(spec, values)
    recipe = "normal" if spec.own_draw is OwnDraw.NORMAL and not choices else "uniform"
    scale = torch.rand(()) if spec.own_draw is OwnDraw.UNIFORM_SCALED and not choices else None
    drawn = generate(recipe, shape, tensor_seed(seed, spec.name), {}, device, chunk=WIDE_CHUNK)
    if choices:
        # In fp64: a number below 1 times that of the choices stays below it.
        return _chosen((drawn.double() * choices).long(), spec)
    if scale is not None:
        drawn = drawn * scale.to(device)
    return _structured(drawn, spec.structure).contiguous().to(getattr(torch, spec.dtype))


def _choices(spec: TensorSpec, values: Mapping[str, int]) -> int:
    """Return among how many numbers a draw chooses; 0 where it is continuous."""
    if spec.structure is Structure.CLASS_IDS or spec.own_draw is OwnDraw.CLASS_IDS:
        return evaluate(spec.classes, values)
    return 2 if spec.structure in (Structure.MASK, Structure.SIGNS) else 0


def _chosen(numbers: "Tensor", spec: TensorSpec) -> "Tensor":
    """Make class ids, a mask or signs of the numbers that a draw has chosen."""
    import torch

    meant = numbers * 2 - 1 if spec.structure is Structure.SIGNS else numbers
    return meant.to(getattr(torch, spec.dtype))


def _draw(spec: TensorSpec, values: Mapping[str, int]) -> "Tensor":
    import torch

    shape = shape_of(spec, values)
    choices = _choices(spec, values)
    if choices:
        return _chosen(torch.randint(0, choices, shape), spec)
    if spec.own_draw is OwnDraw.UNIFORM_SCALED:
        scale = torch.rand(())
        drawn = _structured(torch.rand(shape) * scale, spec.structure).contiguous()
    else:
        draw = torch.randn if spec.own_draw is OwnDraw.NORMAL else torch.rand
        drawn = _structured(draw(shape), spec.structure).contiguous()
    return drawn.to(getattr(torch, spec.dtype))


def _structured(drawn: "Tensor", structure: Structure) -> "Tensor":
    """Give a draw its structure in the ways in which the benchmark's problems do."""
    match structure:
        case Structure.SYMMETRIC:
            return (drawn + drawn.transpose(-2, -1)) / 2
        case Structure.LOWER_TRIANGULAR:
            return drawn.tril()
        case Structure.UPPER_TRIANGULAR:
            return drawn.triu()
        case Structure.DIAGONAL:
            return drawn.tril().triu()
        case Structure.PROBABILITY_ROWS:
            return drawn.softmax(dim=-1)
        case _:
            return drawn
