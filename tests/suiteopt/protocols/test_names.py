"""What a protocol is called: odd names and titles, and names that shipped protocols bear."""

import contextlib
import json
from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from typer.testing import CliRunner

from suiteopt.cli.main import app
from suiteopt.errors import UserError
from suiteopt.protocols import known_protocols, load_oracle, load_protocol
from suiteopt.protocols.protocol import MOST_NAME, MOST_TITLE, protocol_from
from tests.suiteopt.builders import tiny_matrix
from tests.suiteopt.report.pages import Page

BASE = {"name": "mine", "comparator": "rms", "tolerance": 1e-5, "trials": 2}
MARKUP = "[bold]x[/] <script>alert(1)</script> :key: {{ 1 }} & co"


@pytest.fixture
def write(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[..., str]:
    monkeypatch.chdir(tmp_path)
    tiny_matrix(tmp_path / "m", own=True)

    def write(file: str = "mine.toml", **keys: object) -> str:
        lines = [f"{key} = {json.dumps(value)}\n" for key, value in {**BASE, **keys}.items()]
        (tmp_path / file).write_text("".join(lines))
        return file

    return write


def told(*words: str) -> str:
    done = CliRunner().invoke(app, [*words, "--matrix", "m"])
    assert done.exit_code == 0, (done.output, done.exception)
    return done.stdout


@pytest.mark.parametrize("key", ["title", "source"])
def test_line_breaks_are_folded_and_long_texts_refused(key: str) -> None:
    assert getattr(protocol_from({**BASE, key: " a\n\tb  c\r\n"}, "f"), key) == "a b c"
    assert getattr(protocol_from({**BASE, key: "x" * MOST_TITLE}, "f"), key) == "x" * MOST_TITLE
    for text in (
        "x" * (MOST_TITLE + 1),
        "\x1b[2Jgone",
        "a\x00b",
        "\u202eright",
        "",
        " \n",
        3,
        ["x"],
    ):
        with pytest.raises(UserError, match=f"its {key} is no text of at most"):
            protocol_from({**BASE, key: text}, "f")


@pytest.mark.parametrize("name", ["", " ", "a\nb", "\x1b[31m", "x" * (MOST_NAME + 1), 3, None])
def test_names_are_one_short_line(name: object) -> None:
    with pytest.raises(UserError, match="its name is no text of one line"):
        protocol_from({**BASE, "name": name}, "f")


@given(st.text(), st.text())
def test_whatever_is_taken_can_be_printed_on_one_line(name: str, title: str) -> None:
    found = None
    with contextlib.suppress(UserError):
        found = protocol_from({**BASE, "name": name, "title": title}, "f")
    if found is None:
        return
    assert (found.name + found.title).isprintable()
    assert ":" not in found.name


def test_markup_is_printed_as_it_stands(write: Callable[..., str]) -> None:
    file = write(title=MARKUP)
    assert MARKUP in told("audit", "-p", file)
    told("report", "-o", "r", "--repeats", "1", "-p", file)
    page = Page((Path("r") / "index.html").read_text()).root
    assert MARKUP in page.by_id("headline").text
    assert len(page.find("script")) == 1
    told("exchange", "junit", "-o", "j.xml", "-p", write(name="<&>\"'"))
    assert 'name="&lt;&amp;&gt;&quot;\'"' in Path("j.xml").read_text()


def test_a_shipped_name_in_a_file_is_told_apart(write: Callable[..., str]) -> None:
    file = write("ours.toml", name="kernelbench")
    found = load_protocol(file)
    assert found.name == found.title == "kernelbench (ours.toml)"
    assert load_protocol("kernelbench") == known_protocols()["kernelbench"]
    answer = json.loads(told("audit", "-p", file, "--json"))
    assert answer["protocol"] == "kernelbench (ours.toml)"
    assert "kernelbench" in answer["compared"]  # and is not taken for the file
    assert told("audit", "-p", file).startswith("kernelbench (ours.toml)")
    split = told("audit", "--from", "kernelbench", "--to", file)
    assert split.startswith("kernelbench detects ")
    assert ", kernelbench (ours.toml) " in split


def test_two_files_of_one_name_are_told_apart(write: Callable[..., str]) -> None:
    first, second = write("old.toml", tolerance=1e-2), write("new.toml")
    found = told("audit", "--from", first, "--to", second)
    assert found.startswith("mine (old.toml) detects ")
    assert ", mine (new.toml) " in found


def test_a_suite_is_judged_again_by_the_file_that_it_was_chosen_under(
    write: Callable[..., str],
) -> None:
    file = write("ours.toml", name="kernelbench", tolerance=0.25)
    told("select", "-k", "1", "--oracle", file, "-o", "suite.json")
    oracle = json.loads(Path("suite.json").read_text())["oracle"]
    assert load_oracle(oracle) == load_protocol(file).oracle
    assert load_oracle(oracle).tolerance == 0.25
    told("survivors", "--suite", "suite.json")
