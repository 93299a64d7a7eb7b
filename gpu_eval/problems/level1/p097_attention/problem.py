"""KernelBench level 1, problem 97: scaled dot-product attention with very wide heads."""

import math
from collections.abc import Callable

import torch

from gpu_eval.problems.definition import (
    Control,
    Dimension,
    DimensionKind,
    Problem,
    Substrate,
    Tensors,
    TensorSpec,
)
from gpu_eval.problems.families.matmul import FMA_OFF
from gpu_eval.problems.orders import Order, Terms, ordered_controls, terms_of_rows
from gpu_eval.problems.plan import Launch, LaunchPlan, Workspace, int32, pointer
from suiteopt.matrix.schema import OperationClass

ONE = "1"
SHAPE = ("batch", "heads", "seq", "dim")
HEADS = "batch * heads"
LOG2_E = 1.4426950408889634


def reference(tensors: Tensors) -> Tensors:
    """Compute what the benchmark's model computes."""
    q, k, v = tensors["q"], tensors["k"], tensors["v"]
    return {"out": torch.nn.functional.scaled_dot_product_attention(q, k, v)}


def magnitude(tensors: Tensors) -> Tensors:
    """Sum the absolute weighted values, each weight with what its score's rounding does to it.

    A score that is off by e makes its weight exp(e), about 1 + e, times as large; e is
    proportional to the score's own sum of absolute products.
    """
    q, k, v = tensors["q"], tensors["k"], tensors["v"]
    scale = 1 / math.sqrt(q.shape[-1])
    weights = torch.softmax(q @ k.transpose(-2, -1) * scale, dim=-1)
    scores = q.abs() @ k.abs().transpose(-2, -1) * scale
    return {"out": (weights * (1 + scores)) @ v.abs()}


def by_heads(
    tensors: Tensors,
    run: Callable[[torch.Tensor, torch.Tensor, torch.Tensor], torch.Tensor],
) -> Tensors:
    """Run a function of a head's queries, keys and values on every head."""
    q, k, v = (tensors[name].flatten(0, 1) for name in ("q", "k", "v"))
    heads = [run(*head) for head in zip(q, k, v, strict=True)]
    return {"out": torch.stack(heads).reshape(tensors["q"].shape)}


def in_order(tensors: Tensors, order: Order) -> Tensors:
    """Add up scores, weights and weighted values in a given order, and divide at the end."""

    def run(q: torch.Tensor, k: torch.Tensor, v: torch.Tensor) -> torch.Tensor:
        dim = q.shape[1]
        scores = order(Terms(q.t()[:, :, None], k.t()[:, None, :]), dim) * (1 / math.sqrt(dim))
        weights = torch.exp(scores - scores.amax(dim=1, keepdim=True))
        total = order(terms_of_rows(weights), len(k))
        return order(Terms(weights.t()[:, :, None], v[:, None, :]), len(k)) / total[:, None]

    return by_heads(tensors, run)


def as_written(tensors: Tensors) -> Tensors:
    """Take the library's softmax between the library's products."""
    q, k, v = tensors["q"], tensors["k"], tensors["v"]
    scores = (q @ k.transpose(-2, -1)) / math.sqrt(q.shape[-1])
    return {"out": torch.softmax(scores, dim=-1) @ v}


def by_exp2(tensors: Tensors) -> Tensors:
    """Scale the queries first, use powers of two, and divide after the last product."""
    q, k, v = tensors["q"], tensors["k"], tensors["v"]
    scores = (q / math.sqrt(q.shape[-1])) @ k.transpose(-2, -1)
    weights = torch.exp2((scores - scores.amax(dim=-1, keepdim=True)) * LOG2_E)
    return {"out": (weights @ v) * weights.sum(dim=-1, keepdim=True).reciprocal()}


