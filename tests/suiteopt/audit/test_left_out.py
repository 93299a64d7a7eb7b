"""A protocol is judged where a problem has all of its inputs; the others are named and counted."""

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import pytest

from experiments import shown
from experiments.findings import decomposition as decomposition_finding
from experiments.findings import miss_rate, value_fuzz, wild_kernels
from experiments.wild_counts import left_out as wild_left_out
from suiteopt.audit import audit, compare, decompose, protocol_check, survey
from suiteopt.audit.dossier import own_check
from suiteopt.audit.left_out import LeftOut, left_out_sentences
from suiteopt.audit.refereeability import refereeability
from suiteopt.cli.main import app
from suiteopt.errors import UserError
from suiteopt.matrix.denominator import Denominator
from suiteopt.matrix.store import Matrix
from suiteopt.protocols import judged_problems, lacking_any, load_protocol
from suiteopt.report.collect import Wanted, collect
from suiteopt.report.write import write_report
from suiteopt.selection.problem_report import Tally
from suiteopt.selection.question import ask
from suiteopt.selection.review import review_matrix, reviewed_without
from tests.command import Command
from tests.suiteopt.builders import tiny_matrix
from tests.suiteopt.report.pages import Page

P, Q, ROWS = "level1/001", "level1/019", "level1/098"
ERRORS = {P: [0.5, 5e-3, 5e-4, 5e-5, 1e-6], Q: [0.5, 5e-4, 1e-6], ROWS: [0.5, 5e-5, 1e-6, 5e-3]}
REASON = "it runs 1 x own-x3 with benchmark parameters, of which the matrix has 0"
LINE = f"left out {ROWS} (4 faults): {REASON}"
FIRST, VERIFIED = "kernelbench-v0.1", "kernelbench-verified"


def sample(path: Path, lacking: Sequence[str] = (f"{ROWS}:own-x3",)) -> Matrix:
    """Own draws and scalings in every pool but for those whose recipe is called otherwise."""
    return tiny_matrix(
        path,
        {problem: [[1]] * len(errors) for problem, errors in ERRORS.items()},
        own=True,
        own_kills=ERRORS,
        inputs={name: {"value_recipe": "another"} for name in lacking},
        problems={Q: {"operation_class": "elementwise"}, ROWS: {"operation_class": "loss"}},
    )


@pytest.fixture(scope="module")
def matrix(tmp_path_factory: pytest.TempPathFactory) -> Matrix:
    return sample(tmp_path_factory.mktemp("left") / "m")


def answer(capsys: pytest.CaptureFixture[str], matrix: Matrix, *arguments: str) -> dict[str, Any]:
    app([*arguments, "--matrix", str(matrix.path), "--json"], standalone_mode=False)
    found: dict[str, Any] = json.loads(capsys.readouterr().out)
    return found


def told(capsys: pytest.CaptureFixture[str], matrix: Matrix, *arguments: str) -> str:
    app([*arguments, "--matrix", str(matrix.path)], standalone_mode=False)
    return capsys.readouterr().out


def test_a_protocol_is_judged_where_all_of_its_inputs_are(matrix: Matrix) -> None:
    found = judged_problems(matrix, load_protocol(VERIFIED))
    assert list(found.inputs) == [P, Q]
    assert len(found.inputs[P]) == 8
    assert found.left_out == {ROWS: REASON}
    whole = judged_problems(matrix, load_protocol(FIRST))
    assert (list(whole.inputs), whole.left_out) == ([P, Q, ROWS], {})


def test_shares_rest_on_the_judged_problems_alone(matrix: Matrix) -> None:
    found = audit(matrix, load_protocol(VERIFIED))
    assert found.tally == Tally(8, 3)  # with the problem's 4 faults, on the other inputs: 5 of 12
    assert found.by_problem == {P: Tally(5, 2), Q: Tally(3, 1)}
    assert found.left_out == {ROWS: LeftOut(4, REASON)}
    assert found.rests_on == "2 of 3 problems"
    assert set(found.controls["problem"]) == {P, Q}
    whole = audit(matrix, load_protocol(FIRST))
    assert (whole.tally, whole.left_out, whole.rests_on) == (Tally(12, 3), {}, "")
    valid = audit(matrix, load_protocol(VERIFIED), Denominator.VALID)
    assert valid.left_out[ROWS].mutants == 4


