"""Cells that need not run."""

import pytest

from gpu_eval.campaign.closing import FatalRecord, far_off
from gpu_eval.devices.base import Outcome
from suiteopt.matrix.schema import ShapeScope, Statistic, Status


@pytest.mark.parametrize("scope", [ShapeScope.CONTRACT, ShapeScope.PROFILE])
def test_two_fatal_inputs_close_everything(scope: ShapeScope) -> None:
    record = FatalRecord()
    record.add(scope)
    assert not record.closes(scope)
    record.add(scope)
    assert all(record.closes(other) for other in ShapeScope)


def test_one_fatal_input_closes_where_one_is_allowed() -> None:
    record = FatalRecord()
    record.add(ShapeScope.OTHER)
    assert record.closes(ShapeScope.OTHER, 1)
    assert not record.closes(ShapeScope.CONTRACT, 1)
    record.add(ShapeScope.CONTRACT)
    assert all(record.closes(scope, 1) for scope in ShapeScope)


def test_odd_shapes_close_only_odd_shapes() -> None:
    record = FatalRecord()
    record.add(ShapeScope.OTHER)
    record.add(ShapeScope.OTHER)
    assert record.closes(ShapeScope.OTHER)
    assert not record.closes(ShapeScope.CONTRACT)
    record.add(ShapeScope.CONTRACT)
    assert not record.closes(ShapeScope.CONTRACT)


def far(**changes: float) -> Outcome:
    return Outcome(Status.OK, {s: changes.get(s, 0.51) for s in Statistic})


def test_far_off_under_every_statistic() -> None:
    assert far_off([far()])
    assert far_off([far(), far()])
    for statistic in Statistic:
        assert not far_off([far(**{statistic: 0.5})])
    assert not far_off([far(), far(rms=0.2)])
    assert not far_off([Outcome(Status.CRASH)])
