"""One function over many items on several cores, in processes forked from the workers' server."""

import contextlib
import signal
from collections.abc import Callable, Iterator, Sequence
from multiprocessing.connection import Connection, wait
from typing import Any, TypeVar

from gpu_eval.campaign import processes

_Item = TypeVar("_Item")
_Result = TypeVar("_Result")


def spread(
    items: Sequence[_Item],
    here: Callable[[_Item], _Result],
    there: Callable[[_Item], _Result],
    helpers: int,
) -> list[_Result]:
    """Return the results in the order of the items, whoever had which.

    What a helper could not do is done in this process, so that an exception is raised here, and
    is the one that doing everything here would have raised.

    Parameters
    ----------
    items : sequence
        Each is sent through a pipe, as is its result.
    here, there : callable
        The same function: for this process, and for a helper (of a module, since its name is sent).
    helpers : int
        Processes beside this one, which waits for them; fewer than two: everything is done here.
    """
    found = _helped(items, there, min(helpers, len(items))) if helpers > 1 else {}
    return [found[n] if n in found else here(item) for n, item in enumerate(items)]


def _helped(
    items: Sequence[_Item], there: Callable[[_Item], _Result], helpers: int
) -> dict[int, _Result]:
    """Return what helpers came to, by the place of the item; none is begun after a failure."""
    found: dict[int, _Result] = {}
    coming: Iterator[int] = iter(range(len(items)))
    crew = [processes.start(_help, (there,), f"gpu-eval-helper-{n}") for n in range(helpers)]
    busy: dict[Any, int] = {}

    def hand_out(connection: Connection) -> None:
        place = next(coming, None)
        if place is not None:
            # Of a helper that is gone the answer does not come, which is seen below.
            with contextlib.suppress(BrokenPipeError, ConnectionResetError):
                connection.send(items[place])
            busy[connection] = place

    try:
        for _, connection in crew:
            hand_out(connection)
        while busy:
            for ready in wait(list(busy)):
                place = busy.pop(ready)
                assert isinstance(ready, Connection)
                try:
                    answer = ready.recv()
                except (EOFError, OSError):
                    continue
                if answer is None:
                    coming = iter(())
                else:
                    found[place] = answer[0]
                hand_out(ready)
        return found
    finally:
        for process, connection in crew:
            connection.close()
            processes.kill(process)


def _help(connection: Connection, function: Callable[[Any], Any]) -> None:
    """Answer until the pipe closes: with a result in a tuple, or None where there is none."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    with contextlib.suppress(EOFError, BrokenPipeError, ConnectionResetError):
        while True:
            item = connection.recv()
            try:
                answer = (function(item),)
            except Exception:
                answer = None
            connection.send(answer)