def test_any_lacking_input_leaves_a_problem_out_and_the_first_is_named(tmp_path: Path) -> None:
    few = sample(tmp_path / "few", (f"{Q}:own-4", f"{ROWS}:own-x-1"))
    found = audit(few, load_protocol(VERIFIED))
    assert list(found.judged) == [P]
    assert found.left_out[Q].reason == (
        "it runs 5 x own-[0-9] with benchmark parameters, of which the matrix has 4"
    )
    assert "1 x own-x-1" in found.left_out[ROWS].reason
    assert list(audit(few, load_protocol("kernelbench")).left_out) == [Q]
    # A protocol that runs all there are has nothing to run where there are none.
    fuzzed = tiny_matrix(
        tmp_path / "fuzz",
        {P: [[1]], Q: [[1]] * 2},
        inputs={f"{P}:i0": {"value_recipe": "octaves"}},
    )
    fuzz = audit(fuzzed, load_protocol("value-fuzz"))
    assert fuzz.left_out == {Q: LeftOut(2, "the matrix has none of its inputs")}
    assert fuzz.absent["octaves"] == (Q,)
    assert fuzz.absent["nonfinite"] == (P, Q)


def test_problems_of_one_reason_share_a_sentence() -> None:
    found = {P: LeftOut(1, "a"), Q: LeftOut(2, "b"), ROWS: LeftOut(0, "a")}
    assert list(left_out_sentences(found)) == [
        f"left out {P} (1 fault), {ROWS} (0 faults): a",
        f"left out {Q} (2 faults): b",
    ]


def test_faults_are_compared_on_the_problems_that_all_have(matrix: Matrix) -> None:
    names = (FIRST, VERIFIED, "robust-kbench")
    compared = compare(matrix, [load_protocol(name) for name in names])
    assert compared.common == (P, Q)
    assert (compared.mutants, compared.on_common) == ((12, 12), "2 of 3 problems")
    # What only robust-kbench finds of the third problem, the left-out check might find too.
    assert compared.only("robust-kbench") == (f"{P}:m2", f"{P}:m3", f"{Q}:m1")
    assert compared.missed_by_all == (f"{P}:m4", f"{Q}:m2")
    both = compare(matrix, [load_protocol(FIRST), load_protocol("robust-kbench")])
    assert (both.common, both.on_common) == ((P, Q, ROWS), "")
    assert f"{ROWS}:m1" in both.only("robust-kbench")


