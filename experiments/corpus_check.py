"""Every kernel of the corpus against fp64 on a device: what `gpu-eval corpus check` says, kept.

    python -m experiments.corpus_check --device cuda --profile contract --seconds 480
    python -m experiments.corpus_check --device cuda --profile contract --resume

Writes experiments/results/corpus-check-DEVICE.{json,md}, both after each problem. Every problem
has a process of its own, so that one that loses the device takes no other along; those that take
longest come first, and the GPUs of the machine take turns. After --seconds no further problem
begins (those under way are awaited); --resume does what an earlier run of the same device and
profile left out. Exit code 1 if a kernel is wrong.
"""

import argparse
import json
import math
import os
import sys
import tempfile
import time
from collections import Counter, deque
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from multiprocessing import connection
from multiprocessing.connection import Connection
from multiprocessing.process import BaseProcess
from pathlib import Path
from typing import Any

from experiments.records import write_record
from gpu_eval.campaign.device_settings import cores, resolved_name
from gpu_eval.campaign.plan import find_profile, of_levels
from gpu_eval.campaign.processes import kill, start
from gpu_eval.campaign.shapes import Profile, plan_shape, spread_shape
from gpu_eval.devices.registry import open_device
from gpu_eval.problems.check import check_named
from gpu_eval.problems.definition import Problem
from gpu_eval.problems.loader import load_corpus
from gpu_eval.problems.tensors import reduction_length
from suiteopt.console import run_script
from suiteopt.errors import UserError
from suiteopt.matrix.files import write_atomic

RESULTS = Path(__file__).resolve().parent / "results"
SHOWN = 12
"""Kernels the page names, those nearest to their allowance; the JSON has all."""

Row = dict[str, Any]
"""What came of a problem."""


@dataclass(frozen=True)
class Work:
    """A problem to check, as another process can be told of it."""

    problem: str
    profile: str
    device: str
    cache: Path
    jobs: int
    gpu: str = ""  # as CUDA_VISIBLE_DEVICES names it

    def done(self) -> Row:
        """Check it; an error is an answer, too."""
        problem = load_corpus([]).problems[self.problem]
        began = time.perf_counter()
        try:
            report = check_named(problem, self.device, self.profile, self.cache, jobs=self.jobs)
        except Exception as error:  # the others' results are wanted all the same
            return _error(self.problem, f"{type(error).__name__}: {error}")
        return {
            **asdict(report),
            "passed": report.passed,
            "proven": report.proven,
            "doubt": report.doubt,
            "seconds": round(time.perf_counter() - began, 2),
        }


def answer(results: Connection, work: Work) -> None:
    """Send what comes of a problem; the target of a process."""
    os.setpgrp()  # compilers are killed with it
    if work.gpu:
        os.environ["CUDA_VISIBLE_DEVICES"] = work.gpu  # before the driver is asked for anything
    results.send(work.done())


def checked(
    work: Sequence[Work], processes: int, seconds: float = math.inf, gpus: Sequence[str] = ("",)
) -> Iterator[Row]:
    """Yield each problem's result as it comes; nothing more begins when the time is up.

    Each problem is checked on the GPU that the fewest are under way on.
    """
    end = time.monotonic() + seconds
    waiting = deque(work)
    running: dict[Connection, tuple[Work, BaseProcess]] = {}
    try:
        while True:
            while waiting and len(running) < processes and time.monotonic() < end:
                taken = Counter(other.gpu for other, _ in running.values())
                one = replace(waiting.popleft(), gpu=min(gpus, key=taken.__getitem__))
                process, results = start(answer, (one,), one.problem)
                running[results] = one, process
            if not running:
                return
            ready = connection.wait(list(running))
            for results in [known for known in running if known in ready]:
                one, process = running.pop(results)
                try:
                    found = results.recv()
                except EOFError:
                    process.join()
                    found = _error(one.problem, f"its process ended with {process.exitcode}")
                results.close()
                process.join()
                yield found
    finally:
        for _, process in running.values():
            kill(process)


