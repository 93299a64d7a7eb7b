"""A worker's hold on the device: its session, replaced when something has broken it."""

import time
from collections.abc import Callable

from gpu_eval.campaign.cases import CaseFactory
from gpu_eval.devices.base import Case, Device, DeviceLostError, Outcome, Session
from suiteopt.errors import UserError
from suiteopt.matrix.schema import Status

MEMORY_SECONDS = 5.0
"""What a worker without memory waits for others to give some back."""

RAISED = "the device raised "
"""Begins the message of a run whose session broke; said aloud, since it may be a defect of ours."""


class HeldSession:
    """Takes the device when it is first needed, and once more after a break.

    Parameters
    ----------
    device : Device
    factory : CaseFactory
        What holds memory of the device besides the session.
    """

    def __init__(self, device: Device, factory: CaseFactory) -> None:
        self._device = device
        self._factory = factory
        self._session: Session | None = None

    def open(self) -> Session:
        """Return the session, a new one if there is none.

        Raises
        ------
        UserError
            If the device is not to be had.
        """
        if self._session is None:
            self._session = self._device.open()
        return self._session

    def close(self) -> None:
        """Give the device back, and the memory of every case."""
        self._factory.clear()
        if self._session is not None:
            self._session.close()
            self._session = None

    def lost(self) -> bool:
        """Tell whether something has gone wrong that only a new process gets over."""
        return self._session is not None and self._session.lost()

    def renew(self, case: Case) -> None:
        """Replace the session by one in which nothing is left of what went wrong."""
        self.close()
        self.open().bind(case)

    def free(self) -> None:
        """Give back the memory of the device that is not in use at this moment."""
        import torch

        if self._session is not None:
            self._session.spare()
        self._factory.clear()
        torch.cuda.empty_cache()
        time.sleep(MEMORY_SECONDS)

    def guarded(self, case: Case, action: Callable[[], Outcome], again: bool = False) -> Outcome:
        """Run something that may break the session; a broken one is replaced.

        Parameters
        ----------
        case : Case
            What is bound, and will be in the session that follows a broken one.
        action : callable
        again : bool
            Whether it has run out of memory once.

        Raises
        ------
        DeviceLostError
            If it took the device with it.
        UserError
            If it raised one, or there is too little memory.
        """
        try:
            return action()
        except (UserError, DeviceLostError):
            raise
        except Exception as error:
            if not again and _out_of_memory(error):
                # Other workers share the GPU: no fault of what ran.
                self.free()
                return self.guarded(case, action, again=True)
            if _out_of_memory(error):
                raise UserError(
                    f"the GPU has too little memory for {case.key}; give --jobs a smaller number"
                ) from error
            message = " ".join(f"{type(error).__name__}: {error}".split())
            crashed = Outcome(Status.CRASH, message=f"{RAISED}{message}")
            if self.lost():
                raise DeviceLostError(crashed) from error
            self.renew(case)
            return crashed


def _out_of_memory(error: Exception) -> bool:
    import torch

    return isinstance(error, torch.OutOfMemoryError)
