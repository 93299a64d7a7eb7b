import errno
import hashlib
import json
import math
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pyarrow.parquet as pq
import pytest

from suiteopt.errors import UserError
from suiteopt.matrix.ledger import record_opening
from suiteopt.matrix.schema import Kind, Status
from suiteopt.matrix.store import Matrix
from suiteopt.matrix.writer import MatrixWriter
from tests.suiteopt.builders import cell, header, tiny_matrix

PROBLEM, OTHER = "level1/001", "level1/019"


def content(path: Path) -> dict[str, bytes]:
    return {
        str(file.relative_to(path)): file.read_bytes()
        for file in sorted(path.rglob("*"))
        if file.is_file()
    }


def rows(matrix: Matrix, problem: str = PROBLEM) -> pd.DataFrame:
    """Return the cells of a tiny matrix as they went in."""
    kinds = matrix.implementations_of(problem)
    inputs = matrix.inputs_of(problem)["input"]
    ids = kinds.loc[kinds["kind"] == "mutant", "implementation"]
    return pd.DataFrame([cell(m, i, True) for m in ids for i in inputs])


def test_equal_content_gives_equal_bytes(tmp_path: Path) -> None:
    first = tiny_matrix(tmp_path / "a", own=True)
    second = tiny_matrix(tmp_path / "b", own=True)
    assert content(first.path) == content(second.path)
    assert first.id == second.id


def test_order_of_cells_and_columns_does_not_matter(tmp_path: Path) -> None:
    a, b = tiny_matrix(tmp_path / "a"), tiny_matrix(tmp_path / "b")
    frame = rows(a)
    shuffled = frame.sample(frac=1, random_state=3)[sorted(frame.columns, reverse=True)]
    MatrixWriter(a.path, header()).write_cells(PROBLEM, frame)
    MatrixWriter(b.path, header()).write_cells(PROBLEM, shuffled)
    name = "cells/level1-001.parquet"
    assert (a.path / name).read_bytes() == (b.path / name).read_bytes()


def test_cells_are_sorted_as_their_tables(tmp_path: Path) -> None:
    """Table order is not alphabetical: m10 comes after m9, own draws after the candidates."""
    matrix = tiny_matrix(tmp_path / "m", {PROBLEM: [[1, 0]] * 12}, own=True)
    cells = matrix.cells(PROBLEM, ["implementation", "input"]).astype(str)
    table = matrix.implementations_of(PROBLEM)["implementation"].tolist()
    order = [table.index(name) for name in cells["implementation"]]
    assert order == sorted(order)
    inputs = matrix.inputs_of(PROBLEM)["input"].tolist()
    first = cells.loc[cells["implementation"] == f"{PROBLEM}:m0", "input"].tolist()
    assert first == inputs


def test_id_is_what_sha256sum_gives(tmp_path: Path) -> None:
    matrix = tiny_matrix(tmp_path / "m")
    lines = ""
    for name, data in sorted(content(matrix.path).items()):
        if name != "matrix.json":
            lines += f"{hashlib.sha256(data).hexdigest()}  {name}\n"
    assert matrix.id == hashlib.sha256(lines.encode()).hexdigest()


def test_id_names_content_not_circumstances(tmp_path: Path) -> None:
    matrix = tiny_matrix(tmp_path / "m")
    writer = MatrixWriter(matrix.path, header(started="2027-01-01T00:00:00Z", command="another"))
    writer.finish(True, seconds=5.0)
    again = Matrix.open(matrix.path)
    assert again.id == matrix.id
    assert again.meta.seconds == 5.0
    writer.write_cells(PROBLEM, rows(matrix).iloc[:-1])
    writer.finish(True)
    assert Matrix.open(matrix.path).id != matrix.id


