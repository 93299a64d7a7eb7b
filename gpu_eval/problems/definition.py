"""What a problem is: contract, reference, parameters, substrates, launch plans, controls.

A corpus is a directory of ``<anything>/problem.py`` files, each of which binds ``PROBLEM``.
Definitions are code and run as such; use only corpora that you trust.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING

from gpu_eval.problems.plan import LaunchPlan
from suiteopt.matrix.schema import OperationClass

if TYPE_CHECKING:
    from torch import Tensor

Tensors = Mapping[str, "Tensor"]
"""Named tensors: a problem's inputs and parameters together."""


class DimensionKind(StrEnum):
    """Whether a dimension is summed over (reduced) or not (parallel)."""

    PARALLEL = "parallel"
    REDUCED = "reduced"


@dataclass(frozen=True, slots=True)
class Dimension:
    """A named dimension of the contract.

    Attributes
    ----------
    name, size : str, int
        The contract's size.
    kind : DimensionKind
        A dimension that is both (the square matmul's N) is reduced.
    tile : int
        Least common multiple of every tile of the launch plans along it; a shrunk size stays
        congruent to the contract's modulo this number, so that tails stay tails.
    minimum : int
        The smallest size that makes sense.
    fixed : bool
        Never shrunk or varied (a kernel size, the channels of an image).
    """

    name: str
    size: int
    kind: DimensionKind
    tile: int = 1
    minimum: int = 1
    fixed: bool = False


class Structure(StrEnum):
    """What every recipe must keep of a tensor."""

    NONE = "none"
    DIAGONAL = "diagonal"
    SYMMETRIC = "symmetric"
    LOWER_TRIANGULAR = "lower_triangular"
    UPPER_TRIANGULAR = "upper_triangular"
    PROBABILITY_ROWS = "probability_rows"
    SIGNS = "signs"
    MASK = "mask"
    CLASS_IDS = "class_ids"


class OwnDraw(StrEnum):
    """How the benchmark draws a tensor."""

    UNIFORM = "uniform"  # torch.rand
    UNIFORM_SCALED = "uniform_scaled"  # torch.rand(()) first, then torch.rand, times that number
    NORMAL = "normal"  # torch.randn
    CLASS_IDS = "class_ids"  # torch.randint


@dataclass(frozen=True, slots=True)
class TensorSpec:
    """An input or output tensor: name, shape as expressions over dimensions, dtype by name."""

    name: str
    shape: tuple[str, ...]
    dtype: str = "float32"
    structure: Structure = Structure.NONE
    own_draw: OwnDraw = OwnDraw.UNIFORM
    classes: str = ""  # class_ids: expression for the number of classes


class ParameterRole(StrEnum):
    """What a parameter does: recipes differ for an affine scale, a bias and a weight."""

    WEIGHT = "weight"
    BIAS = "bias"
    SCALE = "scale"
    SHIFT = "shift"


@dataclass(frozen=True, slots=True)
class ParameterSpec:
    """A learned tensor of the benchmark's model."""

    name: str
    shape: tuple[str, ...]
    role: ParameterRole


@dataclass(frozen=True, slots=True)
class Substrate:
    """A verified CUDA implementation.

    Attributes
    ----------
    name : str
        Unique in the problem, letters, digits and hyphens.
    source : str
        File name of the main ``.cu`` file, beside ``problem.py``.
    plan : LaunchPlan
    headers : tuple of str
        Included files, relative to ``problem.py`` or to ``gpu_eval/problems/include``.
    """

    name: str
    source: str
    plan: LaunchPlan
    headers: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Control:
    """An implementation known to be correct that rounds differently.

    Either ``run`` (a torch callable on named fp32 tensors that returns the named outputs) or
    ``substrate`` (another CUDA implementation).

    Attributes
    ----------
    name : str
    kind : str
        What is different: ``serial``, ``pairwise``, ``reversed``, ``chunked``, ``tile``,
        ``fma_off``, ``split_k``, ``two_pass``, ``welford``, ``algorithm``, ``eager``, ...
        Held-out validation leaves out one kind at a time.
    identical : bool
        Equal to the own reference to the bit by construction (eager): counts against fp64 only.
    blind : bool
        Written from the contract alone and kept out of calibration.
    flags : tuple of str
        Compile options of a CUDA control, for example ``-ffp-contract=off``.
    """

    name: str
    kind: str
    run: Callable[[Tensors], Tensors] | None = None
    substrate: Substrate | None = None
    identical: bool = False
    blind: bool = False
    flags: tuple[str, ...] = ()


@dataclass(frozen=True)
class Problem:
    """One task of a benchmark, whole.

    Attributes
    ----------
    id : str
        ``level1/019``.
    benchmark, level, name : str, int, str
        As the benchmark has them (``kernelbench``, 1, ``19_ReLU``).
    operation_class : OperationClass
    dimensions : tuple of Dimension
    derived : mapping of str to str
        Further sizes as expressions over dimensions and integer scalars, in order.
    scalars : mapping of str to int or float
        Stride, padding, eps; integers may be used in expressions, all in float arguments.
    inputs, parameters, outputs : tuples of specs
    reference : callable
        Named inputs and parameters (any float dtype, all the same) to named outputs in that
        dtype: what the benchmark's ``Model.forward`` computes. Run in the benchmark's dtype for
        its check and in fp64 for the truth.
    initialise : callable or None
        Concrete shapes of the parameters by name to fp32 tensors, drawn from torch's global
        generator in the order and by the rules of the benchmark's own model.
    magnitude : callable or None
        The reference on absolute values (for each output the sum of absolute terms), which the
        rounding floor is proportional to; ``None``: the reference itself.
    reduction_length : str
        Expression for the number of terms that one output sums; "1" where nothing is summed.
    work : str
        Expression for the multiply-adds of a straightforward kernel, where those are not outputs
        times reduction length: a sum over what a product has made has few outputs.
    held : str
        Expression for the elements of the largest tensor that a stage in the middle makes.
    rounds : bool
        False where the operation never rounds (ReLU, max-pooling): the safe tolerance is 0.
    exact_lattice : bool
        Whether integer inputs make all fp32 sums exact (matmul, convolution, sums).
    multiplies : bool
        Whether one output multiplies very many elements (a cumulative product): the pools then
        hold inputs of about one in magnitude besides, since all others overflow or vanish.
    value_of : callable or None
        For integer outputs that choose (argmax): named tensors and outputs to the values chosen,
        by output, in fp64, NaN where an index is out of range. Indices of equal values are
        equally right; ``None``: the integers themselves are the values.
    substrates, controls : tuples
    directory : Path
        Where the definition and its sources lie; set by the loader.
    """

    id: str
    benchmark: str
    level: int
    name: str
    operation_class: OperationClass
    dimensions: tuple[Dimension, ...]
    inputs: tuple[TensorSpec, ...]
    outputs: tuple[TensorSpec, ...]
    reference: Callable[[Tensors], Tensors]
    substrates: tuple[Substrate, ...]
    controls: tuple[Control, ...]
    parameters: tuple[ParameterSpec, ...] = ()
    derived: Mapping[str, str] = field(default_factory=dict)
    scalars: Mapping[str, int | float] = field(default_factory=dict)
    initialise: Callable[[Mapping[str, tuple[int, ...]]], Tensors] | None = None
    magnitude: Callable[[Tensors], Tensors] | None = None
    reduction_length: str = "1"
    work: str = ""
    held: str = "0"
    rounds: bool = True
    exact_lattice: bool = False
    multiplies: bool = False
    value_of: Callable[[Tensors, Tensors], Tensors] | None = None
    directory: Path = Path()
