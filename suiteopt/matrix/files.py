"""Files that are written whole or not at all."""

import contextlib
import errno
import hashlib
import os
from pathlib import Path

from suiteopt.errors import UserError

PARTIAL_SUFFIX = ".partial"

_FULL = {errno.ENOSPC, errno.EDQUOT, errno.EFBIG}
_FORBIDDEN = {errno.EROFS, errno.EACCES, errno.EPERM}


def sha256(data: bytes) -> str:
    """Return the SHA-256 of ``data`` in hexadecimal."""
    return hashlib.sha256(data).hexdigest()


def write_atomic(path: Path, data: bytes, *, durable: bool = True) -> None:
    """Replace a file's content, so that a crash leaves the old content or the new.

    The bytes go to a temporary name in the same directory, to the disk, and then to ``path``;
    missing directories are made.

    Parameters
    ----------
    path : Path
    data : bytes
    durable : bool
        Whether to wait for the disk. Without that the death of the process still leaves one or the
        other, and that of the machine may leave anything: for files whose readers tell damage.

    Raises
    ------
    UserError
        If the disk is full, the file cannot be written, or the name is that of a directory or a
        device (which a rename would replace). The old file is untouched.
    """
    if not path.name:
        raise UserError(f"'{path}' is no name of a file; give one to write to")
    partial = path.with_name(f".{path.name}{PARTIAL_SUFFIX}")
    try:
        if path.exists() and not path.is_file():
            raise UserError(f"{path} is a directory or a device; give the name of a file to write")
        path.parent.mkdir(parents=True, exist_ok=True)
        with partial.open("wb") as handle:
            handle.write(data)
            handle.flush()
            if durable:
                os.fsync(handle.fileno())
        os.replace(partial, path)
        if durable:
            sync_directory(path.parent)
    except OSError as error:
        with contextlib.suppress(OSError):
            partial.unlink(missing_ok=True)
        if error.errno in _FULL:
            raise UserError(
                f"the disk that holds {path} is full; free some space and run the command again, "
                "nothing that was written before is lost"
            ) from error
        if error.errno in _FORBIDDEN:
            raise UserError(
                f"{path} may not be written ({os.strerror(error.errno)}); "
                "choose another directory or change its permissions"
            ) from error
        raise UserError(
            f"{path} cannot be written ({error.strerror or error}); "
            "check the directory and run the command again"
        ) from error


def require_file(path: Path) -> None:
    """Refuse a name that `write_atomic` could not write to, before the work that fills it.

    Raises
    ------
    UserError
        If it is no name of a file, or that of a directory or a device, if something else than a
        directory stands above it, or nothing may be written there.
    """
    if not path.name:
        raise UserError(f"'{path}' is no name of a file; give one to write to")
    if path.exists() and not path.is_file():
        raise UserError(f"{path} is a directory or a device; give the name of a file to write")
    above = next(parent for parent in path.absolute().parents if parent.exists())
    if not above.is_dir() or not os.access(above, os.W_OK | os.X_OK):
        raise UserError(f"{path} may not be written; choose another directory")


def is_taken(path: Path) -> bool:
    """Whether something is there that a new directory would replace; an empty one is not."""
    return path.exists() and (not path.is_dir() or any(path.iterdir()))


def remove_partials(directory: Path) -> None:
    """Remove what interrupted writes left in a directory and those below it."""
    for partial in directory.rglob(f".*{PARTIAL_SUFFIX}"):
        partial.unlink(missing_ok=True)


def sync_directory(directory: Path) -> None:
    """Make a rename durable; file systems that cannot sync a directory are left alone."""
    with contextlib.suppress(OSError):
        descriptor = os.open(directory, os.O_RDONLY)
        try:
            os.fsync(descriptor)
        finally:
            os.close(descriptor)
