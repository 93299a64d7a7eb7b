"""The page: whole, self-contained, reachable by keyboard, and its numbers those of the audits."""

import csv
import re
import shutil
import subprocess
from pathlib import Path

import pytest
from typer.testing import CliRunner

from suiteopt.audit.checks import protocol_check, suite_check
from suiteopt.audit.score import audit_check
from suiteopt.cli.main import app
from suiteopt.cli.step_progress import steps
from suiteopt.errors import UserError
from suiteopt.importers.killmap import ForeignMutant, KillMap
from suiteopt.importers.write import write_matrix
from suiteopt.matrix.store import Matrix
from suiteopt.protocols import load_protocol
from suiteopt.report.collect import Wanted, collect
from suiteopt.report.write import write_report
from suiteopt.suite import Suite
from suiteopt.suite_json import load
from tests.suiteopt.builders import tiny_matrix
from tests.suiteopt.report.pages import Node, Page

WANTED = Wanted(repeats=2, budget=1, command="suiteopt report")
EVIL = '</pre><script>alert("x")</script>'
SECTIONS = ("headline", "families", "validation", "tolerance", "band", "ceilings", "problems",
            "survivors", "suite", "made")  # fmt: skip


@pytest.fixture(scope="module")
def matrix(tmp_path_factory: pytest.TempPathFactory) -> Matrix:
    return tiny_matrix(
        tmp_path_factory.mktemp("report") / "m",
        own=True,
        own_kills={"level1/001": [True, False, True, False, False], "level1/019": [False] * 3},
        mutants={"level1/001:m4": {"rules": [EVIL], "before": "__global__", "after": EVIL,
                                   "sites": [{"file": "kernel.cu", "start": 0, "end": 10,
                                              "line": 1, "column": 1, "end_line": 1,
                                              "end_column": 11}]}},
    )  # fmt: skip


