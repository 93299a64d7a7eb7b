"""KernelBench level 1, problem 40: LayerNorm over the last three of four dimensions."""

from collections.abc import Mapping

import torch

from gpu_eval.problems.definition import (
    Control,
    Dimension,
    DimensionKind,
    ParameterRole,
    ParameterSpec,
    Problem,
    Substrate,
    Tensors,
    TensorSpec,
)
from gpu_eval.problems.orders import Order, ordered_controls, running_moments, terms_of_rows
from gpu_eval.problems.plan import Launch, LaunchPlan, Workspace, float32, int32, pointer
from suiteopt.matrix.schema import OperationClass

ONE = "1"
THREADS = "128"
EPS = 1e-5
# At least 1,024 elements a block where there are that many, at least two blocks a row always.
SPLITS = "max(2, min(64, ceil_div(normalised, 1024)))"
LENGTH = "ceil_div(normalised, max(2, min(64, ceil_div(normalised, 1024))))"


def reference(tensors: Tensors) -> Tensors:
    """Compute what the benchmark's model computes."""
    weight, bias = tensors["weight"], tensors["bias"]
    shape = list(weight.shape)
    return {"y": torch.nn.functional.layer_norm(tensors["x"], shape, weight, bias, EPS)}


def magnitude(tensors: Tensors) -> Tensors:
    """Take absolute values wherever the formula subtracts or adds."""
    rows, weight, bias = _rows(tensors)
    mean = rows.abs().mean(dim=1, keepdim=True)
    deviation = torch.sqrt(rows.var(dim=1, correction=0, keepdim=True) + EPS)
    y = (rows.abs() + mean) / deviation * weight.abs() + bias.abs()
    return {"y": y.reshape(tensors["x"].shape)}


def initialise(shapes: Mapping[str, tuple[int, ...]]) -> Tensors:
    """Return the affine identity that the benchmark's model starts from."""
    return {"weight": torch.ones(shapes["weight"]), "bias": torch.zeros(shapes["bias"])}


def in_order(tensors: Tensors, order: Order) -> Tensors:
    """Two passes: the mean, then the squared deviations, both summed in a given order."""
    rows, _, _ = _rows(tensors)
    count = rows.shape[1]
    mean = (order(terms_of_rows(rows), count) / count)[:, None]
    deviation = rows - mean
    variance = (order(terms_of_rows(deviation * deviation), count) / count)[:, None]
    return _normalise(tensors, mean, variance)


def by_welford(tensors: Tensors) -> Tensors:
    """Update mean and squared deviations element by element."""
    rows, _, _ = _rows(tensors)
    mean, m2 = running_moments(rows)
    return _normalise(tensors, mean[:, None], (m2 / rows.shape[1])[:, None])


