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
import re
import tempfile
import threading
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from rich.table import Table

from experiments import kernelbench_table as tables
from experiments.kernelbench_copies import Copy, Kernel, copied, known, revision
from experiments.kernelbench_lanes import Results, grouped, run_lane, write
from suiteopt.console import run_script, stderr, stdout
from suiteopt.errors import UserError


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


def wanted(kernel: Kernel, options: argparse.Namespace) -> bool:
    if options.device == "cpu" and kernel.language != "torch":
        return False
    return re.search(options.kernels, kernel.name) is not None


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


def show(document: dict[str, Any]) -> None:
    """Print a document's table."""
    made = Table("problem", "kernel", *tables.copies(document), box=None)
    for row in tables.rows(document):
        made.add_row(*row)
    stdout().print(made)


if __name__ == "__main__":
    run_script(main)
