"""What is done in one task, and in which order tasks come."""

from pathlib import Path

from hypothesis import given
from hypothesis import strategies as st

from gpu_eval.campaign.chunks import in_blocks
from gpu_eval.campaign.estimate import planned_seconds
from gpu_eval.campaign.journal import Journal
from gpu_eval.campaign.plan import build_plan
from gpu_eval.campaign.schedule import Schedule
from gpu_eval.campaign.settings import Settings


@given(st.integers(0, 500), st.integers(1, 200))
def test_blocks_are_few_and_of_one_size(count: int, most: int) -> None:
    items = list(range(count))
    blocks = in_blocks(items, most)
    assert [item for block in blocks for item in block] == items
    sizes = [len(block) for block in blocks]
    assert len(blocks) == -(-count // most)
    assert all(0 < size <= most for size in sizes)
    assert not sizes or max(sizes) - min(sizes) <= 1


def test_the_longest_problem_comes_first(tmp_path: Path) -> None:
    settings = Settings("demo", "fake", problems=("level1/019", "level1/050"))
    plan = build_plan(settings)
    longest = sorted(plan.problems, key=planned_seconds, reverse=True)
    assert [p.id for p in longest] != [p.id for p in plan.problems]
    assert planned_seconds(longest[0]) > planned_seconds(longest[-1])
    journal = Journal(tmp_path / "journal", tmp_path)
    schedule = Schedule(plan, settings, journal, tmp_path, "no device")
    tasks = list(iter(schedule.next, None))
    first = {task.problem: place for place, task in reversed(list(enumerate(tasks)))}
    assert sorted(first, key=first.__getitem__) == [p.id for p in longest]
