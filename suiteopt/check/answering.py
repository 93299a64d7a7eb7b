"""What both child processes do: read requests from standard input, answer on a pipe of their own.

A request is one line of JSON, an answer too. Standard output is nobody's: models may print.
"""

import contextlib
import ctypes
import json
import os
import signal
import sys
from collections.abc import Callable, Mapping
from typing import Any

Answer = Mapping[str, Any]
LONGEST = 300


def serve(answer: Callable[[dict[str, Any]], Answer]) -> None:
    """Answer requests until standard input ends.

    Parameters
    ----------
    answer : callable
        From a request to what is answered; whatever it raises is answered as ``error``.
    """
    _die_with_parent()
    number = int(sys.argv[1])
    # The request's pipe is kept from what a model may read, and from its children.
    requests = os.fdopen(os.dup(0), "rb")
    with open(os.devnull, "rb") as nothing:
        os.dup2(nothing.fileno(), 0)
    os.set_inheritable(number, False)
    _say(number, {"ready": True})
    for line in requests:
        try:
            given = answer(json.loads(line))
        except BaseException as error:
            given = {"error": sentence(error)}
        _say(number, given)


def sentence(error: BaseException) -> str:
    """Return an exception as one line of bounded length."""
    try:
        text = " ".join(str(error).split())
    except BaseException:
        text = ""
    return f"{type(error).__name__}: {text}"[:LONGEST] if text else type(error).__name__[:LONGEST]


def _say(number: int, given: Answer) -> None:
    line = json.dumps(given).encode() + b"\n"
    while line:
        line = line[os.write(number, line) :]


def _die_with_parent() -> None:
    """Ask Linux to end this process when its parent ends, however that happens."""
    if sys.platform == "linux":
        with contextlib.suppress(OSError, AttributeError):
            ctypes.CDLL(None).prctl(1, signal.SIGKILL)
