"""The worker-seconds of a campaign, as its journal and the notes of its tasks have them."""

import json
from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from gpu_eval.campaign.cells import STATUS_CODES, from_bytes
from gpu_eval.campaign.checkpoint import SUFFIX, load
from gpu_eval.campaign.estimate import cell_seconds
from gpu_eval.campaign.layout import Layout
from gpu_eval.campaign.phases import Phase, added
from gpu_eval.campaign.plan import ProblemPlan, build_plan
from gpu_eval.campaign.settings import Settings
from suiteopt.matrix.schema import Status

UNKNOWN = "unknown"
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
