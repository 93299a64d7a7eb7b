"""Counts of compiled faults: sums that must hold, and the page that is made of them."""

from pathlib import Path

import pytest

from experiments import mutant_counts
from experiments.mutant_counts import PAGE, RESULT, known, tally
from experiments.mutant_tables import CLASSES, page, render, uncounted
from gpu_eval.campaign.survey import classified_mutants
from gpu_eval.compilation.toolchain import find_toolchain
from gpu_eval.devices.host import HostDevice
from gpu_eval.mutation.catalogue import RULES
from gpu_eval.problems.loader import load_corpus
from suiteopt.matrix.schema import Family
from tests.gpu_eval.campaign import tiny

COLUMNS = ("generated", *CLASSES)


@pytest.mark.parametrize("compiler", list(known()))
def test_all_ways_to_count_come_to_the_same(compiler: str) -> None:
    half = known()[compiler]
    assert half["generated"] == sum(half[name] for name in CLASSES)
    assert list(half["by_family"]) == [str(family) for family in Family]
    assert {*half["by_rule"], *uncounted(half)} == {rule.name for rule in RULES}
    assert len(half["by_rule"]) == half["rules"]
    cells = [row[family] for row in half["by_operation"].values() for family in row]
    for column in COLUMNS:
        for groups in (half["by_family"].values(), half["by_rule"].values(), cells):
            assert sum(group[column] for group in groups) == half[column]
        assert sum(group[column] for group in half["by_problem"].values()) == half[column]


def test_pages_are_in_step() -> None:
    assert RESULT.with_suffix(".md").read_text() == render(known())
    assert PAGE.read_text() == page(known())


def test_a_small_corpus_is_counted(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    find_toolchain()
    corpus = load_corpus([tiny.write_corpus(tmp_path / "corpus")], built_in=False)
    monkeypatch.setattr(mutant_counts, "load_corpus", lambda: corpus)
    half = mutant_counts.measure("g++", tmp_path / "cache", 1)
    assert half["problems"] == len(corpus.problems)
    problem = corpus.problem("test/one")
    mutants = classified_mutants(problem, "demo", HostDevice().compile, tmp_path / "cache", 1)
    assert half["by_problem"]["test/one"] == tally(mutants)
    assert half["generated"] == sum(half[name] for name in CLASSES) > len(mutants)
