"""KernelBench level 1, problem 89: prefix sums along the rows of a matrix."""

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
from gpu_eval.problems.orders import reversed_sums, running_sums
from gpu_eval.problems.plan import Launch, LaunchPlan, Workspace, int32, pointer
from suiteopt.matrix.schema import OperationClass

ONE = "1"
THREADS = "128"
SEGMENTS = "ceil_div(cols, 128)"


def reference(tensors: Tensors) -> Tensors:
    """Compute what the benchmark's model computes."""
    return {"y": torch.cumsum(tensors["x"], dim=1)}


def magnitude(tensors: Tensors) -> Tensors:
    """Add up the absolute values."""
    return {"y": torch.cumsum(tensors["x"].abs(), dim=1)}


def by_carry(tensors: Tensors) -> Tensors:
    """Add one column after the other to a running sum."""
    return {"y": running_sums(tensors["x"])}


def by_reversed_sums(tensors: Tensors) -> Tensors:
    """Sum every prefix anew, from its last term back to the first."""
    return {"y": reversed_sums(tensors["x"])}


def by_doubling(tensors: Tensors) -> Tensors:
    """Add what stands 1, 2, 4, ... columns before (Hillis and Steele)."""
    y = tensors["x"].clone()
    step = 1
    while step < y.shape[1]:
        y[:, step:] += y[:, :-step].clone()
        step *= 2
    return {"y": y}


def by_tree(tensors: Tensors) -> Tensors:
    """Sum pairs up a tree and pass the sums before down again (Blelloch)."""
    x = tensors["x"]
    columns = x.shape[1]
    width = 1 << (columns - 1).bit_length()
    tree = torch.nn.functional.pad(x, (0, width - columns))
    levels = []
    while tree.shape[1] > 1:
        levels.append(tree)
        tree = tree[:, 0::2] + tree[:, 1::2]
    before = torch.zeros_like(tree)
    for level in reversed(levels):
        pairs = torch.stack((before, before + level[:, 0::2]), dim=2)
        before = pairs.flatten(1)
    return {"y": (before[:, :columns] + x).contiguous()}


def by_chunks(chunks: int) -> Callable[[Tensors], Tensors]:
    """Return a scan of so many parts, each scanned alone, then lifted by the totals before."""

    def run(tensors: Tensors) -> Tensors:
        x = tensors["x"]
        parts = torch.split(x, -(-x.shape[1] // chunks), dim=1)
        scanned = [running_sums(part) for part in parts]
        lifted, before = [scanned[0]], scanned[0][:, -1:]
        for part in scanned[1:]:
            lifted.append(part + before)
            before = before + part[:, -1:]
        return {"y": torch.cat(lifted, dim=1)}

    return run


def by_totals(tensors: Tensors) -> Tensors:
    """Sum parts of 32 columns first, and let each part's scan start from the totals before."""
    x = tensors["x"]
    before = torch.zeros_like(x[:, 0])
    scanned = []
    for part in torch.split(x, 32, dim=1):
        scanned.append(running_sums(part, before))
        before = before + part.sum(dim=1)
    return {"y": torch.cat(scanned, dim=1)}


BLOCK_ROWS = Substrate(
    name="block-rows",
    source="block_rows.cu",
    headers=("warp_scan.cuh",),
    plan=LaunchPlan(
        steps=(
            Launch(
                kernel="cumsum_block_rows",
                grid=("rows", ONE, ONE),
                block=(THREADS, ONE, ONE),
                arguments=(pointer("x"), pointer("y"), int32("cols")),
            ),
        )
    ),
)

SEGMENTED = Substrate(
    name="segments",
    source="segments.cu",
    headers=("warp_scan.cuh",),
    plan=LaunchPlan(
        workspaces=(Workspace("totals", f"rows * {SEGMENTS}"),),
        steps=(
            Launch(
                kernel="cumsum_segments",
                grid=(SEGMENTS, "rows", ONE),
                block=(THREADS, ONE, ONE),
                arguments=(pointer("x"), pointer("y"), pointer("totals"), int32("cols")),
            ),
            Launch(
                kernel="cumsum_totals",
                grid=("ceil_div(rows, 4)", ONE, ONE),
                block=(THREADS, ONE, ONE),
                arguments=(pointer("totals"), int32("rows"), int32(SEGMENTS)),
            ),
            Launch(
                kernel="cumsum_add",
                grid=(SEGMENTS, "rows", ONE),
                block=(THREADS, ONE, ONE),
                arguments=(pointer("y"), pointer("totals"), int32("cols")),
            ),
        ),
    ),
)

PROBLEM = Problem(
    id="level1/089",
    benchmark="kernelbench",
    level=1,
    name="89_cumsum",
    operation_class=OperationClass.SCAN,
    # The last output of a row sums all of it, so that the scanned dimension is a reduced one.
    dimensions=(
        Dimension("rows", 32768, DimensionKind.PARALLEL, tile=4),
        Dimension("cols", 32768, DimensionKind.REDUCED, tile=128),
    ),
    inputs=(TensorSpec("x", ("rows", "cols")),),
    outputs=(TensorSpec("y", ("rows", "cols")),),
    reference=reference,
    magnitude=magnitude,
    reduction_length="cols",
    exact_lattice=True,
    substrates=(BLOCK_ROWS, SEGMENTED),
    controls=(
        Control("serial", "serial", run=by_carry),
        Control("reversed", "reversed", run=by_reversed_sums),
        Control("doubling", "pairwise", run=by_doubling),
        Control("tree", "tree", run=by_tree),
        Control("chunked-2", "chunked", run=by_chunks(2)),
        Control("chunked-4", "chunked", run=by_chunks(4)),
        Control("chunked-8", "chunked", run=by_chunks(8)),
        Control("totals-32", "tile", run=by_totals),
        Control("fma-off", "fma_off", substrate=BLOCK_ROWS, flags=("-ffp-contract=off",)),
        Control("eager", "eager", run=reference, identical=True),
    ),
)
