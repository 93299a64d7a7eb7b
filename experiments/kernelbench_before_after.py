"""Known kernels through KernelBench's own check, before and after a suite was exported into it.

Takes a checkout of KernelBench (parts of it are copied, and it stays as it is), exports every suite
into a copy of its own, and runs ``eval_kernel_against_ref`` on every kernel of ``known_kernels`` in
the copy without and in the copies with a suite. Prints one table; writes JSON after every kernel.

    python -m experiments.kernelbench_before_after CHECKOUT SUITE... -o result.json
    python -m experiments.kernelbench_before_after --merge A.json B.json -o result.json

A suite says which target it was chosen for. Kernels run in processes of their own, one a copy and
size; what is not done when the time is up is listed as not run. Problems with tensors of
gigabytes can get fewer trials (``--large-trials``): the harness draws each on the processor, on
one core. So two runs, each with a GPU and some of the kernels, can be merged.
"""

import argparse
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from rich.table import Table

from experiments import kernelbench_table as tables
from suiteopt.console import stderr, stdout
from suiteopt.errors import UserError
from suiteopt.export.exporter import export
from suiteopt.matrix.files import write_atomic
from suiteopt.matrix.jsonable import dumps
from suiteopt.suite import Suite

ROOT = Path(__file__).resolve().parents[1]
KERNELS = Path(__file__).resolve().parent / "known_kernels"
PARTS = ("KernelBench/level1", "src/kernelbench")
LARGE = frozenset({19, 23})
"""Problems with tensors of 6.4 GB."""
NAME = re.compile(r"(\d{3})_(right|wrong)_(\w+)_(torch|triton|cuda)")
SHORTENED = {
    1: {"N": "512"},
    19: {"batch_size": "8", "dim": "1000"},
    23: {"batch_size": "4"},
    40: {"batch_size": "2"},
}
"""Constants of the definitions in a copy for a processor: the reductions of 23 and 40 stay whole,
for a tolerance that was calibrated at full length says nothing at another one."""


@dataclass(frozen=True)
class Kernel:
    """One known kernel: its file, problem, and whether it is right."""

    path: Path
    problem: int
    right: bool
    language: str

    @property
    def name(self) -> str:
        """The file's name without its ending."""
        return self.path.stem

    @property
    def backend(self) -> str:
        """As the harness calls it; for CUDA C++ and torch it executes the text itself."""
        return "triton" if self.language == "triton" else "cuda"


@dataclass(frozen=True)
class Copy:
    """A copy of the checkout: as it is, or with a suite in it."""

    name: str
    repo: Path
    suite: Suite | None = None

    def definition(self, problem: int) -> Path:
        """The file whose text the harness is given."""
        overlay = self.repo / "suiteopt_overlay"
        root = overlay if overlay.exists() else self.repo
        (path,) = (root / "KernelBench/level1").glob(f"{problem}_*.py")
        return path

    def covers(self, problem: int) -> bool:
        """Whether there is anything to be seen of a problem here."""
        wanted = f"level1/{problem:03d}"
        return self.suite is None or any(one.problem == wanted for one in self.suite.problems)

    def trials(self, problem: int, trials: int, large: int) -> int:
        """How many trials: all members of an overlay are served, one on each."""
        members = 0
        if self.suite is not None and self.suite.target == "kernelbench":
            members = max(len(one.members) for one in self.suite.problems)
        return max(large if problem in LARGE else trials, members)


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


def main(words: Sequence[str] | None = None) -> int:
    """Run everything, or merge; 0 if every kernel was judged everywhere, else 1."""
    options = parse(words)
    if options.merge:
        document = tables.merge(options.merge)
        write(options.output, document)
        show(document)
        return int(any(tables.NOT_RUN in line for line in tables.counts(document)))
    if options.checkout is None:
        raise UserError("give a checkout of KernelBench, or --merge and files to be merged")
    kernels = [kernel for kernel in known() if wanted(kernel, options)]
    started = time.monotonic()
    with tempfile.TemporaryDirectory(prefix="suiteopt-kernelbench-") as scratch:
        copies = list(copied(options, Path(scratch)))
        groups = list(grouped(kernels, copies, options))
        results = Results(options.output, about(options, copies))
        until = started + options.seconds
        # Large problems two at a time, for the device's memory; small ones beside them.
        lanes = [
            threading.Thread(target=run_lane, args=(part, until, options, results))
            for large, count in ((True, 2), (False, 2))
            if (part := [one for one in groups if one.large is large])
            for _ in range(count)
        ]
        for lane in lanes:
            lane.start()
        for lane in lanes:
            lane.join()
        asked = {(kernel.name, one.copy.name) for one in groups for kernel in one.kernels}
        for copy in copies:
            for kernel in kernels:
                key = (kernel.name, copy.name)
                if key not in results.rows and copy.covers(kernel.problem):
                    why = "the time was up" if key in asked else "--large-suites left it out"
                    results.add(kernel, copy, {"failed": f"{tables.NOT_RUN}: {why}"})
    show(results.document())
    done = all("failed" not in row for row in results.rows.values())
    stderr().print(f"wrote {options.output} after {time.monotonic() - started:.0f} s")
    return 0 if done else 1


