"""What the GPU stage promises, measured: compiling, comparing, lanes, fatal mutants, today's way.

Each part runs in a process of its own, so that one that fails or hangs takes nothing along; what is
done is on disk after each. A row that could not be measured says why.

    python -m experiments.bench_gpu_stage --directory OUT            # on a machine with a GPU
    python -m experiments.bench_gpu_stage --directory OUT --dry-run  # what needs none; no figures

Writes OUT/bench_gpu_stage.json and OUT/bench_gpu_stage.md, and prints one table. With --parts the
other parts that OUT holds are kept, each with the machine that it was measured on.
"""

import argparse
import importlib
import json
import os
import platform
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

from rich.console import Console
from rich.table import Table

from experiments.gpu_stage.rows import Options, Row

PARTS = {
    "comparing": (2, 50.0),
    "compiling": (1, 40.0),
    "lanes": (3, 30.0),
    "fatal": (4, 55.0),
    "today": (7, 90.0),
}
"""Which item each part is about, and how many seconds it may take."""

NAME = "bench_gpu_stage"
LEAST_SECONDS = 5.0


def options_of(given: argparse.Namespace, part: str) -> Options:
    """Return what a part is told."""
    cores = len(os.sched_getaffinity(0))
    if given.dry_run:
        return Options("cpu", 1, given.seconds or 240.0, cores)
    return Options("cuda", given.problems, given.seconds or PARTS[part][1], cores)


def one(part: str, options: Options, path: Path) -> None:
    """Run a part in this process; its rows are on disk one by one."""
    rows: list[Row] = []
    for row in importlib.import_module(f"experiments.gpu_stage.{part}").measure(options):
        rows.append(row)
        partial = path.with_suffix(".tmp")
        partial.write_text(json.dumps([r.as_dict() for r in rows], indent=1) + "\n")
        partial.replace(path)


def in_a_process(part: str, given: argparse.Namespace, left: float) -> dict[str, Any]:
    """Run a part in a process of its own and return its rows, and what went wrong."""
    limit = min(options_of(given, part).seconds, left)
    if limit < LEAST_SECONDS:
        row = Row(PARTS[part][0], part, None, note=f"no time was left: --total {given.total:.0f}")
        return {"rows": [row.as_dict()], "seconds": 0.0, "failure": row.note}
    directory: Path = given.directory
    path, log = directory / f"{part}.json", directory / f"{part}.log"
    path.unlink(missing_ok=True)
    command = [sys.executable, "-m", f"experiments.{NAME}", *sys.argv[1:], "--one", part]
    began = time.perf_counter()
    failure = ""
    with log.open("w") as said:
        try:
            done = subprocess.run(
                command,
                stdout=said,
                stderr=subprocess.STDOUT,
                timeout=limit,
                check=False,
            )
            if done.returncode:
                failure = f"ended with code {done.returncode}"
        except subprocess.TimeoutExpired:
            failure = f"ended after {limit:.0f} s"
    seconds = time.perf_counter() - began
    rows = json.loads(path.read_text()) if path.exists() else []
    if failure:
        last = [line for line in log.read_text().splitlines() if line.strip()][-1:]
        note = f"{failure}{': ' if last else ''}{''.join(last)[:200]} (see {log.name})"
        rows.append(Row(PARTS[part][0], f"{part}, the rest", None, note=note).as_dict())
    return {"rows": rows, "seconds": round(seconds, 1), "failure": failure}


def machine() -> dict[str, str]:
    """Return what the figures belong to."""
    found = {
        "python": platform.python_version(),
        "cores": str(len(os.sched_getaffinity(0))),
        "load": f"{os.getloadavg()[0]:.1f}",
    }
    query = ["nvidia-smi", "--query-gpu=name,driver_version", "--format=csv,noheader"]
    try:
        asked = subprocess.run(query, capture_output=True, text=True, timeout=20, check=False)
        found["gpu"] = asked.stdout.strip().replace("\n", "; ") or "none"
    except (OSError, subprocess.TimeoutExpired):
        found["gpu"] = "none"
    return found


