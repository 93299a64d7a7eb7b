"""Compiled files kept by the content of everything that they depend on."""

import contextlib
import hashlib
import json
import os
import tempfile
from collections.abc import Iterable
from dataclasses import asdict, dataclass
from pathlib import Path

from suiteopt.errors import UserError


def content_hash(parts: Iterable[str | bytes]) -> str:
    """Hash a sequence of texts; where one ends and the next begins matters."""
    digest = hashlib.sha256()
    for part in parts:
        data = part.encode() if isinstance(part, str) else part
        digest.update(len(data).to_bytes(8, "little"))
        digest.update(data)
    return digest.hexdigest()


def write_atomically(path: Path, data: bytes, *, durable: bool = True) -> None:
    """Write a file whole or not at all.

    Parameters
    ----------
    path : Path
    data : bytes
    durable : bool
        Whether it must survive a loss of power the moment this returns.

    Raises
    ------
    UserError
        If the directory cannot be written or the disk is full.
    """
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        handle, name = tempfile.mkstemp(prefix=f".{path.name}.", dir=path.parent)
        try:
            with os.fdopen(handle, "wb") as file:
                file.write(data)
                file.flush()
                if durable:
                    os.fsync(file.fileno())
            os.replace(name, path)
        except BaseException:
            Path(name).unlink(missing_ok=True)
            raise
    except OSError as error:
        raise UserError(
            f"cannot write {path}: {error.strerror or error}; "
            "free space or choose another directory"
        ) from error


def default_cache() -> Path:
    """Return where compiled files go by default: ``SUITEOPT_CACHE``, or the user's cache.

    Where that cannot be written, a directory of the user's own beside the temporary files.
    """
    chosen = os.environ.get("SUITEOPT_CACHE")
    if chosen:
        return Path(chosen)
    home = os.environ.get("XDG_CACHE_HOME")
    # No home, or one that cannot be looked at, is no reason to stop.
    with contextlib.suppress(RuntimeError, StopIteration, OSError):
        usual = Path(home) if home else Path.home() / ".cache"
        place = next(p for p in (usual, *usual.parents) if p.exists())
        if os.access(place, os.W_OK):
            return usual / "suiteopt"
    return Path(tempfile.gettempdir()) / f"suiteopt-{os.getuid()}"


@dataclass(frozen=True)
class Entry:
    """What is remembered of one compiled source.

    Attributes
    ----------
    unit : str
        Name of the loadable file in the cache; empty if the source did not compile.
    symbol, machine_code, error : str
        As in `gpu_eval.devices.base.Binary`.
    """

    unit: str
    symbol: str
    machine_code: str
    error: str


class BinaryCache:
    """A directory of units and, for each source, which unit holds it.

    Parameters
    ----------
    directory : Path
        Made when first written to.
    """

    def __init__(self, directory: Path) -> None:
        self.directory = directory.absolute()

    def unit_path(self, unit: str) -> Path:
        """Return where a unit lies."""
        return self.directory / "units" / unit

    def find(self, key: str) -> Entry | None:
        """Return what is known of a source; None if nothing or if its unit is gone."""
        try:
            stored = json.loads(self._entry_path(key).read_text())
            entry = Entry(**{name: str(stored[name]) for name in Entry.__dataclass_fields__})
        except (OSError, ValueError, KeyError, TypeError):
            return None
        if entry.unit and not self.unit_path(entry.unit).is_file():
            return None
        return entry

    def add_unit(self, unit: str, data: bytes) -> None:
        """Store a loadable file."""
        write_atomically(self.unit_path(unit), data)

    def add(self, key: str, entry: Entry) -> None:
        """Remember a source; its unit must have been stored before."""
        text = json.dumps(asdict(entry), indent=1, sort_keys=True)
        # Thousands of small files: one that a loss of power empties is read as a miss.
        write_atomically(self._entry_path(key), text.encode(), durable=False)

    def _entry_path(self, key: str) -> Path:
        return self.directory / "entries" / key[:2] / f"{key}.json"
