"""Why a worker breaks a task off, beyond failures that a sentence to the user settles."""

from gpu_eval.devices.base import Outcome


class OrphanedError(Exception):
    """The supervisor is gone; there is nobody to work for."""


class LostCellError(Exception):
    """The device was lost at a cell whose outcome is known; the process is of no further use."""

    def __init__(self, subject: str, cell_input: str, outcome: Outcome) -> None:
        super().__init__(f"{subject} on {cell_input}: {outcome.status}")
        self.subject = subject
        self.input = cell_input
        self.outcome = outcome


class LostBatchError(Exception):
    """The device was lost while several cells of an input were running: it is not known whose."""

    def __init__(self, cell_input: str) -> None:
        super().__init__(f"several implementations on {cell_input}")
        self.input = cell_input


class LostBetweenCellsError(Exception):
    """The device was found lost while no run was under way: nobody is to blame by that alone."""
