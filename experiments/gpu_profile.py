"""Where the worker-seconds of a campaign went: by phase, by problem, and what nobody accounts for.

Reads the journal and the shards of a campaign, finished or not, or of a pack of one
(`experiments.gpu_campaign`)::

    python -m experiments.gpu_profile CAMPAIGN_OR_PACK --gpus 2 --sitting 2 \
        --json experiments/results/gpu_profile.json --markdown experiments/results/gpu_profile.md

A worker-second is a second of one of the processes that measure. What a task spent is in its notes;
of the rest the journal says for how long no worker was ready (contexts that died and were made
anew), for how long there was no task, and how long tasks had been under way whose worker ended.
Beside the seconds of mutants' own runs
stands what `gpu-eval run --dry-run` says of the same cells, for one GPU that does nothing else.
"""

import argparse
import json
import sys
import tempfile
from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

from experiments.gpu_campaign import PREFIX, unpack
from gpu_eval.campaign.cells import STATUS_CODES, from_bytes
from gpu_eval.campaign.checkpoint import SUFFIX, load
from gpu_eval.campaign.estimate import cell_seconds
from gpu_eval.campaign.layout import Layout
from gpu_eval.campaign.phases import Phase, added
from gpu_eval.campaign.plan import ProblemPlan, build_plan
from gpu_eval.campaign.settings import Settings
from suiteopt.errors import UserError
from suiteopt.matrix.schema import Status

UNKNOWN = "unknown"
WORST = 12
_NOT_RUN = tuple(STATUS_CODES[s] for s in (Status.CLOSED, Status.DECIDED, Status.INVALID))


@dataclass
class Spent:
    """What the tasks of a problem cost.

    Attributes
    ----------
    base, blocks : dict of str to float
        Worker-seconds by phase.
    cells, lost : int
        Cells of finished tasks; runs that took a device along.
    estimate : float
        Seconds of the cells that ran, repeats included, on a GPU of their own.
    """

    base: dict[str, float] = field(default_factory=dict)
    blocks: dict[str, float] = field(default_factory=dict)
    cells: int = 0
    lost: int = 0
    estimate: float = 0.0

    @property
    def other(self) -> float:
        """Seconds that are not compiled implementations' runs."""
        return sum(self.base.values()) + sum(self.blocks.values()) - self.kernels

    @property
    def kernels(self) -> float:
        """Seconds of compiled implementations' runs, poison and comparison."""
        return self.base.get(Phase.KERNELS, 0.0) + self.blocks.get(Phase.KERNELS, 0.0)

    def as_dict(self) -> dict[str, Any]:
        """Return everything, seconds to a tenth."""
        return {
            "base": {name: round(value, 1) for name, value in sorted(self.base.items())},
            "blocks": {name: round(value, 1) for name, value in sorted(self.blocks.items())},
            "cells": self.cells,
            "lost": self.lost,
            "estimate": round(self.estimate, 1),
        }


@dataclass
class Present:
    """What the journal says of the workers that measure, all sittings counted together.

    Attributes
    ----------
    started, ready, starting : float
        Processes started, those that came as far as taking tasks, and the seconds that took.
    lost : dict of str to float
        How many ended at a task, by how.
    short, waiting : float
        Worker-seconds without a worker that was ready, and without a task.
    interrupted : dict of str to float
        Worker-seconds at tasks until their worker ended, by how; some of them are noted.
    """

    started: float = 0
    ready: float = 0
    starting: float = 0.0
    lost: dict[str, float] = field(default_factory=dict)
    short: float = 0.0
    waiting: float = 0.0
    interrupted: dict[str, float] = field(default_factory=dict)

    def add(self, event: Mapping[str, Any]) -> None:
        """Take in what one sitting says; an older campaign says less."""
        for name in ("started", "ready", "starting", "short", "waiting"):
            setattr(self, name, getattr(self, name) + event.get(name, 0))
        self.lost = added([self.lost, event.get("lost", {})])
        self.interrupted = added([self.interrupted, event.get("interrupted", {})])


@dataclass
class Profile:
    """What is known of some sittings of a campaign.

    Attributes
    ----------
    wall, workers : float, int
        Seconds since the first sitting counted began to measure, and processes at work.
    problems : dict of str to Spent
    earlier : float
        Worker-seconds of the tasks counted that must have been spent in sittings before.
    present : Present
    """

    wall: float
    workers: int
    problems: dict[str, Spent] = field(default_factory=dict)
    earlier: float = 0.0
    present: Present = field(default_factory=Present)

    def total(self, part: str) -> dict[str, float]:
        """Add up the seconds of all problems, by phase; ``part`` is ``base`` or ``blocks``."""
        return added([getattr(spent, part) for spent in self.problems.values()])

    @property
    def unaccounted(self) -> float:
        """Worker-seconds that no task has noted."""
        noted = sum(sum(self.total(part).values()) for part in ("base", "blocks"))
        return self.workers * self.wall - (noted - self.earlier)

    @property
    def unnoted(self) -> float:
        """Worker-seconds at tasks that these have not noted: interrupted, or between phases."""
        return self.unaccounted - self.present.short - self.present.waiting