def _error(problem: str, message: str) -> Row:
    return {"problem": problem, "passed": False, "error": " ".join(message.split())[:500]}


def visible_gpus(count: int) -> list[str]:
    """Return the names of so many GPUs, as CUDA_VISIBLE_DEVICES names them."""
    named = [name for name in os.environ.get("CUDA_VISIBLE_DEVICES", "").split(",") if name]
    return (named or [str(gpu) for gpu in range(count)])[:count]


def longest_first(
    problems: Sequence[Problem], profile: Profile, known: Mapping[str, float]
) -> list[Problem]:
    """Order problems by how long they took; before those the ones of which that is not known.

    These by the length of their reductions: what takes longest is the controls that add one term
    after the other.

    Parameters
    ----------
    problems : sequence of Problem
    profile : Profile
    known : mapping of str to float
        Seconds of an earlier run.
    """

    def length(problem: Problem) -> int:
        shape = spread_shape(problem, plan_shape(problem, profile.limits), profile)
        return reduction_length(problem, shape.dimensions)

    new = sorted((p for p in problems if p.id not in known), key=length, reverse=True)
    return new + sorted((p for p in problems if p.id in known), key=lambda p: -known[p.id])


def earlier(path: Path, device: str, profile: str) -> list[Row]:
    """Return what an earlier run found, but for problems that ended in an error.

    Raises
    ------
    UserError
        If it was one of another device or profile, or its file is damaged.
    """
    try:
        found = _read(path)
    except (KeyError, TypeError, ValueError) as error:
        raise UserError(
            f"{path} is damaged ({error}); leave --resume out to check all again"
        ) from None
    if found is None:
        return []
    if (found["device"], found["profile"]) != (device, profile):
        raise UserError(
            f"{path} is of {found['device']} and profile {found['profile']}; "
            "leave --resume out or give another --directory"
        )
    return [row for row in found["problems"] if "error" not in row]


def seconds_of(path: Path) -> dict[str, float]:
    """Return how long each problem took in an earlier run; nothing if its file is damaged."""
    try:
        found = _read(path)
    except (KeyError, TypeError, ValueError):
        return {}
    rows = [] if found is None else found["problems"]
    return {row["problem"]: row["seconds"] for row in rows if "seconds" in row}


def _read(path: Path) -> Mapping[str, Any] | None:
    if not path.exists():
        return None
    found = json.loads(path.read_text())
    kept = {key: found[key] for key in ("device", "profile", "problems")}
    for row in kept["problems"]:
        row["problem"]
    return kept


def page(result: Mapping[str, Any]) -> str:
    """Return the table by level, what did not pass, and the kernels nearest to their allowance."""
    lines = [
        f"Every substrate and control against fp64 on {result['device']}, profile "
        f"{result['profile']}: what `gpu-eval corpus check` measures. An error is the largest over "
        "all elements and inputs, relative to the output's scale; the allowance is what the "
        "problem's own rounding model and PyTorch's own error on the same input give. On unjudged "
        "inputs PyTorch's own fp32 result is no answer.",
        "",
        "| level | problems | kernels | inputs | invalid inputs | unjudged inputs | wrong kernels "
        "| seconds |",
        "|---|---|---|---|---|---|---|---|",
    ]
    for level in sorted({p["problem"].split("/")[0] for p in result["problems"]}):
        own = [p for p in result["problems"] if p["problem"].startswith(f"{level}/")]
        kernels = [i for p in own for i in p.get("implementations", ())]
        cells = [
            level,
            f"{len(own)}",
            f"{len(kernels)}",
            f"{sum(p.get('inputs', 0) for p in own):,}",
            f"{sum(len(p.get('invalid', ())) for p in own)}",
            f"{sum(len(p.get('unjudged', ())) for p in own)}",
            f"{sum(map(_is_wrong, kernels))}",
            f"{sum(p.get('seconds', 0) for p in own):.0f}",
        ]
        lines.append(f"| {' | '.join(cells)} |")
    failed = [f"- {p['problem']}: {_failure(p)}" for p in result["problems"] if not p["passed"]]
    doubtful = [p for p in result["problems"] if p["passed"] and p.get("doubt")]
    lines += _listed("Not passed:", failed)
    lines += _listed("Not proven:", [f"- {p['problem']}: {p['doubt']}" for p in doubtful])
    lines += _listed("Not done:", [", ".join(result["missing"])] if result["missing"] else [])
    every = [(i, p["problem"]) for p in result["problems"] for i in p.get("implementations", ())]
    nearest = sorted(every, key=lambda pair: -pair[0]["ratio"])[:SHOWN]
    lines += [
        "",
        "| nearest to its allowance | kind | error | PyTorch's own | of the allowance | on |",
        "|---|---|---|---|---|---|",
    ]
    for kernel, problem in nearest:
        lines.append(
            f"| {problem} {kernel['name']} | {kernel['kind']} | {kernel['error']:.2e} | "
            f"{kernel['own_error']:.2e} | {kernel['ratio']:.2f} | {kernel['input']} |"
        )
    return "\n".join(lines) + "\n"


