import json
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any
from unittest.mock import Mock

import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from suiteopt.errors import UserError
from suiteopt.matrix.files import sha256
from suiteopt.matrix.header import matrix_id
from suiteopt.matrix.kill import kill_table
from suiteopt.matrix.oracle import parse_oracle
from suiteopt.matrix.schema import Role
from suiteopt.matrix.store import Matrix
from tests.suiteopt.builders import SOURCE, tiny_matrix

PROBLEM, OTHER = "level1/001", "level1/019"
CELLS = "cells/level1-001.parquet"


def edit(path: Path, change: Callable[[dict[str, Any]], None]) -> None:
    """Change a header by hand, its id kept right."""
    header = json.loads((path / "matrix.json").read_text())
    change(header)
    header["id"] = matrix_id(header["files"])
    (path / "matrix.json").write_text(json.dumps(header))


def replace_file(path: Path, name: str, data: bytes) -> None:
    """Change a file by hand, its hash kept right."""
    (path / name).write_bytes(data)
    edit(path, lambda header: header["files"].update({name: sha256(data)}))


def sentence(action: Callable[[], object]) -> str:
    with pytest.raises(UserError) as caught:
        action()
    text = str(caught.value)
    assert "\n" not in text
    return text


def test_reads_back_what_was_written(tmp_path: Path) -> None:
    matrix = tiny_matrix(tmp_path / "m", own=True)
    assert matrix.problem_ids == (PROBLEM, OTHER)
    assert matrix.problem(PROBLEM)["benchmark"] == "kernelbench"
    assert json.loads(matrix.problem(PROBLEM)["shape"]) == {"N": 16}
    assert matrix.source(PROBLEM, "kernel.cu") == SOURCE
    mutant = matrix.implementations_of(PROBLEM).iloc[1]
    assert list(mutant["rules"]) == ["rule-0"]
    assert dict(mutant["sites"][0])["line"] == 1
    inputs = matrix.inputs_of(OTHER)
    assert (inputs["problem"] == OTHER).all()
    assert inputs["role"].value_counts().to_dict() == {"candidate": 6, "own": 4, "witness": 1}
    assert (inputs["role"] == Role.OWN).sum() == 4
    cells = matrix.cells(OTHER, ["input", "status"])
    assert list(cells.columns) == ["input", "status"]
    assert matrix.meta.format == (1, 0)
    assert matrix.meta.device["name"] == "host"
    assert matrix.meta.complete


def test_header_is_frozen(tmp_path: Path) -> None:
    matrix = tiny_matrix(tmp_path / "m")
    with pytest.raises(TypeError):
        matrix.meta.files["x"] = "y"  # type: ignore[index]
    with pytest.raises(AttributeError):
        matrix.meta.id = "other"  # type: ignore[misc]


def test_a_path_that_is_no_directory(tmp_path: Path) -> None:
    text = sentence(lambda: Matrix.open(tmp_path / "nowhere"))
    assert "nowhere is no directory; give one that `gpu-eval run` has written" in text


def test_a_directory_that_is_no_matrix(tmp_path: Path) -> None:
    text = sentence(lambda: Matrix.open(tmp_path))
    assert "is no kill matrix, it has no matrix.json; give a directory" in text


@pytest.mark.parametrize("content", ["", "{", "[]", '{"format": 1}', '{"format": {"major": "x"}}'])
def test_a_header_that_is_none(tmp_path: Path, content: str) -> None:
    (tmp_path / "matrix.json").write_text(content)
    text = sentence(lambda: Matrix.open(tmp_path))
    assert "matrix.json is damaged or no header of a kill matrix; copy the matrix again" in text


def test_a_header_with_a_key_of_the_wrong_form(tmp_path: Path) -> None:
    matrix = tiny_matrix(tmp_path / "m")
    edit(matrix.path, lambda header: header.update(seconds="long"))
    assert "has a key of the wrong form" in sentence(lambda: Matrix.open(matrix.path))


