"""A CUDA device in use by one process: arena, launches, comparison, all through pycuda."""

import contextlib
import time
from collections import OrderedDict
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from gpu_eval.compilation.nvrtc import entry_points
from gpu_eval.devices import cuda_hash
from gpu_eval.devices.base import Binary, Case, DeviceLostError, Outcome, Session
from gpu_eval.devices.cuda_arena import GUARD_WORD, Arena
from gpu_eval.devices.cuda_compare import (
    MOST_BLOCKS,
    THREADS,
    Comparison,
    OutputJob,
    ZoneJob,
    counts_of,
    hash_of,
    statistics_of,
    unwritten_of,
)
from gpu_eval.devices.integer_outputs import has_integer_outputs, rejudged
from gpu_eval.problems.plan import ArgumentType, ResolvedLaunch, ResolvedPlan
from suiteopt.errors import UserError
from suiteopt.matrix.schema import Count, Statistic, Status

if TYPE_CHECKING:
    from torch import Tensor

POISON_WORD = 0x7FC0DEAD
"""What outputs and unzeroed workspaces hold before a run: a NaN that no kernel computes."""

BOUND_BYTES = 1 << 30
"""How many bytes of inputs and references stay on the device beside those of the current case.

Inputs are the outer loop of a campaign, and several workers share a GPU: little is gained by more.
"""

_TYPE_CODES = {
    ArgumentType.POINTER: "P",
    ArgumentType.INT32: "i",
    ArgumentType.INT64: "q",
    ArgumentType.FLOAT: "f",
}


@dataclass(frozen=True)
class _Bound:
    """A case on the device, and its references as the comparison reads them.

    Integer outputs are compared as pairs of words, which finds what was not written and hashes
    the bits; `gpu_eval.devices.integer_outputs` says what they are worth.
    """

    case: Case
    integers: bool
    words: "Mapping[str, Tensor]"
    word_truth: "Mapping[str, Tensor]"

    @property
    def inputs(self) -> "Mapping[str, Tensor]":
        return self.case.tensors

    @property
    def reference(self) -> "Mapping[str, Tensor]":
        return self.case.reference

    @property
    def nbytes(self) -> int:
        groups = (self.case.tensors, self.case.reference, self.case.truth, self.word_truth)
        different = {t.data_ptr(): _nbytes(t) for group in groups for t in group.values()}
        return sum(different.values())