def _is_wrong(kernel: Mapping[str, Any]) -> bool:
    return bool(kernel["reason"]) or kernel["ratio"] > 1


def _failure(row: Row) -> str:
    wrong = [i for i in row.get("implementations", ()) if _is_wrong(i)]
    names = [f"{i['name']} ({i['reason'] or 'beyond its allowance'})" for i in wrong]
    return ", ".join(names) or row.get("error") or row["doubt"]


def _listed(title: str, rows: list[str]) -> list[str]:
    return ["", title, "", *rows] if rows else []


def _chosen(names: Collection[str], levels: Sequence[int]) -> list[Problem]:
    corpus = load_corpus([])
    asked = [corpus.problem(name) for name in dict.fromkeys(names or corpus.problems)]
    return of_levels(asked, levels)


def main(arguments: Sequence[str] | None = None) -> int:
    """Check, and write both files; 1 if a kernel is wrong."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n", 1)[0])
    parser.add_argument("problems", nargs="*")
    parser.add_argument("--device", default="auto")
    parser.add_argument("--profile", default="demo")
    parser.add_argument("--level", type=int, action="append")
    parser.add_argument("--processes", type=int, default=cores())
    parser.add_argument("--seconds", type=float, default=math.inf)
    parser.add_argument("--resume", action="store_true")
    parser.add_argument("--directory", type=Path, default=RESULTS)
    given = parser.parse_args(arguments)
    if given.processes < 1:
        raise UserError("--processes must be at least 1")
    profile = find_profile(given.profile)
    device = open_device(given.device)
    name = resolved_name(device)
    gpus = visible_gpus(len(device.parts())) if name == "cuda" else [""]
    path = given.directory / f"corpus-check-{name}"
    before = earlier(path.with_suffix(".json"), name, given.profile) if given.resume else []
    found = {str(row["problem"]): row for row in before}
    chosen = _chosen(given.problems, given.level or ())
    left = [problem for problem in chosen if problem.id not in found]
    missing = [problem.id for problem in left]
    known = {} if given.resume else seconds_of(path.with_suffix(".json"))
    with tempfile.TemporaryDirectory(prefix="gpu-eval-") as cache:
        jobs = max(1, cores() // given.processes)
        work = [
            Work(p.id, given.profile, name, Path(cache), jobs)
            for p in longest_first(left, profile, known)
        ]
        for one in checked(work, given.processes, given.seconds, gpus):
            found[one["problem"]] = one
            missing.remove(one["problem"])
            said = "ok" if one["passed"] else f"FAILED {_failure(one)}"
            print(one["problem"], said, flush=True)
            result = {
                "device": name,
                "profile": given.profile,
                "problems": [found[key] for key in sorted(found)],
                "missing": missing,
            }
            write_record(path.with_suffix(".json"), result)
            write_atomic(path.with_suffix(".md"), page(result).encode())
    if missing:
        print(f"not done: {', '.join(missing)}; run again with --resume", file=sys.stderr)
    return 0 if all(row["passed"] for row in found.values()) else 1


if __name__ == "__main__":
    run_script(main)
