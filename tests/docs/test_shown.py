"""What the README and the matrices' cards show is what the commands print."""

import re
from pathlib import Path

import pytest

from experiments.card import CARD, facts, marked, new_card, renewed
from experiments.shown import CARDS, PAGES, ROOT, answer, checks_table, shown
from suiteopt.matrix.store import Matrix, resolve_matrix


def timeless(lines: list[str]) -> list[str]:
    """Leave out the seconds that a command took and spaces at the ends of lines."""
    return [re.sub(r"(; |proved in )[0-9.]+ s$", r"\1", line.rstrip()) for line in lines]


@pytest.mark.parametrize(
    ("page", "command", "lines"),
    [
        pytest.param(page, command, lines, id=f"{page.parent.name}-{command.split()[1]}")
        for page in PAGES
        for command, lines in shown(page.read_text("utf-8"))
    ],
)
def test_a_page_shows_what_the_command_prints(page: Path, command: str, lines: list[str]) -> None:
    assert timeless(answer(command).rstrip().splitlines()) == timeless(lines)


def test_every_card_shows_what_selection_and_validation_say() -> None:
    for card in CARDS:
        commands = {command.split()[1] for command, _ in shown(card.read_text("utf-8"))}
        assert {"select", "crossval"} <= commands, card


def test_the_first_table_of_the_readme_is_what_audit_and_crossval_say() -> None:
    page = PAGES[0].read_text("utf-8")
    rows = re.findall(r"^\| (?:KernelBench.*|two chosen.*) \|$", page, re.M)
    assert rows == checks_table()
    assert len(rows) == 4
    (suite,) = (lines for command, lines in shown(page) if "select" in command)
    assert any("; 0 correct cells rejected;" in line for line in suite)


def test_an_answer_can_be_cut() -> None:
    whole = answer("suiteopt targets").rstrip().splitlines()
    assert answer("suiteopt targets | tail -n 2").splitlines() == whole[-2:]
    assert answer("suiteopt targets | head -n 3").splitlines() == whole[:3]


def test_the_counts_of_a_card_are_those_of_its_matrix() -> None:
    cards = marked()
    assert resolve_matrix(None) / CARD in cards
    for card in cards:
        text = card.read_text("utf-8")
        found = facts(Matrix.open(card.parent))
        assert renewed(text, found) == text, "run `python -m experiments.card`"
        assert all(f"| {name} | " in text for name in ("faults", "cells", "flaky cells"))


def test_a_new_card_has_every_row_and_the_commands() -> None:
    matrix = Matrix.open(ROOT / "matrices" / "kernelbench-l1-6-cpu")
    card, found = new_card(matrix), facts(matrix)
    assert renewed(card, found) == card
    assert renewed(card, {"cells": "none"}) != card
    assert found["cells"].startswith(f"{sum(len(matrix.cells(p)) for p in matrix.problem_ids):,}:")
    assert [command for command, _ in shown(card)] == [
        "suiteopt select --budget 2",
        "suiteopt crossval --budget 2",
        "suiteopt audit",
    ]
