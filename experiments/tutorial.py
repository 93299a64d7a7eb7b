"""Runs the commands of ``docs/tutorial.md`` and writes what they print under them.

``python -m experiments.tutorial`` rewrites the page from the default matrix; with ``--check`` it
only says which answers have changed. Commands stand in blocks called ``console``, behind a dollar
sign; they run one after the other in one new folder beside a link to ``matrices``.
"""

import argparse
import os
import re
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from suiteopt.matrix.files import write_atomic

ROOT = Path(__file__).resolve().parents[1]
PAGE = ROOT / "docs" / "tutorial.md"
PROMPT = "$ "
_BLOCK = re.compile(r"(<!-- slow -->\n)?```console\n(.*?)```", re.S)
_SECONDS = re.compile(r"\b\d+(\.\d+)? s\b")


@dataclass(frozen=True)
class Step:
    """A command and what the page says that it prints.

    Attributes
    ----------
    command, printed : str
    slow : bool
        Whether the test leaves it to this script.
    """

    command: str
    printed: str
    slow: bool


def steps(page: str) -> list[Step]:
    """Return the commands of a page, in order."""
    return [
        Step(command, printed, bool(block[1]))
        for block in _BLOCK.finditer(page)
        for command, printed in _answers(block[2])
    ]


def run(commands: list[str]) -> Iterator[str]:
    """Run commands in a folder of their own; yield what each prints, without trailing blanks."""
    environment = {
        **os.environ,
        "PATH": os.pathsep.join([str(Path(sys.executable).parent), os.environ.get("PATH", "")]),
        "PYTHONPATH": os.pathsep.join([str(ROOT), os.environ.get("PYTHONPATH", "")]),
        "COLUMNS": "100",
        "LC_ALL": "C.UTF-8",
    }
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name).resolve()
        (folder / "matrices").symlink_to(ROOT / "matrices")
        for command in commands:
            done = subprocess.run(
                ["bash", "-o", "pipefail", "-c", command],
                cwd=folder, env=environment, text=True, check=False,
                stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
            )  # fmt: skip
            # `head` may go away before all is said; anything else is a page that does not work.
            if done.returncode not in (0, 141):
                raise SystemExit(f"{command} ends with {done.returncode}: {done.stdout}")
            lines = done.stdout.replace(f"{folder}/", "").splitlines()
            yield "".join(f"{line.rstrip()}\n" for line in lines)


def alike(first: str, second: str) -> bool:
    """Whether two answers are equal but for how long they took."""
    return _SECONDS.sub("? s", first) == _SECONDS.sub("? s", second)


def rewritten(page: str, printed: dict[str, str]) -> str:
    """Return a page with these answers under their commands; others stay, and so do like ones."""

    def block(match: re.Match[str]) -> str:
        parts = []
        for command, old in _answers(match[2]):
            new = printed.get(command, old)
            parts.append(f"{PROMPT}{command}\n{old if alike(old, new) else new}")
        return f"{match[1] or ''}```console\n{''.join(parts)}```"

    return _BLOCK.sub(block, page)


def _answers(block: str) -> list[tuple[str, str]]:
    found: list[tuple[str, str]] = []
    for line in block.splitlines(keepends=True):
        if line.startswith(PROMPT):
            found.append((line.removeprefix(PROMPT).rstrip("\n"), ""))
        else:
            command, printed = found[-1]
            found[-1] = (command, printed + line)
    return found


def main() -> int:
    """Rewrite the page, or check it."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--check", action="store_true")
    arguments = parser.parse_args()
    page = PAGE.read_text(encoding="utf-8")
    commands = [step.command for step in steps(page)]
    printed = dict(zip(commands, run(commands), strict=True))
    new = rewritten(page, printed)
    if new == page:
        return 0
    if arguments.check:
        print("docs/tutorial.md says something else: run `python -m experiments.tutorial`")
        return 1
    write_atomic(PAGE, new.encode())
    return 0


if __name__ == "__main__":
    sys.exit(main())
