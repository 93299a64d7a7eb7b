from pathlib import Path

import pytest

from gpu_eval.problems.loader import load_corpus
from gpu_eval.problems.scaffold import new_problem
from gpu_eval.problems.validate import validate
from suiteopt.errors import UserError


def test_a_new_problem_loads_and_is_valid(tmp_path: Path) -> None:
    directory = new_problem("row-squares_2", tmp_path / "my corpus")
    assert directory == tmp_path / "my corpus" / "row-squares_2"
    assert sorted(p.name for p in directory.iterdir()) == ["README.md", "kernel.cu", "problem.py"]
    assert [p.name for p in directory.parent.iterdir()] == ["row-squares_2"]
    problem = load_corpus([tmp_path / "my corpus"]).problem("user/row-squares_2")
    validate(problem)
    readme = (directory / "README.md").read_text("utf-8")
    assert f"--corpus '{tmp_path}/my corpus'" in readme
    for path in directory.iterdir():
        assert "@" not in path.read_text("utf-8")


@pytest.mark.parametrize("name", ["", "1st", "-a", "ä", "a/b", "../a", "a b", "a" * 65])
def test_bad_names(tmp_path: Path, name: str) -> None:
    with pytest.raises(UserError, match="is not a name for a problem"):
        new_problem(name, tmp_path)
    assert list(tmp_path.iterdir()) == []


def test_nothing_is_overwritten(tmp_path: Path) -> None:
    (tmp_path / "mine").write_text("precious", "utf-8")
    with pytest.raises(UserError, match="exists already"):
        new_problem("mine", tmp_path)
    assert (tmp_path / "mine").read_text("utf-8") == "precious"


def test_a_place_that_cannot_be_written(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("", "utf-8")
    with pytest.raises(UserError, match="cannot be written"):
        new_problem("mine", tmp_path / "file" / "below")