def profile(root: Path, gpus: int, sitting: int) -> Profile:
    """Read a campaign.

    Parameters
    ----------
    root : Path
        Its output directory.
    gpus : int
        On how many GPUs it ran.
    sitting : int
        The first sitting that counts, from 1.
    """
    layout = Layout(root)
    settings = Settings.from_json(layout.settings.read_text(encoding="utf-8"), root)
    plans = _plans(settings, json.loads(layout.frozen.read_text(encoding="utf-8")))
    events = list(_events(layout.journal))
    found = Profile(0.0, settings.jobs * gpus)
    began = before = 0.0
    done: set[str] = set()
    named = {e["key"]: _problem_of(e["subject"]) for _, e in events if e["event"] == "verdict"}
    for number, event in events:
        at = event["at"]
        if event["event"] == "sitting":
            began = before = at
        if event["event"] == "done":
            done.add(event["key"])
        if number < sitting:
            continue
        found.wall += at - before
        before = at
        if event["event"] == "done" and not event["key"].startswith("compile"):
            _add(found, layout.shards, event["key"], at - began, named, plans)
        elif event["event"] == "attendance":
            found.present.add(event)
        elif event["event"] == "verdict":
            found.problems.setdefault(_problem_of(event["subject"]), Spent()).lost += 1
    for path in sorted(layout.shards.glob("*" + SUFFIX)):
        key = path.name.removesuffix(SUFFIX)
        if key not in done:
            spent = found.problems.setdefault(named.get(key, UNKNOWN), Spent())
            spent.blocks = added([spent.blocks, load(layout.shards, key).seconds])
    return found


def _add(
    found: Profile,
    shards: Path,
    key: str,
    within: float,
    named: Mapping[str, str],
    plans: Mapping[str, ProblemPlan],
) -> None:
    """Take in a task that was done ``within`` seconds of the beginning of its sitting."""
    notes = json.loads((shards / f"{key}.json").read_bytes())
    facts = next(iter(notes["facts"]), "")
    name = notes.get("problem") or named.get(key) or (_problem_of(facts) if facts else UNKNOWN)
    spent = found.problems.setdefault(name, Spent())
    cells = from_bytes((shards / f"{key}.npy").read_bytes())
    spent.cells += len(cells)
    seconds = notes["seconds"]
    found.earlier += max(0.0, sum(seconds.values()) - within)
    if notes["facts"]:
        spent.base = added([spent.base, seconds])
    else:
        spent.blocks = added([spent.blocks, seconds])
    if name in plans:
        plan = plans[name]
        ran = cells[~_among(cells["status"])]
        runs = Counter[int]()
        for place, repeats in zip(ran["input"].tolist(), ran["repeats"].tolist(), strict=True):
            runs[place] += repeats
        spent.estimate += sum(
            count * cell_seconds(plan.problem, plan.order[place]) for place, count in runs.items()
        )


def _among(statuses: Any) -> Any:
    import numpy as np

    return np.isin(statuses, _NOT_RUN)


def _plans(settings: Settings, frozen: Mapping[str, Any]) -> dict[str, ProblemPlan]:
    """Return the plan by problem; nothing where it is not the campaign's any more."""
    plan = build_plan(settings, str(frozen["corpus_hash"]))
    same = all(plan.frozen()[name] == frozen[name] for name in ("pool_hash", "witness_hash"))
    return {p.id: p for p in plan.problems} if same else {}


def _events(journal: Path) -> Iterable[tuple[int, dict[str, Any]]]:
    """Yield the journal's events, each with the number of its sitting."""
    number = 0
    for line in journal.read_text(encoding="utf-8").splitlines():
        event = json.loads(line)
        number += event["event"] == "sitting"
        yield number, event


def _problem_of(name: str) -> str:
    """Return the problem that an implementation's or an input's id begins with."""
    return name.split(":", 1)[0]


