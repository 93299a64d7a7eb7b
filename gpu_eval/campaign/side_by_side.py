"""Cells of an input that run several at a time; where that breaks, each runs by itself."""

from collections.abc import Iterator, Sequence

from gpu_eval.campaign.block_run import BlockRun
from gpu_eval.campaign.callables import Callables, in_company
from gpu_eval.campaign.cases import Prepared
from gpu_eval.campaign.company import Cell, lanes_wanted
from gpu_eval.campaign.held_session import HeldSession
from gpu_eval.campaign.losses import LostBatchError
from gpu_eval.campaign.phases import Phase
from gpu_eval.campaign.single_cells import SingleCells
from gpu_eval.devices.base import DeviceLostError, Outcome
from suiteopt.errors import UserError

AHEAD = 8
"""Cells that a session is given at once, for each of its lanes: they are queued while results of
others are read."""


class SideBySide:
    """Runs cells of one task several at a time.

    Parameters
    ----------
    run : BlockRun
    schedules : int
        How many the device knows.
    held : HeldSession
    callables : Callables
    singly : SingleCells
    """

    def __init__(
        self,
        run: BlockRun,
        schedules: int,
        held: HeldSession,
        callables: Callables,
        singly: SingleCells,
    ) -> None:
        self._run = run
        self._schedules = schedules
        self._held = held
        self._callables = callables
        self._singly = singly

    def lanes(self, column: int) -> int:
        """Return how many cells of an input may be under way at the same time."""
        return min(lanes_wanted(self._run.task, column), self._held.open().lanes)

    def judged(
        self, column: int, prepared: Prepared, rows: Sequence[int], deadline: float
    ) -> Iterator[tuple[int, list[Outcome]]]:
        """Judge what torch callables give, several at a time; yield those that have outcomes."""
        run = self._run
        waiting = []
        for row in rows:
            known = run.known(row, column)
            if known is None:
                waiting.append(row)
            elif known:
                yield row, known
        for group in in_company(waiting, prepared.case):
            run.beacon.begin(group[0], column, len(group) * deadline, len(group))
            found = self._judge(column, prepared, group) if len(group) > 1 else None
            for place, row in enumerate(group):
                if found is None:
                    run.beacon.begin(row, column, deadline)
                    with run.blaming(row, column):
                        outcomes = self._singly.outcomes(row, column, prepared, deadline)
                else:
                    outcomes = [found[place]]
                run.store(row, column, outcomes)
                yield row, outcomes

    def _judge(
        self, column: int, prepared: Prepared, rows: Sequence[int]
    ) -> Sequence[Outcome] | None:
        """Judge what some torch callables give; None where one of them breaks something."""
        case, task = prepared.case, self._run.task
        try:
            with self._run.phases(Phase.CONTROLS):
                given = [self._callables.outputs(task.subjects[row], case) for row in rows]
                return self._held.open().judge_many(given)
        except UserError:
            raise
        except Exception as error:
            if isinstance(error, DeviceLostError) or self._held.lost():
                raise LostBatchError(task.inputs[column].id) from error
            # Which of them it is shows when each runs by itself.
            self._held.renew(case)
            return None

    def launched(
        self, column: int, prepared: Prepared, rows: Sequence[int], lanes: int, deadline: float
    ) -> None:
        """Run compiled implementations on an input, so many at a time."""
        run = self._run
        coming = iter(rows)
        cells: list[Cell] = []
        while True:
            while len(cells) < AHEAD * lanes and (row := next(coming, None)) is not None:
                if run.known(row, column) is not None:
                    continue
                cell = self._singly.ready(row, column)
                if isinstance(cell, Outcome):
                    run.store(row, column, [cell])
                else:
                    cells.append(cell)
            if not cells:
                return
            run.progress.row = cells[0].row
            self._launch(column, prepared, cells, lanes * deadline, deadline)
            for cell in cells:
                if cell.done:
                    run.store(cell.row, column, cell.outcomes)
            cells = [cell for cell in cells if not cell.done]

    def _launch(
        self, column: int, prepared: Prepared, cells: list[Cell], limit: float, deadline: float
    ) -> None:
        """Give each of some cells its next run, several at the same time.

        The session itself ends what is overdue; ``limit`` is for the supervisor, which looks after
        sessions that do not.
        """
        run = self._run
        if len(cells) > 1:
            jobs = [cell.job(self._schedules, deadline) for cell in cells]
            run.beacon.begin(cells[0].row, column, limit, len(jobs))
            try:
                with run.phases(Phase.KERNELS):
                    outcomes = self._held.open().run_many(jobs)
                for cell, outcome in zip(cells, outcomes, strict=True):
                    cell.outcomes.append(outcome)
                return
            except UserError:
                raise
            except Exception as error:
                if isinstance(error, DeviceLostError) or self._held.lost():
                    run.save()
                    raise LostBatchError(run.task.inputs[column].id) from error
                # The device stands; what broke, and at whom, shows when each runs by itself.
                self._held.renew(prepared.case)
        for cell in cells:
            run.beacon.begin(cell.row, column, deadline)
            with run.blaming(cell.row, column):
                self._singly.finish(cell, prepared, deadline)
