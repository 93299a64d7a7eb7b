"""The matrix that a campaign leaves: every table, by its values."""

import json
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from gpu_eval.campaign.merge import merge_matrices
from gpu_eval.campaign.progress import Silent
from gpu_eval.campaign.run import start
from gpu_eval.campaign.witness import verdicts
from suiteopt.errors import UserError
from suiteopt.matrix.store import Matrix
from suiteopt.suite import Member, ProblemSuite, Suite
from tests.gpu_eval.campaign import tiny
from tests.gpu_eval.campaign.conftest import Baseline
from tests.gpu_eval.campaign.fake import FakeDevice


@pytest.fixture
def matrix(baseline: Baseline) -> Matrix:
    found = Matrix.open(baseline.root)
    found.verify()
    return found


def test_header(matrix: Matrix) -> None:
    meta = matrix.meta
    assert meta.complete
    assert (meta.tool, meta.profile, meta.label) == ("gpu-eval", "demo", "CPU, contract shapes")
    assert meta.device == {"name": "fake", "model": "none"}
    assert meta.policy == {"tf32": False, "fast_math": False}
    assert len({meta.corpus_hash, meta.pool_hash, meta.witness_hash}) == 3
    assert meta.started <= meta.ended


def test_problems(matrix: Matrix) -> None:
    row = matrix.problem("test/one")
    assert json.loads(row["contract"]) == {"rows": 9, "cols": 12}
    assert row["reduction_length"] == 12
    assert 0 < row["reference_error"] < 1e-6
    flags = ["constant", "near_zero", "zeros_pass", "random_reference", "reference_fails"]
    assert not row[flags].any()


def test_every_implementation_ran_on_every_input(matrix: Matrix) -> None:
    for problem in matrix.problem_ids:
        cells = matrix.cells(problem)
        table = matrix.implementations_of(problem)
        running = table.loc[table["class"] == "valid", "implementation"]
        inputs = matrix.inputs_of(problem)["input"]
        assert len(inputs) == 28
        assert len(cells) == len(running) * len(inputs)
        assert set(cells["implementation"].astype(str)) == set(running.astype(str))


def test_duplicates_hand_rules_and_sites_to_their_representative(matrix: Matrix) -> None:
    table = matrix.implementations
    for _, row in table[table["class"] == "duplicate"].iterrows():
        stands = table[table["implementation"] == row["duplicate_of"]].iloc[0]
        assert stands["class"] == "valid"
        assert set(row["rules"]) <= set(stands["rules"])
        assert row["sites"][0] in list(stands["sites"])
    assert (table["class"] == "duplicate").any()


def test_substrates_null_mutants_and_controls(matrix: Matrix) -> None:
    cells = matrix.cells("test/one").set_index("implementation")
    assert (cells.loc["test/one:substrate:plain", "rms"] == 0).all()
    zeros = cells.loc["test/one:null:zeros"]
    assert (zeros["truth_rms_error"] > 0.99).mean() > 0.9
    stale = cells.loc["test/one:null:stale"].set_index("input")
    assert stale.loc["test/one:own-1", "rms"] > 0.01
    nan = cells.loc["test/one:null:nan"]
    assert (nan["status"] == "nonfinite").all()


def test_witnesses_can_be_computed_again(matrix: Matrix) -> None:
    for problem in matrix.problem_ids:
        table = matrix.implementations_of(problem)
        found = verdicts(table, matrix.inputs_of(problem), matrix.cells(problem))
        stored = table.set_index("implementation").loc[found["implementation"], "witness"]
        assert stored.astype(str).tolist() == found["witness"].tolist()
        assert {"contract", "none"} <= set(found["witness"])


def test_sources_travel(matrix: Matrix) -> None:
    assert matrix.source("test/one", "kernel.cu") == tiny.KERNEL
    assert "row_sum<<<" in matrix.source("test/one", "plain.plan")


def test_own_draws_are_never_skipped_for_a_faint_mutant(matrix: Matrix) -> None:
    cells = matrix.cells("test/one")
    skipped = cells[cells["status"] == "decided"]["implementation"].astype(str).unique()
    rows = cells[cells["implementation"].astype(str).isin(skipped)]
    first = rows[rows["input"] == "test/one:own-0"]
    assert (first["rms"] > 0.5).all()
    assert (first["truth_rms_error"] > 0.5).all()


def suite_of(matrix: Matrix, inputs: list[str]) -> Suite:
    rows = matrix.inputs.set_index("input").loc[inputs]
    members = tuple(
        Member(
            input=str(name),
            values=json.loads(row["values"]),
            parameters=json.loads(row["parameters"]),
            shape=json.loads(row["shape"]),
            shape_recipe=row["shape_recipe"],
            seed=int(row["seed"]),
            tolerance=1e-4,
            comparator="rms",
        )
        for name, row in rows.iterrows()
    )
    problem = ProblemSuite("test/one", "test", 0, "one", "float32", members, 10, 9)
    return Suite(matrix.id, "fake", "calibrated", None, 2, "suiteopt select", (problem,))