@pytest.fixture(scope="module")
def folder(matrix: Matrix, tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("page") / "r"
    write_report(collect(matrix, WANTED), path)
    return path


@pytest.fixture(scope="module")
def page(folder: Path) -> Node:
    return Page((folder / "index.html").read_text(encoding="utf-8")).root


def table_of(folder: Path, name: str) -> list[dict[str, str]]:
    with (folder / "tables" / f"{name}.csv").open(newline="", encoding="utf-8") as file:
        return list(csv.DictReader(file))


def test_all_sections_are_there_and_every_link_leads_somewhere(page: Node, folder: Path) -> None:
    ids = [node.attributes["id"] for node in page.walk() if "id" in node.attributes]
    assert len(ids) == len(set(ids))
    assert set(SECTIONS) <= set(ids)
    for link in page.find("a"):
        target = link.attributes["href"]
        if target.startswith("#"):
            assert target[1:] in ids
        else:
            assert (folder / target).is_file(), target


def test_nothing_is_fetched(page: Node, folder: Path) -> None:
    for node in page.walk():
        for key in ("src", "srcset", "action", "data", "xlink:href"):
            assert key not in node.attributes, (node.tag, key)
        if node.tag != "a" and "href" in node.attributes:
            assert node.attributes["href"].startswith("data:")
    text = (folder / "index.html").read_text()
    outside = set(re.findall(r"(?:https?:)?//[\w.-]+\.\w+[^\s\"'<]*", text))
    assert outside <= {"http://www.w3.org/2000/svg"}
    assert "@import" not in text
    assert "url(" not in text
    (policy,) = page.find("meta", **{"http-equiv": "Content-Security-Policy"})
    assert policy.attributes["content"].startswith("default-src 'none'")


def test_it_is_made_for_keyboards_readers_and_phones(page: Node) -> None:
    assert page.find("html")[0].attributes["lang"] == "en"
    viewport = page.find("meta", name="viewport")[0].attributes["content"]
    assert "width=device-width" in viewport
    assert len(page.find("h1")) == 1
    for node in page.find("svg"):
        assert node.attributes["role"] == "img"
        assert node.attributes["aria-label"]
    for label in page.find("label"):
        assert label.find("input") or label.find("select")
    assert len(page.find("input")) + len(page.find("select")) == len(page.find("label"))
    for node in page.walk():
        if node.attributes.get("class") == "scroll":
            assert node.attributes["tabindex"] == "0"
            assert node.attributes["aria-label"]
    for head in page.find("th"):
        assert head.attributes["scope"] in ("col", "row")
    style = page.find("style")[0].text
    assert "prefers-color-scheme:dark" in style
    assert ":focus-visible" in style
    assert "max-width:30rem" in style


def test_the_headline_is_the_audits(matrix: Matrix, folder: Path, page: Node) -> None:
    suite = load((folder / "suite.json").read_text())
    before = audit_check(matrix, protocol_check(matrix, load_protocol("kernelbench")))
    after = audit_check(matrix, suite_check(matrix, suite, "s"))
    assert (before.tally.detected, after.tally.detected, after.tally.mutants) == (2, 4, 8)
    assert "accepts 75.0% of 8 wrong kernels" in page.find("h1")[0].text
    cards = page.by_id("headline").text
    assert "Missed by kernelbench 75.0%" in cards
    assert "Missed by the suite 50.0%" in cards
    assert f"{after.false_rejections} of {after.control_cells}" in cards


def test_tables_on_the_page_are_those_in_the_files(page: Node, folder: Path) -> None:
    rows = table_of(folder, "problems")
    assert [row["problem"] for row in rows] == ["level1/001", "level1/019"]
    assert [row["detected before"] for row in rows] == ["0.4", "0.0"]
    shown = page.by_id("table-problems").find("tbody")[0].find("tr")
    for row, line in zip(rows, shown, strict=True):
        cells = [cell.attributes["data-order"] for cell in (*line.find("th"), *line.find("td"))]
        for cell, value in zip(cells, row.values(), strict=True):
            assert cell == value or float(cell) == float(value)
    families = {row["family"]: row for row in table_of(folder, "families")}
    assert families["all"]["missed before"] == "0.75"
    assert families["arithmetic"]["faults"] == "2"


def test_survivors_come_with_their_diffs_and_nothing_runs(page: Node, folder: Path) -> None:
    names = [row["mutant"] for row in table_of(folder, "survivors")]
    listed = page.by_id("list-survivors").find("details")
    assert [entry.find("code")[0].text for entry in listed] == names
    assert "level1/001:m4" in names
    entry = listed[names.index("level1/001:m4")]
    added = [span.text for span in entry.find("span", **{"class": "add"})]
    assert any(EVIL in line for line in added)
    assert len(page.find("script")) == 1


def test_filters_point_at_columns_that_exist(page: Node) -> None:
    (form,) = [f for f in page.find("form") if "data-table" in f.attributes]
    heads = [
        head.text for head in page.by_id(form.attributes["data-table"]).find("th", scope="col")
    ]
    (select,) = form.find("select")
    assert heads[int(select.attributes["data-column"])] == "operation"
    assert [option.text for option in select.find("option")] == ["all", "matmul"]
    (box,) = form.find("input", type="checkbox")
    assert heads[int(box.attributes["data-positive"])] == "survivors"


def test_equal_questions_give_equal_bytes(matrix: Matrix, folder: Path, tmp_path: Path) -> None:
    write_report(collect(Matrix.open(matrix.path), WANTED), tmp_path)
    first = {p.relative_to(folder): p.read_bytes() for p in folder.rglob("*.*")}
    second = {p.relative_to(tmp_path): p.read_bytes() for p in tmp_path.rglob("*.*")}
    assert first == second
    assert len(first) >= 15


def test_a_suite_from_a_file_is_the_check_after(
    matrix: Matrix, folder: Path, tmp_path: Path
) -> None:
    from dataclasses import replace

    found = collect(matrix, replace(WANTED, suite=folder / "suite.json"))
    assert found.suite == Suite.open(folder / "suite.json")
    assert found.after is not None
    assert found.after.tally.detected == 4
    assert found.selection is None
    write_report(found, tmp_path)
    assert (tmp_path / "suite.json").read_bytes() == (folder / "suite.json").read_bytes()
    # Held out are suites that are chosen anew; the page does not say it of the given one.
    given, chosen = (
        Page((place / "index.html").read_text("utf-8")).root for place in (tmp_path, folder)
    )
    assert "had never seen" not in given.text
    assert "had never seen" in chosen.text
    for words in ("by suites that are chosen here", "The given suite itself is not judged so"):
        assert words in given.text
        assert words not in chosen.text


def test_each_step_is_told(matrix: Matrix) -> None:
    told: list[str] = []
    collect(matrix, WANTED, told.append)
    assert list(dict.fromkeys(told)) == [
        "the suite",
        "the check before",
        "survivors of the suite",
        "the suite as a check",
        "cross-validation",
        "the tolerance curve",
        "the blind band",
        "ceilings",
        "which problems can be refereed",
    ]


def test_steps_are_lines_on_standard_error_where_that_is_no_terminal(
    capsys: pytest.CaptureFixture[str],
) -> None:
    with steps("reporting") as tell:
        for step in ("the suite", "the check before", "the check before", "ceilings [1]"):
            tell(step)
    assert capsys.readouterr() == (
        "",
        "reporting: the suite\nreporting: the check before\nreporting: ceilings [1]\n",
    )


def test_what_a_matrix_cannot_say_is_said(tmp_path: Path) -> None:
    import numpy as np

    mutants = tuple(ForeignMutant(f"m{i}") for i in range(3))
    table = np.array([[3, 1], [1, 3], [1, 1]], dtype=np.int8)
    kill_map = KillMap("a tool", ("t0", "t1"), ("one", "two"), mutants, table)
    matrix = write_matrix(kill_map, "p", tmp_path / "m", "")
    found = collect(matrix, WANTED)
    assert found.before is None
    assert {"before", "band"} <= set(found.absent)
    write_report(found, tmp_path / "r")
    page = Page((tmp_path / "r" / "index.html").read_text()).root
    absent = [node.text for node in page.find("p", **{"class": "absent"})]
    assert any("cannot be judged on p" in sentence for sentence in absent)
    assert "1 chosen inputs detect all but 66.7% of 3 faults" in page.find("h1")[0].text


def test_incomplete_and_foreign_questions_are_refused(tmp_path: Path) -> None:
    matrix = tiny_matrix(tmp_path / "m", complete=False)
    with pytest.raises(UserError, match="is incomplete"):
        collect(matrix, WANTED)
    (tmp_path / "file").write_text("")
    whole = tiny_matrix(tmp_path / "w", own=True)
    with pytest.raises(UserError, match="is no directory"):
        write_report(collect(whole, WANTED), tmp_path / "file")


def test_the_command_takes_the_matrix_either_way_and_once(matrix: Matrix, tmp_path: Path) -> None:
    words = ["report", "-o", str(tmp_path / "r"), "-k", "1", "--repeats", "1"]
    done = CliRunner().invoke(app, [*words, str(matrix.path)])
    assert done.exit_code == 0, done.output
    assert (tmp_path / "r" / "index.html").is_file()
    both = CliRunner().invoke(app, [*words, str(matrix.path), "--matrix", str(matrix.path)])
    assert "given twice" in str(both.exception)


@pytest.mark.skipif(shutil.which("node") is None, reason="no Node.js on this machine")
def test_the_script_is_well_formed(page: Node, tmp_path: Path) -> None:
    script = tmp_path / "page.js"
    script.write_text("".join(page.find("script")[0].texts))
    subprocess.run(["node", "--check", str(script)], check=True, timeout=60)
