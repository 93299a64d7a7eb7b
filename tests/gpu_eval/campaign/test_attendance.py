"""Counting workers that were there and workers that were missing."""

from gpu_eval.campaign.attendance import Attendance


def test_missing_workers_count_from_one_look_to_the_next() -> None:
    found = Attendance()
    found.look(10.0, 3)  # nothing is known of before
    found.look(12.0, 2)
    found.look(12.5, 0)
    assert found.short == 2 * 2.0
    found.came(1.5)
    found.came(2.5)
    found.lost["batch"] += 1
    assert found.as_dict() == {
        "started": 0,
        "ready": 2,
        "starting": 4.0,
        "lost": {"batch": 1},
        "short": 4.0,
    }
