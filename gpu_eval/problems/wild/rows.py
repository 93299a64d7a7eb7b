"""Wild kernels along rows: softmax (023), its logarithm (024), cumulative sum (089), cross entropy
(095)."""

from gpu_eval.problems.plan import LaunchPlan, Workspace, int32, int64, pointer
from gpu_eval.problems.wild.kernel import Report, launch, plan, right, wrong

SOFTMAX, LOG_SOFTMAX = "level1/023", "level1/024"
CUMSUM, CROSS_ENTROPY = "level1/089", "level1/095"
ROW = (pointer("x"), pointer("y"), int32("cols"))
ROWS = (pointer("x"), pointer("y"), int32("rows"), int32("cols"))


def block_a_row(kernel: str, threads: str = "128") -> LaunchPlan:
    """Return the plan of one block a row."""
    return plan(launch(kernel, ("rows",), (threads,), ROW))


def warp_a_row(kernel: str) -> LaunchPlan:
    """Return the plan of four rows a block."""
    return plan(launch(kernel, ("ceil_div(rows, 4)",), ("128",), ROWS))


def cross_entropy(kernel: str) -> LaunchPlan:
    """Return the plan of a loss a row and their mean."""
    row = (pointer("predictions"), pointer("targets"), pointer("losses"), int32("classes"))
    mean = (pointer("losses"), pointer("loss"), int32("rows"))
    return plan(
        launch(kernel, ("rows",), ("128",), row),
        launch(f"{kernel}_mean", (), ("128",), mean),
        workspaces=(Workspace("losses", "rows"),),
    )


KERNELS = (
    wrong(
        SOFTMAX,
        "no-max",
        "Exponentials without subtracting the maximum overflow.",
        Report(
            "https://github.com/cornell-brg/hb-pytorch/pull/65",
            "vb000",
            "the softmax kernel of hb-pytorch",
        ),
        block_a_row("softmax_no_max"),
    ),
    wrong(
        SOFTMAX,
        "zeros",
        "Writes zeros, which an absolute tolerance takes for probabilities of a long row.",
        Report(
            "https://github.com/ScalingIntelligence/KernelBench/issues/165",
            "gauravapiscean",
            "a kernel that a language model wrote for this problem",
        ),
        plan(
            launch(
                "softmax_zeros",
                ("ceil_div(rows * cols, 128)",),
                ("128",),
                (pointer("y"), int64("rows * cols")),
            )
        ),
    ),
    wrong(
        SOFTMAX,
        "own-maximum",
        "Every thread subtracts its own maximum instead of the row's.",
        Report(
            "https://github.com/Infatoshi/cuda-course/issues/10",
            "jokerD888",
            "the softmax kernel of a CUDA course",
        ),
        block_a_row("softmax_own_maximum"),
    ),
    wrong(
        SOFTMAX,
        "maximum-of-zero",
        "Idle lanes put zeros into the maximum: rows that lie far below zero underflow.",
        Report(
            "https://github.com/m0at/rvllm/pull/1",
            "m0at",
            "the softmax kernel of rvllm, whose shuffles read inactive lanes as zero",
        ),
        block_a_row("softmax_maximum_of_zero"),
    ),
    right(
        SOFTMAX,
        "warp-a-row",
        "One warp a row, shuffles only.",
        warp_a_row("softmax_warp_a_row"),
    ),
    wrong(
        LOG_SOFTMAX,
        "log-of-softmax",
        "The logarithm of a probability that underflowed to zero is minus infinity.",
        Report(
            "https://github.com/tenstorrent/pytorch2.0_ttnn/issues/1341",
            "botify-service",
            "the lowering of log_softmax in pytorch2.0_ttnn",
        ),
        block_a_row("log_of_softmax"),
    ),
    wrong(
        LOG_SOFTMAX,
        "no-max",
        "Exponentials without subtracting the maximum overflow.",
        Report(
            "https://github.com/tenstorrent/tt-metal/pull/10001",
            "hschoi4448",
            "moreh_logsoftmax of tt-metal",
        ),
        block_a_row("logsoftmax_no_max"),
    ),
    wrong(
        LOG_SOFTMAX,
        "narrow-rows",
        "Threads that see no element merge -inf - -inf: rows shorter than a block become NaN.",
        Report(
            "https://github.com/gabrieldemarmiesse/torch-mojo-backend/pull/319",
            "gabrieldemarmiesse",
            "the fused online log_softmax of torch-mojo-backend",
        ),
        block_a_row("logsoftmax_online_unguarded"),
    ),
    right(
        LOG_SOFTMAX,
        "two-pass",
        "The maximum, then the sum, 256 threads a row.",
        block_a_row("logsoftmax_two_pass", "256"),
    ),
    wrong(
        CUMSUM,
        "no-carry",
        "Every block scans its own 64 elements; nothing is carried to the next.",
        Report(
            "https://github.com/openfheorg/openfhe-numpy/issues/85",
            "tran-go",
            "the cumulative sum of openfhe-numpy",
        ),
        plan(launch("cumsum_no_carry", ("ceil_div(cols, 64)", "rows"), ("64",), ROW)),
    ),
    wrong(
        CUMSUM,
        "missing-barrier",
        "A doubling step reads its neighbour's element and writes its own without a barrier.",
        Report(
            "https://github.com/alicevision/popsift/pull/82",
            "andrew-hardin",
            "the block-wide prefix sum of popsift",
        ),
        block_a_row("cumsum_missing_barrier"),
    ),
    right(
        CUMSUM,
        "warp-a-row",
        "One warp a row: shuffle scans and a carry.",
        warp_a_row("cumsum_warp_a_row"),
    ),
    wrong(
        CROSS_ENTROPY,
        "clamped-maximum",
        "The maximum is clamped at -64: logits far below it underflow, and log(0) is infinite.",
        Report(
            "https://github.com/PaddlePaddle/Paddle/pull/21165",
            "wangxicoding",
            "softmax_with_cross_entropy of Paddle",
        ),
        cross_entropy("cross_entropy_clamped"),
    ),
    wrong(
        CROSS_ENTROPY,
        "log-of-probability",
        "The probability of the target underflows before its logarithm is taken.",
        Report(
            "https://github.com/deeplearning4j/deeplearning4j/issues/785",
            "dkmisra",
            "the softmax loss of Deeplearning4j",
        ),
        cross_entropy("cross_entropy_log_probability"),
    ),
    right(
        CROSS_ENTROPY,
        "log-sum",
        "The logarithm of the sum minus the shifted logit.",
        cross_entropy("cross_entropy_log_sum"),
    ),
)
