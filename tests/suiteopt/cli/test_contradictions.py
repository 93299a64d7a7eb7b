"""Options that do not go together are refused in one sentence, and nothing is written."""

from pathlib import Path

import pytest
from typer.testing import CliRunner

from suiteopt.cli.main import app
from suiteopt.errors import UserError
from suiteopt.protocols.loader import load_protocol
from tests.suiteopt.builders import tiny_matrix
from tests.suiteopt.export.samples import tree

REFUSED = [
    ("select --per family", "add --detect"),
    ("select --overall", "add --detect"),
    ("select --detect 0.5 --per family --overall", "give one of them"),
    ("select --max-ms inf", "give a number above 0"),
    ("select --max-ms nan", "give a number above 0"),
    ("select -k 99999999999999999999", "give a smaller one"),
    ("select -k 0", "give at least 1"),
    ("select --kills 5", "give --budget 5 or more"),
    ("select --kills 3 -k 2", "give --budget 3 or more"),
    ("select --max-bytes 1", "give larger ones"),
    ("select --review pool --detect 0.3", "leave --detect out"),
    ("select --review pool --include x", "leave --include out"),
    ("select --review pool -o suite.json", "leave --output out"),
    ("select --review pool -k 3", "leave --budget out"),
    ("select --review pool --objective held-out", "leave --objective out"),
    ("select --oracle best-fixed --objective held-out", "leave --objective held-out out"),
    ("crossval --oracle best-fixed --objective held-out", "leave --objective held-out out"),
    ("report -o page -k 0", "give at least 1"),
    ("crossval --curve --oracle fixed:1", "leave --oracle"),
    ("crossval --curve --open-locked", "leave --oracle"),
    ("crossval --curve --objective held-out", "leave --oracle"),
    ("exchange junit -o gate.xml --per-problem", "add --fail-under"),
    ("audit --comparator rms", "belongs to --ceiling"),
    ("audit --refereeability --comparator rms", "belongs to --ceiling"),
    ("audit --figure band.svg", "belongs to --blind-band"),
    ("audit --blind-band --figure band.png", "call it .svg"),
    ("audit --blind-band --denominator valid", "leave --denominator out"),
    ("audit --ceiling --denominator valid", "leave --denominator out"),
    ("audit --refereeability --denominator valid", "leave --denominator out"),
    ("audit --ceiling --protocol kernelbench", "leave it out"),
    ("audit --from kernelbench", "give --from A and --to B"),
    ("audit --ceiling --blind-band", "ask one at a time"),
    ("show level1/019 --protocol kernelbench", "leave it out of a problem"),
    ("report -o page --suite suite.json -k 0", "leave them out"),
    ("survivors --suite suite.json --oracle fixed:1", "leave --oracle out"),
    ("exchange junit -o g.xml --suite s.json --oracle fixed:1", "give one of them"),
    ("export --remove --repo . --dry-run", "leave --dry-run out"),
    ("export --remove --repo . -o suite.json", "leave --output out"),
    ("export suite.json --to json --repo . --dry-run -o x.json", "leave --output out"),
]


@pytest.mark.parametrize(("command", "sentence"), REFUSED)
def test_refused(
    command: str, sentence: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    result = CliRunner().invoke(app, command.split())
    assert isinstance(result.exception, UserError)
    assert sentence in str(result.exception)
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("text", ["trials = " + "9" * 5000, "inputs = " + "[" * 20000])
def test_a_protocol_beyond_what_a_parser_takes(text: str, tmp_path: Path) -> None:
    path = tmp_path / "protocol.toml"
    path.write_text(text)
    with pytest.raises(UserError, match=r"is no TOML file \(.*\); correct it"):
        load_protocol(str(path))


@pytest.mark.parametrize("command", ["verify .", "check suite.json level1/019 candidate.py"])
@pytest.mark.parametrize("most", ["0", "-5", "1e9"])
def test_a_number_of_bytes_is_a_whole_one_above_zero(command: str, most: str) -> None:
    result = CliRunner().invoke(app, [*command.split(), "--max-bytes", most])
    assert result.exit_code == 2
    assert "--max-bytes" in result.output


@pytest.mark.parametrize(
    "command",
    [
        "exchange stryker -o m/matrix.json",
        "exchange major -o m",
        "exchange junit -o link/cells/j.xml",
        "report -o m/page --repeats 1",
        "report -o . --repeats 1 --matrix .",
        "audit --blind-band --figure m/band.svg",
    ],
)
def test_nothing_is_written_into_the_matrix(
    command: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    tiny_matrix(tmp_path / "m", own=True)
    (tmp_path / "link").symlink_to(tmp_path / "m")
    before = tree(tmp_path / "m")
    monkeypatch.chdir(tmp_path / "m" if "--matrix ." in command else tmp_path)
    words = command.split() if "--matrix" in command else [*command.split(), "--matrix", "m"]
    result = CliRunner().invoke(app, words)
    assert isinstance(result.exception, UserError)
    assert "lies in the matrix that is read" in str(result.exception)
    assert tree(tmp_path / "m") == before


@pytest.mark.parametrize(
    "command",
    [
        "survivors --suite {}",
        "audit -p {}.toml",
        "report -o r --suite {}",
        "show x --oracle {}.toml",
    ],
)
def test_a_directory_for_a_file_is_one_sentence(
    command: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    tiny_matrix(tmp_path / "m", own=True)
    (tmp_path / "d").mkdir()
    (tmp_path / "d.toml").mkdir()
    monkeypatch.chdir(tmp_path)
    result = CliRunner().invoke(app, [*command.format("d").split(), "--matrix", "m"])
    assert isinstance(result.exception, UserError)
    assert "cannot be read" in str(result.exception)
    assert "; give " in str(result.exception)
