import shutil
from pathlib import Path

import pytest

from suiteopt.errors import UserError
from suiteopt.export import checkout as module
from suiteopt.export.checkout import Checkout
from tests.suiteopt.export.samples import commit_all, git

NAMES = ["plain.py", "with space.py", "ünlich.py", "gl*b.py", ":(top)x.py", '"quoted".py']


@pytest.fixture
def root(tmp_path: Path) -> Path:
    root = tmp_path / "outer" / "benchmark"
    (root / "deep").mkdir(parents=True)
    for name in NAMES:
        (root / "deep" / name).write_text("one\n")
    return root


def paths() -> list[str]:
    return [f"deep/{name}" for name in NAMES]


@pytest.mark.parametrize("where", ["itself", "a larger repository"])
@pytest.mark.parametrize("name", NAMES)
def test_a_change_is_seen_whatever_the_file_is_called(root: Path, where: str, name: str) -> None:
    commit_all(root if where == "itself" else root.parent)
    checkout = Checkout(root)
    checkout.require_clean(paths())
    (root / "deep" / name).write_text("two\n")
    with pytest.raises(UserError, match="has changes that are not committed") as caught:
        checkout.require_clean([f"deep/{name}"])
    assert name in str(caught.value)
    checkout.require_clean(path for path in paths() if path != f"deep/{name}")


def test_several_changes_are_counted(root: Path) -> None:
    commit_all(root)
    for name in NAMES[:3]:
        (root / "deep" / name).write_text("two\n")
    with pytest.raises(UserError, match=r"deep/.* and 2 more in .* has changes"):
        Checkout(root).require_clean(paths())


def test_a_deleted_file_is_a_change(root: Path) -> None:
    commit_all(root)
    (root / "deep/plain.py").unlink()
    with pytest.raises(UserError, match="not committed"):
        Checkout(root).require_clean(["deep/plain.py"])


def test_a_directory_that_git_does_not_know_is_let_through(root: Path) -> None:
    Checkout(root).require_clean(paths())
    git(root.parent, "init", "-q")
    (root.parent / "other").write_text("tracked")
    git(root.parent, "add", "other")
    Checkout(root).require_clean(paths())


def test_looking_changes_nothing_in_git(root: Path) -> None:
    commit_all(root)
    (root / "deep/plain.py").touch()
    before = {p: p.read_bytes() for p in (root / ".git").rglob("*") if p.is_file()}
    Checkout(root).require_clean(paths())
    assert Checkout(root).ignored(paths()) == ()
    assert {p: p.read_bytes() for p in (root / ".git").rglob("*") if p.is_file()} == before


def test_without_git_a_git_checkout_is_refused(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    commit_all(root)
    monkeypatch.setattr(shutil, "which", lambda _: None)
    with pytest.raises(UserError, match="git is not installed"):
        Checkout(root).require_clean(paths())


def test_a_broken_repository_is_one_sentence(root: Path) -> None:
    commit_all(root)
    (root / ".git/HEAD").write_text("nonsense\n")
    with pytest.raises(UserError, match="git cannot tell the state of") as caught:
        Checkout(root).require_clean(paths())
    assert "\n" not in str(caught.value)


def test_a_file_that_cannot_be_read_is_one_sentence(root: Path) -> None:
    with pytest.raises(UserError, match="cannot be read: Is a directory"):
        Checkout(root).read("deep")
    assert Checkout(root).read("deep/plain.py/below") is None
    assert module.Checkout(root).hash("none") is None
