"""Published against ours, on README and card, is what the findings say."""

import copy
import json
import shutil
from pathlib import Path
from typing import Any

import pytest

from experiments.headline import (
    BEGIN,
    END,
    NAMES,
    RESULTS,
    ROOT,
    by_denominator,
    load,
    on_card,
    pages,
    renewed,
    rows,
)
from suiteopt.errors import UserError
from suiteopt.matrix.store import Matrix, resolve_matrix


@pytest.fixture(scope="module")
def found() -> dict[str, Any]:
    return load(Matrix.open(resolve_matrix(None)).id)


def test_both_pages_show_what_the_findings_say() -> None:
    for page, block in pages().items():
        text = page.read_text("utf-8")
        assert renewed(text, block) == text, "run `python -m experiments.headline`"
        assert text.count(BEGIN) == text.count(END) == 1


def test_no_other_card_has_the_table() -> None:
    marked = {
        page
        for page in (ROOT / "matrices").glob("kernelbench-*/README.md")
        if BEGIN in page.read_text("utf-8")
    }
    assert marked == {resolve_matrix(None) / "README.md"}


def test_the_readme_has_some_of_the_rows_of_the_card() -> None:
    short, long = (block.splitlines() for block in pages().values())
    lines = [line for line in short if line.startswith("| ")]
    assert set(lines) < set(long)
    assert 10 <= len(lines) <= 15


def test_every_finding_with_a_published_figure_is_in_it() -> None:
    for path in RESULTS.glob("finding-*.json"):
        if json.loads(path.read_text("utf-8"))["published"]:
            assert path.stem.removeprefix("finding-") in NAMES, path


@pytest.mark.parametrize(
    "path",
    [
        "miss-rate/published/missed_share",
        "miss-rate/published/by_family/precision",
        "miss-rate/ours/counts/substrates",
        "miss-rate/ours/in_output/missed_share",
        "miss-rate/ours/witnessed/by_family/boundary/missed_share",
        "miss-rate/ours/today/by_family/semantic/missed_share",
        "miss-rate/ours/today_in_output/missed_share",
        "decomposition/published/inputs_share",
        "decomposition/ours/witnessed/tolerance_share",
        "budgets/published/2/held_out_share",
        "budgets/ours/1/by_denominator/witnessed/held_out_share/rule",
        "budgets/ours/3/by_denominator/output/held_out_share/site",
        "budgets/ours/3/by_denominator/valid/fitted_share",
        "two-inputs/published/fitted_share",
        "two-inputs/ours/output, fixed:1e-2/published/held_out_share",
        "two-inputs/ours/witnessed, fixed:1e-2/published/mix_fitted_share",
        "value-fuzz/published/rejections_of_correct_kernels",
        "value-fuzz/ours/0.0001/false_rejections/rejected",
        "value-fuzz/ours/0.01/detected_share",
        "ceilings/published/heavy tails",
        "ceilings/ours/categories/ramps/rejected/0.01",
        "refereeability/published/zeros_pass/problems",
        "wild-kernels/ours/kernelbench/wrong/in_output/detected",
        "wild-kernels/ours/chosen two, calibrated/right/rejected",
    ],
)
def test_another_figure_makes_another_table(found: dict[str, Any], path: str) -> None:
    changed = copy.deepcopy(found)
    *way, last = path.split("/")
    part = changed
    for key in way:
        part = part[key]
    # Half a point at least is seen in a share, half of all in a count.
    part[last] = part[last] / 2 + 0.01 if isinstance(part[last], float) else part[last] // 2 + 7
    assert on_card(changed) != on_card(found)


def test_two_inputs_are_those_of_the_validation(found: dict[str, Any]) -> None:
    validated = json.loads((RESULTS / "validation.json").read_text("utf-8"))["calibrated"]
    ours = found["budgets"]["ours"]["2"]
    assert ours["by_denominator"]["witnessed"]["held_out_share"] == pytest.approx(
        {name: row["held_out_share"] for name, row in validated["splits"].items()}
    )
    for name, row in validated["denominators"].items():
        assert ours["by_denominator"][name]["fitted_share"] == pytest.approx(row["fitted_share"])


def test_one_row_for_each_budget_and_family(found: dict[str, Any]) -> None:
    first = [row.what for row in rows(found)]
    assert len(set(first)) == len(first)
    assert [what[:8] for what in first if "a problem, calibrated" in what] == [
        "1 chosen", "2 chosen", "3 chosen"
    ]  # fmt: skip
    families = found["miss-rate"]["ours"]["witnessed"]["by_family"]
    assert sum("five own draws" in what for what in first) == len(families) + 1
    assert by_denominator(found["budgets"]).count("\n| 3, ") == len(
        found["budgets"]["ours"]["3"]["by_denominator"]
    )


def test_results_of_another_matrix_are_refused(tmp_path: Path) -> None:
    for name in NAMES:
        shutil.copy(RESULTS / f"finding-{name}.json", tmp_path)
    with pytest.raises(UserError, match="is of the matrix"):
        load("another", tmp_path)
    (tmp_path / "finding-budgets.json").unlink()
    with pytest.raises(UserError, match=r"no finding-budgets\.json; run `make findings`"):
        load(Matrix.open(resolve_matrix(None)).id, tmp_path)


def test_a_page_is_rewritten_between_its_marks_alone() -> None:
    page = f"a\n{BEGIN}\nold\n{END}\nb\n"
    once = renewed(page, "new")
    assert once == f"a\n{BEGIN}\n\nnew\n\n{END}\nb\n"
    assert renewed(once, "new") == once
    for bad in ("a", f"a {BEGIN}", f"{END} {BEGIN}"):
        with pytest.raises(UserError, match="needs the marks"):
            renewed(bad, "new")
