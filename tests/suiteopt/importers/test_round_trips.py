"""Any kill map, written in a foreign form, is read as it was."""

from pathlib import Path
from xml.sax.saxutils import escape

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from suiteopt.importers.arrays import read_arrays
from suiteopt.importers.killmap import Outcome
from suiteopt.importers.pit import read_pit
from suiteopt.importers.plain import WORDS, read_plain
from suiteopt.importers.stryker import read_stryker
from tests.suiteopt.importers.documents import pit, pit_mutation, save, stryker, stryker_mutant

SHAPES = st.tuples(st.integers(1, 6), st.integers(1, 5))
ANY = arrays(np.int8, SHAPES, elements=st.integers(min(Outcome), max(Outcome)))
VERDICTS = [Outcome.PASSED, Outcome.UNCOVERED, Outcome.FAILED]
JUDGED = arrays(np.int8, SHAPES, elements=st.sampled_from([int(v) for v in VERDICTS]))
WORD_OF = {outcome: word for word, outcome in WORDS.items()}

pure = settings(max_examples=40, deadline=None, suppress_health_check=list(HealthCheck))


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("round")


@pure
@given(outcomes=ANY)
def test_a_wide_table(folder: Path, outcomes: np.ndarray) -> None:
    head = ",".join(["mutant", *(f"t{c}" for c in range(outcomes.shape[1]))])
    rows = [
        ",".join([f"m{r}", *(WORD_OF[Outcome(value)] for value in row)])
        for r, row in enumerate(outcomes)
    ]
    found = read_plain(save(folder / "wide.csv", "\n".join([head, *rows])))
    assert np.array_equal(found.outcomes, outcomes)
    assert bool(found.gap) == bool((outcomes == Outcome.UNKNOWN).any())


@pure
@given(outcomes=ANY, order=st.randoms(use_true_random=False))
def test_a_long_table_in_any_order(folder: Path, outcomes: np.ndarray, order: object) -> None:
    lines = [
        f"m{row},t{column},{WORD_OF[Outcome(int(value))]}"
        for (row, column), value in np.ndenumerate(outcomes)
    ]
    order.shuffle(lines)  # type: ignore[attr-defined]
    found = read_plain(save(folder / "long.csv", "\n".join(["mutant,test,result", *lines])))
    rows = [int(mutant.name[1:]) for mutant in found.mutants]
    columns = [int(test[1:]) for test in found.tests]
    assert np.array_equal(found.outcomes, outcomes[np.ix_(rows, columns)])


@pure
@given(outcomes=ANY)
def test_an_archive(folder: Path, outcomes: np.ndarray) -> None:
    known = outcomes != Outcome.UNKNOWN
    np.savez(folder / "k.npz", kills=outcomes >= Outcome.FAILED, ran=known)
    found = read_arrays(folder / "k.npz")
    assert np.array_equal(found.outcomes >= Outcome.FAILED, outcomes >= Outcome.FAILED)
    assert np.array_equal(found.outcomes != Outcome.UNKNOWN, known)


@pure
@given(outcomes=JUDGED)
def test_a_full_report_of_stryker(folder: Path, outcomes: np.ndarray) -> None:
    tests = [f"t{column}" for column in range(outcomes.shape[1])]
    mutants = []
    for number, row in enumerate(outcomes):
        covered = [t for t, value in zip(tests, row, strict=True) if value != Outcome.UNCOVERED]
        killed = [t for t, value in zip(tests, row, strict=True) if value == Outcome.FAILED]
        status = "Killed" if killed else "Survived" if covered else "NoCoverage"
        mutants.append(
            stryker_mutant(
                str(number), status, coveredBy=covered, killedBy=killed,
                testsCompleted=len(covered),
            )
        )  # fmt: skip
    found = read_stryker(save(folder / "m.json", stryker(mutants, tests)))
    assert np.array_equal(found.outcomes, outcomes)
    assert found.gap == ""


@pure
@given(outcomes=JUDGED)
def test_a_full_report_of_pit(folder: Path, outcomes: np.ndarray) -> None:
    tests = [f"T.[<{column}>]&" for column in range(outcomes.shape[1])]
    parts = []
    for number, row in enumerate(outcomes):
        lists = [
            [t for t, value in zip(tests, row, strict=True) if value == wanted]
            for wanted in (Outcome.FAILED, Outcome.PASSED)
        ]
        status = "KILLED" if lists[0] else "SURVIVED" if lists[1] else "NO_COVERAGE"
        killing, succeeding = (escape("|".join(names)) for names in lists)
        ran = sum(map(len, lists))
        parts.append(
            pit_mutation(status, number, ran, killingTests=killing, succeedingTests=succeeding)
        )
    everything = escape("|".join(tests))
    last = pit_mutation("SURVIVED", 99, len(tests), killingTests="", succeedingTests=everything)
    found = read_pit(save(folder / "m.xml", pit(*parts, last)))
    assert found.tests == tuple(tests)
    assert np.array_equal(found.outcomes[:-1], outcomes)
    assert found.gap == ""
