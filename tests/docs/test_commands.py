"""Every command line on every page is one that the programs take: no option is misspelt or gone."""

import re
import shlex
from pathlib import Path

import pytest
from typer.main import get_command

from gpu_eval.cli.main import app as gpu_eval_app
from suiteopt.cli.main import app as suiteopt_app

ROOT = Path(__file__).parents[2]
PAGES = [ROOT / "README.md", ROOT / "CONTRIBUTING.md", *sorted((ROOT / "docs").rglob("*.md"))]
APPS = {"suiteopt": suiteopt_app, "gpu-eval": gpu_eval_app}
_BLOCK = re.compile(r"^```(?:console|sh|bash|yaml)?\n(.*?)^```|((?:^    \S.*\n)+)", re.S | re.M)
_LINE = re.compile(r"^\s*(?:\$ |(?:- )?run: )?((?:suiteopt|gpu-eval) [a-z].*)$")
_PROSE = re.compile(r"`((?:suiteopt|gpu-eval) [a-z][^`\n]*)`")
_PLACEHOLDERS = {"K": "2", "SHARE": "0.5", "N": "3", "B": "100", "DIR": "dir", "FORMAT": "junit"}


def lines(page: Path) -> list[tuple[str, bool]]:
    """Return command lines, and whether each stands in a block, whole."""
    text = page.read_text("utf-8")
    blocks = "".join(a or b for a, b in _BLOCK.findall(text)).replace("\\\n", " ")
    found = [match[1] for match in map(_LINE.match, blocks.splitlines()) if match]
    whole = {line: " ..." not in line for line in found}
    return list({**dict.fromkeys(_PROSE.findall(text), False), **whole}.items())


ALL = [(page, line, whole) for page in PAGES for line, whole in lines(page)]
WHOLE = {line for _, line, whole in ALL if whole}


def parse(line: str) -> None:
    """Read a command line as its program would, and run nothing.

    In prose, and before an ellipsis, a command need not have all that it needs.
    """
    words = shlex.split(re.split(r"\s[|>]|\s&&|;", line)[0], comments=True)
    group = get_command(APPS[words[0]])
    context = group.make_context(words[0], [], resilient_parsing=True)
    rest = [_PLACEHOLDERS.get(word, word) for word in words[1:] if word != "..."]
    while hasattr(group, "get_command") and rest:
        name = rest.pop(0)
        command = group.get_command(context, name)
        assert command is not None, f"No such command {name}"
        group = command
        if hasattr(command, "get_command"):
            context = command.make_context(name, [], parent=context, resilient_parsing=True)
            continue
        try:
            command.make_context(name, rest, parent=context)
        except Exception as error:
            # Typer's own usage errors are told by their names, whichever Click they came with.
            partial = type(error).__name__ == "MissingParameter" or "requires a" in str(error)
            if not (partial and line not in WHOLE):
                raise
        return


def test_pages_have_commands() -> None:
    assert len(ALL) > 60


@pytest.mark.parametrize("line", sorted({line for _, line, _ in ALL}))
def test_a_command_of_a_page_is_understood(line: str) -> None:
    parse(line)


@pytest.mark.parametrize(
    "line", ["suiteopt select --bugdet 2", "suiteopt audti", "gpu-eval run --x"]
)
def test_a_wrong_one_is_not(line: str) -> None:
    with pytest.raises(Exception, match="No such"):
        parse(line)
