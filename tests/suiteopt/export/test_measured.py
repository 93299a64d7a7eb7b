"""Members that nobody can have measured: a file edited by hand is refused."""

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from suiteopt.errors import UserError
from suiteopt.export.exporter import export
from suiteopt.suite import Suite
from tests.suiteopt.export.samples import copy_sample, member, problem, recipe, suite, tree


def edited(**changes: Any) -> Suite:
    one = replace(member("level1/019:m", {"x": recipe("normal")}), **changes)
    return suite(problem(19, one))


@pytest.mark.parametrize(
    ("chosen", "what"),
    [
        (edited(seed=-1), "the seed -1, outside 0"),
        (edited(seed=1 << 63), "outside 0 to 2"),
        (edited(shape={"N": 0}), "a dimension without elements"),
        (edited(shape={"N": 1 << 30, "M": 1 << 30}), "beyond any memory"),
        (edited(tolerance=float("inf")), "an infinite tolerance"),
        (replace(edited(), oracle="guess"), "there is no oracle 'guess'"),
        (replace(edited(), oracle="calibrated"), "chosen under calibrated, and .* fixed:0.001"),
        (replace(edited(), oracle="rms:0.001"), "chosen under rms:0.001"),
        (edited(parameters={"w": recipe("no-such")}), "parameter w: .*knows no recipe"),
    ],
)
def test_an_edited_suite_is_refused_and_the_checkout_stays(
    tmp_path: Path, chosen: Suite, what: str
) -> None:
    repo = copy_sample(tmp_path)
    before = tree(repo)
    with pytest.raises(UserError, match=what):
        export(chosen, "kernelbench-verified", repo)
    assert tree(repo) == before


def test_a_protocols_name_means_its_tolerance(tmp_path: Path) -> None:
    by_name = replace(edited(), oracle="kernelbench-verified")
    assert export(by_name, "kernelbench-verified", copy_sample(tmp_path)).members == 1
