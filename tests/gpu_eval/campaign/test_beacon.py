"""What a worker was doing when it died."""

from pathlib import Path

from gpu_eval.campaign.beacon import Beacon


def test_the_running_cell_can_be_read_from_outside(tmp_path: Path) -> None:
    written = Beacon(tmp_path / "beacon", create=True)
    read = Beacon(tmp_path / "beacon", create=False)
    assert not read.read().running
    written.begin(7, 3, 0.5)
    seen = read.read()
    assert (seen.subject, seen.input, seen.deadline, seen.cells) == (7, 3, 0.5, 0)
    assert seen.running
    assert seen.started > 0
    assert seen.together == 1
    written.begin(2, 3, 0.5, 6)
    assert (read.read().subject, read.read().together) == (2, 6)
    written.close()
    assert read.read().running
    read.close()


def test_cells_are_counted_from_the_start_of_a_task(tmp_path: Path) -> None:
    beacon = Beacon(tmp_path / "beacon", create=True)
    beacon.begin(0, 0, 1.0)
    beacon.end()
    beacon.end(4)
    assert beacon.read().cells == 5
    assert not beacon.read().running
    beacon.reset()
    assert beacon.read().cells == 0
    beacon.close()
