"""Wild kernels of pooling: maxima in two dimensions (042), averages in one (044)."""

from gpu_eval.problems.plan import LaunchPlan, int32, int64, pointer
from gpu_eval.problems.wild.kernel import Report, launch, plan, right, wrong

MAXIMUM, AVERAGE = "level1/042", "level1/044"
IMAGE_OUTPUTS = "batch * channels * out_height * out_width"
LINE_OUTPUTS = "batch * channels * out_length"
IMAGE = ("height", "width", "out_height", "out_width", "kernel", "stride", "padding", "dilation")
LINE = ("length", "out_length", "kernel", "stride", "padding")


def pooling(kernel: str, sizes: tuple[str, ...], outputs: str) -> LaunchPlan:
    """Return the plan of one output a thread."""
    arguments = (pointer("x"), pointer("y"), *map(int32, sizes), int64(outputs))
    return plan(launch(kernel, (f"ceil_div({outputs}, 128)",), ("128",), arguments))


KERNELS = (
    wrong(
        MAXIMUM,
        "starts-at-zero",
        "The maximum begins at zero: windows of negative numbers give zero.",
        Report(
            "https://github.com/tensorflow/tfjs/pull/4854",
            "qjia7",
            "maxPool of the WebGPU backend of TensorFlow.js",
        ),
        pooling("maxpool_starts_at_zero", IMAGE, IMAGE_OUTPUTS),
    ),
    wrong(
        MAXIMUM,
        "starts-at-flt-min",
        "The maximum begins at FLT_MIN, the smallest positive number, not the lowest one.",
        Report(
            "https://github.com/uxlfoundation/oneDNN/pull/1677",
            "baibeta",
            "max pooling of oneDNN for RISC-V",
        ),
        pooling("maxpool_starts_at_flt_min", IMAGE, IMAGE_OUTPUTS),
    ),
    right(
        MAXIMUM,
        "output-a-thread",
        "One output a thread; NaN passes through.",
        pooling("maxpool_output_a_thread", IMAGE, IMAGE_OUTPUTS),
    ),
    wrong(
        AVERAGE,
        "excludes-padding",
        "Divides by the elements inside the line where padding counts, too.",
        Report(
            "https://github.com/Tencent/ncnn/issues/924",
            "WIll-Xu35",
            "average pooling of ncnn",
        ),
        pooling("avgpool1d_excludes_padding", LINE, LINE_OUTPUTS),
    ),
    right(
        AVERAGE,
        "output-a-thread",
        "One output a thread, divided by the kernel's size.",
        pooling("avgpool1d_output_a_thread", LINE, LINE_OUTPUTS),
    ),
)