def cells_of(row: dict[str, Any]) -> tuple[str, ...]:
    """Return a row's cells as text."""
    measured = row["measured"]
    sign = "≥" if row["at_least"] else "≤"
    met = {True: "yes", False: "NO", None: ""}[row["met"]]
    return (
        str(row["item"]),
        row["what"],
        "not measured" if measured is None else f"{measured:.4g} {row['unit']}".strip(),
        "" if row["target"] is None else f"{sign} {row['target']:g}",
        met,
        row["note"],
    )


HEADINGS = ("item", "what", "measured", "wanted", "met", "how")


def save(directory: Path, result: dict[str, Any]) -> None:
    """Write what is known by now, as JSON and as Markdown."""
    (directory / f"{NAME}.json").write_text(json.dumps(result, indent=1) + "\n")
    lines = [
        f"The GPU stage, measured{' (DRY RUN: no figures)' if result['dry_run'] else ''}.",
        "",
        *(f"- {name}: {_about(part['machine'])}" for name, part in result["parts"].items()),
        "",
        f"| {' | '.join(HEADINGS)} |",
        f"|{'---|' * len(HEADINGS)}",
    ]
    for part in result["parts"].values():
        lines += [f"| {' | '.join(cells_of(row))} |" for row in part["rows"]]
    (directory / f"{NAME}.md").write_text("\n".join(lines) + "\n")


def _about(found: dict[str, str]) -> str:
    return ", ".join(f"{key} {value}" for key, value in found.items())


def before(given: argparse.Namespace) -> dict[str, Any]:
    """Return the parts of an earlier run in the directory, in the order in which they are shown."""
    path = given.directory / f"{NAME}.json"
    found = json.loads(path.read_text("utf-8")) if path.is_file() else {}
    return dict(found["parts"]) if found.get("dry_run") is given.dry_run else {}


def show(result: dict[str, Any]) -> None:
    """Print the table."""
    title = "DRY RUN: no figures of a GPU" if result["dry_run"] else "The GPU stage, measured"
    table = Table(*HEADINGS, title=title)
    for part in result["parts"].values():
        for row in part["rows"]:
            table.add_row(*cells_of(row))
    console = Console()
    if not console.is_terminal:
        console = Console(width=180)
    console.print(table)
    seconds = {name: part["seconds"] for name, part in result["parts"].items()}
    console.print(f"seconds: {seconds}", highlight=False)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.split("\n", 1)[0])
    parser.add_argument("--directory", type=Path, required=True)
    parser.add_argument("--parts", nargs="+", choices=list(PARTS), default=list(PARTS))
    parser.add_argument("--problems", type=int, default=25, help="whose mutants are compiled")
    parser.add_argument("--seconds", type=float, help="limit of each part, instead of its own")
    parser.add_argument("--total", type=float, help="limit of all parts together")
    parser.add_argument("--dry-run", action="store_true", help="what needs no GPU; no figures")
    parser.add_argument("--one", choices=list(PARTS), help=argparse.SUPPRESS)
    given = parser.parse_args()
    if given.total is None:
        given.total = 600.0 if given.dry_run else 150.0
    given.directory.mkdir(parents=True, exist_ok=True)
    if given.one:
        one(given.one, options_of(given, given.one), given.directory / f"{given.one}.json")
        return 0
    result: dict[str, Any] = {"dry_run": given.dry_run, "parts": before(given)}
    began = time.perf_counter()
    for part in given.parts:
        left = given.total - (time.perf_counter() - began)
        result["parts"][part] = {"machine": machine(), **in_a_process(part, given, left)}
        result["parts"] = {name: result["parts"][name] for name in PARTS if name in result["parts"]}
        save(given.directory, result)
    show(result)
    rows = [row for part in given.parts for row in result["parts"][part]["rows"]]
    return 1 if any(row["met"] is False for row in rows) else 0


if __name__ == "__main__":
    sys.exit(main())
