"""A fault that the matrix left out: which site of its rule was measured."""

from pathlib import Path

import pytest

from suiteopt.audit.dossier import dossier
from suiteopt.errors import UserError
from suiteopt.matrix.oracle import calibrated
from suiteopt.matrix.store import Matrix
from suiteopt.matrix.writer import MatrixWriter
from tests.suiteopt.builders import header, tiny_matrix

P = "level1/001"


def _renamed(path: Path, names: list[str]) -> Matrix:
    matrix = tiny_matrix(path)
    rows, cells = matrix.implementations.copy(), matrix.cells(P)
    new = {f"{P}:m{place}": f"{P}:{name}" for place, name in enumerate(names)}
    rows["implementation"] = rows["implementation"].replace(new)
    cells["implementation"] = cells["implementation"].astype(str).replace(new)
    other = matrix.cells("level1/019")
    writer = MatrixWriter(path, header())
    writer.write_implementations(rows)
    writer.write_cells(P, cells)
    writer.write_cells("level1/019", other)
    writer.finish(True)
    return Matrix.open(path)


def _sentence(matrix: Matrix, name: str) -> str:
    with pytest.raises(UserError) as error:
        dossier(matrix, name, calibrated(), None)
    return str(error.value)


def test_one_site_of_each_rule(tmp_path: Path) -> None:
    matrix = _renamed(tmp_path / "m", ["k.cu:lt-to-le:3", "k.cu:drop-add:1"])
    found = _sentence(matrix, f"{P}:k.cu:lt-to-le:2")
    assert "it measured one site of each rule in each kernel, of lt-to-le" in found
    assert found.endswith(f"that of {P}:k.cu:lt-to-le:3")


def test_some_sites_of_each_rule(tmp_path: Path) -> None:
    matrix = _renamed(tmp_path / "m", ["k.cu:lt-to-le:1", "k.cu:lt-to-le:3", "k.cu:drop-add:1"])
    found = _sentence(matrix, f"{P}:k.cu:lt-to-le:2")
    assert "it measured some sites of each rule" in found
    assert f"{P}:k.cu:lt-to-le:1, {P}:k.cu:lt-to-le:3" in found


@pytest.mark.parametrize("name", [f"{P}:k.cu:other:2", f"{P}:k.cu:lt-to-le:x", "nothing", ""])
def test_other_names_are_told_the_problems(tmp_path: Path, name: str) -> None:
    matrix = _renamed(tmp_path / "m", ["k.cu:lt-to-le:3"])
    assert _sentence(matrix, name).endswith("its problems are level1/001, level1/019")