class CudaSession(Session):
    """Runs cubins on one GPU; see `gpu_eval.devices.base.Session`.

    Parameters
    ----------
    driver : module
        ``pycuda.driver``, initialised.
    ordinal : int
        Which device.
    compare : bytes
        The cubin of ``compare.cu`` and ``checksum.cu``.
    """

    def __init__(self, driver: Any, ordinal: int, compare: bytes) -> None:
        import torch

        torch.backends.cuda.matmul.allow_tf32 = False
        torch.backends.cudnn.allow_tf32 = False
        torch.cuda.set_device(ordinal)
        torch.zeros(1, device="cuda")  # torch makes the primary context; pycuda shares it
        cuda_hash.use()
        self._driver = driver
        self._context = driver.Device(ordinal).retain_primary_context()
        self._context.push()
        self._arena = Arena(driver)
        module = driver.module_from_buffer(compare)
        self._compare_module = module
        self._comparison = Comparison(driver, module)
        self._checksum = module.get_function("checksum").prepare("PP")
        self._stretches = driver.mem_alloc(256 * 16)
        self._sum = driver.mem_alloc(8)
        self._done = driver.Event()
        self._begin, self._end = driver.Event(), driver.Event()
        self._modules: OrderedDict[str, Any] = OrderedDict()
        self._functions: dict[tuple[str, str, str], Any] = {}
        self._bound: OrderedDict[str, _Bound] = OrderedDict()
        self._current: _Bound | None = None
        self._fresh_inputs = False

    # -- cases ---------------------------------------------------------------------------------

    def bind(self, case: Case) -> None:
        """Make a case current; its tensors stay on the device for later."""
        if case.key not in self._bound:
            integers = has_integer_outputs(case)
            if not integers:
                _check_floats(case)
            self._make_room(case)
            inputs = {name: _upload(tensor) for name, tensor in case.tensors.items()}
            reference = {name: _upload(tensor) for name, tensor in case.reference.items()}
            truth = {name: _upload(tensor) for name, tensor in case.truth.items()}
            if not integers:
                truth = {name: tensor.double() for name, tensor in truth.items()}
            on_device = replace(case, tensors=inputs, reference=reference, truth=truth)
            self._bound[case.key] = _Bound(on_device, integers, *_words(on_device, integers))
        self._bound.move_to_end(case.key)
        self._current = self._bound[case.key]
        self._fresh_inputs = False

    def forget(self, key: str) -> None:
        """Let go of a case, wherever its tensors lie."""
        if self._current is self._bound.pop(key, None):
            self._current = None

    def checksum(self) -> int:
        """Sum up the words of the current case: a stray write from a kernel may reach them."""
        case = self._case()
        groups = (case.inputs, case.reference, case.case.truth, case.word_truth)
        tensors = {t.data_ptr(): t for group in groups for t in group.values()}
        rows = [(pointer, t.numel() * t.element_size() // 4) for pointer, t in tensors.items()]
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

    def _make_room(self, case: Case) -> None:
        """Let go of the cases bound longest ago before a further one takes memory."""
        groups = (case.tensors, case.reference, case.truth, case.truth)
        coming = sum(_nbytes(tensor) for group in groups for tensor in group.values())
        while self._bound and coming + sum(b.nbytes for b in self._bound.values()) > BOUND_BYTES:
            _, dropped = self._bound.popitem(last=False)
            if self._current is dropped:
                self._current = None

    def _case(self) -> _Bound:
        if self._current is None:
            raise RuntimeError("bind a case first")
        return self._current

    # -- running -------------------------------------------------------------------------------

    def run(
        self, binary: Binary, plan: ResolvedPlan, *, schedule: int = 0, deadline: float = 2.0
    ) -> Outcome:
        """Poison the outputs, run the plan, judge; see the base class.

        Schedule 1 asks for the largest shared-memory carve-out, which changes how many blocks
        are resident and so their order.
        """
        reason = _refuse(plan)
        if reason:
            return Outcome(Status.LAUNCH_ERROR, message=reason)
        case = self._case()
        self._prepare(plan)
        for name in case.reference:
            self._fill(name, POISON_WORD)
        outcome = self._run_once(binary, plan, schedule, deadline)
        if outcome.status is not Status.UNWRITTEN:
            return outcome
        self._prepare(plan)
        for name, tensor in case.reference.items():
            self._copy(name, tensor)
        stale = self._run_once(binary, plan, schedule, deadline)
        if not stale.statistics:
            return stale
        return Outcome(
            Status.UNWRITTEN,
            stale.statistics,
            stale.counts,
            outcome.output_hash,
            outcome.seconds,
            message=outcome.message,
        )

    def _prepare(self, plan: ResolvedPlan) -> None:
        case = self._case()
        sizes = {name: _nbytes(tensor) for name, tensor in case.inputs.items()}
        sizes |= {name: _nbytes(tensor) for name, tensor in case.reference.items()}
        sizes |= {w.name: w.elements * 4 for w in plan.workspaces}
        if self._arena.lay_out(sizes) or not self._fresh_inputs:
            for name, tensor in case.inputs.items():
                self._copy(name, tensor)
            self._fresh_inputs = True
            self._write_jobs()
        for workspace in plan.workspaces:
            self._fill(workspace.name, 0 if workspace.zeroed else POISON_WORD)

    def _write_jobs(self) -> None:
        case, buffers = self._case(), self._arena.buffers
        outputs = [
            OutputJob(
                buffers[name].address,
                reference.data_ptr(),
                case.word_truth[name].data_ptr(),
                reference.numel(),
                POISON_WORD,
            )
            for name, reference in case.words.items()
        ]
        zones = [ZoneJob(zone.address, zone.words, 0, GUARD_WORD) for zone in self._arena.zones]
        zones += [
            ZoneJob(buffers[name].address, buffers[name].nbytes // 4, tensor.data_ptr(), 0)
            for name, tensor in case.inputs.items()
        ]
        self._comparison.prepare(outputs, zones)

    def _run_once(
        self, binary: Binary, plan: ResolvedPlan, schedule: int, deadline: float
    ) -> Outcome:
        driver = self._driver
        try:
            self._begin.record()
            for launch in plan.launches:
                self._launch(binary, launch, schedule)
            self._end.record()
        except driver.Error as error:
            # Launch failures are reported by the launch itself and leave the context usable.
            if self._context_is_dead():
                raise DeviceLostError(Outcome(Status.CRASH, message=str(error))) from error
            return Outcome(Status.LAUNCH_ERROR, message=str(error))
        self._comparison.launch()
        self._wait(deadline)
        return self._read(self._begin, self._end)

    def _launch(self, binary: Binary, launch: ResolvedLaunch, schedule: int) -> None:
        codes = "".join(_TYPE_CODES[argument.type] for argument in launch.arguments)
        function = self._function(binary, launch.kernel, codes)
        values = [
            self._arena.buffers[str(a.value)].address if a.type is ArgumentType.POINTER else a.value
            for a in launch.arguments
        ]
        attribute = self._driver.function_attribute
        function.set_attribute(attribute.PREFERRED_SHARED_MEMORY_CARVEOUT, 100 if schedule else -1)
        if launch.shared > 48 * 1024:
            function.set_attribute(attribute.MAX_DYNAMIC_SHARED_SIZE_BYTES, launch.shared)
        function.prepared_call(launch.grid, launch.block, *values, shared_size=launch.shared)

    def _function(self, binary: Binary, kernel: str, codes: str) -> Any:
        key = (str(binary.path), binary.symbol, kernel)
        if key not in self._functions:
            module = self._module(binary)
            lowered = entry_points(binary)[kernel]
            self._functions[key] = module.get_function(lowered).prepare(codes)
        return self._functions[key]

    def _module(self, binary: Binary) -> Any:
        path = binary.path
        if path is None:
            raise RuntimeError(f"{binary.id} did not compile")
        if str(path) not in self._modules:
            self._modules[str(path)] = self._driver.module_from_buffer(path.read_bytes())
        return self._modules[str(path)]

    def _wait(self, deadline: float) -> None:
        limit = time.monotonic() + deadline
        try:
            self._done.record()
            while not self._done.query():
                if time.monotonic() > limit:
                    message = f"still running after {deadline:.3g} s"
                    raise DeviceLostError(Outcome(Status.TIMEOUT, message=message))
            self._done.synchronize()
        except self._driver.Error as error:
            raise DeviceLostError(Outcome(Status.CRASH, message=str(error))) from error

    def _context_is_dead(self) -> bool:
        try:
            self._context.synchronize()
        except self._driver.Error:
            return True
        return False

    def lost(self) -> bool:
        """Tell whether the context is poisoned."""
        return self._context is None or self._context_is_dead()

    # -- judging -------------------------------------------------------------------------------

    def judge(self, outputs: Mapping[str, "Tensor"]) -> Outcome:
        """Compare given outputs with the current case."""
        self._prepare(ResolvedPlan(()))
        for name in self._case().reference:
            self._copy(name, _upload(outputs[name]))
        self._comparison.launch()
        self._wait(60.0)
        return self._read(None, None)

    def _read(self, begin: Any, end: Any) -> Outcome:
        case = self._case()
        records, damaged = self._comparison.read()
        statistics: dict[Statistic, float] = {}
        for record in records:
            for statistic, value in statistics_of(record).items():
                statistics[statistic] = max(statistics.get(statistic, 0.0), value)
        counts = counts_of(records)
        status, message = Status.OK, ""
        if damaged.any():
            status = Status.OUT_OF_BOUNDS
            message = f"{int(damaged.sum())} words outside the outputs were written"
            self._arena.restore_zones()
            self._fresh_inputs = False
        elif unwritten := unwritten_of(records):
            status, message = Status.UNWRITTEN, f"{unwritten} elements were not written"
        elif counts[Count.NAN_ONE] or counts[Count.INF_MISMATCH]:
            status = Status.NONFINITE
        seconds = end.time_since(begin) * 1e-3 if end is not None else 0.0
        outcome = Outcome(status, statistics, counts, hash_of(records), seconds, message=message)
        return rejudged(outcome, case.case, self.outputs()) if case.integers else outcome

    def outputs(self) -> Mapping[str, "Tensor"]:
        """Copy the outputs of the last run."""
        import torch

        copies: dict[str, Tensor] = {}
        for name, reference in self._case().reference.items():
            copy = torch.empty_like(reference)
            buffer = self._arena.buffers[name]
            self._driver.memcpy_dtod(copy.data_ptr(), buffer.address, buffer.nbytes)
            copies[name] = copy
        return copies

    def close(self) -> None:
        """Free the arena and leave the context (a context left on the stack aborts at exit)."""
        if self._context is None:
            return
        self._functions.clear()
        self._modules.clear()
        self._bound.clear()
        self._current = None
        with contextlib.suppress(self._driver.Error):  # a dead context frees nothing
            self._comparison.free()
            self._arena.free()
        self._driver.Context.pop()
        self._context = None
        import torch

        with contextlib.suppress(RuntimeError):
            torch.cuda.empty_cache()

    def _fill(self, name: str, word: int) -> None:
        buffer = self._arena.buffers[name]
        if buffer.nbytes:
            self._driver.memset_d32(buffer.address, word, buffer.nbytes // 4)

    def _copy(self, name: str, tensor: "Tensor") -> None:
        buffer = self._arena.buffers[name]
        if buffer.nbytes:
            self._driver.memcpy_dtod(buffer.address, tensor.data_ptr(), buffer.nbytes)


def _check_floats(case: Case) -> None:
    for name, tensor in case.reference.items():
        if str(tensor.dtype) != "torch.float32":
            raise UserError(
                f"output '{name}' is {tensor.dtype}; the cuda device judges float32 and integers"
            )


def _words(case: Case, integers: bool) -> "tuple[dict[str, Tensor], dict[str, Tensor]]":
    """Return reference and truth of each output as the comparison reads them."""
    import torch

    if not integers:
        return dict(case.reference), dict(case.truth)
    words = {n: t.reshape(-1).view(torch.float32) for n, t in case.reference.items()}
    # Whatever the words are as floats, what is said of them as floats is thrown away.
    return words, {n: torch.zeros_like(w, dtype=torch.float64) for n, w in words.items()}


def _upload(tensor: "Tensor") -> "Tensor":
    return tensor.detach().contiguous().to("cuda")


def _nbytes(tensor: "Tensor") -> int:
    return -(-tensor.numel() * tensor.element_size() // 4) * 4


def _refuse(plan: ResolvedPlan) -> str:
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
