"""Known kernels judged in processes of their own, and what was found of each, kept on the disk."""

import argparse
import json
import os
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from experiments import kernelbench_table as tables
from experiments.kernelbench_copies import LARGE, Copy, Kernel
from suiteopt.console import stderr
from suiteopt.matrix.files import write_atomic
from suiteopt.matrix.jsonable import dumps

ROOT = Path(__file__).resolve().parents[1]


@dataclass(frozen=True)
class Group:
    """Kernels that are judged one after the other in a process, by one copy's harness."""

    copy: Copy
    kernels: tuple[Kernel, ...]
    large: bool


@dataclass
class Results:
    """What was found so far, by kernel and copy; written after each."""

    path: Path
    about: dict[str, Any]
    rows: dict[tuple[str, str], dict[str, Any]] = field(default_factory=dict)
    lock: Any = field(default_factory=threading.Lock)

    def add(self, kernel: Kernel, copy: Copy, found: dict[str, Any]) -> None:
        """Note one result and write all."""
        row = {
            "kernel": kernel.name,
            "problem": f"level1/{kernel.problem:03d}",
            "right": kernel.right,
            "copy": copy.name,
            **found,
        }
        with self.lock:
            self.rows[kernel.name, copy.name] = row
            self.write()

    def write(self) -> None:
        """Write everything that is known."""
        write(self.path, self.document())

    def document(self) -> dict[str, Any]:
        """Return everything that is known."""
        return {**self.about, "results": list(self.rows.values())}


def write(path: Path, document: dict[str, Any]) -> None:
    """Write a document as JSON, and beside it as a page."""
    write_atomic(path, (dumps(document, indent=2) + "\n").encode())
    write_atomic(path.with_suffix(".md"), tables.markdown(document).encode())


def grouped(
    kernels: Sequence[Kernel], copies: Sequence[Copy], options: argparse.Namespace
) -> Iterator[Group]:
    """Share kernels out: by copy, those with tensors of gigabytes apart.

    The first suite comes first, what the published check says second: if the time is up early,
    what is new has been seen.
    """
    order = sorted(enumerate(copies), key=lambda one: {1: 0, 0: 1}.get(one[0], one[0]))
    for number, copy in order:
        for large in (True, False):
            if large and number > options.large_suites:
                continue
            chosen = tuple(
                kernel
                for kernel in kernels
                if (kernel.problem in LARGE) is large and copy.covers(kernel.problem)
            )
            if chosen:
                yield Group(copy, chosen, large)


def run_lane(
    groups: list[Group], until: float, options: argparse.Namespace, results: Results
) -> None:
    """Take groups from a list that lanes share, until none is left or the time is up."""
    while time.monotonic() < until:
        with results.lock:
            if not groups:
                return
            group = groups.pop(0)
        waiting = list(group.kernels)
        while waiting and time.monotonic() < until:
            waiting = run_group(group.copy, waiting, until, options, results)


def run_group(
    copy: Copy,
    kernels: list[Kernel],
    until: float,
    options: argparse.Namespace,
    results: Results,
) -> list[Kernel]:
    """Judge kernels in one process; return those that it did not get to because one killed it."""
    trials = {
        kernel.name: copy.trials(kernel.problem, options.trials, options.large_trials)
        for kernel in kernels
    }
    with tempfile.TemporaryDirectory(prefix="suiteopt-kernelbench-") as scratch:
        order, report, log = (Path(scratch) / name for name in ("order.json", "report", "log"))
        document = {
            "repo": str(copy.repo.resolve()),
            "device": options.device,
            "kernels": [
                {
                    "name": kernel.name,
                    "path": str(kernel.path),
                    "backend": kernel.backend,
                    "definition": str(copy.definition(kernel.problem)),
                    "trials": trials[kernel.name],
                }
                for kernel in kernels
            ],
        }
        order.write_text(json.dumps(document), encoding="utf-8")
        report.touch()
        command = [sys.executable, "-B", "-m", "experiments.kernelbench_harness"]
        environment = {**os.environ, "PYTHONPATH": path_for_child(), "TMPDIR": scratch}
        with log.open("wb") as handle:
            process = subprocess.Popen(
                [*command, str(order), str(report)],
                cwd=ROOT,
                env=environment,
                stdin=subprocess.DEVNULL,
                stdout=handle,
                stderr=subprocess.STDOUT,
            )
            seen = 0
            try:
                while process.poll() is None and time.monotonic() < until:
                    seen = note(report, seen, kernels, copy, trials, results)
                    time.sleep(0.2)
            finally:
                timed_out = process.poll() is None
                process.kill()
                code = process.wait()
        note(report, seen, kernels, copy, trials, results)
        left = [one for one in kernels if (one.name, copy.name) not in results.rows]
        if left and not timed_out:
            last = log.read_text(encoding="utf-8", errors="replace").strip().splitlines()[-1:]
            why = f"the process died with exit code {code}: {''.join(last)[:300]}"
            results.add(left[0], copy, {"failed": why, "trials": trials[left[0].name]})
    return [] if timed_out else left[1:]


def path_for_child() -> str:
    given = os.environ.get("PYTHONPATH", "")
    return os.pathsep.join([str(ROOT), *([given] if given else [])])


def note(
    report: Path,
    seen: int,
    kernels: list[Kernel],
    copy: Copy,
    trials: dict[str, int],
    results: Results,
) -> int:
    """Add what a report says from a line on; return how many whole lines it has."""
    lines = report.read_text(encoding="utf-8").split("\n")[:-1]
    by_name = {kernel.name: kernel for kernel in kernels}
    for line in lines[seen:]:
        event = json.loads(line)
        kernel = by_name[event.pop("kernel")]
        if event.pop("event") == "begin":
            results.about["clients_replaced"] = event["clients_replaced"]
            continue
        results.add(kernel, copy, {**event, "trials": trials[kernel.name]})
        stderr().print(
            f"{copy.name}: {kernel.name}: {tables.verdict(event)} ({event['seconds']} s)"
        )
    return len(lines)
