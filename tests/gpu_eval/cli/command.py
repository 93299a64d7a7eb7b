"""Run the command line in this process."""

import json
import sys
from dataclasses import dataclass
from typing import Any

import pytest

from gpu_eval.cli.main import run


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
    """Calls ``gpu-eval`` with arguments."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
        self._monkeypatch = monkeypatch
        self._capsys = capsys

    def __call__(self, *arguments: object) -> Answer:
        self._monkeypatch.setattr(sys, "argv", ["gpu-eval", *map(str, arguments)])
        self._capsys.readouterr()
        with pytest.raises(SystemExit) as ended:
            run()
        captured = self._capsys.readouterr()
        code = ended.value.code
        return Answer(int(code) if code is not None else 0, captured.out, captured.err)