def test_statistics_are_rounded_up_and_equal_maxima_are_null(tmp_path: Path) -> None:
    matrix = tiny_matrix(tmp_path / "m", {PROBLEM: [[1, 0, 0]]}, controls=(), nulls=())
    m = f"{PROBLEM}:m0"
    low, high = math.nextafter(1.0, 2), 1.5
    frame = pd.DataFrame(
        [
            cell(m, f"{PROBLEM}:i0", True, rms=low, rms_max=high, nan_one=0, nan_one_max=2),
            cell(m, f"{PROBLEM}:i1", True, rms=low, rms_max=1.0 + 2.0**-11, nan_one_max=0),
            cell(m, f"{PROBLEM}:i2", True, rms=math.inf),
        ]
    )
    MatrixWriter(matrix.path, header()).write_cells(PROBLEM, frame)
    cells = Matrix.open(matrix.path).cells(PROBLEM)
    assert cells["rms"].tolist() == [1.0 + 2.0**-11, 1.0 + 2.0**-11, math.inf]
    assert cells["rms_max"].iloc[0] == 1.5
    assert cells["rms_max"].iloc[1:].isna().all()
    assert cells["nan_one_max"].iloc[0] == 2
    assert cells["nan_one_max"].iloc[1:].isna().all()
    assert cells["rms"].dtype == np.float32
    raw = pq.read_schema(matrix.path / "cells/level1-001.parquet")
    assert str(raw.field("nan_one_max").type) == "int64"
    assert str(raw.field("repeats").type) == "int16"


def test_exceptions_have_null_statistics(tmp_path: Path) -> None:

    matrix = tiny_matrix(tmp_path / "m", {PROBLEM: [[Status.CRASH, Status.CLOSED]]})
    cells = matrix.cells(PROBLEM, ["status", "rms", "nan_one"]).iloc[:2]
    assert cells["status"].tolist() == ["crash", "closed"]
    assert cells["rms"].isna().all()
    assert cells["nan_one"].isna().all()


def test_resumes_a_partial_matrix_to_the_same_bytes(tmp_path: Path) -> None:
    whole = tiny_matrix(tmp_path / "whole")
    path = tmp_path / "parts"
    first = MatrixWriter(path, header())
    first.write_problems(whole.problems)
    first.write_implementations(whole.implementations)
    first.write_inputs(whole.inputs)
    first.write_source(PROBLEM, "kernel.cu", whole.source(PROBLEM, "kernel.cu"))
    first.write_cells(PROBLEM, copy_of(whole, PROBLEM))
    partial = Matrix.open(path)
    assert not partial.meta.complete
    assert partial.measured_problems == (PROBLEM,)
    assert len(partial.cells(PROBLEM)) == len(whole.cells(PROBLEM))
    with pytest.raises(UserError, match=r"incomplete, the cells of level1/019 .*`gpu-eval resume`"):
        partial.cells(OTHER)

    second = MatrixWriter(path, header(device=dict(whole.meta.device)))
    assert second.has_cells(PROBLEM)
    assert not second.has_cells(OTHER)
    with pytest.raises(ValueError, match="a complete matrix has cells/level1-019"):
        second.finish(True)
    second.write_cells(OTHER, copy_of(whole, OTHER))
    second.write_source(OTHER, "kernel.cu", whole.source(OTHER, "kernel.cu"))
    second.finish(True)
    assert content(path) == content(whole.path)


def copy_of(matrix: Matrix, problem: str) -> pd.DataFrame:
    """Return stored cells as a writer takes them: rounding up twice changes nothing."""
    cells = matrix.cells(problem)
    return cells.astype({"implementation": "str", "input": "str", "status": "str"})


def test_rewrites_one_problem_and_leaves_the_other(tmp_path: Path) -> None:
    matrix = tiny_matrix(tmp_path / "m")
    before = content(matrix.path)
    writer = MatrixWriter(matrix.path, header())
    writer.write_cells(PROBLEM, rows(matrix))
    assert not Matrix.open(matrix.path).meta.complete
    writer.finish(True)
    after = content(matrix.path)
    changed = {name for name in after if after[name] != before[name]}
    assert changed == {"cells/level1-001.parquet", "matrix.json"}
    again = Matrix.open(matrix.path)
    assert again.meta.complete
    assert len(again.cells(PROBLEM)) == len(rows(matrix))


