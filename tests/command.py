"""Run a command line in this process."""

import json
import sys
import warnings
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import pytest

QUIET = (DeprecationWarning, PendingDeprecationWarning, ImportWarning, ResourceWarning)
"""Warnings that Python keeps from users."""


@dataclass(frozen=True)
class Answer:
    """What a command left."""

    code: int
    out: str
    err: str

    @property
    def json(self) -> dict[str, Any]:
        """Standard output, which must be exactly one JSON object."""
        answer = json.loads(self.out)
        assert isinstance(answer, dict)
        return answer

    @property
    def sentence(self) -> str:
        """The only line on standard error, after the word error."""
        lines = [line for line in self.err.splitlines() if not line.startswith("gpu-eval: ")]
        assert len(lines) == 1, self.err
        assert lines[0].startswith("error: ")
        return lines[0].removeprefix("error: ")


class Command:
    """Calls a command by its name, with arguments.

    Parameters
    ----------
    name : str
    run : callable
        The entry of its console script, which ends the process.
    monkeypatch, capsys : fixtures of pytest
    """

    def __init__(
        self,
        name: str,
        run: Callable[[], None],
        monkeypatch: pytest.MonkeyPatch,
        capsys: pytest.CaptureFixture[str],
    ) -> None:
        self._name = name
        self._run = run
        self._monkeypatch = monkeypatch
        self._capsys = capsys

    def __call__(self, *arguments: object) -> Answer:
        self._monkeypatch.setattr(sys, "argv", [self._name, *map(str, arguments)])
        self._capsys.readouterr()
        with warnings.catch_warnings(record=True) as told:
            # As in a process of its own: users see them on standard error.
            warnings.simplefilter("default")
            for category in QUIET:
                warnings.simplefilter("ignore", category)
            with pytest.raises(SystemExit) as ended:
                self._run()
        captured = self._capsys.readouterr()
        err = captured.err + "".join(
            warnings.formatwarning(w.message, w.category, w.filename, w.lineno) for w in told
        )
        code = ended.value.code
        return Answer(int(code) if code is not None else 0, captured.out, err)
