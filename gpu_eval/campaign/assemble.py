"""From shards to a matrix: tables, cells, sources, and the header last."""

import json
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pandas as pd

from gpu_eval.campaign import results, witness
from gpu_eval.campaign.header import header
from gpu_eval.campaign.journal import Journal
from gpu_eval.campaign.matrix_tables import (
    cell_table,
    implementation_table,
    input_table,
    problem_row,
)
from gpu_eval.campaign.phases import added
from gpu_eval.campaign.plan import CampaignPlan, ProblemPlan
from gpu_eval.campaign.problem_state import ProblemState, cell_tasks
from gpu_eval.campaign.schedule import Schedule
from gpu_eval.campaign.settings import Settings
from gpu_eval.problems.plan_text import render
from gpu_eval.problems.wild import FOLDER, INDEX
from suiteopt.matrix.cells import stored_cells
from suiteopt.matrix.schema import Kind
from suiteopt.matrix.writer import MatrixWriter


def assemble(
    root: Path,
    plan: CampaignPlan,
    settings: Settings,
    schedule: Schedule,
    journal: Journal,
    shards: Path,
    device: Mapping[str, str],
    started: datetime,
) -> None:
    """Write the matrix of a campaign whose tasks are all done.

    Everything but times follows from plan and shards: assembling again gives the same bytes.
    """
    states = [schedule.states[problem.id] for problem in plan.problems]
    writer = MatrixWriter(root, header(plan, settings, device, started))
    writer.write_problems(pd.DataFrame([problem_row(state) for state in states]))
    writer.write_inputs(pd.concat([input_table(state) for state in states], ignore_index=True))
    tables = []
    stored = {}
    for state in states:
        table = implementation_table(state)
        exact = cell_table(state, shards)
        cells = stored_cells(
            exact, pd.Index(table["implementation"]), pd.Index([i.id for i in state.plan.inputs])
        )
        found = witness.verdicts(table, input_table(state), cells).set_index("implementation")
        for column in ("witness", "witness_how"):
            verdict = table["implementation"].map(found[column])
            table[column] = verdict.fillna("none" if column == "witness" else "")
        tables.append(table)
        stored[state.plan.id] = exact
    writer.write_implementations(pd.concat(tables, ignore_index=True))
    for problem, exact in stored.items():
        writer.write_cells(problem, exact)
    for state in states:
        for name, text in sources(state.plan).items():
            writer.write_source(state.plan.id, name, text)
    ended = datetime.now(UTC)
    writer.finish(
        True,
        ended=ended.isoformat(timespec="seconds"),
        seconds=round(journal.seconds, 3),
        worker_seconds=worker_seconds(states, shards),
    )


def worker_seconds(states: Sequence[ProblemState], shards: Path) -> dict[str, Any]:
    """Add up what workers spent, for base tasks and for blocks, by phase and by problem.

    Turns that were cut short by a death are in it as far as the worker had written them down.
    """
    spent: dict[str, list[Mapping[str, float]]] = {"base": [], "blocks": []}
    by_problem: dict[str, list[Mapping[str, float]]] = {}
    for state in states:
        for task in cell_tasks(state):
            kind = "base" if task.facts is None else "blocks"
            seconds = results.read_notes(shards, task).get("seconds", {})
            spent[kind].append(seconds)
            by_problem.setdefault(state.plan.id, []).append({kind: sum(seconds.values())})
    return {
        **{kind: added(parts) for kind, parts in spent.items()},
        "problems": {problem: added(parts) for problem, parts in by_problem.items()},
    }


def sources(plan: ProblemPlan) -> Mapping[str, str]:
    """Return the substrates' files and rendered plans, by the names that sites refer to.

    Wild kernels' lie in ``wild/``, beside ``wild/wild.json``, which says what each is.
    """
    files: dict[str, str] = {}
    for implementation in plan.implementations:
        if implementation.kind == Kind.SUBSTRATE and implementation.source is not None:
            files.update(implementation.source.files)
            if implementation.plan is not None:
                files[f"{implementation.name}.plan"] = render(implementation.plan)
    foreign = [i.wild for i in plan.implementations if i.wild is not None]
    for kernel in foreign:
        files.update({f"{FOLDER}/{name}": text for name, text in kernel.files().items()})
        files[f"{FOLDER}/{kernel.name}.plan"] = render(kernel.plan)
    if foreign:
        files[f"{FOLDER}/{INDEX}"] = json.dumps([k.about() for k in foreign], indent=1) + "\n"
    return dict(sorted(files.items()))
