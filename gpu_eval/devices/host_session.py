"""A session of the host device: cases bound to arenas, one call a cell."""

import ctypes
from collections import OrderedDict
from collections.abc import Mapping
from typing import TYPE_CHECKING

from gpu_eval.devices.base import Binary, Case, Outcome, Session
from gpu_eval.devices.host_arguments import LaunchRefused
from gpu_eval.devices.host_case import BoundCase, bind_case, shown
from gpu_eval.devices.host_library import Comparison, Ending, RunResult
from gpu_eval.devices.host_programs import HostPrograms
from gpu_eval.devices.integer_outputs import rejudged
from gpu_eval.problems.plan import ResolvedPlan
from suiteopt.errors import UserError
from suiteopt.matrix.schema import COUNTS, STATISTICS, Status

if TYPE_CHECKING:
    from torch import Tensor

_STATUS = {
    Ending.OK: Status.OK,
    Ending.NONFINITE: Status.NONFINITE,
    Ending.OUT_OF_BOUNDS: Status.OUT_OF_BOUNDS,
    Ending.UNWRITTEN: Status.UNWRITTEN,
    Ending.CRASH: Status.CRASH,
    Ending.TIMEOUT: Status.TIMEOUT,
    Ending.LAUNCH_ERROR: Status.LAUNCH_ERROR,
}
_MEASURED = frozenset({Ending.OK, Ending.NONFINITE, Ending.OUT_OF_BOUNDS, Ending.UNWRITTEN})

KEPT_CASES = 32
KEPT_BYTES = 1 << 30


