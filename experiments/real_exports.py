"""Suites for all problems of the default matrix, exported into real checkouts, and looked at there.

For every target: what `suiteopt select` chooses, whether git takes the dry run's diff, which lines
change, whether exporting again changes nothing, whether a file that is not committed is refused,
whether what a model is shown stays as it was, what `suiteopt verify` finds with the benchmark's own
loader, and whether `--remove` leaves nothing. Loading is tried twice: at the published shapes, as
far as the bytes allow, and with all problems made small (`experiments.real_exports_shortened`).

    python -m experiments.real_exports --checkouts DIR

DIR holds clones of KernelBench, kernel_bench_verified, MultiKernelBench, robust-kbench; what is not
there is left out. They stay as they are: all happens in clones of them. Writes
``experiments/results/real-exports.{json,md}``.
"""

import argparse
import json
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from experiments.real_exports_shortened import shorten
from suiteopt.console import run_script, stderr
from suiteopt.errors import UserError
from suiteopt.export.checkout import Checkout
from suiteopt.export.exporter import export, remove
from suiteopt.export.present import read_export
from suiteopt.export.registry import get_target
from suiteopt.export.verify import verify
from suiteopt.suite import Suite

RESULTS = Path(__file__).parent / "results"
CHECKOUTS = {
    "kernelbench-sidecar": "KernelBench",
    "kernelbench": "KernelBench",
    "kernelbench-verified": "kernel_bench_verified",
    "multikernelbench": "MultiKernelBench",
    "robust-kbench": "robust-kbench",
    "json": "",
}
AUTHOR = ("-c", "user.name=experiment", "-c", "user.email=experiment@example.org")
SHORTENED_BYTES = 1_000_000_000
SUITES = [*((target, 2) for target in CHECKOUTS), ("kernelbench", 5)]


