"""KernelBench level 2, problem 32: a convolution, a factor, the smallest of the channels."""

from gpu_eval.problems.definition import Substrate
from gpu_eval.problems.families.fused import (
    Conv,
    Reduce,
    Scale,
    fused_problem,
    parallel,
    reduced,
)
from gpu_eval.problems.plan import Launch, LaunchPlan, Workspace, float32, int32, int64, pointer

OUTPUTS = "batch * out_height * out_width"
FACTORS = (pointer("x"), pointer("weight"), pointer("bias"))
SIZES = (
    int32("in_channels"),
    int32("height"),
    int32("width"),
    int32("out_channels"),
    int32("out_height"),
    int32("out_width"),
)

LANES_OF_CHANNELS = Substrate(
    name="lanes-of-channels",
    source="lanes_of_channels.cu",
    headers=("limits.cuh", "pool_nan.cuh"),
    plan=LaunchPlan(
        steps=(
            Launch(
                kernel="conv2d_scale_min",
                grid=("ceil_div(out_width, 4)", "ceil_div(out_height, 4)", "batch"),
                block=("8", "16", "1"),
                # Windows of 6 x 6 floats.
                shared="in_channels * 36 * 4",
                arguments=(*FACTORS, pointer("y"), *SIZES, float32("scale_factor")),
            ),
        )
    ),
)

ATOMIC_KEYS = Substrate(
    name="atomic-keys",
    source="atomic_keys.cu",
    headers=("pool_ordered.cuh",),
    plan=LaunchPlan(
        workspaces=(Workspace("keys", OUTPUTS),),
        steps=(
            Launch(
                kernel="fill_keys",
                grid=(f"ceil_div({OUTPUTS}, 128)", "1", "1"),
                block=("128", "1", "1"),
                arguments=(pointer("keys"), int64(OUTPUTS)),
            ),
            Launch(
                kernel="conv2d_scale_lower",
                grid=(
                    "ceil_div(out_height * out_width, 32)",
                    "ceil_div(out_channels, 4)",
                    "batch",
                ),
                block=("32", "4", "1"),
                arguments=(*FACTORS, pointer("keys"), *SIZES, float32("scale_factor")),
            ),
            Launch(
                kernel="keys_to_floats",
                grid=(f"ceil_div({OUTPUTS}, 128)", "1", "1"),
                block=("128", "1", "1"),
                arguments=(pointer("keys"), pointer("y"), int64(OUTPUTS)),
            ),
        ),
    ),
)

PROBLEM = fused_problem(
    32,
    "32_Conv2d_Scaling_Min",
    (Conv(2, 3), Scale(2.0), Reduce("min")),
    # 254 outputs an axis leave 2 over in tiles of 4.
    dimensions=(
        parallel("batch", 64),
        reduced("in_channels", 64),
        parallel("height", 256, tile=4, minimum=3),
        parallel("width", 256, tile=8, minimum=3),
        reduced("out_channels", 128, tile=16),
    ),
    x=("batch", "in_channels", "height", "width"),
    scalars={"scale_factor": 2.0},
    substrates=(LANES_OF_CHANNELS, ATOMIC_KEYS),
)
