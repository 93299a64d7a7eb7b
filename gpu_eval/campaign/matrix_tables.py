"""The rows of a matrix's tables and its cells, from what has come of each problem."""

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from gpu_eval.campaign import results
from gpu_eval.campaign.cells import STATUSES
from gpu_eval.campaign.equivalence import Classified
from gpu_eval.campaign.plan import hash_files
from gpu_eval.campaign.pool_input import PoolInput
from gpu_eval.campaign.problem_state import ProblemState, cell_tasks
from gpu_eval.campaign.tasks import InputFacts
from gpu_eval.problems.plan_text import render
from gpu_eval.problems.tensors import contract, reduction_length
from suiteopt.matrix.schema import COUNTS, OWN_STATISTICS, STATISTICS, ImplementationClass
from suiteopt.matrix.tables import floor_column, maximum_column

FLAGS = (
    "constant",
    "near_zero",
    "zeros_pass",
    "random_reference",
    "reference_beyond_tolerance",
    "reference_fails",
)


def problem_row(state: ProblemState) -> dict[str, Any]:
    """Return a problem's row: contract, measured shape, refereeability."""
    problem, plan = state.plan.problem, state.plan
    facts = _facts(state)
    own = plan.own or plan.candidates[0].id
    judged = facts[own]
    measured = next(i for i in plan.inputs if i.id == own)
    return {
        "problem": problem.id,
        "benchmark": problem.benchmark,
        "level": problem.level,
        "name": problem.name,
        "dtype": problem.inputs[0].dtype,
        "operation_class": str(problem.operation_class),
        "contract": _json({d.name: d.size for d in problem.dimensions}),
        "shape": _json(dict(measured.shape)),
        "reduction_length": reduction_length(problem, contract(problem)),
        "rounds": problem.rounds,
        "reference_error": judged.reference_error,
        **{flag: bool(judged.traits.get(flag, False)) for flag in FLAGS},
    }


def input_table(state: ProblemState) -> pd.DataFrame:
    """Return the rows of all inputs of a problem."""
    facts = _facts(state)
    return pd.DataFrame([_input_row(i, facts[i.id]) for i in state.plan.inputs])


def _input_row(pool_input: PoolInput, facts: InputFacts) -> dict[str, Any]:
    return {
        "input": pool_input.id,
        "problem": pool_input.problem,
        "role": str(pool_input.role),
        "value_recipe": pool_input.value_recipe,
        "parameter_recipe": pool_input.parameter_recipe,
        "shape_recipe": pool_input.shape_recipe,
        "values": _json(pool_input.values),
        "parameters": _json(pool_input.parameters),
        "shape": _json(dict(pool_input.shape)),
        "scope": str(pool_input.scope),
        "reduction_ratio": pool_input.reduction_ratio,
        "seed": pool_input.seed,
        "needs": [str(need) for need in pool_input.needs],
        "exact": pool_input.exact,
        "valid": facts.valid,
        "invalid_reason": facts.reason,
        **{floor_column(s): facts.floors.get(str(s), 0.0) for s in OWN_STATISTICS},
        "bytes": facts.bytes,
        "seconds": facts.seconds,
    }


def implementation_table(state: ProblemState) -> pd.DataFrame:
    """Return the rows of all implementations of a problem, without witnesses."""
    return pd.DataFrame([_implementation_row(state, c) for c in state.classified])


def _implementation_row(state: ProblemState, classified: Classified) -> dict[str, Any]:
    implementation, binary = classified.implementation, classified.binary
    source, control, fault = implementation.source, implementation.control, implementation.fault
    merged = [m.fault for m in classified.merged if m.fault is not None]
    plan = implementation.plan
    kept = classified.cls == ImplementationClass.VALID
    return {
        "implementation": implementation.id,
        "problem": state.plan.id,
        "substrate": implementation.substrate,
        "kind": str(implementation.kind),
        "rules": list(dict.fromkeys(f.rule for f in merged)),
        "family": str(fault.family) if fault is not None else "",
        "sites": [
            {
                name: getattr(f.span, name)
                for name in ("file", "start", "end", "line", "column", "end_line", "end_column")
            }
            for f in merged
        ],
        "before": fault.before if fault is not None else "",
        "after": fault.after if fault is not None else "",
        "source_hash": (
            hash_files(source.files, render(plan)) if source is not None and plan else ""
        ),
        "machine_code": binary.machine_code if binary is not None else "",
        "class": str(classified.cls),
        "duplicate_of": classified.duplicate_of,
        # A behaviour that a locked rule also makes is locked: it must not be learnt from.
        "locked": any(m.locked for m in classified.merged) if kept else implementation.locked,
        "control_kind": control.kind if control is not None else "",
        "identical": control is not None and control.identical,
        "blind": control is not None and control.blind,
        "error": binary.error if binary is not None else "",
    }


def cell_table(state: ProblemState, shards: Path) -> pd.DataFrame:
    """Return all cells of a problem with exact statistics."""
    parts = []
    for task in cell_tasks(state):
        cells = results.read_cells(shards, task)
        names = np.array([subject.id for subject in task.subjects], dtype=object)
        inputs = np.array([pool_input.id for pool_input in task.inputs], dtype=object)
        columns: dict[str, Any] = {
            "implementation": names[cells["subject"]],
            "input": inputs[cells["input"]],
            "status": np.array([str(s) for s in STATUSES], dtype=object)[cells["status"]],
            "repeats": cells["repeats"],
            "disagreed": cells["disagreed"],
        }
        for count in COUNTS:
            for name in (str(count), maximum_column(count)):
                values = cells[name].astype(float)
                columns[name] = np.where(values < 0, np.nan, values)
        for statistic in STATISTICS:
            for name in (str(statistic), maximum_column(statistic)):
                columns[name] = cells[name]
        parts.append(pd.DataFrame(columns))
    return pd.concat(parts, ignore_index=True)


def _facts(state: ProblemState) -> Mapping[str, InputFacts]:
    if state.facts is None:
        raise ValueError(f"the base task of {state.plan.id} is not done")
    return state.facts


def _json(value: Any) -> str:
    return json.dumps(value, sort_keys=True, default=_plain)


def _plain(value: Any) -> Any:
    return dict(value) if isinstance(value, Mapping) else str(value)
