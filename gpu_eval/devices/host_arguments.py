"""Plans as the host library takes them: launches, argument slots, workspaces."""

import ctypes
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from gpu_eval.devices.host_library import (
    BufferRole,
    BufferSpecification,
    Index3,
    KernelRecord,
    LaunchRecord,
)
from gpu_eval.problems.plan import ArgumentType, ResolvedLaunch, ResolvedPlan
from suiteopt.errors import UserError

_LETTERS = {
    ArgumentType.POINTER: "p",
    ArgumentType.INT32: "i",
    ArgumentType.INT64: "l",
    ArgumentType.FLOAT: "f",
}
_WORKSPACE_LIMIT = 1 << 31  # bytes; a plan that asks for more is a fault, not a need


@dataclass
class BoundPlan:
    """A plan made concrete for one case and one implementation.

    Attributes
    ----------
    launches : ctypes array of LaunchRecord
    keep : object
        What the records point to.
    """

    launches: "ctypes.Array[LaunchRecord]"
    keep: object


class LaunchRefused(Exception):
    """A plan that no device would launch; its text says why."""


def workspace_specifications(plan: ResolvedPlan) -> list[BufferSpecification]:
    """Describe a plan's workspaces.

    Raises
    ------
    LaunchRefused
        If one has a negative size or is larger than a run's memory.
    """
    result = []
    for workspace in plan.workspaces:
        size = workspace.elements * 4
        if not 0 <= size <= _WORKSPACE_LIMIT:
            raise LaunchRefused(f"cannot allocate workspace '{workspace.name}' of {size} bytes")
        role = BufferRole.ZEROED if workspace.zeroed else BufferRole.SCRATCH
        result.append(BufferSpecification(workspace.name.encode(), role, size, None, None, None))
    return result


def bind_plan(
    plan: ResolvedPlan,
    kernels: Mapping[str, "ctypes._Pointer[KernelRecord]"],
    address: Callable[[str], int],
) -> BoundPlan:
    """Fill in the records of a plan.

    Parameters
    ----------
    plan : ResolvedPlan
    kernels : mapping of str to pointer
        The implementation's kernels by name.
    address : callable
        Address of a tensor or workspace by name; raises UserError for an unknown one.

    Raises
    ------
    UserError
        If a kernel or a tensor is unknown, or arguments do not fit the kernel's signature.
    LaunchRefused
        If a size is negative or beyond 32 bits.
    """
    launches = (LaunchRecord * max(1, len(plan.launches)))()
    keep: list[object] = [launches]
    for record, launch in zip(launches, plan.launches, strict=False):
        kernel = kernels.get(launch.kernel)
        if kernel is None:
            raise UserError(
                f"the plan launches '{launch.kernel}', which was not compiled; "
                f"known: {', '.join(sorted(kernels))}"
            )
        slots, pointers = _arguments(launch, kernel.contents.signature.decode(), address)
        keep += [slots, pointers]
        record.kernel = kernel
        record.arguments = ctypes.cast(pointers, ctypes.POINTER(ctypes.c_void_p))
        record.grid = _index(launch.grid, launch.kernel)
        record.block = _index(launch.block, launch.kernel)
        if not 0 <= launch.shared < 1 << 32:
            raise LaunchRefused(f"{launch.kernel}: {launch.shared} bytes of shared memory")
        record.shared = launch.shared
    return BoundPlan(launches, keep)


def _index(sizes: Sequence[int], kernel: str) -> Index3:
    if any(not 0 <= size < 1 << 32 for size in sizes):
        shown = ", ".join(map(str, sizes))
        raise LaunchRefused(f"{kernel}: grid or block of size ({shown})")
    return Index3(*sizes)


def _arguments(
    launch: ResolvedLaunch, signature: str, address: Callable[[str], int]
) -> tuple["ctypes.Array[ctypes.c_uint64]", "ctypes.Array[ctypes.c_void_p]"]:
    given = "".join(_LETTERS[a.type] for a in launch.arguments)
    if given != signature:
        raise UserError(
            f"the plan's arguments do not fit kernel '{launch.kernel}': it takes "
            f"'{signature}', the plan gives '{given}' (p pointer, i int, l long long, f float)"
        )
    count = len(launch.arguments)
    slots = (ctypes.c_uint64 * max(1, count))()
    pointers = (ctypes.c_void_p * max(1, count))()
    base = ctypes.addressof(slots)
    for index, argument in enumerate(launch.arguments):
        place = base + 8 * index
        pointers[index] = place
        value = argument.value
        if argument.type is ArgumentType.POINTER:
            slots[index] = address(str(value))
        elif argument.type is ArgumentType.FLOAT:
            ctypes.c_float.from_address(place).value = float(value)
        elif argument.type is ArgumentType.INT32:
            ctypes.c_int32.from_address(place).value = int(value)
        else:
            ctypes.c_int64.from_address(place).value = int(value)
    return slots, pointers