def online(tensors: Tensors) -> Tensors:
    """Keep a running maximum and rescaled running sums over chunks of 16 keys."""
    q, k, v = tensors["q"], tensors["k"], tensors["v"]
    scale = 1 / math.sqrt(q.shape[-1])
    largest = torch.full_like(q[..., :1], torch.finfo(q.dtype).min)
    total, out = torch.zeros_like(largest), torch.zeros_like(q)
    for keys, values in zip(torch.split(k, 16, dim=-2), torch.split(v, 16, dim=-2), strict=True):
        scores = q @ keys.transpose(-2, -1) * scale
        grown = torch.maximum(largest, scores.amax(dim=-1, keepdim=True))
        weights, shrink = torch.exp(scores - grown), torch.exp(largest - grown)
        total = total * shrink + weights.sum(dim=-1, keepdim=True)
        out = out * shrink + weights @ values
        largest = grown
    return {"out": out / total}


FLASH = Substrate(
    name="flash",
    source="flash.cu",
    headers=("limits.cuh", "warp_reduce.cuh"),
    plan=LaunchPlan(
        steps=(
            Launch(
                kernel="attention_flash",
                grid=("ceil_div(seq, 4)", HEADS, ONE),
                block=("128", ONE, ONE),
                # 32 KiB at the contract's width.
                shared="4 * 2 * 4 * dim",
                arguments=(
                    pointer("q"),
                    pointer("k"),
                    pointer("v"),
                    pointer("out"),
                    int32("seq"),
                    int32("dim"),
                ),
            ),
        )
    ),
)

THREE_KERNELS = Substrate(
    name="three-kernels",
    source="three_kernels.cu",
    headers=("limits.cuh", "warp_reduce.cuh"),
    plan=LaunchPlan(
        workspaces=(Workspace("scores", f"{HEADS} * seq * seq"),),
        steps=(
            Launch(
                kernel="attention_scores",
                grid=("ceil_div(seq, 16)", "ceil_div(seq, 16)", HEADS),
                block=("256", ONE, ONE),
                arguments=(
                    pointer("q"),
                    pointer("k"),
                    pointer("scores"),
                    int32("seq"),
                    int32("dim"),
                ),
            ),
            Launch(
                kernel="attention_softmax",
                grid=(f"ceil_div({HEADS} * seq, 4)", ONE, ONE),
                block=("128", ONE, ONE),
                arguments=(pointer("scores"), int32(f"{HEADS} * seq"), int32("seq")),
            ),
            Launch(
                kernel="attention_values",
                grid=("ceil_div(dim, 8)", "ceil_div(seq, 16)", HEADS),
                block=("8", "8", ONE),
                arguments=(
                    pointer("scores"),
                    pointer("v"),
                    pointer("out"),
                    int32("seq"),
                    int32("dim"),
                ),
            ),
        ),
    ),
)

PROBLEM = Problem(
    id="level1/097",
    benchmark="kernelbench",
    level=1,
    name="97_ScaledDotProductAttention",
    operation_class=OperationClass.ATTENTION,
    # The sequence is that of queries and of keys; the width is summed over in scores, not in the
    # output. Both count as reduced.
    dimensions=(
        Dimension("batch", 32, DimensionKind.PARALLEL),
        Dimension("heads", 32, DimensionKind.PARALLEL),
        Dimension("seq", 512, DimensionKind.REDUCED, tile=32),
        Dimension("dim", 1024, DimensionKind.REDUCED, tile=8),
    ),
    inputs=tuple(TensorSpec(name, SHAPE) for name in ("q", "k", "v")),
    outputs=(TensorSpec("out", SHAPE),),
    reference=reference,
    magnitude=magnitude,
    # Scores sum over the width, outputs over the keys, one after the other.
    reduction_length="seq + dim",
    substrates=(FLASH, THREE_KERNELS),
    controls=(
        *ordered_controls(in_order),
        Control("as-written", "algorithm", run=as_written),
        Control("exp2", "exp2", run=by_exp2),
        Control("online-16", "online", run=online),
        Control("fma-off", "fma_off", substrate=THREE_KERNELS, flags=FMA_OFF),
        Control("eager", "eager", run=reference, identical=True),
    ),
)
