"""What a campaign says of its progress."""

import io

import pytest
from rich.console import Console

from gpu_eval.campaign.progress import Bar, Lines, reporter


def test_lines_every_ten_seconds_with_rate_and_time_left() -> None:
    now = [0.0]
    said: list[str] = []
    lines = Lines(said.append, lambda: now[0])
    lines.stage("measuring")
    for moment, done in ((0.0, 0), (5.0, 50), (10.0, 100), (15.0, 150), (20.0, 200)):
        now[0] = moment
        lines.cells(done, 1000)
    assert said == [
        "gpu-eval: measuring\n",
        "gpu-eval: 100 of 1000 cells, 10 cells/s, 90 s left\n",
        "gpu-eval: 200 of 1000 cells, 10 cells/s, 80 s left\n",
    ]


def test_an_earlier_sitting_does_not_count_as_speed() -> None:
    now = [0.0]
    said: list[str] = []
    lines = Lines(said.append, lambda: now[0])
    # Results of before are taken in as their turn comes, not all at the start.
    for moment, done, before in ((0.0, 0, 0), (5.0, 450, 400), (10.0, 500, 400)):
        now[0] = moment
        lines.cells(done, 1000, before)
    assert said == ["gpu-eval: 500 of 1000 cells, 10 cells/s, 50 s left\n"]


def test_the_bar_shows_rate_and_time_left(monkeypatch: pytest.MonkeyPatch) -> None:
    now = [100.0]
    monkeypatch.setattr("gpu_eval.campaign.progress.time.monotonic", lambda: now[0])
    out = io.StringIO()
    with Bar(Console(file=out, force_terminal=True, width=120)) as bar:
        bar.cells(400, 1000, 400)
        now[0] += 10.0
        bar.cells(500, 1000, 400)
        bar._progress.refresh()
    assert "10 cells/s" in out.getvalue()
    assert "0:00:50" in out.getvalue()


def test_a_bar_on_a_terminal_alone() -> None:
    terminal = Console(file=io.StringIO(), force_terminal=True)
    assert isinstance(reporter(terminal), Bar)
    assert isinstance(reporter(Console(file=io.StringIO())), Lines)


def test_the_bar_shows_cells() -> None:
    out = io.StringIO()
    with Bar(Console(file=out, force_terminal=True, width=120)) as bar:
        bar.stage("measuring")
        bar.cells(120, 480)
        bar.note("[bold] is no markup here")
        bar._progress.refresh()
    assert "120/480 cells" in out.getvalue()
    assert "[bold] is no markup here" in out.getvalue()
