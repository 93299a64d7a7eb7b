"""Wild kernels in a campaign: run and stored like mutants, and nothing else changes for them."""

import json
from pathlib import Path

import pandas as pd
import pytest

from experiments import wild_counts as counts
from experiments.findings import wild_kernels as finding
from gpu_eval.campaign.progress import Silent
from gpu_eval.campaign.run import start
from gpu_eval.problems import wild
from gpu_eval.problems.plan import LaunchPlan, int32, pointer
from gpu_eval.problems.wild.kernel import Report, WildKernel, launch, plan
from suiteopt.errors import UserError
from suiteopt.matrix.denominator import is_valid_mutant
from suiteopt.matrix.schema import Kind
from suiteopt.matrix.store import Matrix
from suiteopt.matrix.summary import summarise
from suiteopt.selection.select import select
from tests.gpu_eval.campaign import tiny
from tests.gpu_eval.campaign.conftest import Baseline
from tests.gpu_eval.campaign.fake import FakeDevice

WRONG, RIGHT = "test/one:wild:control:off", "test/one:wild:control:fine"
RACES = "test/one:wild:control:races"
"""The fake device takes what has ``:control:`` in its id for right, unless it is told more."""


class Inline(WildKernel):
    """A kernel whose source is in this module."""

    def files(self) -> dict[str, str]:
        return {self.path.name: tiny.KERNEL + f"// {self.name}\n"}


def row_sum() -> LaunchPlan:
    arguments = (pointer("x"), pointer("y"), int32("rows"), int32("cols"))
    return plan(launch("row_sum", ("ceil_div(rows, 4)",), ("4",), arguments))


KERNELS = (
    Inline(
        "test/one",
        "control:off",
        True,
        "Far off.",
        row_sum(),
        Report("https://example.org/1", "somebody", "a kernel"),
    ),
    Inline("test/one", "control:fine", False, "One row a thread.", row_sum()),
    Inline(
        "test/one",
        "control:races",
        True,
        "Wrong under another schedule.",
        row_sum(),
        Report("https://example.org/2", "somebody", "another kernel"),
    ),
)


@pytest.fixture(scope="module")
def campaign(baseline: Baseline, tmp_path_factory: pytest.TempPathFactory) -> tuple[Matrix, Matrix]:
    """Return the baseline's matrix and that of the same campaign with wild kernels."""
    root = tmp_path_factory.mktemp("wild") / "matrix"
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(wild, "all_wild_kernels", lambda: KERNELS)
        device = FakeDevice(acts={"control:off": "far", "control:races": "race"})
        start(root, tiny.settings(baseline.corpus, wild=True), device, Silent())
    return Matrix.open(baseline.root), Matrix.open(root)


def test_they_are_rows_of_their_own_kind_after_all_others(
    campaign: tuple[Matrix, Matrix],
) -> None:
    without, with_them = campaign
    with_them.verify()
    rows = with_them.implementations_of("test/one")
    assert rows["implementation"].tolist()[-3:] == [WRONG, RIGHT, RACES]
    found = rows.set_index("implementation").loc[[WRONG, RIGHT, RACES]]
    assert found["kind"].tolist() == [Kind.WILD] * 3
    assert found["class"].tolist() == ["valid"] * 3
    assert found["witness"].tolist() == ["contract", "none", "contract"]
    assert found["witness_how"].tolist() == ["error", "", "race"]
    assert summarise(with_them).wild == 3
    assert summarise(without).wild == 0


def test_nothing_else_changes(campaign: tuple[Matrix, Matrix]) -> None:
    without, with_them = campaign
    for problem in without.problem_ids:
        before, after = (m.implementations_of(problem) for m in campaign)
        after = after[after["kind"] != Kind.WILD]
        assert after.reset_index(drop=True).equals(before.reset_index(drop=True))
        assert with_them.inputs_of(problem).equals(without.inputs_of(problem))
        old, new = without.cells(problem), with_them.cells(problem)
        kept = ~new["implementation"].astype(str).isin([WRONG, RIGHT, RACES])
        same = new[kept].reset_index(drop=True)
        pd.testing.assert_frame_equal(same, old, check_dtype=False, check_categorical=False)
    assert without.meta.corpus_hash != with_them.meta.corpus_hash
    assert without.meta.pool_hash == with_them.meta.pool_hash


def test_nothing_is_chosen_on_them(campaign: tuple[Matrix, Matrix]) -> None:
    without, with_them = campaign
    assert int(is_valid_mutant(without.implementations).sum()) == int(
        is_valid_mutant(with_them.implementations).sum()
    )
    chosen = [
        [(part.problem, part.selection) for part in select(m, 2, "calibrated").problems]
        for m in campaign
    ]
    assert chosen[0] == chosen[1]


def test_sources_and_what_is_said_of_them_travel(campaign: tuple[Matrix, Matrix]) -> None:
    _, matrix = campaign
    assert "// control:off" in matrix.source("test/one", "wild/control:off.cu")
    off, fine, _ = json.loads(matrix.source("test/one", "wild/wild.json"))
    assert off["implementation"] == WRONG
    assert (off["expected"], fine["expected"]) == ("wrong", "right")
    assert off["source"]["url"] == "https://example.org/1"
    assert fine["source"] is None


def test_a_kernel_that_does_not_compile_is_refused(
    baseline: Baseline, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(wild, "all_wild_kernels", lambda: KERNELS)
    device = FakeDevice(stillborn=("control:off",))
    with pytest.raises(UserError, match="control:off does not compile"):
        start(tmp_path / "m", tiny.settings(baseline.corpus, wild=True), device, Silent())


def test_the_finding_counts_them(campaign: tuple[Matrix, Matrix]) -> None:
    without, matrix = campaign
    assert counts.has_wild(matrix)
    assert not counts.has_wild(without)
    found = finding.find(matrix)
    for name in (*counts.PROTOCOLS, counts.CHOSEN, counts.POOL):
        answer = found.ours[name]
        # The race is right under one schedule, so that no kill of it is stable.
        assert answer["wrong"]["all"]["kernels"] == answer["wrong"]["at_scope"]["kernels"] == 2
        assert answer["wrong"]["all"]["detected"] == 1
        assert answer["wrong"]["in_output"]["kernels"] == 1
        assert answer["right"] == {
            "kernels": 1,
            "rejected": 0,
            "share": 0.0,
            "interval": [0.0, pytest.approx(0.975)],
        }
        # One problem has wild kernels: its mutants are what they are compared with.
        injected = answer["injected"]["in_output"]
        assert injected["mutants"] > 0
        assert 0 <= injected["share_by_wild_problems"] <= 1
    assert [row["expected"] for row in found.ours["kernels"]] == [
        "wrong",
        "right",
        "wrong",
    ]
    assert "--wild" in found.ours["command"]