def parse(words: Sequence[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("checkout", type=Path, nargs="?")
    parser.add_argument("suites", type=Path, nargs="*")
    parser.add_argument("--merge", type=Path, nargs="+", metavar="FILE", help="runs, made one")
    parser.add_argument("-o", "--output", type=Path, required=True)
    parser.add_argument("--kernels", default="", help="only names that match this expression")
    parser.add_argument("--trials", type=int, default=5)
    parser.add_argument("--large-trials", type=int, default=5)
    parser.add_argument("--large-suites", type=int, default=99, help="suites that these run with")
    parser.add_argument("--seconds", type=float, default=3600.0)
    parser.add_argument("--device", default="cuda:0")
    return parser.parse_args(words)


def known() -> list[Kernel]:
    """Return all known kernels."""
    found = []
    for path in sorted(KERNELS.glob("*.py")):
        match = NAME.fullmatch(path.stem)
        if match is None:
            raise UserError(f"{path} is no name of a known kernel")
        found.append(Kernel(path, int(match[1]), match[2] == "right", match[4]))
    return found


def wanted(kernel: Kernel, options: argparse.Namespace) -> bool:
    if options.device == "cpu" and kernel.language != "torch":
        return False
    return re.search(options.kernels, kernel.name) is not None


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


def copied(options: argparse.Namespace, scratch: Path) -> Iterator[Copy]:
    """Make the copies: the checkout as it is, and one a suite."""
    suites = [Suite.open(path) for path in options.suites]
    yield Copy(tables.BEFORE, plain(options, scratch / "before"))
    names: set[str] = set()
    for number, suite in enumerate(suites):
        if suite.target is None:
            raise UserError(f"{options.suites[number]} was chosen for no target")
        repo = plain(options, scratch / f"after-{number}")
        export(suite, suite.target, repo)
        name = f"{suite.target} {suite.oracle}"
        if name in names:
            name = f"{name} ({options.suites[number].stem})"
        if name in names:
            raise UserError(f"{options.suites[number]} is like another suite by name; rename it")
        names.add(name)
        yield Copy(name, repo, suite)


def plain(options: argparse.Namespace, repo: Path) -> Path:
    for part in PARTS:
        if not (options.checkout / part).is_dir():
            raise UserError(f"{options.checkout} is no checkout of KernelBench: it has no {part}")
        shutil.copytree(options.checkout / part, repo / part)
    if options.device == "cpu":
        for problem, constants in SHORTENED.items():
            path = Copy("", repo).definition(problem)
            text = path.read_text(encoding="utf-8")
            for name, value in constants.items():
                text = re.sub(rf"(?m)^{name} = .*$", f"{name} = {value}", text)
            path.write_text(text, encoding="utf-8")
    return repo


def about(options: argparse.Namespace, copies: Sequence[Copy]) -> dict[str, Any]:
    import torch

    cuda = options.device.startswith("cuda") and torch.cuda.is_available()
    return {
        "device": torch.cuda.get_device_name() if cuda else "processor, shortened problems",
        "torch": torch.__version__,
        "revision": revision(options.checkout),
        "suites": [
            {
                "copy": copy.name,
                "hash": copy.suite.hash,
                "matrix_id": copy.suite.matrix_id,
                "matrix_device": copy.suite.matrix_device,
                "command": tables.asked(copy.suite.command),
                "problems": [one.problem for one in copy.suite.problems],
            }
            for copy in copies
            if copy.suite is not None
        ],
    }


def revision(checkout: Path) -> str:
    """Return the checkout's revision: git's, or what a file REVISION beside a trimmed copy says."""
    note = checkout / "REVISION"
    if note.exists():
        return note.read_text(encoding="utf-8").strip()
    command = ["git", "-C", str(checkout), "rev-parse", "HEAD"]
    if shutil.which("git") is None:
        return "unknown"
    return subprocess.run(command, capture_output=True, text=True).stdout.strip() or "unknown"


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


def show(document: dict[str, Any]) -> None:
    """Print a document's table."""
    made = Table("problem", "kernel", *tables.copies(document), box=None)
    for row in tables.rows(document):
        made.add_row(*row)
    stdout().print(made)


if __name__ == "__main__":
    try:
        sys.exit(main())
    except UserError as error:
        sys.exit(f"error: {error}")
