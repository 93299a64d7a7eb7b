"""Imported matrices: on disk as they were read, and everything works on them."""

import os
from pathlib import Path

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from suiteopt.audit.survivors import survey
from suiteopt.errors import UserError
from suiteopt.exchange.outcomes import pool_check
from suiteopt.importers.formats import read_kill_map
from suiteopt.importers.killmap import ForeignMutant, KillMap, Outcome
from suiteopt.importers.write import ORIGINAL, problem_name, write_matrix
from suiteopt.matrix.denominator import Denominator, denominator_mask
from suiteopt.matrix.kill import kill_table
from suiteopt.matrix.oracle import calibrated, fixed
from suiteopt.matrix.schema import Kind
from suiteopt.matrix.store import Matrix
from suiteopt.matrix.summary import summarise
from suiteopt.selection.select import select
from suiteopt.selection.wishes import Wishes
from suiteopt.validation.crossval import cross_validate
from tests.suiteopt.importers.documents import save, stryker, stryker_mutant

DATA = Path(os.environ.get("SUITEOPT_DATA", "/nowhere")) / "killmaps"


def kill_map(outcomes: list[list[int]], gap: str = "") -> KillMap:
    table = np.array(outcomes, dtype=np.int8)
    mutants = tuple(ForeignMutant(f"m{row}", rule=f"r{row % 3}") for row in range(len(table)))
    tests = tuple(f"t{column}" for column in range(table.shape[1]))
    return KillMap("a tool", tests, tests, mutants, table, gap=gap)


@settings(max_examples=12, deadline=None, suppress_health_check=list(HealthCheck))
@given(
    outcomes=arrays(
        np.int8,
        st.tuples(st.integers(1, 6), st.integers(1, 5)),
        elements=st.integers(min(Outcome), max(Outcome)),
    )
)
def test_a_matrix_says_what_the_kill_map_said(
    tmp_path_factory: pytest.TempPathFactory, outcomes: np.ndarray
) -> None:
    gap = "a reason" if (outcomes == Outcome.UNKNOWN).any() else ""
    path = tmp_path_factory.mktemp("import") / "m"
    matrix = write_matrix(kill_map(outcomes.tolist(), gap), "p", path, "", bool(gap))
    assert matrix.meta.complete == (not gap)
    for oracle in (calibrated(), fixed(1e-2), fixed(0.0), fixed(1e6, "max_rel")):
        table = kill_table(matrix, "p", oracle)
        rows = table.rows(Kind.MUTANT)
        assert np.array_equal(table.kills.toarray()[rows], outcomes >= Outcome.FAILED)
        assert np.array_equal(table.ran.toarray()[rows], outcomes != Outcome.UNKNOWN)
        assert table.choosable.all()
        assert not table.control_rejections.any()
        assert denominator_mask(matrix, table, Denominator.WITNESSED).sum() == len(outcomes)


def test_select_crossval_and_survivors_work_by_default(tmp_path: Path) -> None:
    p, f, t = Outcome.PASSED, Outcome.FAILED, Outcome.TIMEOUT
    table = [[f, p, p], [f, p, p], [p, f, p], [p, t, f], [p, p, f], [p, p, p]]
    matrix = write_matrix(kill_map(table), "p", tmp_path / "m", "suiteopt import x")
    summary = summarise(matrix)
    assert (summary.mutants.valid, summary.controls, summary.inputs) == (6, 1, 3)
    chosen = select(matrix, 2)
    assert [str(m) for m in chosen.problems[0].selection.members] == ["p:t0", "p:t1"]
    assert (chosen.tally.mutants, chosen.tally.detected) == (6, 4)
    assert str(chosen.status) == "proved"
    best = select(matrix, None, wishes=Wishes(total=3))
    assert best.tally.detected == 5
    validated = cross_validate(matrix, 2, folds=3, repeats=2)
    assert validated.fitted_share == pytest.approx(4 / 6)
    found = survey(matrix, pool_check(matrix, calibrated()))
    assert [row.implementation for row in found.survivors] == ["p:mutant:m5"]


def test_the_source_travels_and_gives_a_diff(tmp_path: Path) -> None:
    from suiteopt.audit.diff import mutant_diff

    document = stryker([stryker_mutant("1", "Killed", killedBy=["a"], coveredBy=["a"])])
    found = read_kill_map(save(tmp_path / "mutation.json", document))
    matrix = write_matrix(found, "p", tmp_path / "m", "")
    diff = mutant_diff(matrix, "p:mutant:1")
    assert diff is not None
    assert "-  return a + b;\n+  return a - b;\n" in diff


def test_equal_reports_give_equal_bytes(tmp_path: Path) -> None:
    found = kill_map([[1, 3], [4, 5]])
    for name in ("a", "b"):
        write_matrix(found, "p", tmp_path / name, "the same")
    files = [
        {p.relative_to(tmp_path / n): p.read_bytes() for p in (tmp_path / n).rglob("*.*")}
        for n in ("a", "b")
    ]
    assert files[0] == files[1]
    assert len(files[0]) == 5


def test_an_incomplete_one_is_refused_twice(tmp_path: Path) -> None:
    found = kill_map([[3, 0], [1, 1]], "of mutant 'm0' nothing is told")
    with pytest.raises(UserError, match="1 of 4 results are not known: of mutant 'm0'"):
        write_matrix(found, "p", tmp_path / "m", "")
    assert list(tmp_path.iterdir()) == []
    matrix = write_matrix(found, "p", tmp_path / "m", "", allow_incomplete=True)
    with pytest.raises(UserError, match="is incomplete"):
        select(matrix, 1)
    chosen = select(matrix, 1, allow_incomplete=True)
    assert chosen.problems[0].unknown_cells == 1


def test_a_taken_directory_is_left_alone(tmp_path: Path) -> None:
    (tmp_path / "m").mkdir()
    (tmp_path / "m" / "notes.txt").write_text("mine")
    with pytest.raises(UserError, match="exists already"):
        write_matrix(kill_map([[1]]), "p", tmp_path / "m", "")
    assert [path.name for path in tmp_path.rglob("*")] == ["m", "notes.txt"]


def test_the_original_program_is_the_control(tmp_path: Path) -> None:
    matrix = write_matrix(kill_map([[3, 1]]), "p", tmp_path / "m", "")
    table = kill_table(matrix, "p", calibrated())
    assert table.controls == (f"p:{ORIGINAL}",)
    assert table.tolerances.tolist() == [0.0, 0.0]


def test_problems_are_named_after_files() -> None:
    assert problem_name(Path("a/body-parser-new.killMap.csv")) == "body-parser-new"
    assert problem_name(Path("target/killMap.csv")) == "target"
    assert problem_name(Path("x/my report (2).json")) == "my-report-2"


@pytest.mark.skipif(not DATA.is_dir(), reason="SUITEOPT_DATA names no kill maps")
def test_the_known_optimum_of_a_published_kill_map(tmp_path: Path) -> None:
    found = read_kill_map(DATA / "uuid-new.killMap.csv")
    matrix: Matrix = write_matrix(found, "uuid", tmp_path / "m", "")
    chosen = select(matrix, 20, detect=1.0)
    assert (chosen.members, chosen.at_least, chosen.tally.share) == (9, 9, 1.0)
