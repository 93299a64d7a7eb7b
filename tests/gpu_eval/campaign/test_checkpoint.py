"""How far a block has come: written, read back, and never trusted when damaged."""

from pathlib import Path

import numpy as np
import pytest

from gpu_eval.campaign.cells import CellTable
from gpu_eval.campaign.checkpoint import SUFFIX, Progress, drop, load, save
from gpu_eval.campaign.closing import FatalRecord
from gpu_eval.devices.base import Outcome
from suiteopt.matrix.schema import COUNTS, STATISTICS, Status


def progress() -> Progress:
    """Return the progress of a block in the middle of its second input."""
    table = CellTable()
    for row, value in enumerate((0.1, float("inf"), 3e-7)):
        outcome = Outcome(Status.OK, dict.fromkeys(STATISTICS, value), dict.fromkeys(COUNTS, row))
        table.add(row, 0, [outcome])
    table.mark(0, 1, Status.CLOSED)
    return Progress(
        table,
        fatal={"a": FatalRecord(1, 2), "b": FatalRecord()},
        decided={"c", "b"},
        racy={"a"},
        outside={"c"},
        messages={"a": "still running"},
        raised={},
        divergent={"b"},
        column=1,
        row=1,
    )


def test_it_comes_back_as_it_was(tmp_path: Path) -> None:
    before = progress()
    save(tmp_path, "block-1", before)
    after = load(tmp_path, "block-1")
    assert np.array_equal(before.table.array().view(np.uint8), after.table.array().view(np.uint8))
    assert {k: v.counts for k, v in after.fatal.items()} == {"a": (1, 2), "b": (0, 0)}
    assert (after.decided, after.racy, after.divergent) == ({"b", "c"}, {"a"}, {"b"})
    assert after.outside == {"c"}
    assert (after.messages, after.raised) == ({"a": "still running"}, {})
    assert (after.column, after.row) == (1, 1)


@pytest.mark.parametrize("damage", ["gone", "empty", "cut", "flipped", "foreign"])
def test_a_damaged_one_is_as_good_as_none(tmp_path: Path, damage: str) -> None:
    save(tmp_path, "block-1", progress())
    path = tmp_path / f"block-1{SUFFIX}"
    data = bytearray(path.read_bytes())
    match damage:
        case "gone":
            path.unlink()
        case "empty":
            path.write_bytes(b"")
        case "cut":
            path.write_bytes(data[: len(data) // 2])
        case "flipped":
            data[len(data) // 3] ^= 0x40
            path.write_bytes(data)
        case "foreign":
            np.savez(path, cells=np.zeros(3), state=np.frombuffer(b"{}", dtype=np.uint8))
    found = load(tmp_path, "block-1")
    assert (len(found.table), found.column, found.row) == (0, 0, 0)


def test_it_can_be_dropped_twice(tmp_path: Path) -> None:
    save(tmp_path, "block-1", progress())
    drop(tmp_path, "block-1")
    drop(tmp_path, "block-1")
    assert list(tmp_path.iterdir()) == []
