"""All implementations of a task on one of its inputs: who runs alone, and who beside others."""

from gpu_eval.campaign.base_facts import BaseObserver
from gpu_eval.campaign.block_run import BlockRun
from gpu_eval.campaign.callables import is_callable
from gpu_eval.campaign.cases import Prepared
from gpu_eval.campaign.company import mixes
from gpu_eval.campaign.ready_inputs import ReadyInputs
from gpu_eval.campaign.side_by_side import SideBySide
from gpu_eval.campaign.single_cells import SingleCells
from gpu_eval.devices.base import Outcome

PROBE_FACTOR = 3.0
"""A suspected cell gets this many deadlines when it is looked at again: neighbours on the same GPU
may have taken the first one."""


class Columns:
    """Runs the cells of a task input by input.

    Parameters
    ----------
    run : BlockRun
    inputs : ReadyInputs
    singly : SingleCells
    together : SideBySide
    base : BaseObserver or None
        Told of every outcome, in a base task.
    """

    def __init__(
        self,
        run: BlockRun,
        inputs: ReadyInputs,
        singly: SingleCells,
        together: SideBySide,
        base: BaseObserver | None,
    ) -> None:
        self._run = run
        self._inputs = inputs
        self._singly = singly
        self._together = together
        self._base = base

    def measure(self, column: int, prepared: Prepared, careful: bool = False) -> None:
        """Run the implementations on an input, from the current row on.

        Parameters
        ----------
        column : int
        prepared : Prepared
            The input, which is bound.
        careful : bool
            One by one, with a look after each whether it wrote over what it is judged by.
        """
        run = self._run
        task, progress = run.task, run.progress
        deadline = run.deadline(column)
        lanes = 1 if careful else self._together.lanes(column)
        alone, callables, company = self._divided(column, lanes)
        # Whoever may take the device along comes first: less has been done by then.
        for row in alone:
            progress.row = min([row, *company[:1]])
            # A convicted mutant's next verdict counts at once: it gets a second look's time.
            longer = PROBE_FACTOR if task.subjects[row].id in run.convicted else 1.0
            with run.blaming(row, column):
                outcomes = self._cell(row, column, prepared, longer * deadline, careful)
            if self._base is not None and outcomes:
                self._base.observe(task.subjects[row], outcomes)
            if careful:
                prepared = self._inputs.prepare(run, column)[0] or prepared
        for row, outcomes in self._together.judged(column, prepared, callables, deadline):
            if self._base is not None:
                self._base.observe(task.subjects[row], outcomes)
        self._together.launched(column, prepared, company, lanes, deadline)
        progress.row = len(task.subjects)

    def _divided(self, column: int, lanes: int) -> tuple[list[int], list[int], list[int]]:
        """Return who runs alone, which callables are judged together, who is launched so."""
        run, task = self._run, self._run.task
        alone: list[int] = []
        company: list[int] = []
        for row in range(run.progress.row, len(task.subjects)):
            subject = task.subjects[row]
            together = (
                lanes > 1 and subject.id not in run.convicted and mixes(run.progress, subject)
            )
            (company if together else alone).append(row)
        callables: list[int] = []
        if self._base is not None and task.inputs[column].id not in task.singly:
            callables = [row for row in alone if is_callable(task.subjects[row])]
            alone = [row for row in alone if row not in callables]
        return alone, callables, company

    def _cell(
        self, row: int, column: int, prepared: Prepared, deadline: float, careful: bool
    ) -> list[Outcome]:
        """Run a cell, or mark it where it need not run (then there are no outcomes)."""
        run = self._run
        known = run.known(row, column)
        if known is not None:
            return known
        run.beacon.begin(row, column, deadline)
        outcomes = self._singly.outcomes(row, column, prepared, deadline)
        if careful and not self._inputs.intact(run, prepared):
            outcomes = self._inputs.salvaged(run, column, outcomes)
        run.store(row, column, outcomes)
        return outcomes
