"""Writing a folder of files: all of them, or none."""

import contextlib
import os
import shutil
from collections.abc import Mapping
from pathlib import Path

from suiteopt.errors import UserError
from suiteopt.export.checkout import Checkout
from suiteopt.export.transaction import TEMPORARY_SUFFIX, Change, apply_changes, explain
from suiteopt.matrix.files import sync_directory


def write_tree(directory: Path, files: Mapping[str, bytes]) -> None:
    """Write files below a directory; a failing disk leaves everything as it was.

    A directory that is not there is filled under a temporary name beside its place and then
    renamed, so that it is there whole or not at all even if the process is killed. In one that is
    there the files are changed by `suiteopt.export.transaction.apply_changes`, in their order;
    what else lies in it stays.

    Parameters
    ----------
    directory : Path
        Missing directories above it are made.
    files : mapping of str to bytes
        Content by relative path, with forward slashes.

    Raises
    ------
    UserError
        If the directory is a file or cannot be written, or a path leads out of it.
    """
    missing: list[Path] = []
    stage: Path | None = None
    try:
        if directory.is_dir():
            apply_changes(Checkout(directory), _changes(files))
            return
        if directory.exists() or directory.is_symlink():
            raise UserError(f"{directory} is no directory; give one, or a name that is free")
        missing = [place for place in directory.parents if not place.exists()]
        stage = directory.with_name(f".{directory.name}.{os.getpid()}{TEMPORARY_SUFFIX}")
        stage.mkdir(parents=True)
        apply_changes(Checkout(stage), _changes(files))
        os.rename(stage, directory)
        sync_directory(directory.parent)
    except BaseException as error:
        if stage is not None:
            shutil.rmtree(stage, ignore_errors=True)
        for place in missing:
            with contextlib.suppress(OSError):
                place.rmdir()
        if isinstance(error, OSError):
            raise explain(error, directory, restored=True) from error
        raise


def _changes(files: Mapping[str, bytes]) -> list[Change]:
    return [Change(name, data) for name, data in files.items()]