def test_replay_gives_the_same_cells(baseline: Baseline, matrix: Matrix, tmp_path: Path) -> None:
    odd = next(i for i in matrix.inputs["input"] if i.startswith("test/one:") and "@" in i)
    chosen = ["test/one:own-0", "test/one:lattice-fit", odd]
    suite = suite_of(matrix, chosen)
    asked = tiny.settings(baseline.corpus, profile="replay", suite=suite.to_json())
    start(tmp_path / "replay", asked, FakeDevice(), Silent())
    replay = Matrix.open(tmp_path / "replay")
    assert replay.problem_ids == ("test/one",)
    assert replay.inputs["input"].tolist() == chosen
    ours = tidy(replay.cells("test/one"))
    theirs = tidy(matrix.cells("test/one"))
    # Whatever the matrix ran is run again, though plans differ less on fewer shapes.
    assert set(theirs.index.get_level_values("implementation")) <= set(
        ours.index.get_level_values("implementation")
    )
    theirs = theirs[theirs.index.get_level_values("input").isin(chosen)]
    # A stale output is that of the call before, and the calls before are others here.
    theirs = theirs[~theirs.index.get_level_values("implementation").str.endswith(":stale")]
    for statistic in ("rms", "truth_rms", "allclose_candidate"):
        np.testing.assert_array_equal(ours.reindex(theirs.index)[statistic], theirs[statistic])


def tidy(cells: pd.DataFrame) -> pd.DataFrame:
    return cells.astype({"implementation": str, "input": str}).set_index(
        ["implementation", "input"]
    )


def test_replay_refuses_a_foreign_suite(baseline: Baseline, matrix: Matrix, tmp_path: Path) -> None:
    suite = suite_of(matrix, ["test/one:own-0"])
    text = suite.to_json().replace('"cols": 12', '"columns": 12')
    asked = tiny.settings(baseline.corpus, profile="replay", suite=text)
    with pytest.raises(UserError, match="the shape of the member test/one:own-0 does not fit"):
        start(tmp_path / "replay", asked, FakeDevice(), Silent())
    assert not (tmp_path / "replay").exists()


def test_merge(baseline: Baseline, matrix: Matrix, tmp_path: Path) -> None:
    parts = []
    for name in ("two", "one"):
        part = tmp_path / name
        asked = tiny.settings(baseline.corpus, problems=(f"test/{name}",))
        start(part, asked, FakeDevice(), Silent())
        parts.append(part)
    merged = merge_matrices(parts, tmp_path / "merged", "gpu-eval merge")
    merged.verify()
    assert sorted(merged.problem_ids) == ["test/one", "test/two"]
    for problem in merged.problem_ids:
        pd.testing.assert_frame_equal(merged.cells(problem), matrix.cells(problem))
        assert merged.source(problem, "kernel.cu") == tiny.KERNEL
    with pytest.raises(UserError, match="both hold test/one"):
        merge_matrices([parts[1], baseline.root], tmp_path / "again", "gpu-eval merge")
    with pytest.raises(UserError, match="is not empty"):
        merge_matrices(parts, parts[0], "gpu-eval merge")
    with pytest.raises(UserError, match="at least two"):
        merge_matrices(parts[:1], tmp_path / "again", "gpu-eval merge")
    assert not (tmp_path / "again").exists()


def test_some_problems_of_a_matrix(baseline: Baseline, matrix: Matrix, tmp_path: Path) -> None:
    one = merge_matrices([baseline.root], tmp_path / "one", "c", problems=["test/one"])
    two = merge_matrices([baseline.root], tmp_path / "two", "c", without=["test/one"])
    one.verify()
    assert one.problem_ids == ("test/one",)
    assert "test/one" not in two.problem_ids
    assert set(one.implementations["problem"]) == set(one.inputs["problem"]) == {"test/one"}
    pd.testing.assert_frame_equal(one.cells("test/one"), matrix.cells("test/one"))
    both = merge_matrices([two.path, one.path], tmp_path / "both", "c")
    assert list(both.problem_ids) == sorted(matrix.problem_ids)
    assert both.implementations["problem"].is_monotonic_increasing
    # Held by two matrices, and wanted of neither: nothing is ambiguous.
    merge_matrices([baseline.root, one.path], tmp_path / "apart", "c", without=["test/one"])


@pytest.mark.parametrize(
    ("problems", "without", "sentence"),
    [
        (["test/none"], [], "no matrix given holds test/none"),
        ([], ["test/none"], "no matrix given holds test/none"),
        (["test/one"], ["test/one"], "no problem is left"),
    ],
)
def test_problems_that_cannot_be_chosen(
    baseline: Baseline, tmp_path: Path, problems: list[str], without: list[str], sentence: str
) -> None:
    with pytest.raises(UserError, match=sentence):
        merge_matrices([baseline.root], tmp_path / "m", "c", problems=problems, without=without)
    assert not (tmp_path / "m").exists()
