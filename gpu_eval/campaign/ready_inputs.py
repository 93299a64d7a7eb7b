"""Inputs made and bound, and made anew where a run wrote over what it is judged by."""

from dataclasses import replace

from gpu_eval.campaign.block_run import BlockRun
from gpu_eval.campaign.cases import CaseFactory, InvalidInputError, Prepared, case_key
from gpu_eval.campaign.held_session import HeldSession
from gpu_eval.campaign.integrity import Integrity
from gpu_eval.campaign.phases import Phase
from gpu_eval.campaign.pool_input import PoolInput
from gpu_eval.devices.base import Device, Outcome
from gpu_eval.problems.definition import Problem
from suiteopt.errors import UserError
from suiteopt.matrix.schema import MEASURED_STATUSES, Status

LARGE_BYTES = 1 << 28
"""Inputs beyond this do not leave memory reserved on a GPU."""


class ReadyInputs:
    """Makes the inputs of a problem ready to run on.

    Cases outlive a task, and so does what is remembered of each: a case that an earlier task
    damaged is found out by the next one.

    Parameters
    ----------
    device : Device
    problem : Problem
    factory : CaseFactory
    held : HeldSession
    """

    def __init__(
        self, device: Device, problem: Problem, factory: CaseFactory, held: HeldSession
    ) -> None:
        self._device = device
        self._problem = problem
        self._factory = factory
        self._held = held
        self._integrity = Integrity()

    def prepare(self, run: BlockRun, column: int) -> tuple[Prepared | None, str]:
        """Make an input and bind it; None, and in a base task the reason, if it is invalid."""
        pool_input, facts = run.task.inputs[column], run.task.facts
        if facts is not None and not facts[pool_input.id].valid:
            return None, ""
        with run.phases(Phase.OPEN):
            self._held.open()  # before torch takes the device, so that one context is made
        with run.phases(Phase.INPUTS):
            try:
                prepared = self._made(pool_input)
            except InvalidInputError as error:
                if self._held.lost():
                    raise  # it is the device that failed, not the reference
                return None, str(error)
            self._held.open().bind(prepared.case)
        if self._device.isolated and not self.intact(run, prepared):
            prepared = self.remade(run, column)
        return prepared, ""

    def intact(self, run: BlockRun, prepared: Prepared, whole: bool = False) -> bool:
        """Tell whether the bound case is still what it was when it was made.

        Parameters
        ----------
        run : BlockRun
        prepared : Prepared
        whole : bool
            Whether memory that belongs to nobody has to be what it was, too.
        """
        with run.phases(Phase.INTACT):
            return self._integrity.holds(self._held.open(), prepared.case.key, whole)

    def remade(self, run: BlockRun, column: int) -> Prepared:
        """Make an input anew whose tensors are no longer to be trusted."""
        pool_input = run.task.inputs[column]
        self._factory.drop(pool_input)
        key = case_key(self._problem, pool_input)
        self._held.open().forget(key)
        self._integrity.forget(key)
        prepared, reason = self.prepare(run, column)
        if prepared is None:
            raise RuntimeError(f"{key} cannot be made a second time: {reason}")
        return prepared

    def salvaged(self, run: BlockRun, column: int, outcomes: list[Outcome]) -> list[Outcome]:
        """Judge a run once more that wrote over its own references, by fresh ones."""
        last = outcomes[-1]
        outputs = {}
        if last.status in MEASURED_STATUSES:
            outputs = {name: tensor.cpu() for name, tensor in self._held.open().outputs().items()}
        self.remade(run, column)
        if not outputs:
            return outcomes
        judged = self._held.open().judge(outputs)
        message = "memory that belongs to others was written"
        return [replace(judged, status=Status.OUT_OF_BOUNDS, message=message)]

    def _made(self, pool_input: PoolInput) -> Prepared:
        """Make an input; memory that earlier ones hold is given back where it is wanted."""
        import torch

        try:
            prepared = self._factory.get(pool_input)
        except torch.OutOfMemoryError:
            self._held.free()
            try:
                prepared = self._factory.get(pool_input)
            except torch.OutOfMemoryError as error:
                raise UserError(
                    f"the GPU has too little memory for the input {pool_input.id}; "
                    "give --jobs a smaller number"
                ) from error
        if self._device.torch_device != "cpu" and prepared.bytes > LARGE_BYTES:
            # Other workers share the GPU, and references leave temporaries behind.
            torch.cuda.empty_cache()
        return prepared
