"""KernelBench level 1, problem 95: mean cross-entropy of logits against class ids."""

import torch

from gpu_eval.problems.definition import (
    Control,
    Dimension,
    DimensionKind,
    OwnDraw,
    Problem,
    Structure,
    Substrate,
    Tensors,
    TensorSpec,
)
from gpu_eval.problems.orders import Order, Terms, ordered_controls, terms_of_rows
from gpu_eval.problems.plan import Launch, LaunchPlan, Workspace, int32, pointer
from suiteopt.matrix.schema import OperationClass

ONE = "1"
THREADS = "128"


def reference(tensors: Tensors) -> Tensors:
    """Compute what the benchmark's model computes."""
    loss = torch.nn.functional.cross_entropy(tensors["predictions"], tensors["targets"])
    return {"loss": loss}


def magnitude(tensors: Tensors) -> Tensors:
    """Take the loss, whose two terms are both positive, and one.

    The logarithm turns the relative error of a row's sum into an absolute one: one unit each.
    """
    return {"loss": reference(tensors)["loss"] + 1}


def in_order(tensors: Tensors, order: Order) -> Tensors:
    """Sum exponentials within rows, then losses over rows, in a given order."""
    x = tensors["predictions"]
    largest = x.amax(dim=1)
    exponentials = torch.exp(x - largest[:, None])
    total = order(terms_of_rows(exponentials), x.shape[1])
    losses = torch.log(total) - (_chosen(tensors) - largest)
    return {"loss": order(Terms(losses), len(losses)) / len(losses)}


def by_two_means(tensors: Tensors) -> Tensors:
    """Take the logarithm of the sum as the library rounds it, and the mean as two sums."""
    x = tensors["predictions"]
    largest = x.amax(dim=1)
    total = torch.exp(x - largest[:, None]).sum(dim=1)
    return {"loss": torch.log(total).mean() + (largest - _chosen(tensors)).mean()}


def by_exp2(tensors: Tensors) -> Tensors:
    """Use powers and logarithms of two."""
    x = tensors["predictions"]
    largest = x.amax(dim=1, keepdim=True)
    log2_e, log_2 = 1.4426950408889634, 0.6931471805599453
    total = torch.exp2((x - largest) * log2_e).sum(dim=1)
    return {"loss": (torch.log2(total) * log_2 + (largest[:, 0] - _chosen(tensors))).mean()}


def by_others(tensors: Tensors) -> Tensors:
    """Sum without the largest term, which is exactly one, and take log1p."""
    x = tensors["predictions"]
    largest, place = x.max(dim=1, keepdim=True)
    exponentials = torch.exp(x - largest).scatter(1, place, 0.0)
    losses = torch.log1p(exponentials.sum(dim=1)) + (largest[:, 0] - _chosen(tensors))
    return {"loss": losses.sum() / len(losses)}


def by_online_chunks(tensors: Tensors) -> Tensors:
    """Keep a running maximum and a rescaled running sum over chunks of 32 classes."""
    x = tensors["predictions"]
    largest = torch.full_like(x[:, 0], torch.finfo(x.dtype).min)
    total = torch.zeros_like(largest)
    for chunk in torch.split(x, 32, dim=1):
        grown = torch.maximum(largest, chunk.amax(dim=1))
        total = total * torch.exp(largest - grown) + torch.exp(chunk - grown[:, None]).sum(dim=1)
        largest = grown
    return {"loss": (torch.log(total) - (_chosen(tensors) - largest)).mean()}


def _chosen(tensors: Tensors) -> torch.Tensor:
    return tensors["predictions"].gather(1, tensors["targets"][:, None])[:, 0]


ONLINE = Substrate(
    name="online",
    source="online.cu",
    headers=("limits.cuh", "warp_reduce.cuh", "block_reduce.cuh"),
    plan=LaunchPlan(
        workspaces=(Workspace("losses", "rows"),),
        steps=(
            Launch(
                kernel="cross_entropy_online",
                grid=("rows", ONE, ONE),
                block=(THREADS, ONE, ONE),
                arguments=(
                    pointer("predictions"),
                    pointer("targets"),
                    pointer("losses"),
                    int32("classes"),
                ),
            ),
            Launch(
                kernel="cross_entropy_mean",
                grid=(ONE, ONE, ONE),
                block=(THREADS, ONE, ONE),
                arguments=(pointer("losses"), pointer("loss"), int32("rows")),
            ),
        ),
    ),
)

WARP_ROWS = Substrate(
    name="warp-rows",
    source="warp_rows.cu",
    headers=("limits.cuh", "warp_reduce.cuh", "tree_reduce.cuh"),
    plan=LaunchPlan(
        workspaces=(Workspace("partial", "ceil_div(rows, 4)"),),
        steps=(
            Launch(
                kernel="cross_entropy_rows",
                grid=("ceil_div(rows, 4)", ONE, ONE),
                block=(THREADS, ONE, ONE),
                arguments=(
                    pointer("predictions"),
                    pointer("targets"),
                    pointer("partial"),
                    int32("rows"),
                    int32("classes"),
                ),
            ),
            Launch(
                kernel="cross_entropy_tree",
                grid=(ONE, ONE, ONE),
                block=(THREADS, ONE, ONE),
                arguments=(
                    pointer("partial"),
                    pointer("loss"),
                    int32("ceil_div(rows, 4)"),
                    int32("rows"),
                ),
            ),
        ),
    ),
)

PROBLEM = Problem(
    id="level1/095",
    benchmark="kernelbench",
    level=1,
    name="95_CrossEntropyLoss",
    operation_class=OperationClass.LOSS,
    dimensions=(
        Dimension("rows", 32768, DimensionKind.REDUCED, tile=128),
        Dimension("classes", 4096, DimensionKind.REDUCED, tile=128, minimum=2),
    ),
    inputs=(
        TensorSpec("predictions", ("rows", "classes")),
        TensorSpec(
            "targets",
            ("rows",),
            dtype="int64",
            structure=Structure.CLASS_IDS,
            own_draw=OwnDraw.CLASS_IDS,
            classes="classes",
        ),
    ),
    outputs=(TensorSpec("loss", ()),),
    reference=reference,
    magnitude=magnitude,
    # Two sums, one after the other: their lengths add up, as their rounding errors do.
    reduction_length="rows + classes",
    substrates=(ONLINE, WARP_ROWS),
    controls=(
        *ordered_controls(in_order),
        Control("two-means", "order", run=by_two_means),
        Control("exp2", "algorithm", run=by_exp2),
        Control("others", "log1p", run=by_others),
        Control("online-32", "online", run=by_online_chunks),
        Control("fma-off", "fma_off", substrate=ONLINE, flags=("-ffp-contract=off",)),
        Control("eager", "eager", run=reference, identical=True),
    ),
)
