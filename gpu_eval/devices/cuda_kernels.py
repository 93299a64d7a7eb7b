"""Kernels of cubins: loaded once, launched on a stream."""

from collections.abc import Mapping
from typing import Any

from gpu_eval.compilation.nvrtc import entry_points
from gpu_eval.devices.base import Binary
from gpu_eval.devices.cuda_arena import Buffer
from gpu_eval.problems.plan import ArgumentType, ResolvedLaunch, ResolvedPlan

STATIC_SHARED_BYTES = 48 * 1024
"""Dynamic shared memory that a kernel may have without asking for more."""

_TYPE_CODES = {
    ArgumentType.POINTER: "P",
    ArgumentType.INT32: "i",
    ArgumentType.INT64: "q",
    ArgumentType.FLOAT: "f",
}


class Kernels:
    """The kernels of a session's binaries.

    Parameters
    ----------
    driver : module
        ``pycuda.driver``, with a current context.
    """

    def __init__(self, driver: Any) -> None:
        self._driver = driver
        self._modules: dict[str, Any] = {}
        self._functions: dict[tuple[str, str, str], Any] = {}

    def load(self, binary: Binary, plan: ResolvedPlan) -> None:
        """Have everything on the device that a plan launches.

        To load may take the whole device, so it must not begin while a neighbour may hang.
        """
        for launch in plan.launches:
            self._function(binary, launch)

    def launch(
        self,
        binary: Binary,
        launch: ResolvedLaunch,
        schedule: int,
        buffers: Mapping[str, Buffer],
        stream: Any,
    ) -> None:
        """Queue one launch; schedule 1 asks for the largest shared-memory carve-out."""
        function = self._function(binary, launch)
        values = [
            buffers[str(a.value)].address if a.type is ArgumentType.POINTER else a.value
            for a in launch.arguments
        ]
        attribute = self._driver.function_attribute
        function.set_attribute(attribute.PREFERRED_SHARED_MEMORY_CARVEOUT, 100 if schedule else -1)
        if launch.shared > STATIC_SHARED_BYTES:
            function.set_attribute(attribute.MAX_DYNAMIC_SHARED_SIZE_BYTES, launch.shared)
        function.prepared_async_call(
            launch.grid, launch.block, stream, *values, shared_size=launch.shared
        )

    def clear(self) -> None:
        """Let go of all of them."""
        self._functions.clear()
        self._modules.clear()

    def _function(self, binary: Binary, launch: ResolvedLaunch) -> Any:
        key = (str(binary.path), binary.symbol, launch.kernel)
        if key not in self._functions:
            codes = "".join(_TYPE_CODES[argument.type] for argument in launch.arguments)
            lowered = entry_points(binary)[launch.kernel]
            function = self._module(binary).get_function(lowered).prepare(codes)
            # A driver that loads lazily does it at the latest when it is asked for this.
            attribute = self._driver.function_attribute
            function.set_attribute(attribute.PREFERRED_SHARED_MEMORY_CARVEOUT, -1)
            self._functions[key] = function
        return self._functions[key]

    def _module(self, binary: Binary) -> Any:
        path = binary.path
        if path is None:
            raise RuntimeError(f"{binary.id} did not compile")
        if str(path) not in self._modules:
            self._modules[str(path)] = self._driver.module_from_buffer(path.read_bytes())
        return self._modules[str(path)]


def refusal(plan: ResolvedPlan) -> str:
    """Say why a plan cannot be launched at all, or nothing."""
    for launch in plan.launches:
        if min(*launch.grid, *launch.block) < 1:
            return f"{launch.kernel}: a grid or block dimension is below 1"
        if launch.shared < 0:
            return f"{launch.kernel}: negative shared memory"
        for argument in launch.arguments:
            limit = {ArgumentType.INT32: 32, ArgumentType.INT64: 64}.get(argument.type)
            if limit and not -(1 << (limit - 1)) <= int(argument.value) < (1 << (limit - 1)):
                return f"{launch.kernel}: argument {argument.value} does not fit {limit} bits"
    if any(w.elements < 0 for w in plan.workspaces):
        return "a workspace of negative size"
    return ""
