"""Runs a block of implementations on a problem's inputs, inside a worker."""

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from gpu_eval.campaign import base_facts
from gpu_eval.campaign.beacon import Beacon
from gpu_eval.campaign.block_run import BlockRun
from gpu_eval.campaign.callables import Callables
from gpu_eval.campaign.cases import CaseFactory
from gpu_eval.campaign.checkpoint import Progress, load
from gpu_eval.campaign.columns import PROBE_FACTOR, Columns
from gpu_eval.campaign.company import begins_scope
from gpu_eval.campaign.held_session import HeldSession
from gpu_eval.campaign.losses import (
    LostBatchError,
    LostBetweenCellsError,
    LostCellError,
    OrphanedError,
)
from gpu_eval.campaign.phases import Phase
from gpu_eval.campaign.ready_inputs import ReadyInputs
from gpu_eval.campaign.side_by_side import SideBySide
from gpu_eval.campaign.single_cells import SingleCells
from gpu_eval.campaign.tasks import CellTask, InputFacts
from gpu_eval.devices.base import Device, DeviceLostError
from gpu_eval.problems.definition import Problem
from suiteopt.errors import UserError


@dataclass(frozen=True)
class BlockResult:
    """What a task gave: its cells and what stays outside them, and the facts of a base task."""

    progress: Progress
    facts: dict[str, InputFacts]


class Runner:
    """Owns the session of one worker and runs tasks of one problem at a time.

    Parameters
    ----------
    device : Device
    problem : Problem
    beacon : Beacon
        Told of every cell before it runs.
    orphaned : callable
        Whether the supervisor is gone.
    """

    def __init__(
        self, device: Device, problem: Problem, beacon: Beacon, orphaned: Callable[[], bool]
    ) -> None:
        self._device = device
        self._problem = problem
        self._beacon = beacon
        self._orphaned = orphaned
        self._factory = CaseFactory(problem, device.torch_device)
        self._held = HeldSession(device, self._factory)
        self._inputs = ReadyInputs(device, problem, self._factory, self._held)

    def close(self) -> None:
        """Give the device back."""
        self._held.close()

    def run(self, task: CellTask, shards: Path | None = None) -> BlockResult:
        """Run a task; the inputs are the outer loop, so that each is bound once.

        Parameters
        ----------
        task : CellTask
        shards : Path or None
            Where a block leaves how far it has come, and looks for it, on a device whose runs
            cannot corrupt what is known. A base task always begins anew.

        Raises
        ------
        OrphanedError
            If the supervisor died in the meantime.
        LostCellError
            If a run took the device with it.
        LostBatchError
            If one of several runs that were under way together did.
        LostBetweenCellsError
            If the device turned out to be lost while no run was under way.
        UserError
            If the device is not to be had.
        """
        kept = shards if task.facts is not None and self._device.isolated else None
        progress = Progress() if kept is None else load(kept, task.key)
        run = BlockRun(task, kept, progress, self._beacon)
        try:
            return self._run(run)
        except (OrphanedError, LostCellError, LostBatchError, UserError):
            raise
        except Exception as error:
            if not self._held.lost():
                raise
            run.save()
            message = " ".join(f"{type(error).__name__}: {error}".split())[:200]
            raise LostBetweenCellsError(message) from error

    def _run(self, run: BlockRun) -> BlockResult:
        task, held, schedules = run.task, self._held, self._device.schedules
        callables = Callables(self._problem)
        singly = SingleCells(run, self._problem, schedules, held, callables)
        together = SideBySide(run, schedules, held, callables, singly)
        base = base_facts.BaseObserver(self._problem, self._factory) if not task.facts else None
        columns = Columns(run, self._inputs, singly, together, base)
        facts: dict[str, InputFacts] = {}
        run.begin()
        if task.probe is not None:
            self._probe(run, task.probe, singly)
        for column in range(run.progress.column, len(task.inputs)):
            pool_input = task.inputs[column]
            if self._orphaned():
                raise OrphanedError
            prepared, reason = self._inputs.prepare(run, column)
            if prepared is None:
                run.invalid(column)
                run.finish(column)
                if base is not None:
                    facts[pool_input.id] = base_facts.invalid(reason)
                continue
            if base is not None:
                with run.phases(Phase.FACTS):
                    own = held.open().judge(prepared.case.reference)
                    base.begin(pool_input, prepared, own)
            columns.measure(column, prepared)
            whole = begins_scope(task, column)
            if run.kept is not None and not self._inputs.intact(run, prepared, whole):
                # One of these cells wrote over what they are judged by: all of them once more,
                # and after each a look whether it was the one.
                run.back()
                prepared = self._inputs.remade(run, column)
                columns.measure(column, prepared, careful=True)
            run.finish(column)
            if base is not None:
                facts[pool_input.id] = base.facts()
            callables.previous = prepared.case.reference
        return BlockResult(run.progress, facts)

    def _probe(self, run: BlockRun, suspect: tuple[str, str], singly: SingleCells) -> None:
        """Run a suspected cell alone; only whether it kills the worker matters."""
        row = [subject.id for subject in run.task.subjects].index(suspect[0])
        column = [pool_input.id for pool_input in run.task.inputs].index(suspect[1])
        prepared, _ = self._inputs.prepare(run, column)
        if prepared is not None:
            deadline = PROBE_FACTOR * run.deadline(column)
            run.beacon.begin(row, column, deadline)
            try:
                singly.outcomes(row, column, prepared, deadline)
            except DeviceLostError as lost:
                raise LostCellError(suspect[0], suspect[1], lost.outcome) from lost
            run.beacon.idle()
