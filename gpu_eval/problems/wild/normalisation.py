"""Wild kernels of normalisations: batch (033), RMS (036), Frobenius (037), layer (040)."""

from gpu_eval.problems.plan import LaunchPlan, Workspace, float32, int32, int64, pointer
from gpu_eval.problems.wild.kernel import Report, launch, plan, right, wrong

BATCH, RMS, FROBENIUS, LAYER = "level1/033", "level1/036", "level1/037", "level1/040"
AFFINE = (pointer("x"), pointer("weight"), pointer("bias"), pointer("y"))


def rms(kernel: str) -> LaunchPlan:
    """Return the plan of one position a thread."""
    sizes = (int32("features"), int64("pixels"), int64("positions"))
    arguments = (pointer("x"), pointer("y"), *sizes, float32("eps"))
    return plan(launch(kernel, ("ceil_div(positions, 128)",), ("128",), arguments))


def layer(kernel: str, threads: str = "128") -> LaunchPlan:
    """Return the plan of one block a row."""
    arguments = (*AFFINE, int32("normalised"), float32("eps"))
    return plan(launch(kernel, ("batch",), (threads,), arguments))


KERNELS = (
    wrong(
        BATCH,
        "one-pass-variance",
        "E[x^2] - E[x]^2 cancels where the mean is large and the spread small.",
        Report(
            "https://github.com/tenstorrent/tt-metal/issues/45968",
            "sshonTT",
            "batch_norm of ttnn in training mode",
        ),
        plan(
            launch(
                "batchnorm_one_pass",
                ("features",),
                ("128",),
                (*AFFINE, int32("batch"), int32("features"), int32("pixels"), float32("eps")),
            )
        ),
    ),
    wrong(
        RMS,
        "no-epsilon",
        "Epsilon is passed and never read: zeros become NaN, small inputs too large.",
        Report(
            "https://github.com/tenstorrent/tt-metal/issues/55347",
            "ping-dev-ui",
            "rms_norm of ttnn on scalars",
        ),
        rms("rmsnorm_no_epsilon"),
    ),
    wrong(
        RMS,
        "epsilon-outside",
        "Epsilon is added to the root, not under it.",
        Report(
            "https://github.com/tile-ai/tilelang/pull/1243",
            "pengxin99",
            "the RMSNorm example of TileLang",
        ),
        rms("rmsnorm_epsilon_outside"),
    ),
    right(
        RMS,
        "position-a-thread",
        "One position a thread, channels in order.",
        rms("rmsnorm_position_a_thread"),
    ),
    wrong(
        FROBENIUS,
        "half-norm",
        "Squares are rounded and added in half precision.",
        Report(
            "https://github.com/anthony-chaudhary/dos-kernel/issues/107",
            "anthony-chaudhary",
            "a candidate for this problem that shows a documented exploit: precision downgrade",
        ),
        plan(
            launch(
                "norm_half_sum", (), ("128",), (pointer("x"), pointer("total"), int64("elements"))
            ),
            launch(
                "norm_divide",
                ("ceil_div(elements, 128)",),
                ("128",),
                (pointer("x"), pointer("total"), pointer("y"), int64("elements")),
            ),
            workspaces=(Workspace("total", "1"),),
        ),
    ),
    wrong(
        LAYER,
        "one-pass-variance",
        "E[x^2] - E[x]^2 cancels where the mean is large and the spread small.",
        Report(
            "https://github.com/apache/tvm/pull/19643",
            "ConvolutedDog",
            "layer_norm as TVM legalised it",
        ),
        layer("layernorm_one_pass"),
    ),
    wrong(
        LAYER,
        "no-affine",
        "Weight and bias are passed and never read; they are one and zero when they are drawn.",
        Report(
            "https://github.com/pytorch/pytorch/issues/69208",
            "jjsjann123",
            "the layer_norm CUDA kernel of PyTorch 1.10, which dropped one where the other was "
            "missing",
        ),
        layer("layernorm_no_affine"),
    ),
    wrong(
        LAYER,
        "unbiased-variance",
        "Divides by n - 1 where the layer divides by n.",
        Report(
            "https://github.com/LBANN/lbann/pull/2024",
            "mrwyattii",
            "LayerNorm and InstanceNorm of LBANN",
        ),
        layer("layernorm_unbiased"),
    ),
    wrong(
        LAYER,
        "three-warps",
        "The second stage halves from three warps: the third warp's sum is never added.",
        Report(
            "https://github.com/xlite-dev/LeetCUDA/issues/357",
            "lzcchl",
            "the layer-norm kernel of LeetCUDA for a number of warps that is no power of two",
        ),
        layer("layernorm_three_warps", "96"),
    ),
    right(
        LAYER,
        "two-pass-tree",
        "Mean, then squares of differences, trees of 256 in shared memory.",
        layer("layernorm_two_pass_tree", "256"),
    ),
)
