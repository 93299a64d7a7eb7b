"""Runs implementations under compute-sanitizer and says which of them it accuses.

Many run in one process, since starting the tool takes seconds. What that leaves open (the tool came
to no end, or stopped printing, or named nobody) runs again: the rest together, and where that
settles nothing, each in a process of its own, in which every report is about the only one there is.
"""

import contextlib
import json
import os
import re
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Sequence
from functools import cached_property
from pathlib import Path

from gpu_eval.devices.sanitizer_job import JobDirectory, SanitizerSubject
from gpu_eval.devices.sanitizer_reports import Tool, read_transcript
from gpu_eval.devices.sanitizer_settle import NAME, PRINT_LIMIT, Attempt, Finding, settle
from suiteopt.errors import UserError

ERROR_EXIT = 86
BATCH = 48
"""Implementations in a process: one that fills the limit costs a run of those after it."""
START_SECONDS = 120.0
"""What tool and program may take until the first implementation begins."""
PADDING_BYTES = 1 << 20
"""Forbidden ground behind every allocation, so that an overrun does not land in the next one."""
POLL_SECONDS = 0.05


def find_sanitizer() -> Path:
    """Return the executable: on PATH, in a CUDA toolkit, or from its wheel.

    Raises
    ------
    UserError
        If it is nowhere.
    """
    places = [os.environ.get(name) for name in ("CUDA_HOME", "CUDA_PATH")]
    folders = [Path(place) / "bin" for place in places if place] + [Path("/usr/local/cuda/bin")]
    found = shutil.which(NAME) or shutil.which(NAME, path=os.pathsep.join(map(str, folders)))
    if found is None:
        # The bindings bring it along; it knows where wheels and conda put executables.
        with contextlib.suppress(Exception):
            from cuda.pathfinder import find_nvidia_binary_utility

            found = find_nvidia_binary_utility(NAME)
    if found is None:
        raise UserError(
            f"{NAME} is not installed (it is neither on PATH nor in $CUDA_HOME/bin); install the "
            "CUDA toolkit, or run: pip install nvidia-cuda-sanitizer-api"
        )
    return Path(found)


class Sanitizer:
    """compute-sanitizer, ready to run jobs.

    Parameters
    ----------
    executable : Path
    deadline : float
        Seconds that an implementation may take under it.
    """

    def __init__(self, executable: Path, deadline: float) -> None:
        self.executable = executable
        self._deadline = deadline

    @cached_property
    def version(self) -> str:
        """Its version, or nothing if it does not say."""
        found = re.search(r"Version (\S+)", self._ask("--version"))
        return found.group(1) if found else ""

    def command(self, tool: Tool, directory: Path) -> list[str]:
        """Return the command line of a run."""
        options = ["--tool", str(tool), "--error-exitcode", str(ERROR_EXIT)]
        options += ["--print-limit", str(PRINT_LIMIT), "--show-backtrace", "device"]
        # The next implementation still has a context to run in.
        options += ["--destroy-on-device-error", "kernel", "--target-processes", "all"]
        options += ["--launch-timeout", str(int(START_SECONDS))]
        if tool is Tool.MEMCHECK:
            # What a call returned is the program's to tell: it knows whose call it was.
            options += ["--padding", str(PADDING_BYTES), "--report-api-errors", "no"]
        if tool is Tool.INITCHECK and self._checks_shared:
            options += ["--initcheck-address-space", "all"]
        program = [sys.executable, "-m", "gpu_eval.devices.sanitized", str(directory)]
        return [str(self.executable), *options, *program]

    def check(
        self, tool: Tool, job: JobDirectory, subjects: Sequence[SanitizerSubject]
    ) -> dict[int, Finding]:
        """Run implementations under a tool; findings by their numbers."""
        found: dict[int, Finding] = {}
        pending = list(subjects)
        alone = False
        while pending:
            batch = pending[: 1 if alone else BATCH]
            settled = settle([s.number for s in batch], self._attempt(tool, job, batch))
            # Who cannot be told apart in company is looked at alone.
            alone = alone or not settled
            found |= settled
            pending = [s for s in pending if s.number not in settled]
        return found

    def _attempt(
        self, tool: Tool, job: JobDirectory, subjects: Sequence[SanitizerSubject]
    ) -> Attempt:
        job.write(subjects)
        output = job.path / "output"
        with output.open("wb") as stream:
            process = subprocess.Popen(
                self.command(tool, job.path),
                stdin=subprocess.DEVNULL,
                stdout=stream,
                stderr=subprocess.STDOUT,
                start_new_session=True,
            )
            try:
                stopped = self._wait(process, job.progress)
            finally:
                _stop(process, job.progress)
        ended, current = _progress(job.progress)
        transcript = read_transcript(output.read_text(errors="replace"))
        return Attempt(transcript, ended, current, stopped)

    def _wait(self, process: "subprocess.Popen[bytes]", progress: Path) -> bool:
        """Wait for the end; True if nothing happened for too long."""
        size, since = 0, time.monotonic()
        while process.poll() is None:
            now = progress.stat().st_size if progress.exists() else 0
            if now != size:
                size, since = now, time.monotonic()
            begun = size > 0 and _progress(progress)[1] is not None
            limit = self._deadline if begun else max(START_SECONDS, self._deadline)
            if time.monotonic() - since > limit:
                return True
            time.sleep(POLL_SECONDS)
        return False

    @cached_property
    def _checks_shared(self) -> bool:
        return "--initcheck-address-space" in self._ask("--help")

    def _ask(self, option: str) -> str:
        try:
            answer = subprocess.run(
                [self.executable, option], capture_output=True, timeout=60, check=False
            )
        except (OSError, subprocess.TimeoutExpired) as error:
            raise UserError(
                f"{self.executable} does not run ({error}); install it again"
            ) from error
        return answer.stdout.decode(errors="replace")


def _progress(path: Path) -> tuple[dict[int, tuple[str, str]], int | None]:
    """Return who came to an end and how, and who was under way."""
    ended: dict[int, tuple[str, str]] = {}
    current: int | None = None
    for content in _lines(path):
        if "begin" in content:
            current = int(str(content["begin"]))
        elif "end" in content:
            ended[int(str(content["end"]))] = (str(content["status"]), str(content["message"]))
            current = None
    return ended, current


def _lines(path: Path) -> list[dict[str, object]]:
    if not path.exists():
        return []
    found = []
    for line in path.read_text(errors="replace").splitlines():
        with contextlib.suppress(ValueError):
            found.append(json.loads(line))
    return found


def _stop(process: "subprocess.Popen[bytes]", progress: Path) -> None:
    """End the tool and the program that it watches, if they have not ended."""
    running = process.poll() is None
    with contextlib.suppress(ProcessLookupError, PermissionError):
        os.killpg(process.pid, signal.SIGKILL)
    if running:
        # The tool may have given the program a group of its own.
        pids = [int(str(line["pid"])) for line in _lines(progress) if "pid" in line]
        for pid in pids:
            with contextlib.suppress(ProcessLookupError, PermissionError):
                os.kill(pid, signal.SIGKILL)
    process.wait()
