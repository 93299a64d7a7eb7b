"""The formulas of ``docs/statistics.md``, computed a second time by its own code."""

import re
from pathlib import Path

from suiteopt.audit.intervals import IntervalMethod
from suiteopt.matrix.schema import STATISTICS
from suiteopt.selection.safety import SAFETIES
from suiteopt.validation.bootstrap import PROBLEMS_FOR_INTERVAL, RESAMPLES
from suiteopt.validation.crossval import REPEATS

PAGE = (Path(__file__).parents[2] / "docs" / "statistics.md").read_text("utf-8")


def test_the_blocks_run_one_after_the_other() -> None:
    blocks = re.findall(r"```python\n(.*?)```", PAGE, re.S)
    assert len(blocks) >= 6
    names: dict[str, object] = {}
    for number, block in enumerate(blocks):
        assert "assert " in block
        exec(compile(block, f"block {number} of statistics.md", "exec"), names)


def test_no_statistic_is_left_out_and_the_numbers_are_the_codes() -> None:
    assert all(f"`{statistic}`" in PAGE for statistic in STATISTICS)
    assert f"over {RESAMPLES} resamples" in PAGE
    assert f"| {PROBLEMS_FOR_INTERVAL} problems on |" in PAGE
    assert f"{REPEATS} repeats, unless" in PAGE
    assert f"s of {', '.join(f'{safety:g}' for safety in SAFETIES)} that" in PAGE
    assert len(IntervalMethod) == 2
