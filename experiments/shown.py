"""The commands that the README and the matrices' cards show, with what they print.

``python -m experiments.shown`` runs them and writes their output into the pages; a test compares.
"""

import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).parents[1]
CARDS = tuple(sorted((ROOT / "matrices").glob("kernelbench-*/README.md")))
PAGES = (ROOT / "README.md", *CARDS)

_BLOCK = re.compile(r"(?<=^```\n)\$ suiteopt .*?(?=^```$)", re.M | re.S)


def shown(text: str) -> Iterator[tuple[str, list[str]]]:
    """Yield the commands that a page shows with their output, and that output."""
    for block in _BLOCK.findall(text):
        for part in _parts(block):
            command, *lines = part.rstrip().splitlines()
            yield command, lines


def answer(command: str) -> str:
    """Run a command of `suiteopt` in the checkout and return what it prints."""
    program = "import sys; from suiteopt.cli.main import run; sys.argv[0] = 'suiteopt'; run()"
    done = subprocess.run(
        [sys.executable, "-c", program, *command.split()[1:]],
        cwd=ROOT,
        capture_output=True,
        text=True,
        timeout=300,
        check=True,
    )
    return done.stdout


def renewed(text: str) -> str:
    """Return a page with what its commands print today."""
    return _BLOCK.sub(lambda block: _answered(block[0]), text)


def _answered(block: str) -> str:
    commands = [part.splitlines()[0] for part in _parts(block)]
    answers = [
        "\n".join(line.rstrip() for line in answer(command).rstrip().splitlines())
        for command in commands
    ]
    return "\n\n".join(f"$ {c}\n{a}" for c, a in zip(commands, answers, strict=True)) + "\n"


def _parts(block: str) -> list[str]:
    return re.split(r"^\$ ", block, flags=re.M)[1:]


if __name__ == "__main__":
    for page in PAGES:
        page.write_text(renewed(page.read_text("utf-8")), "utf-8")
        print(page.relative_to(ROOT))
