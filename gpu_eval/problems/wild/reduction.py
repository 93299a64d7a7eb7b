"""Wild kernels of reductions: mean (048), argmax (051), mean squared error (094)."""

from gpu_eval.problems.plan import LaunchPlan, Workspace, int32, int64, pointer
from gpu_eval.problems.wild.kernel import Report, launch, plan, right, wrong

MEAN, ARGMAX, MSE = "level1/048", "level1/051", "level1/094"
COLUMNS = "ceil_div(dim2, 128)"
SLAB = (int32("dim1"), int32("dim2"))
LOSS = (pointer("predictions"), pointer("targets"), pointer("loss"), int64("elements"))
BLOCKS = "min(1024, ceil_div(elements, 128))"


def columns(kernel: str) -> LaunchPlan:
    """Return the plan of one column a thread."""
    arguments = (pointer("x"), pointer("y"), *SLAB)
    return plan(launch(kernel, (COLUMNS, "batch"), ("128",), arguments))


KERNELS = (
    wrong(
        MEAN,
        "padded-rows",
        "Rows are taken in groups of 64 without a mask: the last group reads what follows.",
        Report(
            "https://github.com/torch-spyre/torch-spyre/issues/4390",
            "dgrove-oss",
            "mean of torch-spyre, into which padding lanes leak",
        ),
        columns("mean_padded_rows"),
    ),
    wrong(
        MEAN,
        "floor-split",
        "Six parts of dim1 / 6 rows, rounded down: the last rows are in none.",
        Report(
            "https://github.com/ROCm/rocm-systems/pull/7711",
            "thomas-huber",
            "oneRankReduce of RCCL and NCCL",
        ),
        plan(
            launch(
                "mean_floor_split",
                (COLUMNS, "6", "batch"),
                ("128",),
                (pointer("x"), pointer("sums"), *SLAB),
            ),
            launch(
                "mean_scale",
                ("ceil_div(batch * dim2, 128)",),
                ("128",),
                (pointer("sums"), pointer("y"), int32("batch * dim2"), int32("dim1")),
            ),
            workspaces=(Workspace("sums", "batch * dim2", zeroed=True),),
        ),
    ),
    wrong(
        MEAN,
        "atomics-unzeroed",
        "Adds to an output that nobody set to zero.",
        Report(
            "https://github.com/ByteDance-Seed/Triton-distributed/issues/182",
            "truong-v",
            "reduce_1d_persistent_kernel of Triton-distributed",
        ),
        plan(
            launch(
                "mean_atomics",
                (COLUMNS, "4", "batch"),
                ("128",),
                (pointer("x"), pointer("y"), *SLAB, int32("ceil_div(dim1, 4)")),
            )
        ),
    ),
    right(MEAN, "four-sums", "One column a thread, four running sums.", columns("mean_four_sums")),
    wrong(
        ARGMAX,
        "starts-at-zero",
        "The maximum begins at zero: columns of negative numbers give -1.",
        Report(
            "https://github.com/chainer/chainer/issues/6742",
            "shinh",
            "argmax of ChainerX for CUDA",
        ),
        columns("argmax_starts_at_zero"),
    ),
    wrong(
        ARGMAX,
        "outer-offset",
        "Indices are counted from the start of the tensor, not along the dimension.",
        Report(
            "https://github.com/pytorch/pytorch/issues/38922",
            "Heerozh",
            "argmax of PyTorch 1.5 for large tensors",
        ),
        columns("argmax_outer_offset"),
    ),
    right(
        ARGMAX,
        "last-of-ties",
        "Of equal maxima the last one, which the contract leaves open.",
        columns("argmax_last_of_ties"),
    ),
    wrong(
        MSE,
        "atomics-unzeroed",
        "Adds to a loss that nobody set to zero.",
        Report(
            "https://github.com/NVIDIA/cutlass/issues/2861",
            "muyudy",
            "the row reduction of CUTLASS, whose target was not initialised",
        ),
        plan(launch("mse_atomics", ("min(64, ceil_div(elements, 128))",), ("128",), LOSS)),
    ),
    wrong(
        MSE,
        "writes-nothing",
        "Leaves the output as the allocator gave it: often the reference's, just freed.",
        Report(
            "https://newsletter.threatprompt.com/p/llm-hacks-its-evals",
            "main_horse, and Sakana AI's own correction",
            "kernels of the AI CUDA Engineer that exploited reused memory",
        ),
        plan(launch("mse_nothing", (), (), LOSS)),
    ),
    right(
        MSE,
        "two-kernels",
        "Partial sums of a grid-stride loop, then one block.",
        plan(
            launch(
                "mse_partial_sums",
                (BLOCKS,),
                ("128",),
                (pointer("predictions"), pointer("targets"), pointer("partial"), int64("elements")),
            ),
            launch(
                "mse_finish",
                (),
                ("128",),
                (pointer("partial"), pointer("loss"), int32(BLOCKS), int64("elements")),
            ),
            workspaces=(Workspace("partial", BLOCKS),),
        ),
    ),
)
