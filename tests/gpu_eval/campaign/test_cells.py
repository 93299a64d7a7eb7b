"""Cells: what repeats are merged to, and bytes that are the same every time."""

import numpy as np
import pytest

from gpu_eval.campaign.cells import STATUSES, CellTable, from_bytes, merge
from gpu_eval.devices.base import Outcome
from suiteopt.matrix.schema import Count, Statistic, Status


def outcome(status: Status, value: float = 0.0, nan: int = 0, bits: int = 1) -> Outcome:
    counts = dict.fromkeys(Count, 0) | {Count.NAN_ONE: nan}
    return Outcome(status, dict.fromkeys(Statistic, value), counts, bits)


def cell(*outcomes: Outcome) -> np.void:
    table = CellTable()
    table.add(0, 0, outcomes)
    record: np.void = table.array()[0]
    return record


def status_of(record: np.void) -> Status:
    return STATUSES[record["status"]]


def test_one_run_is_its_own_minimum_and_maximum() -> None:
    record = cell(outcome(Status.OK, 0.125))
    assert (record["rms"], record["rms_max"]) == (0.125, 0.125)
    assert (record["repeats"], record["disagreed"]) == (1, 0)


def test_repeats_keep_both_ends_and_count_what_disagrees() -> None:
    record = cell(outcome(Status.OK, 0.5, bits=1), outcome(Status.OK, 0.25, bits=2))
    assert (record["rms"], record["rms_max"]) == (0.25, 0.5)
    assert (record["repeats"], record["disagreed"]) == (2, 1)


def test_a_status_is_a_kill_only_if_every_repeat_had_it() -> None:
    record = cell(outcome(Status.NONFINITE, 0.5, nan=3, bits=1), outcome(Status.OK, 0.25, bits=2))
    assert status_of(record) is Status.OK
    assert (record["nan_one"], record["nan_one_max"]) == (0, 3)
    record = cell(Outcome(Status.CRASH), outcome(Status.OK, 0.25))
    assert status_of(record) is Status.OK
    assert (record["rms"], record["rms_max"]) == (0.25, float("inf"))
    assert record["disagreed"] == 1


@pytest.mark.parametrize("bad", [Status.UNWRITTEN, Status.OUT_OF_BOUNDS])
def test_evidence_is_kept_if_seen_once(bad: Status) -> None:
    assert status_of(cell(outcome(Status.OK), outcome(bad))) is bad


def test_nothing_measured() -> None:
    record = cell(Outcome(Status.TIMEOUT), Outcome(Status.CRASH))
    assert status_of(record) is Status.TIMEOUT
    assert np.isnan(record["rms"])
    assert record["nan_one"] == -1


def test_the_order_of_running_leaves_no_trace() -> None:
    first, second = CellTable(), CellTable()
    cells = [(row, column) for row in range(3) for column in range(2)]
    for table, order in ((first, cells), (second, cells[::-1])):
        for row, column in order:
            table.add(row, column, [outcome(Status.OK, row + column / 8)])
    assert first.to_bytes() == second.to_bytes()
    read = from_bytes(first.to_bytes())
    assert read["max_abs"].tolist() == [0, 0.125, 1, 1.125, 2, 2.125]


def test_copies_share_what_was_and_not_what_comes() -> None:
    table = CellTable()
    assert (len(table), len(table.array())) == (0, 0)
    table.add(1, 0, [outcome(Status.OK, 0.5)])
    copied = table.copy()
    table.add(0, 0, [outcome(Status.OK, 0.25)])
    copied.mark(0, 0, Status.CLOSED)
    copied.mark(0, 1, Status.DECIDED)
    assert (len(table), len(copied)) == (2, 3)
    assert table.array()["rms"].tolist() == [0.25, 0.5]
    assert [STATUSES[s] for s in copied.array()["status"]] == [
        Status.CLOSED,
        Status.DECIDED,
        Status.OK,
    ]
    assert table.array()["subject"].tolist() == [0, 1]
    again = CellTable(from_bytes(copied.to_bytes()))
    again.mark(2, 0, Status.CLOSED)
    assert again.array()[:3].tobytes() == copied.array().tobytes()


def test_other_columns_are_refused() -> None:
    import io

    buffer = io.BytesIO()
    np.save(buffer, np.zeros(3))
    with pytest.raises(ValueError, match="other columns"):
        from_bytes(buffer.getvalue())


def test_merge_counts_every_statistic() -> None:
    row = merge([outcome(Status.OK, 1.0)])
    assert len(row) == 3 + 2 * len(Count) + 2 * len(Statistic)
