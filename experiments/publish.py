"""Rewrites every generated part of README, cards, docs and results from the default matrix.

``python -m experiments.publish [NAME]``, or ``make figures``. With a name, ``matrices/NAME``
becomes the default first. The figures, findings and tables come first, two at a time; then the
pages, which quote them. At the end it says which sentences people have to look at: the list in
CONTRIBUTING, "A new default matrix".
"""

import argparse
import pkgutil
import re
import subprocess
import sys
import time
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import experiments.findings
from experiments.findings.__main__ import SHARED
from suiteopt.console import run_script
from suiteopt.errors import UserError
from suiteopt.matrix.files import write_atomic
from suiteopt.matrix.locate import DEFAULT
from suiteopt.matrix.store import Matrix, resolve_matrix

ROOT = Path(__file__).resolve().parents[1]
PAGES = ("card", "headline", "shown", "tutorial")
"""One behind the other: each reads what those before it, and the results, have written."""
_HEADING = "## A new default matrix"
_INCLUDED = re.compile(r"^recursive-include matrices/\S+ \*$", re.M)


def results() -> list[str]:
    """Return the modules that write figures and results, the longest first."""
    found = (module.name for module in pkgutil.iter_modules(experiments.findings.__path__))
    return ["validation", "figures", *(f"findings.{n}" for n in sorted(found) if n not in SHARED)]


def make_default(name: str, root: Path = ROOT) -> None:
    """Let a matrix of the checkout be the one that ships: the marker, and the source archive.

    Raises
    ------
    UserError
        If it is no complete matrix.
    """
    matrix = Matrix.open(root / "matrices" / name)
    if not matrix.meta.complete:
        raise UserError(f"the matrix {name} is incomplete; finish it with `gpu-eval resume`")
    matrix.verify()
    write_atomic(root / "matrices" / DEFAULT, f"{name}\n".encode())
    manifest = root / "MANIFEST.in"
    line = f"recursive-include matrices/{name} *"
    write_atomic(manifest, _INCLUDED.sub(line, manifest.read_text("utf-8")).encode())


def by_hand(root: Path = ROOT) -> str:
    """Return the list of what no script writes."""
    _, _, rest = (root / "CONTRIBUTING.md").read_text("utf-8").partition(_HEADING)
    return rest.partition("\n## ")[0].strip()


def run(module: str) -> float:
    """Run a module of `experiments`; return the seconds it took.

    Raises
    ------
    UserError
        If it fails; what it printed is shown.
    """
    started = time.perf_counter()
    done = subprocess.run(
        [sys.executable, "-m", f"experiments.{module}"],
        cwd=ROOT, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, check=False,
    )  # fmt: skip
    if done.returncode:
        print(done.stdout)
        raise UserError(f"python -m experiments.{module} ends with {done.returncode}")
    return time.perf_counter() - started


def publish(modules: Sequence[str], jobs: int) -> None:
    """Run modules, so many at a time, and say how long each took."""
    with ThreadPoolExecutor(jobs) as pool:
        for module, seconds in zip(modules, pool.map(run, modules), strict=True):
            print(f"{seconds:6.0f} s  {module}", flush=True)


def main() -> None:
    """Rewrite everything."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("name", nargs="?", help="make this matrix of the checkout the default")
    parser.add_argument("--jobs", type=int, default=2, help="scripts at a time")
    parser.add_argument("--pages", action="store_true", help="the pages alone")
    given = parser.parse_args()
    if given.name is not None:
        make_default(given.name)
    print(f"from {resolve_matrix(None).relative_to(ROOT)}")
    if not given.pages:
        publish(results(), given.jobs)
    publish(PAGES, 1)
    print(f"\n{by_hand()}")


if __name__ == "__main__":
    run_script(main)