def test_a_newer_format(tmp_path: Path) -> None:
    matrix = tiny_matrix(tmp_path / "m")
    edit(matrix.path, lambda header: header.update(format={"major": 2, "minor": 1}))
    text = sentence(lambda: Matrix.open(matrix.path))
    assert "has format 2.1 and this version reads up to 1.x; upgrade with `pip install" in text


def test_a_newer_minor_only_adds(tmp_path: Path) -> None:
    matrix = tiny_matrix(tmp_path / "m")
    expected = kill_table(matrix, PROBLEM, parse_oracle("calibrated")).kills.toarray()
    table = pq.read_table(matrix.path / CELLS)
    sink = pa.BufferOutputStream()
    pq.write_table(table.append_column("later", pa.array([1] * len(table))), sink)
    replace_file(matrix.path, CELLS, bytes(sink.getvalue()))
    edit(matrix.path, lambda h: h.update(format={"major": 1, "minor": 7}, later="yes"))
    again = Matrix.open(matrix.path)
    assert again.meta.raw["later"] == "yes"
    kills = kill_table(again, PROBLEM, parse_oracle("calibrated")).kills.toarray()
    assert (kills == expected).all()


def test_an_id_that_is_not_that_of_the_files(tmp_path: Path) -> None:
    matrix = tiny_matrix(tmp_path / "m")
    header = json.loads((matrix.path / "matrix.json").read_text())
    header["files"][CELLS] = "0" * 64
    (matrix.path / "matrix.json").write_text(json.dumps(header))
    text = sentence(lambda: Matrix.open(matrix.path))
    assert "is damaged: its id is not that of the files it lists" in text


@pytest.mark.parametrize("name", ["../outside", "/etc/passwd", "a/../../b", "c:\\d"])
def test_files_outside_the_matrix_are_refused(tmp_path: Path, name: str) -> None:
    matrix = tiny_matrix(tmp_path / "m")
    edit(matrix.path, lambda header: header["files"].update({name: "0" * 64}))
    assert "which lies outside the matrix" in sentence(lambda: Matrix.open(matrix.path))


