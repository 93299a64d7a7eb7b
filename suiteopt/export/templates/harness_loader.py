"""What the loaders of all targets share: loading jobs one by one and reporting on each member.

A loader is a script: ``loader.py JOBS REPORT PASS``, see `kernelbench_verified_loader` for what
these are. It shares no code with the exported files. A target's loader says how its harness gets
from a job to configurations; the checks of each are here.
"""

import contextlib
import json
import os
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from suiteopt.export.templates import kernelbench_verified_loader as base

NO_MODEL = "the target's files hold no reference: the harness has it"


@dataclass
class Opened:
    """What a harness sees of a job.

    Attributes
    ----------
    count : int
        Configurations that it will run, members last.
    configurations : iterable of (int, list)
        Position and inputs, made one at a time.
    layout : list or None
        What the problem's own inputs look like; None where nobody can tell.
    reference : callable or None
        Inputs and position to what is wrong with the reference's output, or nothing.
    unseeded : int
        How many configurations come first that the harness draws anew each time.
    checks_layout : bool
        Whether the harness itself refuses inputs of another shape or dtype than it wants.
    size : int
        Bytes of the largest configuration, where it is known before any is made.
    """

    count: int
    configurations: Iterable[tuple[int, Sequence[Any]]]
    layout: list[dict[str, Any]] | None = None
    reference: Callable[[Sequence[Any], int], str] | None = None
    unseeded: int = 0
    checks_layout: bool = False
    size: int = 0


@dataclass
class Root:
    """Where a checkout lies, and which of its modules may be imported meanwhile."""

    path: str
    places: list[str] = field(default_factory=list)

    def locate(self, path: str) -> str:
        """Return the absolute path of a file of the checkout."""
        return os.path.join(self.path, path)

    @contextlib.contextmanager
    def importing(self, *places: str) -> Iterator[None]:
        """Put directories of the checkout first on the path of imports."""
        former = list(sys.path)
        sys.path[:0] = [self.locate(place) for place in places]
        try:
            yield
        finally:
            sys.path[:] = former


def run(open_job: Callable[[Root, Mapping[str, Any]], Opened]) -> None:
    """Load every job of the command line and report on it."""
    import torch

    jobs_path, report_path, turn = sys.argv[1], sys.argv[2], int(sys.argv[3])
    with open(jobs_path, encoding="utf-8") as handle:
        order = json.load(handle)
    most = base.allowed_bytes(order["max_bytes"])
    root = Root(order["root"])
    with open(report_path, "a", encoding="utf-8") as report:

        def say(**event: Any) -> None:
            report.write(json.dumps(event) + "\n")
            report.flush()

        for job in order["jobs"]:
            say(event="begin", problem=job["problem"])
            torch.manual_seed(1000 + turn)
            unchanged = False
            try:
                unchanged = report_on(open_job(root, job), job, most, turn, say)
            except ModuleNotFoundError as error:
                say(event="absent", problem=job["problem"], what=base._sentence(error))
            except Exception as error:
                base.say_error(error, job["problem"], say)
            say(event="end", problem=job["problem"], generator_unchanged=unchanged)


def report_on(opened: Opened, job: Mapping[str, Any], most: int, turn: int, say: base.Say) -> bool:
    """Report on one job; return whether its members left the global generator alone."""
    import torch

    problem = job["problem"]
    say(event="count", problem=problem, count=opened.count)
    if opened.size > most:
        for index in range(opened.count):
            say(event="skipped", problem=problem, index=index, bytes=opened.size, most=most)
        return True
    unchanged = True
    configurations = iter(opened.configurations)
    while True:
        state = torch.get_rng_state()
        try:
            index, inputs = next(configurations)
        except StopIteration:
            return unchanged
        drawn = index < opened.unseeded
        unchanged = unchanged and (drawn or bool(torch.equal(state, torch.get_rng_state())))
        torch.set_rng_state(state)
        event: dict[str, Any] = {
            "event": "configuration",
            "problem": problem,
            "index": index,
            "hashes": None if drawn else [base.content_hash(value) for value in inputs],
            "layout": _layout(opened, [base.describe(value) for value in inputs]),
        }
        if turn == 0:
            event["reference"] = (
                None if opened.reference is None else opened.reference(inputs, index)
            )
        del inputs  # or it would be in memory while the next one is made
        say(**event)


def _layout(opened: Opened, found: list[dict[str, Any]]) -> str | None:
    if opened.layout is None:
        return "" if opened.checks_layout else None
    return base.difference(found, opened.layout)


def layout_of(get_inputs: Callable[[], Sequence[Any]]) -> list[dict[str, Any]]:
    """Return what a problem's inputs look like, the generator as it was."""
    import torch

    state = torch.get_rng_state()
    found = [base.describe(value) for value in base.on_meta(get_inputs)]
    torch.set_rng_state(state)
    return found


def size_of(context: dict[str, Any], layout: list[dict[str, Any]], most: int = 1 << 62) -> int:
    """Return the bytes of a configuration's inputs and of the reference's outputs."""
    inputs = sum(item["bytes"] for item in layout)
    # Small problems need no second look: working out an output's size costs seconds.
    if inputs < 1 << 24:
        return int(inputs)
    return int(inputs + base.output_bytes(context, inputs, most))


def reference_of(context: dict[str, Any]) -> Callable[[Sequence[Any], int], str]:
    """Return a check that runs a definition's model, built as the harness does."""
    built: list[Any] = []

    def check(inputs: Sequence[Any], index: int) -> str:
        if not built:
            built.append(base.build_model(context))
        return base.run_reference(built[0], list(inputs))

    return check