def by_merged_chunks(tensors: Tensors) -> Tensors:
    """Take the moments of chunks of 32 elements in two passes, and merge them (Chan).

    Very long rows go in 128 chunks.
    """
    rows, _, _ = _rows(tensors)
    seen = 0
    mean, m2 = torch.zeros_like(rows[:, :1]), torch.zeros_like(rows[:, :1])
    for chunk in torch.split(rows, max(32, rows.shape[1] // 128), dim=1):
        size = chunk.shape[1]
        own_mean = chunk.mean(dim=1, keepdim=True)
        own_m2 = (chunk - own_mean).square().sum(dim=1, keepdim=True)
        delta = own_mean - mean
        share = size / (seen + size)
        mean = mean + delta * share
        m2 = m2 + own_m2 + delta * delta * (seen * share)
        seen += size
    return _normalise(tensors, mean, m2 / seen)


def from_the_contract(tensors: Tensors) -> Tensors:
    """Normalise by mean and biased variance over all but the first dimension, scale, shift."""
    x = tensors["x"]
    axes = tuple(range(1, x.dim()))
    variance, mean = torch.var_mean(x, dim=axes, correction=0, keepdim=True)
    return {"y": (x - mean) / torch.sqrt(variance + EPS) * tensors["weight"] + tensors["bias"]}


def _rows(tensors: Tensors) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
    return tensors["x"].flatten(1), tensors["weight"].flatten(), tensors["bias"].flatten()


def _normalise(tensors: Tensors, mean: torch.Tensor, variance: torch.Tensor) -> Tensors:
    rows, weight, bias = _rows(tensors)
    y = (rows - mean) * torch.rsqrt(variance + EPS) * weight + bias
    return {"y": y.reshape(tensors["x"].shape)}


WELFORD = Substrate(
    name="welford",
    source="welford.cu",
    headers=("welford.cuh",),
    plan=LaunchPlan(
        steps=(
            Launch(
                kernel="layernorm_welford",
                grid=("batch", ONE, ONE),
                block=(THREADS, ONE, ONE),
                arguments=(
                    pointer("x"),
                    pointer("weight"),
                    pointer("bias"),
                    pointer("y"),
                    int32("normalised"),
                    float32("eps"),
                ),
            ),
        )
    ),
)

SPLIT_TWO_PASS = Substrate(
    name="split-two-pass",
    source="split_two_pass.cu",
    headers=("warp_reduce.cuh",),
    plan=LaunchPlan(
        workspaces=(
            Workspace("sums", f"batch * {SPLITS}"),
            Workspace("squares", f"batch * {SPLITS}"),
        ),
        steps=(
            Launch(
                kernel="layernorm_partial_sum",
                grid=(SPLITS, "batch", ONE),
                block=(THREADS, ONE, ONE),
                arguments=(pointer("x"), pointer("sums"), int32("normalised"), int32(LENGTH)),
            ),
            Launch(
                kernel="layernorm_partial_square",
                grid=(SPLITS, "batch", ONE),
                block=(THREADS, ONE, ONE),
                arguments=(
                    pointer("x"),
                    pointer("sums"),
                    pointer("squares"),
                    int32("normalised"),
                    int32(LENGTH),
                ),
            ),
            Launch(
                kernel="layernorm_normalise",
                grid=(SPLITS, "batch", ONE),
                block=(THREADS, ONE, ONE),
                arguments=(
                    pointer("x"),
                    pointer("weight"),
                    pointer("bias"),
                    pointer("sums"),
                    pointer("squares"),
                    pointer("y"),
                    int32("normalised"),
                    int32(LENGTH),
                    float32("eps"),
                ),
            ),
        ),
    ),
)

PROBLEM = Problem(
    id="level1/040",
    benchmark="kernelbench",
    level=1,
    name="40_LayerNorm",
    operation_class=OperationClass.NORMALIZATION,
    # Two blocks of a row's parts, each in steps of 128 threads: rows are multiples of 256.
    dimensions=(
        Dimension("batch", 16, DimensionKind.PARALLEL),
        Dimension("features", 64, DimensionKind.REDUCED),
        Dimension("dim1", 256, DimensionKind.REDUCED),
        Dimension("dim2", 256, DimensionKind.REDUCED, tile=256),
    ),
    derived={"normalised": "features * dim1 * dim2"},
    scalars={"eps": EPS},
    inputs=(TensorSpec("x", ("batch", "features", "dim1", "dim2")),),
    parameters=(
        ParameterSpec("weight", ("features", "dim1", "dim2"), ParameterRole.SCALE),
        ParameterSpec("bias", ("features", "dim1", "dim2"), ParameterRole.SHIFT),
    ),
    outputs=(TensorSpec("y", ("batch", "features", "dim1", "dim2")),),
    reference=reference,
    initialise=initialise,
    magnitude=magnitude,
    reduction_length="normalised",
    substrates=(WELFORD, SPLIT_TWO_PASS),
    controls=(
        *ordered_controls(in_order, prefix="two-pass-"),
        Control("welford-serial", "welford", run=by_welford),
        Control("merged-32", "algorithm", run=by_merged_chunks),
        Control("fma-off", "fma_off", substrate=WELFORD, flags=("-ffp-contract=off",)),
        Control("from-the-contract", "contract", run=from_the_contract, blind=True),
        Control("eager", "eager", run=reference, identical=True),
    ),
)
