"""Suites whose members are judged each by its own comparator."""

from dataclasses import replace
from pathlib import Path

import pytest

from suiteopt.audit import suite_check
from suiteopt.errors import UserError
from suiteopt.export.exporter import export
from suiteopt.export.finding import Verdict
from suiteopt.export.replay import check_replay
from suiteopt.export.suite_oracle import member_oracle, suite_oracle
from suiteopt.export.verify import verify
from suiteopt.matrix.store import Matrix
from suiteopt.selection.export import to_suite
from suiteopt.selection.select import select
from suiteopt.suite import Suite
from tests.suiteopt.builders import tiny_matrix
from tests.suiteopt.selection.test_comparators import P, unequal, with_cells


@pytest.fixture
def matrix(tmp_path: Path) -> Matrix:
    return unequal(tmp_path / "m")


def chosen(matrix: Matrix) -> Suite:
    """Two inputs, the first of which is judged by max_abs: rms would do as well."""
    suite = to_suite(select(matrix, 2, "any-comparator"), matrix, "select")
    members = tuple(
        replace(one, comparator="max_abs") if one.input == f"{P}:i0" else one
        for one in suite.problems[0].members
    )
    return replace(suite, problems=(replace(suite.problems[0], members=members),))


def test_each_member_is_judged_by_its_own_comparator(matrix: Matrix) -> None:
    suite = chosen(matrix)
    oracle = suite_oracle(suite)
    own = {
        member.input: member_oracle(oracle, member).comparator
        for member in suite.problems[0].members
    }
    assert own[f"{P}:i0"] == "max_abs"
    assert oracle.safety == member_oracle(oracle, suite.problems[0].members[0]).safety
    other = to_suite(select(matrix, 2, "calibrated:5"), matrix, "select")
    first = other.problems[0].members[0]
    assert member_oracle(suite_oracle(other), first) == suite_oracle(other)


def test_a_replay_is_compared_under_the_members_own_comparators(
    matrix: Matrix, tmp_path: Path
) -> None:
    suite = chosen(matrix)
    findings = list(check_replay(suite, matrix, matrix))
    assert [finding.verdict for finding in findings] == [Verdict.REPRODUCED] * 2
    # m0 shows on i0 by max_abs alone; a replay that does not see it breaks the promise.
    cells = matrix.cells(P)
    here = (cells["implementation"] == f"{P}:m0") & (cells["input"] == f"{P}:i0")
    cells.loc[here, "max_abs"] = 0.0
    (lost,) = [
        finding
        for finding in check_replay(suite, matrix, with_cells(matrix, cells))
        if finding.verdict is Verdict.FAILED
    ]
    assert lost.where == f"{P}:i0"
    assert lost.what.startswith("1 mutants are killed in the matrix and not in the replay")


def test_it_is_exported_and_verified_where_members_bring_comparators(
    matrix: Matrix, tmp_path: Path
) -> None:
    pytest.importorskip("torch")
    repo = tmp_path / "harness"
    repo.mkdir()
    suite = chosen(matrix)
    export(suite, "json", repo)
    report = verify(repo, suite=suite, matrix=matrix, replay=matrix)
    assert report.failed == ()
    assert report.members == 2
    assert not [finding for finding in report.unproved if finding.check == "kills"]


def test_a_harness_with_one_comparator_refuses_it(matrix: Matrix, tmp_path: Path) -> None:
    with pytest.raises(UserError, match=r"was chosen for max_abs|chosen under any-comparator"):
        export(chosen(matrix), "kernelbench-verified", tmp_path)
    with pytest.raises(UserError, match="with a comparator for each input, and this judges all"):
        suite_check(matrix, chosen(matrix), "the suite")


def test_an_unknown_oracle_is_refused(tmp_path: Path) -> None:
    matrix = tiny_matrix(tmp_path / "m", {P: [[1, 0], [0, 1]]})
    suite = to_suite(select(matrix, 1, "calibrated"), matrix, "select")
    text = suite.to_json().replace('"oracle": "calibrated"', '"oracle": "any-comparator:x"')
    with pytest.raises(UserError, match="the safety of 'any-comparator:x'"):
        suite_oracle(Suite.from_json(text))
