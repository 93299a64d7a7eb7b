"""What a command of some minutes shows: one moving line on a terminal, a line a step elsewhere."""

import contextlib
from collections.abc import Callable, Iterator

from suiteopt.console import stderr


@contextlib.contextmanager
def steps(doing: str) -> Iterator[Callable[[str], None]]:
    """Yield what shows a step on standard error; the same one twice is shown once.

    Parameters
    ----------
    doing : str
        What the command does, before each step.
    """
    console = stderr()
    last: list[str] = []
    with console.status(doing) if console.is_terminal else contextlib.nullcontext() as status:

        def tell(step: str) -> None:
            if last == [step]:
                return
            last[:] = [step]
            if status is None:
                console.print(f"{doing}: {step}", soft_wrap=True)
            else:
                status.update(f"{doing}: {step}")

        yield tell
