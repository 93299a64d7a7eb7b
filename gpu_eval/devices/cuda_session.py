"""A CUDA device in use by one process: arena, launches, comparison, all through pycuda."""

import contextlib
from collections import OrderedDict
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from gpu_eval.devices import cuda_hash
from gpu_eval.devices.base import Binary, Case, Job, Outcome, Session
from gpu_eval.devices.cuda_case import BoundCase, check_dtypes, nbytes, on_device
from gpu_eval.devices.cuda_compare import MOST_BLOCKS, THREADS
from gpu_eval.devices.cuda_ground import Ground
from gpu_eval.devices.cuda_kernels import Kernels
from gpu_eval.devices.cuda_lanes import Lanes
from gpu_eval.problems.plan import ResolvedPlan

if TYPE_CHECKING:
    from torch import Tensor

BOUND_BYTES = 1 << 30
"""How many bytes of inputs and references stay on the device beside those of the current case.

Inputs are the outer loop of a campaign, and several workers share a GPU: little is gained by more.
"""

LARGE_BYTES = 4 << 30
"""A case that takes more has the memory of the ground: other workers may have such ones, too."""


class CudaSession(Session):
    """Runs cubins on one GPU; see `gpu_eval.devices.base.Session`.

    Parameters
    ----------
    driver : module
        ``pycuda.driver``, initialised.
    ordinal : int
        Which device.
    compare : bytes
        The cubin of ``compare.cu``, ``checksum.cu`` and ``ground.cu``.
    ground : int
        Bytes of the ground (`gpu_eval.devices.cuda_ground`), where there is so much memory.
    """

    def __init__(self, driver: Any, ordinal: int, compare: bytes, ground: int = 0) -> None:
        import torch

        torch.backends.cuda.matmul.allow_tf32 = False
        torch.backends.cudnn.allow_tf32 = False
        torch.cuda.set_device(ordinal)
        torch.zeros(1, device="cuda")  # torch makes the primary context; pycuda shares it
        cuda_hash.use()
        self._driver = driver
        self._context = driver.Device(ordinal).retain_primary_context()
        self._context.push()
        module = driver.module_from_buffer(compare)
        self._compare_module = module
        self._kernels = Kernels(driver)
        self._lanes = Lanes(driver, module, self._kernels, Ground.take(driver, module, ground))
        self._checksum = module.get_function("checksum").prepare("PP")
        self._stretches = driver.mem_alloc(256 * 16)
        self._sum = driver.mem_alloc(8)
        self._bound: OrderedDict[str, BoundCase] = OrderedDict()
        self._current: BoundCase | None = None

    # -- cases ---------------------------------------------------------------------------------

    def bind(self, case: Case) -> None:
        """Make a case current; its tensors stay on the device for later."""
        if case.key not in self._bound:
            check_dtypes(case)
            self._make_room(case)
            self._bound[case.key] = self._uploaded(case)
        self._bound.move_to_end(case.key)
        self._current = self._bound[case.key]
        self._lanes.begin(self._current)
        import torch

        # Whatever stream torch made this on, lanes read it.
        torch.cuda.current_stream().synchronize()

    def _uploaded(self, case: Case) -> BoundCase:
        """Copy a case to the device; its memory comes before the ground."""
        import torch

        try:
            return on_device(case)
        except torch.OutOfMemoryError:
            if not self.spare():
                raise
            return on_device(case)

    def forget(self, key: str) -> None:
        """Let go of a case, wherever its tensors lie."""
        if self._current is self._bound.pop(key, None):
            self._current = None

    def checksum(self) -> int:
        """Sum up the words of the current case: a stray write from a kernel may reach them."""
        tensors = self._case().tensors
        rows = [(t.data_ptr(), t.numel() * t.element_size() // 4) for t in tensors]
        self._driver.memcpy_htod(self._stretches, np.array(rows, dtype=np.uint64))
        self._driver.memset_d32(int(self._sum), 0, 2)
        self._checksum.prepared_call(
            (MOST_BLOCKS, len(rows)),
            (THREADS, 1, 1),
            int(self._stretches),
            int(self._sum),
        )
        total = np.zeros(1, dtype=np.uint64)
        self._driver.memcpy_dtoh(total, int(self._sum))
        return int(total[0])

    def trespassed(self) -> bool:
        """Look at every word of the ground; see the base class."""
        return self._lanes.trespassed(whole=True)

    def spare(self) -> bool:
        """Give the ground up for as long as this session lives; see the base class."""
        return self._lanes.spare()

    def _make_room(self, case: Case) -> None:
        """Let go of the cases bound longest ago before a further one takes memory."""
        groups = (case.tensors, case.reference, case.truth, case.truth)
        coming = sum(nbytes(tensor) for group in groups for tensor in group.values())
        if coming > LARGE_BYTES:
            self.spare()
        while self._bound and coming + sum(b.nbytes for b in self._bound.values()) > BOUND_BYTES:
            _, dropped = self._bound.popitem(last=False)
            if self._current is dropped:
                self._current = None

    def _case(self) -> BoundCase:
        if self._current is None:
            raise RuntimeError("bind a case first")
        return self._current

    # -- running -------------------------------------------------------------------------------

    @property
    def lanes(self) -> int:
        """How many jobs run at the same time on the current case: few where it is large."""
        return self._lanes.fitting(self._case())

    def run(
        self, binary: Binary, plan: ResolvedPlan, *, schedule: int = 0, deadline: float = 2.0
    ) -> Outcome:
        """Poison the outputs, run the plan, judge; see the base class.

        Schedule 1 asks for the largest shared-memory carve-out, which changes how many blocks
        are resident and so their order.
        """
        (outcome,) = self.run_many([Job(binary, plan, schedule, deadline)])
        return outcome

    def run_many(self, jobs: Sequence[Job]) -> Sequence[Outcome]:
        """Run jobs side by side, each in a lane of its own; see the base class."""
        return self._lanes.run(self._case(), jobs)

    def lost(self) -> bool:
        """Tell whether the context is poisoned."""
        if self._context is None:
            return True
        try:
            self._context.synchronize()
        except self._driver.Error:
            return True
        return False

    def judge(self, outputs: Mapping[str, "Tensor"]) -> Outcome:
        """Compare given outputs with the current case."""
        return self._lanes.judge(self._case(), [outputs])[0]

    def judge_many(self, several: "Sequence[Mapping[str, Tensor]]") -> Sequence[Outcome]:
        """Compare several given outputs, each in a lane of its own; see the base class."""
        return self._lanes.judge(self._case(), several)

    def outputs(self) -> Mapping[str, "Tensor"]:
        """Copy the outputs of the last run."""
        return self._lanes.outputs()

    def close(self) -> None:
        """Free the arenas and leave the context (a context left on the stack aborts at exit)."""
        if self._context is None:
            return
        self._kernels.clear()
        self._bound.clear()
        self._current = None
        with contextlib.suppress(self._driver.Error):  # a dead context frees nothing
            self._lanes.free()
        self._driver.Context.pop()
        self._context = None
        import torch

        with contextlib.suppress(RuntimeError):
            torch.cuda.empty_cache()
