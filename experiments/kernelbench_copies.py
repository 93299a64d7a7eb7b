"""The known kernels, and copies of a checkout of KernelBench whose check judges them."""

import argparse
import re
import shutil
import subprocess
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from experiments import kernelbench_table as tables
from suiteopt.errors import UserError
from suiteopt.export.exporter import export
from suiteopt.suite import Suite

KERNELS = Path(__file__).resolve().parent / "known_kernels"
PARTS = ("KernelBench", "src/kernelbench")
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


def known() -> list[Kernel]:
    """Return all known kernels."""
    found = []
    for path in sorted(KERNELS.glob("*.py")):
        match = NAME.fullmatch(path.stem)
        if match is None:
            raise UserError(f"{path} is no name of a known kernel")
        found.append(Kernel(path, int(match[1]), match[2] == "right", match[4]))
    return found


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


def revision(checkout: Path) -> str:
    """Return the checkout's revision: git's, or what a file REVISION beside a trimmed copy says."""
    note = checkout / "REVISION"
    if note.exists():
        return note.read_text(encoding="utf-8").strip()
    command = ["git", "-C", str(checkout), "rev-parse", "HEAD"]
    if shutil.which("git") is None:
        return "unknown"
    return subprocess.run(command, capture_output=True, text=True).stdout.strip() or "unknown"
