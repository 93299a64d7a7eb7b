"""KernelBench level 2, problem 79: a convolution, InstanceNorm between two factors, a maximum.

The factor before the normalisation and the one after the clamp are one parameter.
"""

from gpu_eval.problems.definition import Substrate
from gpu_eval.problems.families.fused import (
    Clamp,
    Conv,
    Normalise,
    Reduce,
    WithParameter,
    fused_problem,
    parallel,
    reduced,
)
from gpu_eval.problems.plan import Launch, LaunchPlan, Workspace, float32, int32, pointer

CHANNELS = ("out_channels", "1", "1", "1")
VOXELS = "out_depth * out_height * out_width"
PLANES = "batch * out_channels"

SLABS = Substrate(
    name="slabs",
    source="slabs.cu",
    headers=(
        "conv3d_slab.cuh",
        "conv_vector.cuh",
        "fused_activations.cuh",
        "limits.cuh",
        "pool_nan.cuh",
        "tree_reduce.cuh",
    ),
    plan=LaunchPlan(
        workspaces=(
            Workspace("hidden", f"{PLANES} * {VOXELS}"),
            Workspace("means", PLANES),
            Workspace("inverses", PLANES),
        ),
        steps=(
            Launch(
                kernel="conv3d_multiply",
                grid=(
                    "ceil_div(out_width, 8)",
                    "ceil_div(out_height, 8)",
                    "batch * ceil_div(out_channels, 4) * ceil_div(out_depth, 2)",
                ),
                block=("8", "8", "2"),
                arguments=(
                    pointer("x"),
                    pointer("weight"),
                    pointer("bias"),
                    pointer("multiplier"),
                    pointer("hidden"),
                    int32("in_channels"),
                    int32("depth"),
                    int32("height"),
                    int32("width"),
                    int32("out_channels"),
                    int32("out_depth"),
                    int32("out_height"),
                    int32("out_width"),
                ),
            ),
            Launch(
                kernel="plane_moments",
                grid=(PLANES, "1", "1"),
                block=("128", "1", "1"),
                arguments=(
                    pointer("hidden"),
                    pointer("means"),
                    pointer("inverses"),
                    int32(VOXELS),
                    float32("eps"),
                ),
            ),
            Launch(
                kernel="clamp_multiply_max",
                grid=(f"ceil_div({VOXELS}, 128)", "batch", "1"),
                block=("128", "1", "1"),
                shared="3 * out_channels * 4",
                arguments=(
                    pointer("hidden"),
                    pointer("means"),
                    pointer("inverses"),
                    pointer("multiplier"),
                    pointer("y"),
                    int32("out_channels"),
                    int32(VOXELS),
                    float32("clamp_min"),
                    float32("clamp_max"),
                ),
            ),
        ),
    ),
)

PROBLEM = fused_problem(
    79,
    "79_Conv3d_Multiply_InstanceNorm_Clamp_Multiply_Max",
    (
        Conv(3, 3),
        WithParameter("*", "multiplier", CHANNELS),
        Normalise("instance", affine_map=False),
        Clamp(-1.0, 1.0),
        WithParameter("*", "multiplier", CHANNELS, brought=False),
        Reduce("max", (1,), keep=False),
    ),
    dimensions=(
        parallel("batch", 128),
        reduced("in_channels", 3),
        reduced("depth", 16, minimum=4),
        reduced("height", 32, minimum=4),
        reduced("width", 32, minimum=4),
        reduced("out_channels", 16),
    ),
    x=("batch", "in_channels", "depth", "height", "width"),
    scalars={"eps": 1e-5, "clamp_min": -1.0, "clamp_max": 1.0},
    substrates=(SLABS,),
)
