"""`make demo`: from CUDA kernels to a hardened benchmark checkout, on a CPU, in two minutes.

Builds the kill matrix of the demo profile, selects, cross-validates, exports into a copy of a
sample benchmark checkout, verifies it there, and prints one table. Everything it makes lies in
``matrices/local``.
"""

import json
import os
import shutil
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

from rich.table import Table

from experiments.checks import SPLITS, TARGET, CheckRow, all_checks
from suiteopt.cli.format import share
from suiteopt.console import stdout
from suiteopt.matrix.store import Matrix
from suiteopt.matrix.summary import summarise

ROOT = Path(__file__).resolve().parents[1]
LOCAL = ROOT / "matrices" / "local"
MATRIX = LOCAL / "demo"
SUITE = LOCAL / "demo-suite.json"
HARDENED = LOCAL / "demo-suite-kernelbench-verified.json"
CHECKOUT = LOCAL / "demo-checkout"
REPLAY = LOCAL / "demo-replay"
CACHE = LOCAL / "demo-cache"
SAMPLE = ROOT / "tests" / "data" / "kernelbench_verified_sample"


def main() -> int:
    """Run every step; the first that fails ends it with its exit code."""
    started = time.perf_counter()
    for stale in (MATRIX, CHECKOUT, REPLAY, CACHE):
        shutil.rmtree(stale, ignore_errors=True)
    LOCAL.mkdir(parents=True, exist_ok=True)
    console = stdout()

    run("gpu-eval", "run", "--profile", "demo", "--device", "cpu", "--output", str(MATRIX))
    matrix = ("--matrix", str(MATRIX))
    chosen = run("suiteopt", "select", "--budget", "2", *matrix, "-o", str(SUITE))
    validated = run("suiteopt", "crossval", "--budget", "2", *matrix)
    run("suiteopt", "select", "--budget", "2", *matrix, "--target", TARGET, "-o", str(HARDENED))
    shutil.copytree(SAMPLE, CHECKOUT)
    exported = run("suiteopt", "export", str(HARDENED), "--to", TARGET, "--repo", str(CHECKOUT))
    run("gpu-eval", "replay", str(HARDENED), "--output", str(REPLAY))
    verified = run("suiteopt", "verify", str(CHECKOUT), *matrix, "--replay", str(REPLAY))

    opened = Matrix.open(MATRIX)
    summary = summarise(opened)
    rows = all_checks(opened)
    console.print()
    console.print(
        f"{summary.label}: {summary.problems} problems, {summary.substrates} kernels, "
        f"{summary.mutants.valid} valid faults by {summary.rules} rules, "
        f"{summary.mutants.witnessed} of them witnessed wrong "
        f"({summary.mutants.distinct} distinct behaviours)",
        soft_wrap=True,
    )
    console.print(comparison(rows))
    console.print(
        "own: the benchmark's five draws; own + 2: these and the two exported members, the target "
        "kernelbench-verified; calib.: a tolerance an input, 10 x the worst correct kernel",
        soft_wrap=True,
    )
    hidden = rows[0].all.mutants - rows[0].in_output.mutants
    console.print(
        f"{hidden} faults never show in an output: elements left unwritten over a stale right "
        "result, writes beside the output, races; poison, guard zones and a sanitizer find them",
        soft_wrap=True,
    )
    print_members(chosen)
    controls = validated["controls"]
    console.print(
        f"correct kernels that calibration never saw: {controls['rejected']} of "
        f"{controls['held_out']} cells rejected",
        soft_wrap=True,
    )
    console.print(
        f"exported {exported['members']} members into {CHECKOUT.relative_to(ROOT)}; its own loader "
        f"ran {verified['members']}: {verified['reproduced']} promises reproduced, "
        f"{verified['unproved']} unproved, {verified['failed']} failed",
        soft_wrap=True,
    )
    console.print(f"{time.perf_counter() - started:.0f} s in all")
    return 0


def run(command: str, *arguments: str) -> dict[str, Any]:
    """Run one of the two commands as a user would, and return its JSON answer."""
    shown = " ".join([command, *(_short(argument) for argument in arguments)])
    sys.stderr.write(f"$ {shown}\n")
    sys.stderr.flush()
    done = subprocess.run(
        [str(Path(sys.executable).parent / command), *arguments, "--json"],
        stdout=subprocess.PIPE,
        text=True,
        check=False,
        cwd=ROOT,
        # The replay runs the kernels that the campaign has compiled.
        env={**os.environ, "SUITEOPT_CACHE": str(CACHE)},
    )
    if done.returncode != 0:
        sys.stdout.write(done.stdout)
        sys.exit(done.returncode)
    answer: dict[str, Any] = json.loads(done.stdout)
    return answer


def comparison(rows: list[CheckRow]) -> Table:
    """The one table: detection by family, fitted and held out, and false rejections."""
    table = Table(box=None, pad_edge=False)
    table.add_column("detected", no_wrap=True)
    table.add_column("faults", justify="right", no_wrap=True)
    for row in rows:
        table.add_column(row.name, justify="right", no_wrap=True)
    first = rows[0]
    table.add_row("all", str(first.all.mutants), *(share(row.all.share) for row in rows))
    for family, tally in first.by_family.items():
        shares = (share(row.by_family[family].share) for row in rows)
        table.add_row(f"  {family}", str(tally.mutants), *shares)
    for split in SPLITS:
        table.add_row(f"  held out: {split}", "", *(share(row.held_out.get(split)) for row in rows))
    table.add_row(
        "wrong in an output",
        str(first.in_output.mutants),
        *(share(row.in_output.share) for row in rows),
    )
    for split in SPLITS:
        shares = (share(row.held_out_in_output.get(split)) for row in rows)
        table.add_row(f"  held out: {split}", "", *shares)
    rejected = (f"{row.rejected} of {row.controls}" for row in rows)
    table.add_row("correct cells rejected", "", *rejected)
    return table


def print_members(chosen: dict[str, Any]) -> None:
    """Print which inputs were chosen for each problem."""
    for row in chosen["rows"]:
        members = ", ".join(m["input"].removeprefix(f"{row['problem']}:") for m in row["members"])
        stdout().print(f"  {row['problem']}: {members}", soft_wrap=True)


def _short(argument: str) -> str:
    path = Path(argument)
    return str(path.relative_to(ROOT)) if path.is_relative_to(ROOT) else argument


if __name__ == "__main__":
    sys.exit(main())