class HostSession(Session):
    """Runs kernels on the CPU, in this process and thread.

    Parameters
    ----------
    library : ctypes.CDLL
        From `gpu_eval.devices.host_library.load_library`.

    Notes
    -----
    A write into an input is not fatal, as it is not on a GPU: the run sees it, its outcome is
    ``out_of_bounds``, and the input is restored afterwards. Where a run gives both, an
    out-of-bounds write outranks an unwritten output, which outranks a non-finite mismatch.
    Deadlines and `Outcome.seconds` count the processor time of the calling thread.

    Known differences from a GPU: a conversion of a NaN or of a number out of range to an integer
    does not saturate, and a shift by 32 or more wraps (on an H200: 0, or the sign).
    """

    def __init__(self, library: ctypes.CDLL) -> None:
        self._library = library
        self._cases: OrderedDict[str, BoundCase] = OrderedDict()
        self._programs = HostPrograms(library)
        self._current: BoundCase | None = None
        self._last: dict[str, Tensor] | BoundCase | None = None

    def bind(self, case: Case) -> None:
        """Make a case current; it stays bound, and binding it again costs a look-up.

        Raises
        ------
        UserError
            If an output has a dtype that is not judged, or the arena finds no memory.
        """
        bound = self._cases.get(case.key)
        if bound is None:
            bound = bind_case(self._library, case)
            self._cases[case.key] = bound
            self._current = bound
            self._evict()
        else:
            self._cases.move_to_end(case.key)
            self._current = bound

    def run(
        self, binary: Binary, plan: ResolvedPlan, *, schedule: int = 0, deadline: float = 2.0
    ) -> Outcome:
        """Run a plan on the current case and judge its outputs; see `Session.run`.

        Raises
        ------
        UserError
            If the binary did not compile, or the plan does not fit it or the case.
        """
        bound = self._require_case()
        if binary.path is None:
            raise UserError(f"'{binary.id}' did not compile, so it cannot run: {binary.error}")
        if schedule not in (0, 1):
            raise UserError(f"the host device has schedules 0 and 1, not {schedule}")
        unit = self._programs.load(binary)
        try:
            launches, workspaces = self._programs.bind(bound, binary, plan)
        except LaunchRefused as refusal:
            return Outcome(Status.LAUNCH_ERROR, message=str(refusal))
        result = RunResult()
        self._library.hostgpu_run(
            unit,
            bound.arena.handle,
            workspaces.handle if workspaces else None,
            launches.launches,
            len(plan.launches),
            schedule,
            deadline,
            ctypes.byref(result),
        )
        ending = Ending(result.ending)
        message = result.message.decode(errors="replace")
        if ending not in _MEASURED:
            return Outcome(
                _STATUS[ending],
                seconds=result.seconds,
                divergent=bool(result.divergent),
                message=message,
            )
        self._last = bound
        measured = _measured(
            _STATUS[ending], result.comparison, result.seconds, bool(result.divergent), message
        )
        return rejudged(measured, bound.case, self.outputs()) if bound.integers else measured

    def judge(self, outputs: Mapping[str, "Tensor"]) -> Outcome:
        """Compare given outputs with the current case; see `Session.judge`.

        Raises
        ------
        UserError
            If an output is missing or does not have the reference's shape and dtype.
        """
        import torch

        bound = self._require_case()
        total = Comparison()
        self._library.hostgpu_compare_begin(ctypes.byref(total))
        kept: dict[str, torch.Tensor] = {}
        for name, reference in bound.references.items():
            output = outputs.get(name)
            if output is None:
                raise UserError(f"the outputs to judge lack '{name}'")
            if output.shape != reference.shape or output.dtype != reference.dtype:
                raise UserError(
                    f"output '{name}' is {shown(output)}, but the reference is {shown(reference)}"
                )
            kept[name] = output.detach().to("cpu").contiguous().clone()
            self._library.hostgpu_compare(
                ctypes.byref(total),
                kept[name].data_ptr(),
                reference.data_ptr(),
                bound.truths[name].data_ptr(),
                reference.numel() * reference.element_size() // 4,
            )
        self._last = kept
        mismatch = total.counts[1] + total.counts[2]
        status = Status.NONFINITE if mismatch else Status.OK
        measured = _measured(status, total, 0.0, False, "")
        return rejudged(measured, bound.case, kept) if bound.integers else measured

    def outputs(self) -> Mapping[str, "Tensor"]:
        """Copy the outputs of the last run (or judgement) that ended without an exception.

        Raises
        ------
        UserError
            If there was none, or its case has been dropped since.
        """
        import torch

        last = self._last
        if last is None or (isinstance(last, BoundCase) and last.arena.handle is None):
            raise UserError("there are no outputs: nothing has run to its end yet on a bound case")
        if not isinstance(last, BoundCase):
            return {name: tensor.clone() for name, tensor in last.items()}
        result = {}
        first = len(last.arena.addresses) - len(last.references)
        for index, (name, reference) in enumerate(last.references.items()):
            copy = torch.empty(reference.shape, dtype=reference.dtype)
            if copy.numel():
                source = self._library.hostgpu_output(last.arena.handle, first + index)
                ctypes.memmove(copy.data_ptr(), source, copy.numel() * copy.element_size())
            result[name] = copy
        return result

    def close(self) -> None:
        """Free arenas and unload units."""
        for bound in self._cases.values():
            bound.free()
        self._programs.close()
        self._cases.clear()
        self._current = self._last = None

    def _require_case(self) -> BoundCase:
        if self._current is None:
            raise UserError("no case is bound: call bind() first")
        return self._current

    def _evict(self) -> None:
        """Drop the cases that were bound longest ago; never the current one."""
        while len(self._cases) > 1 and (
            len(self._cases) > KEPT_CASES
            or sum(bound.arena.bytes for bound in self._cases.values()) > KEPT_BYTES
        ):
            _, oldest = self._cases.popitem(last=False)
            oldest.free()


def _measured(
    status: Status, comparison: Comparison, seconds: float, divergent: bool, message: str
) -> Outcome:
    return Outcome(
        status=status,
        statistics=dict(zip(STATISTICS, comparison.statistics, strict=True)),
        counts=dict(zip(COUNTS, comparison.counts, strict=True)),
        output_hash=comparison.hash,
        seconds=seconds,
        divergent=divergent,
        message=message,
    )
