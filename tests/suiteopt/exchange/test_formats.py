"""What is written is in the form, says what the matrix says, and comes back by the importers."""

from pathlib import Path
from xml.etree import ElementTree

import jsonschema
import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from suiteopt.audit.checks import Check, protocol_check
from suiteopt.audit.score import audit_check
from suiteopt.errors import UserError
from suiteopt.exchange.gate import CONTROLS, OVERALL, Gate
from suiteopt.exchange.junit import junit_xml
from suiteopt.exchange.major import major_files
from suiteopt.exchange.outcomes import Outcomes, outcomes, pool_check
from suiteopt.exchange.stryker import stryker_report
from suiteopt.importers.killmap import KillMap, Outcome
from suiteopt.importers.major import read_major
from suiteopt.importers.stryker import read_stryker
from suiteopt.matrix.denominator import Denominator
from suiteopt.matrix.oracle import calibrated
from suiteopt.matrix.schema import Status
from suiteopt.matrix.store import Matrix
from suiteopt.protocols import load_protocol
from tests.suiteopt.builders import Entry, tiny_matrix
from tests.suiteopt.exchange.report_schema import SCHEMA
from tests.suiteopt.importers.documents import save

P = "level1/001"
ENTRIES = st.sampled_from([True, False, Status.CRASH, Status.TIMEOUT])
TABLES = st.integers(1, 4).flatmap(
    lambda width: st.lists(
        st.lists(ENTRIES, min_size=width, max_size=width), min_size=1, max_size=5
    )
)


def judged(matrix: Matrix) -> tuple[Check, list[Outcomes]]:
    check = pool_check(matrix, calibrated())
    return check, list(outcomes(matrix, check, Denominator.WITNESSED))


def kills(found: KillMap) -> list[list[bool]]:
    return (found.outcomes >= Outcome.FAILED).tolist()


@settings(max_examples=10, deadline=None, suppress_health_check=list(HealthCheck))
@given(table=TABLES)
def test_kills_come_back(
    tmp_path_factory: pytest.TempPathFactory, table: list[list[Entry]]
) -> None:
    folder = tmp_path_factory.mktemp("exchange")
    matrix = tiny_matrix(folder / "m", {P: table}, nulls=())
    check, found = judged(matrix)
    expected = [[entry is not False for entry in row] for row in table]
    assert found[0].kills.tolist() == expected

    report = stryker_report(matrix, check, found)
    jsonschema.validate(report, SCHEMA)
    elements = read_stryker(save(folder / "mutation.json", report))
    names = [mutant.name for mutant in elements.mutants]
    order = [names.index(name) for name in found[0].mutants]
    hung = [all(e in (Status.TIMEOUT, False) for e in row) and any(row) for row in table]
    for row, position in enumerate(order):
        if not hung[row]:
            assert kills(elements)[position] == expected[row]

    for name, text in major_files(matrix, found).items():
        (folder / name).parent.mkdir(exist_ok=True)
        (folder / name).write_text(text)
    maps = read_major(folder / "level1-001")
    assert kills(maps) == expected
    words = {True: Outcome.FAILED, False: Outcome.PASSED, Status.CRASH: Outcome.CRASHED,
             Status.TIMEOUT: Outcome.TIMEOUT}  # fmt: skip
    assert maps.outcomes.tolist() == [[words[entry] for entry in row] for row in table]
    assert maps.titles == found[0].inputs
    assert [mutant.rule for mutant in maps.mutants] == [f"rule-{i}" for i in range(len(table))]


@pytest.fixture
def mixed(tmp_path: Path) -> Matrix:
    return tiny_matrix(
        tmp_path / "m",
        {P: [[True, False], [False, False], [Status.TIMEOUT, False], [None, False], [1, 1], [1, 1],
             [1, 1], [1, 1]]},
        mutants={
            f"{P}:m4": {"class": "stillborn", "error": "expected a ';'"},
            f"{P}:m5": {"class": "duplicate", "duplicate_of": f"{P}:m0"},
            f"{P}:m6": {"locked": True},
            f"{P}:m7": {"witness": "none"},
        },
        own=True,
    )  # fmt: skip


def test_the_viewers_score_is_the_detection(mixed: Matrix) -> None:
    check, found = judged(mixed)
    report = stryker_report(mixed, check, found)
    jsonschema.validate(report, SCHEMA)
    (part,) = report["files"].values()
    by_id = {mutant["id"].rpartition(":")[2]: mutant for mutant in part["mutants"]}
    assert {name: mutant["status"] for name, mutant in by_id.items()} == {
        "m0": "Killed",
        "m1": "Survived",
        "m2": "Timeout",
        "m3": "Pending",
        "m4": "CompileError",
        "m5": "Ignored",
        "m6": "Ignored",
        "m7": "Ignored",
    }
    assert by_id["m0"]["killedBy"] == [f"{P}:i0"]
    assert by_id["m3"]["testsCompleted"] == len(by_id["m3"]["coveredBy"]) - 1
    assert by_id["m4"]["statusReason"] == "expected a ';'"
    assert by_id["m5"]["statusReason"].endswith(f"{P}:m0")
    counted = [m["status"] for m in by_id.values() if m["status"] not in ("Ignored",
               "CompileError")]  # fmt: skip
    audit = audit_check(mixed, check)
    score = sum(status in ("Killed", "Timeout") for status in counted) / len(counted)
    assert score == audit.tally.share == 0.5


