"""What the element-wise problems share: the shape of the problem, launch plans, other formulas."""

from collections.abc import Callable, Mapping

import torch
from torch import Tensor

from gpu_eval.problems.definition import (
    Control,
    Dimension,
    DimensionKind,
    Problem,
    Substrate,
    Tensors,
    TensorSpec,
)
from gpu_eval.problems.plan import Argument, Launch, LaunchPlan, int32, int64, pointer
from suiteopt.matrix.schema import OperationClass

ONE = "1"
RESIDENT_BLOCKS = 1056
"""Blocks of a grid-stride launch: eight for each of the 132 multiprocessors of an H100 or H200."""

SLOWEST = 60.0
"""Beyond it exp(-x) no longer counts beside 1 in fp32 (nor in fp64), and exp(x) is still finite."""


def flat(
    source: str,
    kernel: str,
    per_block: int,
    threads: int = 128,
    *,
    extra: tuple[Argument, ...] = (),
    headers: tuple[str, ...] = (),
    resident: bool = False,
) -> Substrate:
    """Return an implementation that sees the matrix as one array: ``(x, y, elements, *extra)``.

    Parameters
    ----------
    source, kernel : str
        The file, without its ending, which also names the substrate, and the kernel.
    per_block : int
        Elements that a block handles.
    threads : int
        Of a block.
    extra : tuple of Argument
        After the number of elements.
    headers : tuple of str
    resident : bool
        Whether the grid stops at `RESIDENT_BLOCKS`, so that blocks handle more of a large array.
    """
    blocks = f"ceil_div(rows * cols, {per_block})"
    launch = Launch(
        kernel=kernel,
        grid=(f"min({blocks}, {RESIDENT_BLOCKS})" if resident else blocks, ONE, ONE),
        block=(str(threads), ONE, ONE),
        arguments=(pointer("x"), pointer("y"), int64("rows * cols"), *extra),
    )
    return Substrate(named(source), f"{source}.cu", LaunchPlan(steps=(launch,)), headers)


def on_rows(
    source: str,
    kernel: str,
    cols_per_block: int,
    block: tuple[int, int] = (128, 1),
    *,
    rows_per_block: int = 1,
    sizes: tuple[Argument, ...] = (int32("cols"),),
    headers: tuple[str, ...] = (),
) -> Substrate:
    """Return an implementation on a grid of columns (x) and rows (y): ``(x, y, *sizes)``.

    Parameters
    ----------
    source, kernel : str
        As for `flat`.
    cols_per_block, rows_per_block : int
        The tile of a block.
    block : tuple of int
        Threads along x and y.
    sizes : tuple of Argument
        After the two pointers.
    headers : tuple of str
    """
    down = "rows" if rows_per_block == 1 else f"ceil_div(rows, {rows_per_block})"
    launch = Launch(
        kernel=kernel,
        grid=(f"ceil_div(cols, {cols_per_block})", down, ONE),
        block=(str(block[0]), str(block[1]), ONE),
        arguments=(pointer("x"), pointer("y"), *sizes),
    )
    return Substrate(named(source), f"{source}.cu", LaunchPlan(steps=(launch,)), headers)


def named(source: str) -> str:
    """Return the name of the substrate that a source file holds."""
    return source.replace("_", "-")


def elementwise(
    number: int,
    name: str,
    reference: Callable[[Tensors], Tensors],
    substrates: tuple[Substrate, ...],
    controls: tuple[Control, ...],
    *,
    tiles: tuple[int, int],
    sizes: tuple[int, int] = (4096, 393216),
    scalars: Mapping[str, int | float] | None = None,
    magnitude: Callable[[Tensors], Tensors] | None = None,
    rounds: bool = True,
) -> Problem:
    """Return the problem of a function of each element of a matrix.

    Parameters
    ----------
    number : int
        In level 1 of the benchmark.
    name : str
        The benchmark's.
    reference, magnitude : callable
    substrates, controls : tuples
        Eager is added to the controls.
    tiles : tuple of int
        Of rows and columns; kernels that see one array go by multiples of their product.
    sizes : tuple of int
        Rows and columns of the contract.
    scalars : mapping, optional
    rounds : bool
    """
    rows, cols = sizes
    return Problem(
        id=f"level1/{number:03d}",
        benchmark="kernelbench",
        level=1,
        name=name,
        operation_class=OperationClass.ELEMENTWISE,
        dimensions=(
            Dimension("rows", rows, DimensionKind.PARALLEL, tile=tiles[0]),
            Dimension("cols", cols, DimensionKind.PARALLEL, tile=tiles[1]),
        ),
        inputs=(TensorSpec("x", ("rows", "cols")),),
        outputs=(TensorSpec("y", ("rows", "cols")),),
        reference=reference,
        magnitude=magnitude,
        rounds=rounds,
        scalars=dict(scalars or {}),
        substrates=substrates,
        controls=(*controls, Control("eager", "eager", run=reference, identical=True)),
    )


def control(
    name: str, kind: str, function: Callable[[Tensor], Tensor], *, identical: bool = False
) -> Control:
    """Return a control from a function of one tensor."""
    return Control(name, kind, run=lambda t: {"y": function(t["x"])}, identical=identical)


def in_double(reference: Callable[[Tensors], Tensors]) -> Control:
    """Return the control that computes in fp64 and rounds once, at the end."""

    def run(tensors: Tensors) -> Tensors:
        wide = reference({name: tensor.double() for name, tensor in tensors.items()})
        return {name: y.to(tensors["x"].dtype) for name, y in wide.items()}

    return Control("in-double", "wide", run=run)


# The logistic function s(x) = 1 / (1 + exp(-x)) and exp(x) - 1, each in ways that keep the digits
# of small results: differences of numbers near 1 would lose them.


def logistic_by_size(x: Tensor) -> Tensor:
    """Take the exponential of -|x| only, which cannot overflow."""
    e = torch.exp(-x.abs())
    return torch.where(x >= 0, torch.ones_like(e), e) / (1 + e)


def logistic_by_quotient(x: Tensor) -> Tensor:
    """Divide exp(x) by 1 + exp(x)."""
    e = torch.exp(x.clamp(max=SLOWEST))
    return e / (1 + e)


def logistic_by_expm1(x: Tensor) -> Tensor:
    """Write 1 + exp(-x) as 2 + (exp(-x) - 1)."""
    return 1 / (2 + torch.expm1(-x))


def expm1_by_tanh(x: Tensor) -> Tensor:
    """Compute exp(x) - 1 as 2 t / (1 - t), t = tanh(x / 2); for x up to 0."""
    t = torch.tanh(x * 0.5)
    return 2 * t / (1 - t)


def expm1_by_sinh(x: Tensor) -> Tensor:
    """Compute exp(x) - 1 as 2 exp(x / 2) sinh(x / 2); for x up to 0."""
    half = x.clamp(min=-SLOWEST) * 0.5
    return 2 * torch.exp(half) * torch.sinh(half)


def tanh_by_expm1(x: Tensor) -> Tensor:
    """Compute tanh|x| as -m / (m + 2), m = exp(-2 |x|) - 1."""
    m = torch.expm1(-2 * x.abs())
    return torch.copysign(m / (m + 2), x)
