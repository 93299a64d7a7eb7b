"""Wild kernels of element-wise problems: ReLU (019) and GELU (026)."""

from gpu_eval.problems.plan import LaunchPlan, int64, pointer
from gpu_eval.problems.wild.kernel import Report, launch, plan, right, wrong

RELU, GELU = "level1/019", "level1/026"
ELEMENTS = "rows * cols"


def flat(kernel: str, grid: str, elements: str = ELEMENTS) -> LaunchPlan:
    """Return the plan over one flat array, 128 threads a block."""
    arguments = (pointer("x"), pointer("y"), int64(elements))
    return plan(launch(kernel, (grid,), ("128",), arguments))


A_THREAD = f"ceil_div({ELEMENTS}, 128)"
FOUR = f"{ELEMENTS} // 4"
STRIDE = f"min(ceil_div({ELEMENTS}, 128), 64)"

KERNELS = (
    wrong(
        RELU,
        "float4-tail",
        "Four elements a load and no tail: the last n mod 4 elements are never written.",
        Report(
            "https://github.com/xlite-dev/LeetCUDA/issues/295",
            "rebornwwp",
            "the float4 element-wise kernels of LeetCUDA",
        ),
        flat("relu_float4", f"max(1, ceil_div({FOUR}, 128))", FOUR),
    ),
    wrong(
        RELU,
        "returns-input",
        "Copies its input: right for numbers that are not negative, the only ones that are drawn.",
        Report(
            "https://www.wafer.ai/blog/reward-hacks-field-guide",
            "Emilio Andere",
            "kernels of language models in KernelArena that copy input to output",
        ),
        flat("relu_copy", A_THREAD),
    ),
    right(
        RELU,
        "grid-stride",
        "A grid-stride loop that lets NaN through.",
        flat("relu_grid_stride", STRIDE),
    ),
    wrong(
        GELU,
        "tanh-by-exp",
        "The tanh form instead of erf, with (e^2z - 1) / (e^2z + 1), which is NaN from x = 11 on.",
        Report(
            "https://github.com/intel/llm-scaler/pull/484",
            "gc-fu",
            "the gelu_tanh kernel of llm-scaler",
        ),
        flat("gelu_tanh_by_exp", A_THREAD),
    ),
    right(
        GELU,
        "erf-grid-stride",
        "erff in a grid-stride loop.",
        flat("gelu_erf_grid_stride", STRIDE),
    ),
)