def test_a_damaged_shard_is_found_by_its_hash_and_harms_no_other(tmp_path: Path) -> None:
    matrix = tiny_matrix(tmp_path / "m")
    data = bytearray((matrix.path / CELLS).read_bytes())
    data[len(data) // 2] ^= 1
    (matrix.path / CELLS).write_bytes(bytes(data))
    again = Matrix.open(matrix.path)
    assert len(again.cells(OTHER)) > 0
    text = sentence(lambda: again.cells(PROBLEM))
    assert "level1-001.parquet is damaged, its hash differs from the one in matrix.json" in text
    assert "run `gpu-eval resume`" in text
    assert "level1-001.parquet is damaged" in sentence(again.verify)


@pytest.mark.parametrize("cut", [0, 3, 100, -4])
def test_a_shard_that_is_no_parquet(tmp_path: Path, cut: int) -> None:
    matrix = tiny_matrix(tmp_path / "m")
    replace_file(matrix.path, CELLS, (matrix.path / CELLS).read_bytes()[:cut])
    text = sentence(lambda: Matrix.open(matrix.path).cells(PROBLEM))
    assert "level1-001.parquet is damaged, it is no readable Parquet file" in text


@pytest.mark.parametrize("name", [CELLS, "implementations.parquet", "problems.parquet"])
def test_a_missing_file(tmp_path: Path, name: str) -> None:
    matrix = tiny_matrix(tmp_path / "m")
    (matrix.path / name).unlink()
    again = Matrix.open(matrix.path)
    oracle = parse_oracle("fixed:1e-2")
    text = sentence(lambda: kill_table(again, PROBLEM, oracle))
    assert f"{name} is missing; copy the matrix again" in text


def test_a_file_that_is_not_listed_is_no_part_of_the_matrix(tmp_path: Path) -> None:
    matrix = tiny_matrix(tmp_path / "m")
    edit(matrix.path, lambda header: header["files"].pop(CELLS))
    text = sentence(lambda: Matrix.open(matrix.path).cells(PROBLEM))
    assert f"has no {CELLS}; copy the matrix again" in text


def test_an_unknown_problem_column_or_source(tmp_path: Path) -> None:
    matrix = tiny_matrix(tmp_path / "m")
    for action in (matrix.cells, matrix.problem, matrix.inputs_of, matrix.implementations_of):
        text = sentence(lambda a=action: a("level1/999"))  # type: ignore[misc]
        assert "has no problem 'level1/999'; it has level1/001, level1/019" in text
    text = sentence(lambda: matrix.cells(PROBLEM, ["status", "ulps"]))
    assert "has no column 'ulps'; this matrix cannot answer that query" in text
    text = sentence(lambda: matrix.source(PROBLEM, "../../../etc/passwd"))
    assert "carries no source '../../../etc/passwd' of level1/001; it has kernel.cu" in text


def test_a_table_without_a_column_of_the_format(tmp_path: Path) -> None:
    matrix = tiny_matrix(tmp_path / "m")
    table = pq.read_table(matrix.path / "inputs.parquet").drop_columns(["role"])
    sink = pa.BufferOutputStream()
    pq.write_table(table, sink)
    replace_file(matrix.path, "inputs.parquet", bytes(sink.getvalue()))
    text = sentence(lambda: Matrix.open(matrix.path).inputs)
    assert "inputs.parquet lacks the column 'role' of the format" in text


def test_a_matrix_of_another_tool_without_dictionaries(tmp_path: Path) -> None:
    """Plain strings, int32 counts and float64 statistics answer the same query."""
    matrix = tiny_matrix(tmp_path / "m")
    expected = kill_table(matrix, PROBLEM, parse_oracle("calibrated"))
    frame = pd.read_parquet(matrix.path / CELLS)
    frame = frame.astype({"implementation": str, "input": str, "status": str, "rms": "float64"})
    frame = frame.sample(frac=1, random_state=1)
    sink = pa.BufferOutputStream()
    pq.write_table(
        pa.Table.from_pandas(frame), sink, use_dictionary=False, row_group_size=7, compression=None
    )
    replace_file(matrix.path, CELLS, bytes(sink.getvalue()))
    table = kill_table(Matrix.open(matrix.path), PROBLEM, parse_oracle("calibrated"))
    assert (table.kills.toarray() == expected.kills.toarray()).all()
    assert (table.ran.toarray() == expected.ran.toarray()).all()
    assert table.tolerances.tolist() == expected.tolerances.tolist()


def test_cells_of_an_implementation_that_no_table_has(tmp_path: Path) -> None:
    matrix = tiny_matrix(tmp_path / "m")
    frame = pd.read_parquet(matrix.path / CELLS).astype({"implementation": str})
    frame.loc[0, "implementation"] = "a stranger"
    sink = pa.BufferOutputStream()
    pq.write_table(pa.Table.from_pandas(frame), sink)
    replace_file(matrix.path, CELLS, bytes(sink.getvalue()))
    again = Matrix.open(matrix.path)
    text = sentence(lambda: kill_table(again, PROBLEM, parse_oracle("fixed:1e-2")))
    assert re.search(r"level1-001.parquet names the implementation 'a stranger'", text)


def test_one_problem_is_read_at_a_time(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    matrix = tiny_matrix(tmp_path / "m")
    read: list[str] = []
    original = Path.read_bytes

    def watched(path: Path) -> bytes:
        read.append(path.name)
        return original(path)

    monkeypatch.setattr(Path, "read_bytes", watched)
    again = Matrix.open(matrix.path)
    assert read == []
    kill_table(again, OTHER, parse_oracle("calibrated"))
    assert sorted(name for name in read if name.startswith("level1")) == ["level1-019.parquet"]


def rewritten(path: Path, name: str, change: Callable[[pd.DataFrame], pd.DataFrame]) -> Matrix:
    """Another tool's version of a table: a matching hash, whatever the content."""
    sink = pa.BufferOutputStream()
    frame = change(pq.read_table(path / name).to_pandas())
    pq.write_table(pa.Table.from_pandas(frame, preserve_index=False), sink)
    replace_file(path, name, bytes(sink.getvalue()))
    return Matrix.open(path)


@pytest.mark.parametrize(
    ("name", "change", "expected"),
    [
        ("inputs.parquet", lambda f: pd.concat([f, f]), "names the input .* twice"),
        ("inputs.parquet", lambda f: f.assign(role="boss"), "has the role 'boss'; there are cand"),
        ("inputs.parquet", lambda f: f.assign(shape="[1]"), "'shape' of .* is no JSON object"),
        ("inputs.parquet", lambda f: f.assign(floor_rms=-1.0), "'floor_rms' of .* is not 0 or"),
        ("implementations.parquet", lambda f: f.assign(sites=None), "'sites' of .* holds null"),
        ("problems.parquet", lambda f: f.assign(level="x"), "'level' of .* holds (large_)?string"),
        ("problems.parquet", lambda f: pd.concat([f, f]), "names the problem .* twice"),
    ],
)
def test_a_table_that_breaks_the_rules(
    tmp_path: Path, name: str, change: Callable[[pd.DataFrame], pd.DataFrame], expected: str
) -> None:
    tiny_matrix(tmp_path / "m")
    again = rewritten(tmp_path / "m", name, change)
    table = name.removesuffix(".parquet")
    assert re.search(expected, sentence(lambda: getattr(again, table)))


@pytest.mark.parametrize(
    ("change", "expected"),
    [
        (lambda f: f.drop(columns="status"), "has no column 'status'"),
        (lambda f: f.assign(status=None), "has a cell without status|status"),
        (lambda f: f.assign(implementation=f["implementation"].where(f.index > 0)), "a cell with"),
        (lambda f: pd.concat([f, f.iloc[:1]]), "holds a cell twice"),
        (lambda f: f.assign(rms=-1.0), "'rms' of .* is negative"),
        (lambda f: f.assign(rms="x"), "'rms' of .* holds (large_)?string, no numbers"),
    ],
)
def test_cells_that_break_the_rules(
    tmp_path: Path, change: Callable[[pd.DataFrame], pd.DataFrame], expected: str
) -> None:
    tiny_matrix(tmp_path / "m")
    again = rewritten(tmp_path / "m", CELLS, change)
    text = sentence(lambda: kill_table(again, PROBLEM, parse_oracle("calibrated")))
    assert re.search(expected, text)


@pytest.mark.parametrize("text", ["[" * 100_000, '{"format": {"major": 1e400, "minor": 0}}'])
def test_a_header_that_overflows(tmp_path: Path, text: str) -> None:
    (tmp_path / "matrix.json").write_text(text)
    assert "no header of a kill matrix" in sentence(lambda: Matrix.open(tmp_path))


def test_arrow_is_given_memory_of_its_own(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Its threads may free it as the process ends, when Python is no more to be asked."""
    matrix = tiny_matrix(tmp_path / "m")
    given: list[Any] = []

    def reader(source: Any) -> pa.BufferReader:
        given.append(source)
        return pa.BufferReader(source)

    monkeypatch.setattr("suiteopt.matrix.reading.pa", Mock(wraps=pa, BufferReader=reader))
    assert len(matrix.cells(PROBLEM, ["input"]))
    assert given
    # Arrow's view of Python's bytes cannot be written to.
    assert all(isinstance(source, pa.Buffer) and source.is_mutable for source in given)