def main(words: Sequence[str] | None = None) -> int:
    """Export every suite; 0 if everything held, else 1."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--checkouts", type=Path, required=True, metavar="DIR")
    parser.add_argument("--targets", nargs="*", choices=CHECKOUTS, default=list(CHECKOUTS))
    parser.add_argument("--max-bytes", type=int, default=100_000_000, help="at published shapes")
    parser.add_argument(
        "--loads",
        nargs="*",
        choices=("published", "shortened"),
        default=["published", "shortened"],
        help="shapes to load at",
    )
    parser.add_argument("--output", type=Path, default=RESULTS / "real-exports.json")
    options = parser.parse_args(words)
    if not options.checkouts.is_dir():
        raise UserError(f"{options.checkouts} is no directory; clone the benchmarks into one")
    rows: list[dict[str, Any]] = []
    for target, budget in SUITES:
        checkout = options.checkouts / CHECKOUTS[target]
        if target in options.targets and checkout.is_dir():
            started = time.monotonic()
            with tempfile.TemporaryDirectory(prefix="suiteopt-exports-") as scratch:
                loads = {"published": options.max_bytes, "shortened": SHORTENED_BYTES}
                wanted = {shapes: loads[shapes] for shapes in options.loads}
                rows.append(look_at(target, budget, checkout, Path(scratch), wanted))
            rows[-1]["seconds"] = round(time.monotonic() - started)
            stderr().print(f"{target} -k {budget}: {rows[-1]['seconds']} s")
            options.output.write_text(json.dumps({"rows": rows}, indent=1) + "\n", encoding="utf-8")
            options.output.with_suffix(".md").write_text(page(rows), encoding="utf-8")
    return int(not all(held(row) for row in rows))


def look_at(
    target: str, budget: int, checkout: Path, scratch: Path, loads: dict[str, int]
) -> dict[str, Any]:
    """Return all that is seen of one suite in a clone of a checkout."""
    row, suite = chosen(target, budget, scratch / "suite.json")
    repo = scratch / "checkout"
    if target == "json":  # any directory will do
        git(scratch, "init", "--quiet", str(repo))
        (repo / "README").touch()
        git(repo, "add", "README")
        git(repo, *AUTHOR, "commit", "--quiet", "--message=empty")
    else:
        git(scratch, "clone", "--quiet", str(checkout.resolve()), str(repo))
        row["revision"] = git(repo, "rev-parse", "--short", "HEAD")
    shown = prompts(target, repo)
    report = export(suite, target, repo, dry_run=True)
    git(repo, "apply", "--check", "-", given=report.diff)
    row["applies"] = True
    row["dirty_refused"] = is_refused(suite, target, repo, (*report.changed, *report.created)[0])
    report = export(suite, target, repo)
    again = export(suite, target, repo)
    row |= {
        "exported_members": report.members,
        "notes": list(report.notes),
        "changed": len(report.changed),
        "created": len(report.created),
        "lines": dict(
            Counter(
                "+{} -{}".format(*line.split("\t")[:2])
                for line in git(repo, "diff", "--numstat").splitlines()
            )
        ),
        "again": len(again.changed) + len(again.created) + len(again.removed),
        "shown": len(shown),
        "shown_alike": prompts(target, repo) == shown,
    }
    if "published" in loads:
        row["published"] = verified(target, repo, loads["published"])
    definitions = [
        job.problem_file for job in get_target(target).jobs(exported(repo, target), repo)
    ]
    remove(repo, target)
    row["left"] = git(repo, "status", "--porcelain", "--ignored").splitlines()
    if target != "json" and "shortened" in loads:  # it is loaded at small shapes as it is
        row["not_shortened"] = [
            Path(one).relative_to(repo).as_posix()
            for one in shorten(repo / path for path in definitions)
        ]
        git(repo, *AUTHOR, "commit", "--quiet", "--all", "--message=shortened")
        export(suite, target, repo)
        row["shortened"] = verified(target, repo, loads["shortened"])
    return row


def chosen(target: str, budget: int, path: Path) -> tuple[dict[str, Any], Suite]:
    suiteopt = [sys.executable, "-c", "from suiteopt.cli.main import run; raise SystemExit(run())"]
    options = f"select -k {budget} --target {target} -o {path} --json".split()
    done = subprocess.run(
        [*suiteopt, *options],
        capture_output=True,
        text=True,
        check=False,
    )
    if done.returncode:
        raise UserError(done.stderr.strip())
    said = json.loads(done.stdout)
    suite = Suite.open(path)
    return {
        "target": target,
        "budget": budget,
        "oracle": said["oracle"],
        "matrix_id": suite.matrix_id,
        "suite": suite.hash,
        "mutants": said["mutants"],
        "detected": round(said["fitted_share"], 4),
        "problems": sum(bool(one["members"]) for one in said["rows"]),
        "members": said["members"],
        "without_members": {
            one["problem"]: f"{one['mutants']} faults count"
            for one in said["rows"]
            if not one["members"]
        },
        "warning": done.stderr.strip(),
    }, suite


def is_refused(suite: Suite, target: str, repo: Path, path: str) -> bool:
    """Whether an export refuses to replace a file with a change that is not committed."""
    place = repo / path
    was = place.read_bytes() if place.exists() else None
    made = [one for one in place.parents if not one.exists()]
    place.parent.mkdir(parents=True, exist_ok=True)
    place.write_bytes((was or b"") + b"\n# not committed\n")
    try:
        export(suite, target, repo)
    except UserError:
        return True
    finally:
        if was is None:
            place.unlink()
        else:
            place.write_bytes(was)
        for one in made:
            one.rmdir()
    return False


def prompts(target: str, repo: Path) -> dict[str, str]:
    if target == "json":
        return {}
    command = [sys.executable, "-m", "experiments.real_exports_prompts", target, str(repo)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode:
        raise UserError(done.stderr.strip()[-500:])
    made: dict[str, str] = json.loads(done.stdout)
    return made


def verified(target: str, repo: Path, max_bytes: int) -> dict[str, Any]:
    """Return what `suiteopt verify` says, kills apart, which no loader can tell."""
    report = verify(repo, target=target, max_bytes=max_bytes)
    every = {one.problem for one in exported(repo, target).problems if one.members}
    open_ones = [one for one in report.unproved if one.check not in ("kills", "tolerance")]
    large = {one.problem for one in open_ones if "--max-bytes" in one.what}
    return {
        "max_bytes": max_bytes,
        "problems": len(every - large),
        "members": report.members,
        "originals": report.originals,
        "reproduced": report.reproduced,
        "failed": [str(one) for one in report.failed],
        "too_large": sorted(large),
        "unproved_otherwise": sorted(
            {one.what for one in open_ones if "--max-bytes" not in one.what}
        ),
    }


def exported(repo: Path, target: str) -> Suite:
    """Return the suite that a checkout holds."""
    manifest = read_export(Checkout(repo), get_target(target))
    assert manifest is not None
    return manifest.suite


def git(directory: Path, *words: str, given: str | None = None) -> str:
    command = ["git", "-C", str(directory), *words]
    done = subprocess.run(command, input=given, capture_output=True, text=True, check=False)
    if done.returncode:
        raise UserError(f"git {words[0]}: {done.stderr.strip()}")
    return done.stdout.strip()


def held(row: dict[str, Any]) -> bool:
    """Whether nothing is wrong with a row."""
    loads = [row[name] for name in ("published", "shortened") if name in row]
    return (
        row["applies"]
        and row["dirty_refused"]
        and row["shown_alike"]
        and not row["again"]
        and not row["left"]
        and not any(one["failed"] for one in loads)
    )


def page(rows: Sequence[dict[str, Any]]) -> str:
    """Return the tables as Markdown."""
    lines = [
        "# Suites for all problems in real checkouts",
        "",
        "Made by `python -m experiments.real_exports`; `real-exports.json` has the details.",
        "",
        "| suite | oracle | faults detected | problems | members | exported | files changed, new "
        "| lines changed | prompts alike | again | dirty refused | after removal |",
        "|---|---|---:|---:|---:|---:|---|---|---:|---|---|---|",
    ]
    for row in rows:
        lines.append(
            f"| `{row['target']}` -k {row['budget']} | {row['oracle']} | {row['detected']:.1%} of "
            f"{row['mutants']} | {row['problems']} | {row['members']} | {row['exported_members']} "
            f"| {row['changed']}, {row['created']} | {_lines(row['lines'])} "
            f"| {row['shown'] if row['shown_alike'] else 'no'} "
            f"| {row['again'] or 'nothing'} | {'yes' if row['dirty_refused'] else 'no'} "
            f"| {len(row['left']) or 'nothing'} |"
        )
    lines += [
        "",
        "| suite | shapes | problems loaded | members | own configurations | promises reproduced "
        "| failed | too large |",
        "|---|---|---:|---:|---:|---:|---:|---:|",
    ]
    for row in rows:
        for shapes in ("published", "shortened"):
            if shapes in row:
                one = row[shapes]
                shape = "64 x 64, without problems" if row["target"] == "json" else shapes
                lines.append(
                    f"| `{row['target']}` -k {row['budget']} | {shape} | {one['problems']} "
                    f"| {one['members']} | {one['originals']} | {one['reproduced']} "
                    f"| {len(one['failed'])} | {len(one['too_large'])} |"
                )
    return "\n".join(lines) + "\n"


def _lines(counts: dict[str, int]) -> str:
    if len(counts) > 3:
        return f"{sum(counts.values())} files"
    return ", ".join(f"{lines} in {files}" for lines, files in counts.items()) or "none"


if __name__ == "__main__":
    run_script(main)
