"""What reaches a terminal: no control characters of foreign files, no blanks at the end."""

import subprocess
import sys
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from rich.table import Table

from suiteopt.cli.show import show
from suiteopt.console import escaped, run_script, stdout
from suiteopt.errors import UserError
from tests.suiteopt.builders import tiny_matrix

ROOT = Path(__file__).parents[2]


@given(st.text())
def test_escaped_text_is_printable_but_for_lines_and_tabs(text: str) -> None:
    found = escaped(text)
    assert not any(ord(letter) < 32 and letter not in "\n\t" for letter in found)
    assert not any(0x7F <= ord(letter) < 0xA0 for letter in found)
    assert escaped(found) == found
    if text.isprintable():
        assert found == text


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("\x1b[2Jid", r"\x1b[2Jid"),
        ("a\rb\x07", r"a\rb\x07"),
        ("\x9b31m", r"\x9b31m"),
        ("left\u202eright", r"left\u202eright"),
        ("πλ\n\t≤", "πλ\n\t≤"),
    ],
)
def test_escaped(text: str, shown: str) -> None:
    assert escaped(text) == shown


def test_tables_and_lines_are_escaped_and_end_without_blanks(
    capsys: pytest.CaptureFixture[str],
) -> None:
    table = Table("id", "kills", box=None, pad_edge=False, title="a\x1b[1mtitle")
    table.add_row("one\x1b[31m", "1")
    table.add_row("a-longer-id", "")
    console = stdout()
    console.print(table)
    console.print("and\x1b]0;x\x07 a line   ", soft_wrap=True)
    out = capsys.readouterr().out
    assert "\x1b" not in out
    assert "\x07" not in out
    assert r"one\x1b[31m" in out
    assert r"a\x1b[1mtitle" in out
    assert r"and\x1b]0;x\x07 a line" in out
    assert [line for line in out.splitlines() if line != line.rstrip()] == []
    assert out.splitlines()[-2] == "a-longer-id"


def test_a_foreign_id_is_shown_escaped(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    recipe = {"level1/001:i0": {"needs": ["val\x1b[2Jues"]}}
    tiny_matrix(tmp_path / "m", inputs=recipe)
    show("level1/001", tmp_path / "m")
    out = capsys.readouterr().out
    assert r"val\x1b[2Jues" in out
    assert "\x1b" not in out


def test_a_script_into_a_closed_pipe_ends_quietly() -> None:
    script = (
        "from suiteopt.console import run_script, stdout\n"
        "run_script(lambda: [stdout().print('line ' * 20) for _ in range(5000)] and None)"
    )
    done = subprocess.run(
        ["bash", "-c", '"$0" -c "$1" | head -1; exit ${PIPESTATUS[0]}', sys.executable, script],
        capture_output=True,
        text=True,
        check=False,
        cwd=ROOT,
    )
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.startswith("line line")


def test_a_script_s_bad_input_is_one_sentence(capsys: pytest.CaptureFixture[str]) -> None:
    def main() -> None:
        raise UserError("no such matrix; give one")

    with pytest.raises(SystemExit) as end:
        run_script(main)
    assert end.value.code == 2
    assert capsys.readouterr().err == "error: no such matrix; give one\n"


def test_what_a_script_s_main_function_returns_is_the_exit_code() -> None:
    with pytest.raises(SystemExit) as end:
        run_script(lambda: 1)
    assert end.value.code == 1
    run_script(lambda: 0)
    run_script(lambda: None)


def test_every_experiment_with_a_main_function_runs_it_so() -> None:
    plain = [
        path.name
        for path in (ROOT / "experiments").rglob("*.py")
        if '__main__":\n    main()' in path.read_text("utf-8")
    ]
    assert plain == []
