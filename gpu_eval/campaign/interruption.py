"""What Ctrl-C and SIGTERM leave of a campaign, in one sentence."""

import signal
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from types import FrameType

from gpu_eval.campaign.layout import Layout
from suiteopt.errors import UserError


class InterruptedCampaignError(UserError):
    """Ctrl-C or SIGTERM: everything that is done is kept."""

    def __init__(self, root: Path) -> None:
        super().__init__(f"interrupted; nothing is lost, go on with 'gpu-eval resume {root}'")


@contextmanager
def interruptible(root: Path) -> Iterator[None]:
    """Say in one sentence what an interruption leaves."""
    layout = Layout(root)
    try:
        with _terminated_like_interrupted():
            yield
    except KeyboardInterrupt:
        if layout.started:
            raise InterruptedCampaignError(root) from None
        if layout.header.exists():
            raise UserError(f"interrupted; the matrix in {root} is whole") from None
        raise UserError(
            "interrupted; nothing had been measured yet, run the same command again"
        ) from None


@contextmanager
def _terminated_like_interrupted() -> Iterator[None]:
    """Let SIGTERM end a campaign the way Ctrl-C does."""

    def interrupt(signum: int, frame: FrameType | None) -> None:
        raise KeyboardInterrupt

    try:
        old = signal.signal(signal.SIGTERM, interrupt)
    except ValueError:  # not in the main thread: the caller looks after signals
        yield
        return
    try:
        yield
    finally:
        signal.signal(signal.SIGTERM, old)
