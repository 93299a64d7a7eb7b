"""Loading exported files as a target's harness does, in processes of their own.

Files of a benchmark are code, and code that a suite's checkout may hold is not trusted with this
process: it can crash, hang or use up the memory. Two processes load everything, from different
states of the global generator, and write down what they see.
"""

import contextlib
import json
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from suiteopt.errors import MissingExtraError
from suiteopt.export.file_record import FileRecord, Progress, note, step_of
from suiteopt.export.target import LoadJob, Target

POLL_SECONDS = 0.5


def load_files(
    target: Target,
    root: Path,
    jobs: Sequence[LoadJob],
    turn: int,
    max_bytes: int | None,
    timeout: float,
    progress: Progress | None = None,
) -> dict[str, FileRecord]:
    """Load files in a fresh process; go on after one that crashes or hangs.

    Parameters
    ----------
    target : Target
    root : Path
        The checkout.
    jobs : sequence of LoadJob
    turn : int
        0 also runs the references; 1 loads again.
    max_bytes : int or None
        Of one configuration's inputs and outputs; None allows three quarters of what is free.
    timeout : float
        Seconds for one file.
    progress : callable, optional
        Is told of every step.

    Returns
    -------
    dict
        Record by problem.

    Raises
    ------
    MissingExtraError
        If torch is not installed.
    """
    records = {job.problem: FileRecord(len(job.inputs)) for job in jobs}
    waiting = list(jobs)
    while waiting:

        def tell(events: list[dict[str, Any]], before: int = len(jobs) - len(waiting)) -> None:
            if progress is not None and events:
                progress(step_of(events, before, len(jobs), turn))

        finished = _run(target, root, waiting, turn, max_bytes, timeout, records, tell)
        waiting = [job for job in waiting if job.problem not in finished]
    return records


def _run(
    target: Target,
    root: Path,
    jobs: Sequence[LoadJob],
    turn: int,
    max_bytes: int | None,
    timeout: float,
    records: dict[str, FileRecord],
    tell: Callable[[list[dict[str, Any]]], None],
) -> set[str]:
    """Run the loader once; return the problems that need no further run (at least one)."""
    with tempfile.TemporaryDirectory(prefix="suiteopt-verify-") as scratch:
        order = Path(scratch) / "jobs.json"
        report = Path(scratch) / "report.jsonl"
        report.touch()
        order.write_text(json.dumps(_order(root, jobs, max_bytes)), encoding="utf-8")
        # -B: nothing is cached inside the checkout
        command = [sys.executable, "-B", str(target.loader()), str(order), str(report), str(turn)]
        complaints = Path(scratch) / "stderr"
        code = _watch(command, root, complaints, report, timeout * len(jobs), tell)
        message = complaints.read_bytes().decode(errors="replace")
        if code is None:
            message = ""
            reason = f"it did not end within {timeout * len(jobs):g} seconds"
        else:
            reason = _died(code, message)
        events = [json.loads(line) for line in _lines(report)]
    finished = {str(event["problem"]) for event in events if event["event"] == "end"}
    started = [str(event["problem"]) for event in events if event["event"] == "begin"]
    for event in events:
        note(records[event["problem"]], event)
    if not started:
        if "No module named 'torch'" in message:
            raise MissingExtraError("torch", "eval")
        for job in jobs:
            records[job.problem].error = f"the loader could not start: {reason}"
        return {job.problem for job in jobs}
    if started[-1] not in finished:
        records[started[-1]].error = f"the process that loaded it died: {reason}"
        finished.add(started[-1])
    return finished


def _watch(
    command: Sequence[str],
    root: Path,
    complaints: Path,
    report: Path,
    timeout: float,
    tell: Callable[[list[dict[str, Any]]], None],
) -> int | None:
    """Run a process to its end and tell what it begins; return its exit code, None if it hung."""
    deadline = time.monotonic() + timeout
    told = 0
    with complaints.open("wb") as errors:
        process = subprocess.Popen(
            command,
            cwd=root,
            env=_environment(report.parent),
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,  # problem files may print
            stderr=errors,
        )
        try:
            while process.poll() is None:
                events = [json.loads(line) for line in _lines(report)]
                if len(events) != told:
                    told = len(events)
                    tell(events)
                if time.monotonic() > deadline:
                    return None
                with contextlib.suppress(subprocess.TimeoutExpired):
                    process.wait(POLL_SECONDS)
            return process.returncode
        finally:
            # Also where this process is interrupted: nothing is left running or lying about.
            process.kill()
            process.wait()


def _environment(scratch: Path) -> dict[str, str]:
    # A directory of its own for what the harness leaves; it goes with the report. Threads that
    # wait by spinning, as OpenMP's do by default, make recipes several times slower as soon as
    # another program wants the processor too.
    return {"OMP_WAIT_POLICY": "PASSIVE", **os.environ, "TMPDIR": str(scratch)}


def _order(root: Path, jobs: Sequence[LoadJob], max_bytes: int | None) -> dict[str, Any]:
    return {
        "root": str(root),
        "max_bytes": max_bytes,
        "jobs": [
            {
                "problem": job.problem,
                "hidden_file": job.hidden_file,
                "problem_file": job.problem_file,
                "members": len(job.inputs),
                "details": dict(job.details),
            }
            for job in jobs
        ],
    }


def _lines(report: Path) -> list[str]:
    """Return the whole lines; a process that was killed may have left half a line."""
    return report.read_text(encoding="utf-8").split("\n")[:-1]


def _died(code: int, message: str) -> str:
    last = (message.strip().splitlines() or ["no message"])[-1][:500]
    return f"signal {-code}" if code < 0 else f"exit code {code}: {last}"
