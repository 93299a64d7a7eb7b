import errno
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from suiteopt.errors import UserError
from suiteopt.export.checkout import Checkout
from suiteopt.export.transaction import Change, apply_changes
from tests.suiteopt.export.samples import tree

CHANGES = [
    Change("manifest", b"under way"),
    Change("new/deep/file", b"made"),
    Change("old", b"changed"),
    Change("gone", None),
    Change("manifest", b"complete"),
]


@pytest.fixture
def checkout(tmp_path: Path) -> Checkout:
    (tmp_path / "old").write_bytes(b"before")
    (tmp_path / "gone").write_bytes(b"here")
    (tmp_path / "untouched").write_bytes(b"mine")
    return Checkout(tmp_path)


def test_all_changes_are_made_and_nothing_else_is_left(checkout: Checkout) -> None:
    (checkout.root / "old").chmod(0o751)
    apply_changes(checkout, CHANGES)
    files = [name for name, content in tree(checkout.root).items() if content != "dir"]
    assert files == ["manifest", "new/deep/file", "old", "untouched"]
    assert checkout.read("manifest") == b"complete"
    assert checkout.read("new/deep/file") == b"made"
    assert checkout.read("old") == b"changed"
    assert (checkout.root / "old").stat().st_mode & 0o777 == 0o751


def failing(function: Callable[..., Any], at: int, error: BaseException) -> Callable[..., Any]:
    calls = 0

    def wrapped(*arguments: Any, **options: Any) -> Any:
        nonlocal calls
        calls += 1
        if calls == at:
            raise error
        return function(*arguments, **options)

    return wrapped


@pytest.mark.parametrize(
    ("call", "at"),
    [*((call, at) for call in ("replace", "fsync") for at in range(1, 5)), ("unlink", 1)],
)
def test_a_failing_step_puts_everything_back(
    checkout: Checkout, monkeypatch: pytest.MonkeyPatch, call: str, at: int
) -> None:
    before = tree(checkout.root)
    error = OSError(errno.ENOSPC, "No space left on device", "old")
    if call == "unlink":
        monkeypatch.setattr(Path, "unlink", failing(Path.unlink, at, error))
    else:
        monkeypatch.setattr(os, call, failing(getattr(os, call), at, error))
    with pytest.raises(UserError, match=r"the disk is full .*; everything there is as it was"):
        apply_changes(checkout, CHANGES)
    assert tree(checkout.root) == before


@pytest.mark.parametrize("at", range(1, 5))
def test_an_interruption_puts_everything_back_and_goes_on(
    checkout: Checkout, monkeypatch: pytest.MonkeyPatch, at: int
) -> None:
    before = tree(checkout.root)
    monkeypatch.setattr(os, "replace", failing(os.replace, at, KeyboardInterrupt()))
    with pytest.raises(KeyboardInterrupt):
        apply_changes(checkout, CHANGES)
    assert tree(checkout.root) == before


@pytest.mark.parametrize(
    ("code", "words"),
    [(errno.EROFS, "file system is read-only"), (errno.EACCES, "permission was denied")],
)
def test_a_place_that_cannot_be_written_is_one_sentence(
    checkout: Checkout, monkeypatch: pytest.MonkeyPatch, code: int, words: str
) -> None:
    before = tree(checkout.root)

    real = Path.open

    def refuse(self: Path, mode: str = "r", *arguments: Any, **options: Any) -> Any:
        if "w" in mode:
            raise OSError(code, os.strerror(code), str(self))
        return real(self, mode, *arguments, **options)

    monkeypatch.setattr(Path, "open", refuse)
    with pytest.raises(UserError, match=words) as caught:
        apply_changes(checkout, CHANGES)
    monkeypatch.undo()
    assert "\n" not in str(caught.value)
    assert tree(checkout.root) == before


def test_what_cannot_be_put_back_is_said(
    checkout: Checkout, monkeypatch: pytest.MonkeyPatch
) -> None:
    real = os.replace
    calls = 0

    def broken(source: Any, place: Any) -> None:
        nonlocal calls
        calls += 1
        if calls > 2:
            raise OSError(errno.EIO, "Input/output error", str(place))
        real(source, place)

    monkeypatch.setattr(os, "replace", broken)
    with pytest.raises(UserError, match="not everything could be put back: run 'suiteopt export"):
        apply_changes(checkout, CHANGES)


@pytest.mark.parametrize("path", ["/etc/passwd", "../out", "a/../../out", "", "a\\b"])
def test_no_path_leaves_the_checkout(checkout: Checkout, path: str) -> None:
    with pytest.raises(UserError, match="leaves the checkout"):
        apply_changes(checkout, [Change(path, b"x")])


@pytest.mark.parametrize("path", ["link", "linked/file"])
def test_no_link_is_followed(checkout: Checkout, tmp_path_factory: Any, path: str) -> None:
    outside = tmp_path_factory.mktemp("outside")
    (outside / "file").write_bytes(b"theirs")
    (checkout.root / "link").symlink_to(outside / "file")
    (checkout.root / "linked").symlink_to(outside)
    with pytest.raises(UserError, match="symbolic link"):
        apply_changes(checkout, [Change(path, b"x")])
    assert (outside / "file").read_bytes() == b"theirs"
