"""PIT's reports: statuses, full matrix or not, and XML that tries something."""

from pathlib import Path

import pytest

from suiteopt.errors import UserError
from suiteopt.importers.killmap import KillMap, Outcome
from suiteopt.importers.pit import read_pit
from suiteopt.matrix.schema import ImplementationClass
from tests.suiteopt.importers.documents import pit, pit_mutation, save

P, N, F, T, C, U = (
    Outcome.PASSED,
    Outcome.UNCOVERED,
    Outcome.FAILED,
    Outcome.TIMEOUT,
    Outcome.CRASHED,
    Outcome.UNKNOWN,
)
ALL = pit_mutation("SURVIVED", 9, 3, killingTests="", succeedingTests="a|b|c")


def read(tmp_path: Path, *mutations: str) -> KillMap:
    return read_pit(save(tmp_path / "mutations.xml", pit(*mutations, ALL)))


@pytest.mark.parametrize(
    ("mutation", "expected"),
    [
        (pit_mutation("KILLED", 1, 2, killingTests="a", succeedingTests="b"), [F, P, N]),
        (pit_mutation("KILLED", 1, 2, killingTests="a|b", succeedingTests=""), [F, F, N]),
        (pit_mutation("NO_COVERAGE", 1, 0, killingTests="", succeedingTests=""), [N, N, N]),
        (pit_mutation("TIMED_OUT", 1, coveringTests="b"), [N, T, N]),
        (pit_mutation("TIMED_OUT", 1, coveringTests="a|b"), [U, U, N]),
        (pit_mutation("MEMORY_ERROR", 1, coveringTests="b"), [N, C, N]),
        (pit_mutation("TIMED_OUT", 1), [U, U, U]),
        (pit_mutation("KILLED", 1, 2, killingTests="", succeedingTests="a|b"), [U, U, N]),
        (pit_mutation("KILLED", 1, coveringTests="b", killingTests=""), [N, F, N]),
        (pit_mutation("KILLED", 1, 3, killingTests="a", succeedingTests="b"), [F, U, U]),
        (
            pit_mutation("KILLED", 1, 2, killingTests="a", succeedingTests="b",
                         coveringTests="a|b|c"),
            [F, P, U],
        ),
    ],
)  # fmt: skip
def test_a_status_becomes_outcomes(tmp_path: Path, mutation: str, expected: list[Outcome]) -> None:
    found = read(tmp_path, mutation)
    assert found.tests == ("a", "b", "c")
    assert found.outcomes.tolist() == [expected, [P, P, P]]
    assert bool(found.gap) == (U in expected)


def test_what_pit_counts_and_no_test_found_is_no_kill(tmp_path: Path) -> None:
    found = read(
        tmp_path,
        pit_mutation("NON_VIABLE", 1),
        pit_mutation("EQUIVALENT", 2),
        pit_mutation("RUN_ERROR", 3),
    )
    assert [mutant.kind for mutant in found.mutants] == [
        ImplementationClass.STILLBORN,
        ImplementationClass.EQUIVALENT,
        ImplementationClass.VALID,
    ]
    assert found.killed == 0
    assert found.notes == ("1 mutants without a result are left out",)


def test_names_say_what_and_where_and_are_unique(tmp_path: Path) -> None:
    twin = pit_mutation("NO_COVERAGE", 4, 0, killingTests="", succeedingTests="")
    found = read(tmp_path, twin, twin)
    assert [mutant.name for mutant in found.mutants[:2]] == [
        "org.F.add(II)I:12:MathMutator:4",
        "org.F.add(II)I:12:MathMutator:4#2",
    ]
    assert found.mutants[0].place is not None
    assert (found.mutants[0].place.file, found.mutants[0].place.line) == ("F.java", 12)


@pytest.mark.parametrize(
    "document",
    [
        pit(pit_mutation("KILLED", killingTest="a")),
        pit(pit_mutation("KILLED", killingTest="a"), ALL),
        pit(),
    ],
)
def test_a_report_that_stops_at_the_first_killer_is_refused(tmp_path: Path, document: str) -> None:
    with pytest.raises(UserError, match="fullMutationMatrix=true"):
        read_pit(save(tmp_path / "m.xml", document))


BOMB = (
    '<!DOCTYPE mutations [<!ENTITY a "aaaaaaaaaa"><!ENTITY b "&a;&a;&a;&a;&a;&a;&a;&a;">'
    '<!ENTITY c "&b;&b;&b;&b;&b;&b;&b;&b;">]>'
)
FILE = '<!DOCTYPE mutations [<!ENTITY x SYSTEM "file:///etc/passwd">]>'
OUTSIDE = '<!DOCTYPE mutations SYSTEM "http://example.invalid/m.dtd">'


@pytest.mark.parametrize("head", [BOMB, FILE, OUTSIDE])
def test_document_types_are_refused_before_anything_is_expanded(tmp_path: Path, head: str) -> None:
    with pytest.raises(UserError, match="declares a document type"):
        read_pit(save(tmp_path / "m.xml", pit(ALL, head=head)))


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("<mutations><mutation>", "no well-formed XML"),
        ("<mutations>&x;</mutations>", "no well-formed XML"),
        ("<coverage/>", "is a <coverage> and no <mutations>"),
        (pit(pit_mutation("DEAD"), ALL), "the status 'DEAD'"),
        (pit(pit_mutation("SURVIVED", killingTests="a"), ALL), "SURVIVED mutant with killing"),
    ],
)
def test_other_files_are_refused(tmp_path: Path, text: str, sentence: str) -> None:
    with pytest.raises(UserError) as error:
        read_pit(save(tmp_path / "m.xml", text))
    assert sentence in str(error.value)
