"""Changing several files of a checkout: all of them, or none.

Every new content is first written under a temporary name beside its place and flushed to the
disk, so that a full disk or a read-only directory shows before anything changes. Then the manifest
says that a change is under way, the files are renamed into place one after the other, and the
manifest says that it is complete. An error on the way puts everything back; a killed process
leaves a manifest from which `exporter.remove` restores the originals.
"""

import contextlib
import errno
import os
from collections.abc import Iterable
from dataclasses import dataclass
from glob import escape
from pathlib import Path

from suiteopt.errors import UserError
from suiteopt.export.checkout import Checkout
from suiteopt.matrix.files import sync_directory

TEMPORARY_SUFFIX = ".suiteopt-tmp"

_REASONS = {
    errno.ENOSPC: "the disk is full",
    errno.EDQUOT: "the disk quota is used up",
    errno.EROFS: "the file system is read-only",
    errno.EACCES: "permission was denied",
    errno.EPERM: "permission was denied",
}


@dataclass(frozen=True)
class Change:
    """New content of a file; None removes it."""

    path: str
    content: bytes | None


def apply_changes(checkout: Checkout, changes: Iterable[Change]) -> None:
    """Make all changes in order, or none of them.

    Parameters
    ----------
    checkout : Checkout
    changes : iterable of Change
        A path may stand in it several times (the manifest: first, and last).

    Raises
    ------
    UserError
        If a file cannot be written; everything is then as it was.
    """
    ordered = list(changes)
    steps = [(change, checkout.locate(change.path)) for change in ordered]
    before = {place: checkout.read(change.path) for change, place in steps}
    made: list[Path] = []
    staged: dict[int, Path] = {}
    backups: dict[Path, Path] = {}
    done: list[Path] = []
    try:
        for index, (change, place) in enumerate(steps):
            if change.content is not None:
                _make_parents(place.parent, made)
                staged[index] = _stage(place, change.content, str(index))
        # Backups too are written now, so that putting back needs no room on the disk.
        for place, content in before.items():
            if content is not None:
                backups[place] = _stage(place, content, "old")
        for index, (change, place) in enumerate(steps):
            done.append(place)
            if change.content is None:
                place.unlink(missing_ok=True)
            else:
                os.replace(staged[index], place)
            sync_directory(place.parent)
    except BaseException as error:
        restored = _undo(done, backups)
        _clean((*staged.values(), *(backups.values() if restored else ())), made)
        if isinstance(error, OSError):
            raise explain(error, checkout.root, restored) from error
        raise
    _clean(backups.values(), [])


def temporary_files(directory: Path) -> list[Path]:
    """Return what a killed process left under temporary names in a directory and below it."""
    return sorted(directory.rglob(f".*{TEMPORARY_SUFFIX}"))


def temporaries_of(place: Path) -> list[Path]:
    """Return what a killed process left of one file under temporary names."""
    return sorted(place.parent.glob(f".{escape(place.name)}.*{TEMPORARY_SUFFIX}"))


def _make_parents(directory: Path, made: list[Path]) -> None:
    missing = [place for place in (directory, *directory.parents) if not place.exists()]
    for place in reversed(missing):
        place.mkdir()
        made.append(place)


def _stage(place: Path, content: bytes, label: str) -> Path:
    """Write content beside its place, with the mode of the file that it will replace."""
    temporary = place.with_name(f".{place.name}.{label}{TEMPORARY_SUFFIX}")
    mode = place.stat().st_mode & 0o777 if place.exists() else None
    try:
        with temporary.open("wb") as handle:
            handle.write(content)
            handle.flush()
            if mode is not None:
                os.fchmod(handle.fileno(), mode)
            os.fsync(handle.fileno())
    except BaseException:
        with contextlib.suppress(OSError):
            temporary.unlink(missing_ok=True)
        raise
    return temporary


def _undo(done: list[Path], backups: dict[Path, Path]) -> bool:
    """Put back what the places held, the manifest (written first) last; whether all went back."""
    whole = True
    for place in reversed(list(dict.fromkeys(done))):
        try:
            if place in backups:
                os.replace(backups[place], place)
            else:
                place.unlink(missing_ok=True)
        except OSError:
            whole = False
    return whole


def _clean(temporaries: Iterable[Path], made: list[Path]) -> None:
    for temporary in temporaries:
        with contextlib.suppress(OSError):
            temporary.unlink(missing_ok=True)
    for directory in reversed(made):
        with contextlib.suppress(OSError):
            directory.rmdir()


def explain(error: OSError, root: Path, restored: bool) -> UserError:
    """Return one sentence for a directory that cannot be written; whether all was put back."""
    reason = _REASONS.get(error.errno or 0, error.strerror or str(error))
    where = f" ({error.filename})" if error.filename else ""
    state = (
        "everything there is as it was"
        if restored
        else "not everything could be put back: run 'suiteopt export --remove' once that is mended"
    )
    return UserError(f"{root} cannot be written: {reason}{where}; {state}")
