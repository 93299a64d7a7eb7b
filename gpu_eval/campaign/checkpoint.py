"""How far a block has come, on the disk: a lost worker's successor goes on from there."""

import io
import json
import zipfile
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import numpy as np

from gpu_eval.campaign.cells import RECORD, CellTable
from gpu_eval.campaign.closing import FatalRecord
from suiteopt.matrix.files import write_atomic

SUFFIX = ".part.npz"


@dataclass
class Progress:
    """What is known of a block so far; grows while it runs.

    Attributes
    ----------
    table : CellTable
        The cells of every input before ``column``, and of its implementations before ``row``.
    fatal : dict of str to FatalRecord
        By implementation.
    decided, racy, outside : set of str
        Implementations whose later own draws need not run; that disagreed with themselves; that
        wrote outside their outputs.
    messages, raised : dict of str to str
    divergent : set of str
    column, row : int
        The next cell: indices of its input and its implementation.
    seconds : dict of str to float
        What was spent so far, by `gpu_eval.campaign.phases.Phase`.
    """

    table: CellTable = field(default_factory=CellTable)
    fatal: dict[str, FatalRecord] = field(default_factory=dict)
    decided: set[str] = field(default_factory=set)
    racy: set[str] = field(default_factory=set)
    outside: set[str] = field(default_factory=set)
    messages: dict[str, str] = field(default_factory=dict)
    raised: dict[str, str] = field(default_factory=dict)
    divergent: set[str] = field(default_factory=set)
    column: int = 0
    row: int = 0
    seconds: dict[str, float] = field(default_factory=dict)

    def copy(self) -> "Progress":
        """Return what is known now; what is added to the original later is not in it."""
        return replace(
            self,
            table=self.table.copy(),
            fatal={s: FatalRecord(*record.counts) for s, record in self.fatal.items()},
            decided=set(self.decided),
            racy=set(self.racy),
            outside=set(self.outside),
            messages=dict(self.messages),
            raised=dict(self.raised),
            divergent=set(self.divergent),
            seconds=dict(self.seconds),
        )


def save(shards: Path, key: str, progress: Progress) -> None:
    """Write how far a task has come; the file before it stays until this one is whole."""
    state = {
        "fatal": {subject: record.counts for subject, record in progress.fatal.items()},
        "decided": sorted(progress.decided),
        "racy": sorted(progress.racy),
        "outside": sorted(progress.outside),
        "messages": progress.messages,
        "raised": progress.raised,
        "divergent": sorted(progress.divergent),
        "column": progress.column,
        "row": progress.row,
        "seconds": progress.seconds,
    }
    buffer = io.BytesIO()
    text = np.frombuffer(json.dumps(state).encode(), dtype=np.uint8)
    np.savez(buffer, cells=progress.table.array(), state=text)
    # A successor waits for this. It reads no damaged file, and what is lost can be run again.
    write_atomic(shards / (key + SUFFIX), buffer.getvalue(), durable=False)


def load(shards: Path, key: str) -> Progress:
    """Read how far a task has come; nothing at all if that is unknown or the file is damaged."""
    path = shards / (key + SUFFIX)
    try:
        # The archive's checksums tell damage; nothing in it is unpickled.
        with np.load(io.BytesIO(path.read_bytes()), allow_pickle=False) as archive:
            cells, text = archive["cells"], archive["state"]
        state: dict[str, Any] = json.loads(text.tobytes())
        if cells.dtype != RECORD:
            return Progress()
        return Progress(
            table=CellTable(cells),
            fatal={s: FatalRecord(*counts) for s, counts in state["fatal"].items()},
            decided=set(state["decided"]),
            racy=set(state["racy"]),
            outside=set(state["outside"]),
            messages=state["messages"],
            raised=state["raised"],
            divergent=set(state["divergent"]),
            column=state["column"],
            row=state["row"],
            seconds=state["seconds"],
        )
    except (OSError, ValueError, KeyError, TypeError, EOFError, zipfile.BadZipFile):
        return Progress()


def drop(shards: Path, key: str) -> None:
    """Remove what `save` left."""
    (shards / (key + SUFFIX)).unlink(missing_ok=True)