def as_json(found: Profile) -> dict[str, Any]:
    """Return the figures."""
    return {
        "wall_seconds": round(found.wall, 1),
        "workers": found.workers,
        "base": {name: round(value, 1) for name, value in found.total("base").items()},
        "blocks": {name: round(value, 1) for name, value in found.total("blocks").items()},
        "unaccounted": round(found.unaccounted, 1),
        "unnoted": round(found.unnoted, 1),
        "workers_present": asdict(found.present),
        "of_earlier_sittings": round(found.earlier, 1),
        "cells": sum(spent.cells for spent in found.problems.values()),
        "lost": sum(spent.lost for spent in found.problems.values()),
        "estimate": round(sum(spent.estimate for spent in found.problems.values()), 1),
        "problems": {name: spent.as_dict() for name, spent in sorted(found.problems.items())},
    }


def as_markdown(found: Profile) -> str:
    """Return the table by phase and the problems with most time outside mutants' runs."""
    figures = as_json(found)
    whole = found.workers * found.wall
    lines = [
        "# Where the worker-seconds of a campaign went",
        "",
        "Made by `python -m experiments.gpu_profile`.",
        "",
        f"{figures['workers']} workers, {figures['wall_seconds']:.0f} s: {whole:.0f} "
        f"worker-seconds, {figures['cells']:,} cells of finished tasks, {figures['lost']} lost "
        f"contexts. The runs of these cells would take {figures['estimate']:.0f} s of one GPU by "
        f"estimate. At least {figures['of_earlier_sittings']:.0f} s of what the tasks noted was "
        "spent in sittings before, and counts as that.",
        "",
        "| phase | base tasks | blocks | share |",
        "|---|---:|---:|---:|",
    ]
    for phase in Phase:
        base, blocks = figures["base"].get(phase, 0.0), figures["blocks"].get(phase, 0.0)
        lines.append(f"| {phase} | {base:.0f} | {blocks:.0f} | {(base + blocks) / whole:.1%} |")
    lines += [
        f"| of sittings before | | -{found.earlier:.0f} | -{found.earlier / whole:.1%} |",
        f"| no task's: | | {found.unaccounted:.0f} | {found.unaccounted / whole:.1%} |",
        *_present(found),
        "",
        "| problem | base inputs | facts | controls | block inputs | kernels | estimate | lost |",
        "|---|---:|---:|---:|---:|---:|---:|---:|",
    ]
    worst = sorted(found.problems.items(), key=lambda item: -item[1].other)[:WORST]
    for name, spent in worst:
        base = [spent.base.get(p, 0.0) for p in (Phase.INPUTS, Phase.FACTS, Phase.CONTROLS)]
        values = [*base, spent.blocks.get(Phase.INPUTS, 0.0), spent.kernels, spent.estimate]
        cells = " | ".join(f"{value:.1f}" for value in values)
        lines.append(f"| {name} | {cells} | {spent.lost} |")
    return "\n".join(lines) + "\n"


def _present(found: Profile) -> list[str]:
    """Return what is known of the time that no task has noted."""
    present, whole = found.present, found.workers * found.wall
    if not present.started:
        return []  # a campaign that does not say, or has no sitting that ended
    rows = (
        ("no worker was ready (lost contexts, starting)", present.short),
        ("there was nothing to do", present.waiting),
        ("at tasks: since their last note, or between phases", found.unnoted),
    )
    took = present.starting / present.ready if present.ready else 0.0
    lost = ", ".join(f"{how} {count:.0f}" for how, count in present.lost.items())
    cut = ", ".join(f"{how} {seconds:.0f}" for how, seconds in present.interrupted.items())
    return [
        *(f"| - {what} | | {value:.0f} | {value / whole:.1%} |" for what, value in rows),
        "",
        f"{present.started:.0f} workers were started, and {took:.1f} s passed until one was ready. "
        f"Ended at a task: {lost or 'none'}. Worker-seconds at tasks that were interrupted, noted "
        f"or not, by how: {cut or 'none'}.",
    ]


def main(arguments: list[str]) -> int:
    """Read a campaign or a pack, print the table, and write what is asked for."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n", 1)[0])
    parser.add_argument("source", type=Path, help="an output directory, or a pack of one")
    parser.add_argument("--gpus", type=int, default=1)
    parser.add_argument("--sitting", type=int, default=1, help="the first one that counts")
    parser.add_argument("--json", type=Path)
    parser.add_argument("--markdown", type=Path)
    given = parser.parse_args(arguments)
    with tempfile.TemporaryDirectory(prefix="gpu-profile-") as scratch:
        root = given.source
        if list(root.glob(f"{PREFIX}*")):
            root = Path(scratch) / "campaign"
            unpack(given.source, root)
        if not Layout(root).journal.exists():
            raise UserError(f"{given.source} holds no campaign and no pack of one")
        found = profile(root, given.gpus, given.sitting)
    text = as_markdown(found)
    print(text, end="")
    if given.json:
        given.json.write_text(json.dumps(as_json(found), indent=1) + "\n", encoding="utf-8")
    if given.markdown:
        given.markdown.write_text(text, encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
