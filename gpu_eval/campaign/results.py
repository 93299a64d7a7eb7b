"""Result files of tasks: written by workers, read by the supervisor and the assembler."""

import json
from collections.abc import Mapping
from dataclasses import asdict
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from gpu_eval.campaign.cells import from_bytes
from gpu_eval.campaign.checkpoint import drop
from gpu_eval.campaign.runner import BlockResult
from gpu_eval.campaign.tasks import CellTask, CompileTask, InputFacts, Task
from gpu_eval.devices.base import Binary
from suiteopt.errors import UserError
from suiteopt.matrix.files import sha256, write_atomic

CELLS = ".npy"
NOTES = ".json"


def write_binaries(shards: Path, task: CompileTask, binaries: list[Binary]) -> dict[str, str]:
    """Write what came of a compile task; return the file's name and hash."""
    digests = {str(b.path): sha256(b.path.read_bytes()) for b in binaries if b.path is not None}
    document = {
        "binaries": [{**asdict(b), "path": str(b.path) if b.path else None} for b in binaries],
        "digests": digests,
    }
    return _write(shards, task.key + NOTES, json.dumps(document, sort_keys=True).encode())


def read_binaries(shards: Path, task: CompileTask) -> list[Binary] | None:
    """Read what came of a compile task; None if a binary is gone or damaged."""
    document = _compiled(shards, task)
    for path, digest in document["digests"].items():
        try:
            if sha256(Path(path).read_bytes()) != digest:
                return None
        except OSError:
            return None
    return _binaries(document)


def noted_binaries(shards: Path, task: CompileTask) -> list[Binary]:
    """Read what is known of the binaries of a compile task, wherever they may be by now."""
    return _binaries(_compiled(shards, task))


def _compiled(shards: Path, task: CompileTask) -> dict[str, Any]:
    document: dict[str, Any] = json.loads((shards / (task.key + NOTES)).read_bytes())
    return document


def _binaries(document: Mapping[str, Any]) -> list[Binary]:
    return [
        Binary(
            id=b["id"],
            path=Path(b["path"]) if b["path"] else None,
            symbol=b["symbol"],
            kernels=tuple(b["kernels"]),
            machine_code=b["machine_code"],
            error=b["error"],
        )
        for b in document["binaries"]
    ]


def write_block(shards: Path, task: CellTask, result: BlockResult) -> dict[str, str]:
    """Write the cells of a task, and beside them what may differ from run to run.

    Times and messages lie outside the cells, which are the same bytes every time.
    """
    notes = {
        "problem": task.problem,
        "facts": {name: asdict(facts) for name, facts in result.facts.items()},
        "messages": result.progress.messages,
        "divergent": sorted(result.progress.divergent),
        "seconds": result.progress.seconds,
    }
    files = {
        **_write(shards, task.key + CELLS, result.progress.table.to_bytes()),
        **_write(shards, task.key + NOTES, json.dumps(notes, sort_keys=True).encode()),
    }
    drop(shards, task.key)
    return files


def read_cells(shards: Path, task: CellTask) -> NDArray[np.void]:
    """Read the cells of a task.

    Raises
    ------
    UserError
        If the file is gone or damaged since the journal vouched for it.
    """
    path = shards / (task.key + CELLS)
    try:
        return from_bytes(path.read_bytes())
    except (OSError, ValueError) as error:
        raise UserError(f"the shard {path} is damaged; run gpu-eval resume again") from error


def read_notes(shards: Path, task: Task) -> Mapping[str, Any]:
    """Read what lies beside the cells of a task."""
    notes: dict[str, Any] = json.loads((shards / (task.key + NOTES)).read_bytes())
    return notes


def read_facts(shards: Path, task: CellTask) -> dict[str, InputFacts]:
    """Read the facts that a base task found, by input."""
    return {name: InputFacts(**facts) for name, facts in read_notes(shards, task)["facts"].items()}


def _write(shards: Path, name: str, data: bytes) -> dict[str, str]:
    write_atomic(shards / name, data)
    return {name: sha256(data)}
