"""A folder of files is written whole or not at all, whichever step fails."""

import errno
import os
from pathlib import Path

import pytest

from suiteopt.errors import UserError
from suiteopt.export.tree import write_tree
from tests.suiteopt.export.samples import tree
from tests.suiteopt.export.test_transaction import failing

FILES = {"a/one": b"1", "a/two": b"2", "b/one": b"3", "index": b"4"}
FULL = OSError(errno.ENOSPC, "No space left on device", "one")
STEPS = [("fsync", at) for at in range(1, 5)] + [("replace", at) for at in range(1, 5)]


def test_a_new_folder_is_there_whole(tmp_path: Path) -> None:
    write_tree(tmp_path / "not" / "yet", FILES)
    found = {k: v for k, v in tree(tmp_path / "not" / "yet").items() if v != "dir"}
    assert set(found) == set(FILES)
    assert (tmp_path / "not" / "yet" / "b" / "one").read_bytes() == b"3"
    assert [entry.name for entry in (tmp_path / "not").iterdir()] == ["yet"]
    umask = os.umask(0)
    os.umask(umask)
    assert (tmp_path / "not" / "yet").stat().st_mode & 0o777 == 0o777 & ~umask


@pytest.mark.parametrize(("call", "at"), [*STEPS, ("rename", 1)])
def test_a_failing_disk_leaves_no_new_folder(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, call: str, at: int
) -> None:
    monkeypatch.setattr(os, call, failing(getattr(os, call), at, FULL))
    with pytest.raises(UserError, match=r"the disk is full .*; everything there is as it was"):
        write_tree(tmp_path / "not" / "yet", FILES)
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(("call", "at"), STEPS)
def test_a_failing_disk_leaves_an_old_folder_as_it_was(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, call: str, at: int
) -> None:
    write_tree(tmp_path / "old", {"a/one": b"before", "mine": b"untouched"})
    before = tree(tmp_path)
    monkeypatch.setattr(os, call, failing(getattr(os, call), at, FULL))
    with pytest.raises(UserError, match=r"the disk is full .*; everything there is as it was"):
        write_tree(tmp_path / "old", FILES)
    assert tree(tmp_path) == before


def test_what_else_lies_in_a_folder_stays(tmp_path: Path) -> None:
    (tmp_path / "mine").write_bytes(b"untouched")
    write_tree(tmp_path, FILES)
    assert (tmp_path / "mine").read_bytes() == b"untouched"
    assert (tmp_path / "index").read_bytes() == b"4"


@pytest.mark.parametrize("name", ["../out", "/out", "a/../../out", "a\\b"])
def test_no_file_leaves_the_folder(tmp_path: Path, name: str) -> None:
    with pytest.raises(UserError, match="leaves the checkout"):
        write_tree(tmp_path / "new", {"good": b"1", name: b"2"})
    assert list(tmp_path.iterdir()) == []


def test_a_file_or_a_dead_link_is_no_folder(tmp_path: Path) -> None:
    (tmp_path / "file").write_bytes(b"mine")
    (tmp_path / "link").symlink_to(tmp_path / "nowhere")
    for name in ("file", "link", "file/below"):
        with pytest.raises(UserError):
            write_tree(tmp_path / name, FILES)
    assert (tmp_path / "file").read_bytes() == b"mine"
    assert not (tmp_path / "nowhere").exists()


@pytest.mark.parametrize("name", ["x" * 300, "x" * 300 + "/below"])
def test_a_name_that_no_disk_takes_is_one_sentence(tmp_path: Path, name: str) -> None:
    with pytest.raises(UserError, match="cannot be written: File name too long"):
        write_tree(tmp_path / name, FILES)
    assert list(tmp_path.iterdir()) == []
