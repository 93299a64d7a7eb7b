"""A process that answers questions within a deadline, and dies with all that it started.

What it says is not trusted: an answer is one line of JSON of bounded length, its complaints are
kept to the last few kilobytes, and its standard output goes nowhere.
"""

import contextlib
import json
import os
import selectors
import signal
import subprocess
import sys
import time
from collections.abc import Mapping
from pathlib import Path
from types import TracebackType
from typing import Any

import suiteopt
from suiteopt.check.ending import ended
from suiteopt.check.plain import plain
from suiteopt.check.stragglers import kill_stragglers, started_at

START_SECONDS = 300.0
"""For Python and torch to be there; a busy machine takes long."""

MOST_ANSWER = 1 << 20
_KEPT = 4096
_TICK = 0.25


class ChildError(Exception):
    """A child that gave no answer; the text says why, as the end of a sentence."""


class ChildStartError(ChildError):
    """A child that did not come up, before any question was put."""


class ChildTimeout(ChildError):
    """A child that gave no answer in time."""


class Child:
    """A Python module in a process group of its own, which answers questions.

    It is started at once, and waited for when the first question is put.

    Parameters
    ----------
    module : str
        What is run; it uses `suiteopt.check.answering.serve`.
    scratch : Path
        Its working directory and its directory for temporary files.
    environment : mapping of str to str
    most_answer : int
        Bytes of an answer beyond which it is taken for garbage.
    """

    def __init__(
        self,
        module: str,
        scratch: Path,
        environment: Mapping[str, str],
        most_answer: int = MOST_ANSWER,
    ) -> None:
        self._most = most_answer
        self._scratch = scratch
        self._answers = bytearray()
        self._complaints = bytearray()
        reader, writer = os.pipe()
        self._reader = reader
        try:
            # -B: nothing is cached beside a reference or a candidate
            self._process = subprocess.Popen(
                [sys.executable, "-B", "-m", module, str(writer)],
                cwd=scratch,
                env=_environment(environment, scratch),
                stdin=subprocess.PIPE,
                stdout=subprocess.DEVNULL,
                stderr=subprocess.PIPE,
                pass_fds=(writer,),
                start_new_session=True,
            )
        except OSError:
            os.close(reader)
            raise
        finally:
            os.close(writer)
        assert self._process.stdin is not None
        assert self._process.stderr is not None
        self._requests = self._process.stdin.fileno()
        self._errors = self._process.stderr.fileno()
        for number in (self._reader, self._requests, self._errors):
            os.set_blocking(number, False)
        self.alive = True
        self._ready = False
        self._since = started_at(self._process.pid)

    def ask(self, request: Mapping[str, Any], seconds: float) -> dict[str, Any]:
        """Put a question and return the answer.

        Parameters
        ----------
        request : mapping
            In JSON's own types.
        seconds : float
            How long the answer may take. A child that gives none is killed.

        Raises
        ------
        ChildStartError
            If it did not come up.
        ChildTimeout
            If there is no answer in time.
        ChildError
            If the process ended, or answered something else than one JSON object.
        """
        try:
            if not self._ready:
                self._start()
            return self._answer(json.dumps(request).encode() + b"\n", seconds)
        except BaseException:
            self.close()
            raise

    def close(self) -> None:
        """Kill the process and its group; nothing of it is left running."""
        if not self.alive:
            return
        self.alive = False
        # The group is killed before its leader is waited for, so that the id is still theirs.
        with contextlib.suppress(ProcessLookupError, PermissionError):
            os.killpg(self._process.pid, signal.SIGKILL)
        self._process.kill()
        self._process.wait()
        kill_stragglers(self._scratch, self._since)
        with contextlib.suppress(OSError):
            os.close(self._reader)
        for stream in (self._process.stdin, self._process.stderr):
            if stream is not None:
                with contextlib.suppress(OSError):
                    stream.close()

    def __enter__(self) -> "Child":
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()

    def _start(self) -> None:
        """Wait until the child says that it is there; this is nobody's time but Python's."""
        try:
            self._answer(b"", START_SECONDS)
        except ChildError as error:
            raise ChildStartError(str(error)) from error
        self._ready = True

    def _answer(self, request: bytes, seconds: float) -> dict[str, Any]:
        deadline = time.monotonic() + seconds
        with selectors.DefaultSelector() as selector:
            selector.register(self._reader, selectors.EVENT_READ)
            selector.register(self._errors, selectors.EVENT_READ)
            if request:
                selector.register(self._requests, selectors.EVENT_WRITE)
            while b"\n" not in self._answers:
                left = deadline - time.monotonic()
                if left <= 0:
                    raise ChildTimeout(f"no answer within {seconds:g} seconds")
                for key, _ in selector.select(min(left, _TICK)):
                    if key.fd == self._requests:
                        request = self._write(request)
                        if not request:
                            selector.unregister(self._requests)
                    elif not self._read(key.fd):
                        selector.unregister(key.fd)
                if len(self._answers) > self._most:
                    raise ChildError("its answer is too long to be one")
                # A process that it started may hold the pipes open: their end proves nothing.
                how = "" if b"\n" in self._answers else ended(self._process)
                if how:
                    self._read(self._reader)
                    self._read(self._errors)
                    if b"\n" not in self._answers:
                        raise ChildError(self._death(how))
        line, _, rest = bytes(self._answers).partition(b"\n")
        if rest:
            raise ChildError("it said more than it was asked")
        self._answers.clear()
        return _parsed(line)

    def _write(self, request: bytes) -> bytes:
        try:
            return request[os.write(self._requests, request) :]
        except BlockingIOError:
            return request
        except OSError:
            return b""  # it closed its end; that it ended, or says nothing, is seen elsewhere

    def _read(self, number: int) -> bool:
        """Take what there is to read; tell whether there may be more later."""
        try:
            data = os.read(number, 1 << 16)
        except BlockingIOError:
            return True
        except OSError:
            return False
        if number == self._reader:
            self._answers += data
        else:
            self._complaints = (self._complaints + data)[-_KEPT:]
        return bool(data)

    def _death(self, how: str) -> str:
        lines = self._complaints.decode(errors="replace").strip().splitlines()
        return f"its process {how}" + (f": {plain(lines[-1])}" if lines else "")


def _parsed(line: bytes) -> dict[str, Any]:
    try:
        found = json.loads(line)
    except (ValueError, RecursionError) as error:
        raise ChildError("its answer is no JSON") from error
    if not isinstance(found, dict):
        raise ChildError("its answer is no object")
    return found


def _environment(environment: Mapping[str, str], scratch: Path) -> dict[str, str]:
    root = str(Path(suiteopt.__file__).resolve().parents[1])
    path = environment.get("PYTHONPATH")
    return {
        # Threads that wait by spinning starve each other where several processes run.
        "OMP_WAIT_POLICY": "PASSIVE",
        **environment,
        "PYTHONPATH": root if not path else f"{root}{os.pathsep}{path}",
        "TMPDIR": str(scratch),
    }
