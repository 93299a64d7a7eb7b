"""A child that lies, floods, hangs or leaves: it is told so, and nothing of it stays."""

import os
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from suiteopt.check.child import Child, ChildError, ChildStartError, ChildTimeout
from suiteopt.check.plain import plain

ROOT = Path(__file__).resolve().parents[3]
Opener = Callable[[str], Child]


@pytest.fixture
def impostor(tmp_path: Path) -> Iterator[Opener]:
    opened = []

    def start(how: str) -> Child:
        environment = {"IMPOSTOR": how, "PYTHONPATH": str(ROOT), "PATH": os.environ["PATH"]}
        child = Child("tests.suiteopt.check.impostor", tmp_path, environment, 1 << 17)
        opened.append(child)
        return child

    yield start
    for child in opened:
        child.close()


def alive(number: int) -> bool:
    try:
        state = Path(f"/proc/{number}/stat").read_text().rpartition(")")[2].split()[0]
    except OSError:
        return False
    return state != "Z"


def test_questions_are_answered_and_the_child_reads_nothing_of_them(impostor: Opener) -> None:
    child = impostor("echo")
    long = "ü" * 200_000  # longer than a pipe holds, answered shortly
    with pytest.raises(ChildError, match="too long"):
        child.ask({"n": long}, 60)
    child = impostor("echo")
    assert child.ask({"n": 1}, 60) == {"echo": {"n": 1}, "stdin": ""}
    assert child.ask({"n": 2}, 60)["echo"] == {"n": 2}


@pytest.mark.parametrize(
    ("how", "says"),
    [
        ("garbage", "no JSON"),
        ("number", "no object"),
        ("deep", "no JSON"),
        ("twice", "more than it was asked"),
        ("endless", "too long"),
        ("exit", r"ended with exit code 3: \[2Jall is well$"),
        ("signal", "died of signal 11"),
    ],
)
def test_what_is_no_answer_is_said(impostor: Opener, how: str, says: str) -> None:
    child = impostor(how)
    with pytest.raises(ChildError, match=says):
        child.ask({}, 60)
    assert not child.alive


@pytest.mark.parametrize("how", ["hang", "flood"])
def test_a_deadline_holds(impostor: Opener, how: str) -> None:
    child = impostor(how)
    with pytest.raises(ChildTimeout, match=r"within 0\.3 seconds"):
        child.ask({}, 0.3)
    assert not child.alive


def test_an_exit_of_the_model_is_an_answer(impostor: Opener) -> None:
    assert impostor("raise").ask({}, 60) == {"error": "SystemExit: no more"}


def test_one_that_does_not_come_up_is_said(impostor: Opener) -> None:
    with pytest.raises(ChildStartError, match="exit code 7"):
        impostor("absent").ask({}, 60)


def test_what_left_the_group_is_killed_too(impostor: Opener) -> None:
    child = impostor("daemon")
    daemon = child.ask({}, 60)["daemon"]
    assert alive(daemon)
    child.close()
    for _ in range(100):
        if not alive(daemon):
            break
        time.sleep(0.05)
    assert not alive(daemon)


def test_shown_text_is_one_short_line_without_orders() -> None:
    assert plain("a\n\tb\033[31mred\u202e") == "a b [31mred"
    assert len(plain("x" * 10_000)) == 200