def test_protocols_without_a_common_problem(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    lacking = [f"{P}:own-x3", f"{Q}:own-x3", f"{ROWS}:own-4"]
    few = sample(tmp_path / "m", lacking)
    compared = compare(few, [load_protocol("kernelbench"), load_protocol("flashinfer-bench")])
    assert compared.common == (P, Q)
    text = told(capsys, few, "audit", "--denominator", "valid")
    assert f"not compared: the protocol {VERIFIED} cannot be judged on {P} nor on 2 more" in text
    lacking[1:] = [f"{problem}:own-{j}" for problem in (Q, ROWS) for j in (2, 3, 4)]
    lacking[0] = f"{P}:i9"
    fuzz = tiny_matrix(
        tmp_path / "f",
        {problem: [[1]] for problem in (P, Q, ROWS)},
        own=True,
        inputs={
            f"{Q}:i0": {"value_recipe": "octaves"},
            **{name: {"value_recipe": "another"} for name in lacking if not name.endswith("i9")},
        },
    )
    nothing = compare(fuzz, [load_protocol("kernelbench"), load_protocol("value-fuzz")])
    assert nothing.common == ()
    assert nothing.only("value-fuzz") == nothing.missed_by_all == ()
    assert "no problem has the inputs of all of them" in told(capsys, fuzz, "audit")


def test_a_gain_is_split_on_the_problems_that_both_have(
    matrix: Matrix, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    found = decompose(matrix, load_protocol(FIRST), load_protocol(VERIFIED))
    assert found.mutants.tolist() == [5, 3]
    assert (found.share(), found.share(found.factors)) == (2 / 8, 3 / 8)
    reason = f"{VERIFIED} cannot be judged, as {REASON}"
    assert found.left_out == {ROWS: LeftOut(4, reason)}
    back = decompose(matrix, load_protocol(VERIFIED), load_protocol(FIRST))
    assert (back.gain, back.left_out) == (-found.gain, found.left_out)
    split = answer(capsys, matrix, "audit", "--from", FIRST, "--to", VERIFIED)
    assert split["left_out"] == {ROWS: {"mutants": 4, "reason": reason}}
    text = told(capsys, matrix, "audit", "--from", FIRST, "--to", VERIFIED)
    assert "37.5% of 8 faults on 2 of 3 problems" in text
    assert f"left out {ROWS} (4 faults): {reason}" in text
    lacking = [f"{P}:own-x3", f"{Q}:own-x3", *(f"{ROWS}:own-{j}" for j in (3, 4))]
    apart = sample(tmp_path / "m", lacking[:2])
    assert list(lacking_any(apart, [load_protocol(FIRST), load_protocol(VERIFIED)])) == [P, Q]
    (tmp_path / "x3.toml").write_text(
        'name = "x3"\ncomparator = "allclose_candidate"\ntolerance = 1e-3\n'
        '[[inputs]]\nvalues = "own-x3"\n'
    )
    divided = sample(tmp_path / "d", lacking)
    with pytest.raises(UserError, match="has the inputs of both kernelbench and x3"):
        decompose(divided, load_protocol("kernelbench"), load_protocol(str(tmp_path / "x3.toml")))


def test_one_protocol_in_json_and_in_words(
    matrix: Matrix, capsys: pytest.CaptureFixture[str]
) -> None:
    found = answer(capsys, matrix, "audit", "--protocol", VERIFIED)
    assert set(found) >= {
        "protocol", "mutants", "detected_share", "missed_share", "interval", "by_family",
        "by_operation", "false_rejections",
    }  # fmt: skip
    assert (found["mutants"], found["detected_share"]) == (8, 3 / 8)
    assert found["left_out"] == {ROWS: {"mutants": 4, "reason": REASON}}
    assert found["compared_problems"] == 2
    text = told(capsys, matrix, "audit", "-p", VERIFIED)
    assert "of 8 faults on 2 of 3 problems" in text
    assert f"\n{LINE}\n" in text
    other = told(capsys, matrix, "audit", "-p", "kernelbench")
    assert "of 12 faults, " in other
    assert "all miss 2 faults on 2 of 3 problems" in other
    assert f"{VERIFIED} is judged on 2 of 3 problems" in other
    assert "left out" not in other


def test_the_table_of_all_says_what_each_share_rests_on(
    matrix: Matrix,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    text = told(capsys, matrix, "audit")
    assert text.startswith("12 faults that count")
    lines = {line.split()[0]: line.rstrip() for line in text.splitlines()}
    assert lines[VERIFIED].endswith("  2 of 3 problems")
    assert lines["kernelbench"].endswith("  3 problems")
    assert "only it are asked on the 2 of 3 problems that all are judged on" in text
    assert f"{VERIFIED}: {LINE}" in text
    found = answer(capsys, matrix, "audit")
    assert found["protocols"][VERIFIED]["left_out"][ROWS]["mutants"] == 4
    assert (found["protocols"]["kernelbench"]["left_out"], found["compared_problems"]) == ({}, 2)
    # The README's table takes its shares from there, and says so, too.
    printed = {"audit": text, "crossval": CROSSVAL, "select": "x; 0 correct cells rejected; y"}
    monkeypatch.setattr(shown, "answer", lambda command: printed[command.split()[1]])
    rows = shown.checks_table()
    assert rows[2].startswith("| KernelBench-Verified | 37.5% on 2 of 3 problems | ")
    assert rows[1].startswith("| KernelBench today: five draws, 1e-4 | 58.3% | ")
    assert rows[3].split("|")[4] == " 0 of 9 "  # all correct kernels, not the last protocol's
    every = told(capsys, sample(tmp_path / "all", ()), "audit")
    assert "only it  rejected\n" in every
    assert "left out" not in every


CROSSVAL = "witnessed  1  a  b\noutput  1  c  d\n"


def test_no_problem_has_the_inputs(tmp_path: Path, suiteopt: Command) -> None:
    bare = sample(tmp_path / "m", [f"{problem}:own-x3" for problem in ERRORS])
    sentence = (
        f"the protocol {VERIFIED} cannot be judged on {P} nor on 2 more problems: {REASON}; "
        "use a matrix whose pool has them"
    )
    for arguments in (
        ("audit", "-p", VERIFIED),
        ("audit", "--from", FIRST, "--to", VERIFIED),
        ("audit", "--blind-band", "-p", VERIFIED),
        ("audit", "--refereeability", "-p", VERIFIED),
        ("survivors", "-p", VERIFIED),
        ("select", "--review", VERIFIED),
        ("exchange", "junit", "-o", str(tmp_path / "j.xml"), "-p", VERIFIED),
    ):
        done = suiteopt(*arguments, "--matrix", str(bare.path))
        assert (done.code, done.out) == (2, ""), arguments
        assert " ".join(done.err.split()) == f"error: {sentence}"
    with pytest.raises(UserError, match="cannot be judged on level1/001: it runs"):
        protocol_check(tiny_matrix(tmp_path / "one", {P: [[1]]}), load_protocol(VERIFIED))


def test_questions_that_count_no_faults(matrix: Matrix, capsys: pytest.CaptureFixture[str]) -> None:
    rows = refereeability(matrix, load_protocol(VERIFIED))
    assert [row.problem for row in rows] == [P, Q]
    found = answer(capsys, matrix, "audit", "--refereeability", "-p", VERIFIED)
    assert found["left_out"] == {ROWS: REASON}
    text = told(capsys, matrix, "audit", "--refereeability", "-p", VERIFIED)
    assert f"left out {ROWS}: {REASON}" in " ".join(text.split())
    reviews = review_matrix(matrix, ask(None), VERIFIED)
    assert [row.problem for row in reviews] == [P, Q]
    assert reviewed_without(matrix, VERIFIED) == {ROWS: REASON}
    assert reviewed_without(matrix, "pool") == {}
    assert answer(capsys, matrix, "select", "--review", VERIFIED)["left_out"] == {ROWS: REASON}
    assert f"left out {ROWS}: {REASON}" in told(capsys, matrix, "select", "--review", VERIFIED)


def test_survivors_and_single_mutants(matrix: Matrix, capsys: pytest.CaptureFixture[str]) -> None:
    found = survey(matrix, protocol_check(matrix, load_protocol(VERIFIED)))
    assert (found.mutants, len(found.survivors)) == (8, 5)
    assert found.as_dict()["left_out"] == {ROWS: {"mutants": 4, "reason": REASON}}
    assert LINE in told(capsys, matrix, "survivors", "-p", VERIFIED)
    # A mutant elsewhere is explained; one of the problem that lacks inputs is not.
    mine = own_check(matrix, P, f"{P}:m0", load_protocol(VERIFIED))
    assert mine is not None
    assert mine.detected
    assert own_check(matrix, ROWS, f"{ROWS}:m0", load_protocol(VERIFIED)) is None
    text = told(capsys, matrix, "show", f"{ROWS}:m0", "-p", VERIFIED)
    assert f"own check        the protocol {VERIFIED} cannot be judged on {ROWS}: {REASON}" in text


def test_other_tools_see_a_problem_that_was_skipped(
    matrix: Matrix, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "j.xml"
    found = answer(capsys, matrix, "exchange", "junit", "-o", str(path), "-p", VERIFIED)
    assert found["left_out"] == {ROWS: {"mutants": 4, "reason": REASON}}
    suite = ElementTree.parse(path).getroot()[0]
    assert (suite.get("tests"), suite.get("skipped")) == ("5", "1")
    (skipped,) = (case for case in suite if case.find("skipped") is not None)
    assert skipped.get("name") == ROWS
    told(capsys, matrix, "exchange", "junit", "-o", str(path), "-p", "kernelbench")
    app(
        ["exchange", "junit", "-o", str(path), "-p", VERIFIED, "--matrix", str(matrix.path)],
        standalone_mode=False,
    )
    assert LINE in capsys.readouterr().err


def test_a_report_says_on_which_problems_each_check_was_judged(
    matrix: Matrix, tmp_path: Path
) -> None:
    content = collect(matrix, Wanted(protocol=VERIFIED, repeats=1, budget=1))
    assert content.before is not None
    assert content.after is not None
    assert (content.before.tally.mutants, content.after.tally.mutants) == (8, 12)
    write_report(content, tmp_path / "r")
    page = Page((tmp_path / "r" / "index.html").read_text(encoding="utf-8")).root
    assert "accepts 62.5% of 8 wrong kernels on 2 of 3 problems" in page.find("h1")[0].text
    assert f"{VERIFIED} is judged on 2 of 3 problems, the suite on all: {LINE}." in page.text
    assert "of 12 on all problems" in page.text


def test_findings_name_what_they_leave_out(matrix: Matrix, tmp_path: Path) -> None:
    found = decomposition_finding.find(matrix)
    assert any(word.startswith(f"left out {ROWS} (4 faults)") for word in found.words)
    few = sample(tmp_path / "m", (f"{ROWS}:own-4",))
    words = miss_rate.find(few).words
    assert sum(f"left out {ROWS} (4 faults)" in word for word in words) == 2  # both protocols
    assert wild_left_out(few)[ROWS].startswith(f"{FIRST} cannot be judged, as it runs 5 x own")
    assert wild_left_out(matrix) == {ROWS: f"{VERIFIED} cannot be judged, as {REASON}"}
    fuzzed = sample(tmp_path / "f")
    with pytest.raises(UserError, match="the matrix has none of its inputs"):
        value_fuzz.find(fuzzed)
    assert wild_kernels.left_out is wild_left_out
