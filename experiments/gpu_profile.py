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
from dataclasses import asdict
from pathlib import Path
from typing import Any

from experiments.campaign_seconds import Profile, profile
from experiments.gpu_campaign import PREFIX, unpack
from gpu_eval.campaign.layout import Layout
from gpu_eval.campaign.phases import Phase
from suiteopt.errors import UserError

WORST = 12


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
