"""The append-only record of a campaign: what is done, and which cell killed a worker.

One JSON object a line, each forced to the disk. A line that a power cut tore is ignored, since
its task is then merely run again: tasks are idempotent.
"""

import json
import os
import time
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from gpu_eval.campaign.attendance import Attendance
from suiteopt.errors import UserError
from suiteopt.matrix.files import sha256


@dataclass(frozen=True)
class Verdict:
    """A cell whose run took its worker down, and what is recorded for it.

    Attributes
    ----------
    subject, input : str
        Ids of the implementation and the input.
    status : str
        ``crash`` or ``timeout``.
    message : str
    """

    subject: str
    input: str
    status: str
    message: str


class Journal:
    """The journal of one campaign directory.

    Parameters
    ----------
    path : Path
        The file; created when it is not there.
    shards : Path
        Directory that holds the files which the journal vouches for.
    """

    def __init__(self, path: Path, shards: Path) -> None:
        self._path = path
        self._shards = shards
        self._done: dict[str, dict[str, str]] = {}
        self._verdicts: dict[str, list[Verdict]] = {}
        self._shattered: set[str] = set()
        self._devices: list[dict[str, str]] = []
        self._began = time.monotonic()
        self._sitting = 0.0
        self._before = 0.0
        for entry in _read(path):
            self._take(entry)

    def done(self, key: str, files: Mapping[str, str]) -> None:
        """Record that a task's result files (name to SHA-256) lie in the shards' directory."""
        self._append({"event": "done", "key": key, "files": dict(files)})

    def verdict(self, key: str, verdict: Verdict) -> None:
        """Record a cell that takes down the worker of a task."""
        self._append(
            {
                "event": "verdict",
                "key": key,
                "subject": verdict.subject,
                "input": verdict.input,
                "status": verdict.status,
                "message": verdict.message,
            }
        )

    def shatter(self, key: str) -> None:
        """Record that a task is replaced by one task an implementation."""
        self._append({"event": "shatter", "key": key})

    def attendance(self, found: Attendance) -> None:
        """Record whether there were workers for what there was to do."""
        self._append({"event": "attendance", **found.as_dict()})

    def sit_down(self, began: float, device: Mapping[str, str]) -> None:
        """Record that the campaign was started or resumed.

        Parameters
        ----------
        began : float
            A moment of ``time.monotonic``.
        device : mapping of str to str
            What the device says of itself, for whoever reads the results without having it.
        """
        self._began = began
        self._append({"event": "sitting", "device": dict(device)})

    def stand_up(self) -> None:
        """Record that the campaign is done or interrupted for now."""
        self._append({"event": "break"})

    @property
    def seconds(self) -> float:
        """Wall-clock seconds of all sittings, each up to its last line."""
        return self._before + self._sitting

    @property
    def devices(self) -> tuple[Mapping[str, str], ...]:
        """What the sittings' devices say of themselves, the latest first, each once."""
        return tuple(reversed(self._devices))

    def verdicts(self, key: str) -> tuple[Verdict, ...]:
        """Return the recorded verdicts on cells of a task."""
        return tuple(self._verdicts.get(key, ()))

    def is_shattered(self, key: str) -> bool:
        """Tell whether a task was replaced by smaller ones."""
        return key in self._shattered

    def intact(self, key: str) -> bool:
        """Tell whether a task is done and every file it left has the recorded hash."""
        files = self._done.get(key)
        if files is None:
            return False
        for name, expected in files.items():
            try:
                data = (self._shards / name).read_bytes()
            except OSError:
                return False
            if sha256(data) != expected:
                return False
        return True

    def hash_of(self, key: str, name: str) -> str | None:
        """Return the recorded hash of a file of a task."""
        return self._done.get(key, {}).get(name)

    def _append(self, entry: dict[str, Any]) -> None:
        entry = {**entry, "at": round(time.monotonic() - self._began, 3)}
        line = json.dumps(entry, sort_keys=True) + "\n"
        descriptor = os.open(self._path, os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o644)
        try:
            # A line torn by an earlier death has no end: close it, so that this one is read.
            size = os.fstat(descriptor).st_size
            if size and not _ends_with_newline(self._path, size):
                line = "\n" + line
            _write_all(descriptor, line.encode())
            os.fsync(descriptor)
        finally:
            os.close(descriptor)
        self._take(entry)

    def _take(self, entry: Mapping[str, Any]) -> None:
        match entry:
            case {"event": "done", "key": str(key), "files": dict(files)}:
                self._done[key] = {str(name): str(value) for name, value in files.items()}
            case {
                "event": "verdict",
                "key": str(key),
                "subject": str(subject),
                "input": str(cell_input),
                "status": str(status),
                "message": str(message),
            }:
                verdict = Verdict(subject, cell_input, status, message)
                self._verdicts.setdefault(key, []).append(verdict)
            case {"event": "shatter", "key": str(key)}:
                self._shattered.add(key)
            case {"event": "sitting"}:
                self._before += self._sitting
                self._sitting = 0.0
                self._see(entry.get("device"))
        at = entry.get("at")
        if isinstance(at, int | float):
            self._sitting = float(at)

    def _see(self, device: object) -> None:
        if not isinstance(device, dict):
            return
        described = {str(name): str(value) for name, value in device.items()}
        if described in self._devices:
            self._devices.remove(described)
        self._devices.append(described)


def _read(path: Path) -> list[dict[str, Any]]:
    try:
        lines = path.read_text(encoding="utf-8", errors="replace").splitlines()
    except FileNotFoundError:
        return []
    except OSError as error:
        raise UserError(f"the journal {path} cannot be read: {error.strerror}") from error
    entries = []
    for line in lines:
        try:
            entry = json.loads(line)
        except ValueError:
            continue
        if isinstance(entry, dict):
            entries.append(entry)
    return entries


def _ends_with_newline(path: Path, size: int) -> bool:
    with path.open("rb") as handle:
        handle.seek(size - 1)
        return handle.read(1) == b"\n"


def _write_all(descriptor: int, data: bytes) -> None:
    while data:
        data = data[os.write(descriptor, data) :]