def test_damaged_cells_are_not_taken_for_written(tmp_path: Path) -> None:
    matrix = tiny_matrix(tmp_path / "m")
    (matrix.path / "cells/level1-001.parquet").write_bytes(b"PAR1 damaged")
    writer = MatrixWriter(matrix.path, header())
    assert not writer.has_cells(PROBLEM)
    assert writer.has_cells(OTHER)
    writer.write_cells(PROBLEM, rows(matrix))
    writer.finish(True)
    Matrix.open(matrix.path).verify()


def changes(matrix: Matrix) -> Callable[[], None]:
    def change() -> None:
        writer = MatrixWriter(matrix.path, header(device=dict(matrix.meta.device)))
        writer.write_inputs(matrix.inputs.assign(seed=99))
        writer.write_cells(PROBLEM, rows(matrix))
        writer.finish(True)

    return change


def test_a_crash_between_files_leaves_the_old_matrix_or_an_incomplete_one(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Stop at every single rename in turn; then go on, and all is as if nothing had happened."""

    class Crash(BaseException):
        pass

    expected = tiny_matrix(tmp_path / "expected")
    changes(expected)()
    wanted = content(expected.path)
    replace = os.replace
    seen_incomplete = seen_old = 0
    for stop in range(50):
        matrix = tiny_matrix(tmp_path / f"m{stop}")
        old = content(matrix.path)
        calls = 0

        def crashing(source: Any, target: Any, limit: int = stop) -> None:
            nonlocal calls
            if calls == limit:
                raise Crash
            calls += 1
            replace(source, target)

        monkeypatch.setattr(os, "replace", crashing)
        try:
            changes(matrix)()
            finished = True
        except Crash:
            finished = False
        monkeypatch.setattr(os, "replace", replace)
        left = Matrix.open(matrix.path)
        if finished:
            assert content(matrix.path) == wanted
            break
        if left.meta.complete:
            kept = {n: b for n, b in content(matrix.path).items() if not n.endswith(".partial")}
            assert kept == old
            seen_old += 1
        else:
            left.verify()
            seen_incomplete += 1
        changes(matrix)()
        assert content(matrix.path) == wanted
    else:
        pytest.fail("never finished")
    assert seen_old >= 1
    assert seen_incomplete >= 3


@pytest.mark.parametrize(
    ("code", "sentence"),
    [
        (errno.ENOSPC, r"the disk that holds .* is full; free some space and run the command"),
        (errno.EDQUOT, r"the disk that holds .* is full"),
        (errno.EROFS, r"may not be written \(Read-only file system\); choose another directory"),
    ],
)
def test_a_full_disk_is_one_sentence_and_loses_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, code: int, sentence: str
) -> None:
    matrix = tiny_matrix(tmp_path / "m")
    before = content(matrix.path)
    writer = MatrixWriter(matrix.path, header())

    def full(descriptor: int) -> None:
        raise OSError(code, os.strerror(code))

    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(UserError, match=sentence) as caught:
        writer.write_cells(PROBLEM, rows(matrix))
    assert "\n" not in str(caught.value)
    assert content(matrix.path) == before


def test_takes_a_damaged_header_for_what_it_is(tmp_path: Path) -> None:
    matrix = tiny_matrix(tmp_path / "m")
    (matrix.path / "matrix.json").write_text("{")
    with pytest.raises(UserError, match=r"matrix\.json is damaged"):
        MatrixWriter(matrix.path, header())


def test_ledger_is_appended_and_kept(tmp_path: Path) -> None:
    matrix = tiny_matrix(tmp_path / "m")
    record_opening(matrix, "s" * 64, {"held_out_share": 0.9})
    record_opening(matrix, "", {"interval": [0.5, math.inf]})
    again = Matrix.open(matrix.path)
    again.verify()
    assert again.id == matrix.id
    assert again.meta.complete
    first, second = again.meta.ledger
    assert (first["suite"], first["result"]) == ("s" * 64, {"held_out_share": 0.9})
    assert second["result"] == {"interval": [0.5, None]}
    assert set(first) == {"date", "commit", "suite", "result"}
    fresh = header()
    del fresh["ledger"]
    MatrixWriter(matrix.path, fresh).finish(True)
    assert len(Matrix.open(matrix.path).meta.ledger) == 2


def test_header_has_no_bare_infinity(tmp_path: Path) -> None:
    writer = MatrixWriter(tmp_path / "m", header(extra={"worst": math.inf}))
    writer.finish(False)
    text = (tmp_path / "m" / "matrix.json").read_text()
    assert json.loads(text)["extra"] == {"worst": None}
    assert "Infinity" not in text


MUTANT, INPUT = f"{PROBLEM}:m0", f"{PROBLEM}:i0"


@pytest.mark.parametrize(
    ("bad", "message"),
    [
        ([cell("nobody", INPUT, True)], "names the implementation 'nobody'"),
        ([cell(f"{OTHER}:m0", INPUT, True)], "names the implementation 'level1/019:m0'"),
        ([cell(MUTANT, "nothing", True)], "names the input 'nothing'"),
        ([cell(MUTANT, INPUT, True), cell(MUTANT, INPUT, True)], "twice"),
        ([cell(MUTANT, INPUT, True, rms=-1e-9)], "neither negative"),
        ([cell(MUTANT, INPUT, True, rms=1.0, rms_max=0.5)], "maximum of 'rms' lies below"),
        ([cell(MUTANT, INPUT, True, rms=math.nan, rms_max=0.5)], "maximum of 'rms' lies below"),
        ([cell(MUTANT, INPUT, True, nan_one=3, nan_one_max=1)], "maximum of 'nan_one' lies below"),
        ([cell(MUTANT, INPUT, True, status="fine")], "no status 'fine'"),
        ([cell(MUTANT, INPUT, True, status="closed")], "did not run has the statistic"),
        ([cell(MUTANT, INPUT, True, nan_one=1.5)], "'nan_one' has a value that does not fit"),
        ([cell(MUTANT, INPUT, True, repeats=10**6)], "'repeats' has a value that does not fit"),
        ([cell(MUTANT, INPUT, True, color=1)], "no column 'color'"),
    ],
)
def test_refuses_cells_that_contradict(
    tmp_path: Path, bad: list[dict[str, Any]], message: str
) -> None:
    matrix = tiny_matrix(tmp_path / "m")
    before = content(matrix.path)
    with pytest.raises(ValueError, match=message):
        MatrixWriter(matrix.path, header()).write_cells(PROBLEM, pd.DataFrame(bad))
    assert content(matrix.path) == before


def test_refuses_tables_that_contradict(tmp_path: Path) -> None:
    writer = MatrixWriter(tmp_path / "m", header())
    with pytest.raises(ValueError, match="the same file"):
        writer.write_problems(pd.DataFrame({"problem": ["a/b", "a-b"]}))
    with pytest.raises(ValueError, match="'x' is there twice"):
        writer.write_inputs(pd.DataFrame({"input": ["x", "x"], "problem": "p", "role": "own"}))
    with pytest.raises(ValueError, match="column 'kind' is missing"):
        writer.write_implementations(pd.DataFrame({"implementation": ["x"], "problem": "p"}))
    with pytest.raises(ValueError, match=r"implementations.parquet is written before"):
        writer.write_cells("p", pd.DataFrame([cell("x", "i", True)]))
    for name in ("../escape", "/absolute", "a//b", ""):
        with pytest.raises(ValueError, match="no relative file name"):
            writer.write_source("p", name, "text")
    with pytest.raises(ValueError, match=r"a complete matrix has problems.parquet"):
        writer.finish(True)


def test_a_problem_without_cells_can_be_stored(tmp_path: Path) -> None:
    matrix = tiny_matrix(tmp_path / "m")
    MatrixWriter(matrix.path, header()).write_cells(PROBLEM, rows(matrix).iloc[:0])
    assert len(Matrix.open(matrix.path).cells(PROBLEM)) == 0


def test_leftovers_of_interrupted_writes_are_removed(tmp_path: Path) -> None:
    matrix = tiny_matrix(tmp_path / "m")
    (matrix.path / "cells" / ".level1-001.parquet.partial").write_bytes(b"half")
    MatrixWriter(matrix.path, header())
    assert not list(matrix.path.rglob("*.partial"))


def test_gaps_in_a_table_take_the_default(tmp_path: Path) -> None:
    matrix = tiny_matrix(tmp_path / "m")
    frame = pd.DataFrame(
        [
            {"implementation": "a", "problem": PROBLEM, "kind": "null"},
            {"implementation": "b", "problem": PROBLEM, "kind": "control", "blind": True},
            {"implementation": "c", "problem": PROBLEM, "kind": "mutant", "rules": ["r"]},
        ]
    )
    writer = MatrixWriter(matrix.path, header())
    writer.write_implementations(frame)
    rows = Matrix.open(matrix.path).implementations
    assert rows["blind"].tolist() == [False, True, False]
    assert [list(rules) for rules in rows["rules"]] == [[], [], ["r"]]
    assert rows["class"].tolist() == ["valid"] * 3
    with pytest.raises(ValueError, match="'problem' has a value that does not fit"):
        writer.write_implementations(frame.assign(problem=None))
    with pytest.raises(ValueError, match="'error' has a value that does not fit"):
        writer.write_implementations(frame.assign(error=3))


def test_finishing_checks_what_an_earlier_writer_left(tmp_path: Path) -> None:
    matrix = tiny_matrix(tmp_path / "m")
    (matrix.path / "cells/level1-019.parquet").write_bytes(b"PAR1 damaged")
    writer = MatrixWriter(matrix.path, header())
    writer.write_cells(PROBLEM, rows(matrix))
    with pytest.raises(UserError, match=r"level1-019\.parquet is damaged, its hash differs"):
        writer.finish(True)
    assert not Matrix.open(matrix.path).meta.complete


def test_files_of_a_problem_that_is_gone_leave_the_matrix(tmp_path: Path) -> None:
    matrix = tiny_matrix(tmp_path / "m")
    writer = MatrixWriter(matrix.path, header())
    writer.write_problems(matrix.problems.iloc[:1])
    writer.finish(True)
    again = Matrix.open(matrix.path)
    assert again.problem_ids == (PROBLEM,)
    assert not [name for name in again.meta.files if "019" in name]
    again.verify()


def test_a_place_that_is_a_file(tmp_path: Path) -> None:
    (tmp_path / "m").write_text("")
    with pytest.raises(UserError, match=r"cannot be written \(.*\); check the directory"):
        MatrixWriter(tmp_path / "m", header()).write_problems(pd.DataFrame({"problem": ["p"]}))


def test_words_may_be_enumerations(tmp_path: Path) -> None:

    matrix = tiny_matrix(tmp_path / "m")
    writer = MatrixWriter(matrix.path, header())
    writer.write_implementations(
        pd.DataFrame({"implementation": ["a"], "problem": PROBLEM, "kind": [Kind.NULL]})
    )
    row = cell("a", f"{PROBLEM}:i0", True) | {"status": Status.UNWRITTEN}
    writer.write_cells(PROBLEM, pd.DataFrame([row]))
    again = Matrix.open(matrix.path)
    assert again.implementations["kind"].tolist() == ["null"]
    assert again.cells(PROBLEM)["status"].tolist() == ["unwritten"]
    writer.write_cells(PROBLEM, pd.DataFrame())
    assert len(Matrix.open(matrix.path).cells(PROBLEM)) == 0
