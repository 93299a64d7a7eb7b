"""Problems of transposed convolutions: contract and parts of launch plans."""

from gpu_eval.problems.definition import (
    Control,
    Dimension,
    DimensionKind,
    ParameterRole,
    ParameterSpec,
    Problem,
    Substrate,
    TensorSpec,
)
from gpu_eval.problems.families.convolution_transposed import TransposedConvolution
from gpu_eval.problems.plan import Argument, Launch, int32
from suiteopt.matrix.schema import OperationClass

ONE = "1"


def problem(
    number: int,
    name: str,
    operation: TransposedConvolution,
    *,
    batch: int,
    in_channels: Dimension,
    out_channels: Dimension,
    substrates: tuple[Substrate, ...],
    controls: tuple[Control, ...],
) -> Problem:
    """Return a level-1 problem of this family.

    Parameters
    ----------
    number, name : int, str
        The benchmark's.
    operation : TransposedConvolution
    batch : int
    in_channels, out_channels : Dimension
        As `in_channels` and `out_channels` make them; with groups, the channels of one group.
    substrates, controls : tuples

    Notes
    -----
    Integer expressions may use ``stride_<axis>``, ``padding_<axis>``, ``output_padding_<axis>``,
    ``dilation_<axis>``, ``kernel_<axis>``, ``out_<axis>``, ``groups``, ``in_channels`` and
    ``out_channels``, whatever the groups.
    """
    per_group_in, per_group_out = in_channels.name, out_channels.name
    scalars: dict[str, int | float] = {"groups": operation.groups}
    derived: dict[str, str] = {}
    if operation.groups > 1:
        derived["in_channels"] = f"groups * {per_group_in}"
        derived["out_channels"] = f"groups * {per_group_out}"
    for a in operation.axes:
        n = a.name
        scalars[f"stride_{n}"], scalars[f"padding_{n}"] = a.stride, a.padding
        scalars[f"output_padding_{n}"], scalars[f"dilation_{n}"] = a.output_padding, a.dilation
        derived[f"out_{n}"] = (
            f"({n} - 1) * stride_{n} - 2 * padding_{n} + dilation_{n} * (kernel_{n} - 1) + "
            f"output_padding_{n} + 1"
        )
    spatial = tuple(a.name for a in operation.axes)
    kernel = tuple(f"kernel_{n}" for n in spatial)
    return Problem(
        id=f"level1/{number:03}",
        benchmark="kernelbench",
        level=1,
        name=name,
        operation_class=OperationClass.CONVOLUTION,
        dimensions=(
            Dimension("batch", batch, DimensionKind.PARALLEL),
            in_channels,
            *(
                Dimension(a.name, a.size, DimensionKind.PARALLEL, a.tile, a.minimum)
                for a in operation.axes
            ),
            out_channels,
            *(
                Dimension(f"kernel_{a.name}", a.kernel, DimensionKind.REDUCED, fixed=True)
                for a in operation.axes
            ),
        ),
        derived=derived,
        scalars=scalars,
        inputs=(TensorSpec("x", ("batch", "in_channels", *spatial)),),
        parameters=(
            ParameterSpec("weight", ("in_channels", per_group_out, *kernel), ParameterRole.WEIGHT),
        ),
        outputs=(TensorSpec("y", ("batch", "out_channels", *(f"out_{n}" for n in spatial))),),
        reference=operation.reference,
        initialise=operation.initialise,
        magnitude=operation.magnitude,
        reduction_length=" * ".join(
            [per_group_in, *(a.taps_of_an_output() for a in operation.axes)]
        ),
        exact_lattice=True,
        substrates=substrates,
        controls=controls,
    )


def in_channels(size: int, tile: int = 1, groups: int = 1) -> Dimension:
    """Return the dimension that is summed over; with groups it is one group's channels."""
    name = "in_channels" if groups == 1 else "group_in_channels"
    return Dimension(name, size // groups, DimensionKind.REDUCED, tile)


def out_channels(size: int, tile: int = 1, groups: int = 1) -> Dimension:
    """Return the dimension of output channels; with groups it is one group's channels."""
    name = "out_channels" if groups == 1 else "group_out_channels"
    return Dimension(name, size // groups, DimensionKind.PARALLEL, tile)


def integers(names: str) -> tuple[Argument, ...]:
    """Return int arguments for names separated by blanks."""
    return tuple(int32(name) for name in names.split())


def launch(
    kernel: str,
    grid: tuple[str, str, str],
    block: tuple[str, str, str],
    *arguments: Argument,
    shared: str = "0",
) -> Launch:
    """Return a launch, its arguments last."""
    return Launch(kernel, grid, block, arguments, shared)
