"""The commands that the README and the matrices' cards show, with what they print.

``python -m experiments.shown`` runs them and writes their output into the pages; a test compares.
"""

import json
import re
import subprocess
import sys
from collections.abc import Iterator, Mapping
from functools import cache
from pathlib import Path
from typing import Any

from suiteopt.console import run_script
from suiteopt.errors import UserError

ROOT = Path(__file__).parents[1]
CARDS = tuple(sorted((ROOT / "matrices").glob("kernelbench-*/README.md")))
PAGES = (ROOT / "README.md", *CARDS)

CHECKS = {
    "KernelBench v0.1: five draws, 1e-2": "kernelbench-v0.1",
    "KernelBench today: five draws, 1e-4": "kernelbench",
    "KernelBench-Verified": "kernelbench-verified",
}
CHOSEN = "two chosen inputs a problem, calibrated"

_CHECKS = re.compile(
    "^\\| (" + "|".join(re.escape(title) for title in (*CHECKS, CHOSEN)) + ") \\| .*$", re.M
)
_BLOCK = re.compile(r"(?<=^```\n)\$ suiteopt .*?(?=^```$)", re.M | re.S)


def shown(text: str) -> Iterator[tuple[str, list[str]]]:
    """Yield the commands that a page shows with their output, and that output."""
    for block in _BLOCK.findall(text):
        for part in _parts(block):
            command, *lines = part.rstrip().splitlines()
            yield command, lines


def answer(command: str) -> str:
    """Return what a command of `suiteopt` prints in the checkout; ``| tail -n N`` cuts it."""
    words, _, cut = command.partition(" | ")
    printed = _printed(words)
    if not cut:
        return printed
    which, _, count = cut.split()
    lines = printed.rstrip().splitlines()
    kept = {"head": slice(int(count)), "tail": slice(-int(count), None)}[which]
    return "\n".join(lines[kept])


@cache
def _printed(command: str) -> str:
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
    """Return a page with what its commands print today, and the table of checks."""
    text = _BLOCK.sub(lambda block: _answered(block[0]), text)
    if not _CHECKS.search(text):
        return text
    rows = iter(checks_table())
    return _CHECKS.sub(lambda _: next(rows), text)


def checks_table() -> list[str]:
    """Return the rows of the README's first table: what `audit`, `crossval` and a finding say."""
    wild = json.loads((ROOT / "experiments/results/finding-wild-kernels.json").read_text("utf-8"))[
        "ours"
    ]
    audited, rows, controls = answer("suiteopt audit"), [], 0
    for title, name in CHECKS.items():
        _, detected, _, inside, _, rejected, *rests_on = _cells(audited, name)
        # The column is there when the protocols are judged on different problems.
        detected += f" on {rests_on[0]}" if rests_on and " of " in rests_on[0] else ""
        controls = max(controls, int(rejected.split()[-1]))  # the suite is judged on all problems
        rows.append(f"| {title} | {detected} | {inside} | {rejected} | {_caught(wild[name])} |")
    validated = answer("suiteopt crossval --budget 2")
    whole, visible = _cells(validated, "witnessed"), _cells(validated, "output")
    chosen = re.search(r"; (\d+) correct cells rejected;", answer("suiteopt select --budget 2"))
    if chosen is None or chosen[1] != "0":
        raise UserError("the chosen suite rejects correct cells: the README's table says none")
    rows.append(
        f"| {CHOSEN} | {whole[2]} (held out by site {whole[3]}) | {visible[2]} ({visible[3]}) "
        f"| 0 of {controls} | {_caught(wild['chosen two, calibrated'])} |"
    )
    return rows


def _cells(printed: str, start: str) -> list[str]:
    """Return the cells of the line of a printed table that begins so."""
    for line in printed.splitlines():
        if line.startswith(f"{start}  "):
            return re.split(r"  +", line.strip())
    raise UserError(f"the README's table needs a line {start}, and the answer has none:\n{printed}")


def _caught(check: Mapping[str, Any]) -> str:
    wrong = check["wrong"]["in_output"]
    return f"{wrong['detected']} of {wrong['kernels']}"


def _answered(block: str) -> str:
    commands = [part.splitlines()[0] for part in _parts(block)]
    answers = [
        "\n".join(line.rstrip() for line in answer(command).rstrip().splitlines())
        for command in commands
    ]
    return "\n\n".join(f"$ {c}\n{a}" for c, a in zip(commands, answers, strict=True)) + "\n"


def _parts(block: str) -> list[str]:
    return re.split(r"^\$ ", block, flags=re.M)[1:]


def main() -> None:
    """Rewrite all pages."""
    for page in PAGES:
        page.write_text(renewed(page.read_text("utf-8")), "utf-8")
        print(page.relative_to(ROOT))


if __name__ == "__main__":
    run_script(main)