def test_an_edit_stands_where_the_source_has_it(mixed: Matrix) -> None:
    check, found = judged(mixed)
    part = stryker_report(mixed, check, found)["files"][f"{P}/kernel.cu"]
    assert part["language"] == "cpp"
    assert part["source"] == mixed.source(P, "kernel.cu")
    assert part["mutants"][1]["location"] == {
        "start": {"line": 1, "column": 11},
        "end": {"line": 1, "column": 12},
    }


def test_majors_form_cannot_say_what_was_not_run(mixed: Matrix) -> None:
    _, found = judged(mixed)
    with pytest.raises(UserError, match="1 cells of level1/001 were not run"):
        major_files(mixed, found)
    files = major_files(mixed, found, allow_incomplete=True)
    covered = files["level1-001/covMap.csv"].splitlines()
    assert "2,4" in covered
    assert "1,4" not in covered
    assert files["level1-001/killMap.csv"].splitlines()[1:] == ["1,1,FAIL", "1,3,TIME"]


def test_a_gate_fails_under_its_share_and_not_at_it(tmp_path: Path) -> None:
    kills = {P: [[True], [False]], "level1/019": [[True], [True]]}
    audit = audit_check(*checked(tiny_matrix(tmp_path / "m", kills)))
    assert audit.tally.share == 0.75
    assert Gate(0.75).failures(audit) == {}
    assert list(Gate(0.76).failures(audit)) == [OVERALL]
    assert list(Gate(0.75, per_problem=True).failures(audit)) == [P]
    with pytest.raises(UserError, match="is no share"):
        Gate(95)


def test_a_gate_fails_on_a_rejected_control(tmp_path: Path) -> None:
    # The control is off on the own draw only: a protocol runs it, a suite could not.
    matrix = tiny_matrix(
        tmp_path / "m",
        {P: [[True]]},
        own=True,
        control_error={(f"{P}:serial", f"{P}:own-1"): 0.5},
    )
    audit = audit_check(matrix, protocol_check(matrix, load_protocol("kernelbench")))
    gate = Gate(no_rejections=True)
    assert gate.failures(audit)[CONTROLS].endswith("rejects level1/001:serial")
    root = ElementTree.fromstring(junit_xml(audit, gate))
    failed = [
        case.get("name") for case in root.iter("testcase") if case.find("failure") is not None
    ]
    assert failed == [CONTROLS]


def checked(matrix: Matrix) -> tuple[Matrix, Check]:
    return matrix, pool_check(matrix, calibrated())


def test_junit_has_a_case_a_problem_and_lists_survivors(tmp_path: Path) -> None:
    kills = {P: [[True], [False]], "level1/019": [[True], [True]]}
    audit = audit_check(*checked(tiny_matrix(tmp_path / "m", kills)))
    gate = Gate(0.9, per_problem=True)
    text = junit_xml(audit, gate)
    assert text == junit_xml(audit, gate)
    root = ElementTree.fromstring(text)
    assert root.tag == "testsuites"
    suite = root[0]
    assert (suite.get("tests"), suite.get("failures")) == ("4", "1")
    cases = {case.get("name"): case for case in suite}
    assert list(cases) == [P, "level1/019", OVERALL, CONTROLS]
    failure = cases[P].find("failure")
    assert failure is not None
    assert "detects 1 of 2 faults of level1/001 (0.5000), under 0.9" in str(failure.get("message"))
    assert f"survives: {P}:m1" in str(cases[P].findtext("system-out"))
    assert cases["level1/019"].find("failure") is None


def test_characters_that_xml_cannot_hold_are_replaced(tmp_path: Path) -> None:
    audit = audit_check(*checked(tiny_matrix(tmp_path / "m", {P: [[True]]})))
    odd = type(audit)(
        "a\x00<b>&\x1b", audit.label, audit.denominator, audit.outcomes, audit.controls,
        audit.absent,
    )  # fmt: skip
    root = ElementTree.fromstring(junit_xml(odd, Gate()))
    assert root[0].get("name") == "a\ufffd<b>&\ufffd"


def test_outcomes_tell_exceptions_apart(mixed: Matrix) -> None:
    _, (part,) = judged(mixed)
    assert part.mutants == tuple(f"{P}:m{i}" for i in range(4))
    assert np.argwhere(part.timeouts).tolist() == [[2, part.inputs.index(f"{P}:i0")]]
    assert not part.crashes.any()
