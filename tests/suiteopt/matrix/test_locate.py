from pathlib import Path

import pytest

import suiteopt.matrix.locate as locate
from suiteopt.errors import UserError
from suiteopt.matrix.store import resolve_matrix


@pytest.fixture
def nowhere(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty working directory, and a package that carries no matrix."""
    monkeypatch.setattr(locate, "__file__", str(tmp_path / "site/suiteopt/matrix/locate.py"))
    work = tmp_path / "work" / "deep"
    work.mkdir(parents=True)
    monkeypatch.chdir(work)
    return work


def mark(place: Path, name: str) -> Path:
    (place / name).mkdir(parents=True)
    (place / "DEFAULT").write_text(name + "\n")
    return place / name


def test_what_the_user_names_comes_first(nowhere: Path) -> None:
    mark(nowhere / "matrices", "shipped")
    assert resolve_matrix("mine") == Path("mine")
    assert resolve_matrix(Path("mine")) == Path("mine")


def test_the_default_of_the_nearest_checkout(nowhere: Path) -> None:
    outer = mark(nowhere.parent / "matrices", "outer")
    assert resolve_matrix(None) == outer
    inner = mark(nowhere / "matrices", "inner")
    assert resolve_matrix(None) == inner


def test_inside_the_package_where_there_is_no_checkout(nowhere: Path) -> None:
    package = nowhere.parents[1] / "site" / "suiteopt"
    shipped = mark(package / "data", "shipped")
    assert resolve_matrix(None) == shipped
    here = mark(nowhere / "matrices", "here")
    assert resolve_matrix(None) == here


def test_none_anywhere(nowhere: Path) -> None:
    with pytest.raises(UserError, match=r"no matrix is given and none is found; pass --matrix DIR"):
        resolve_matrix(None)


def test_a_default_that_names_nothing(nowhere: Path) -> None:
    (nowhere / "matrices").mkdir()
    (nowhere / "matrices" / "DEFAULT").write_text("gone\n")
    with pytest.raises(UserError, match=r"DEFAULT names 'gone', which is no directory beside it"):
        resolve_matrix(None)
