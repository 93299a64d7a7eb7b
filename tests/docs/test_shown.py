"""What the README and the matrices' cards show is what the commands print."""

import json
import re
from pathlib import Path
from typing import Any

import pytest

from experiments.shown import CARDS, PAGES, ROOT, answer, shown


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


def percent(share: float) -> str:
    return f"{100 * share:.1f}%"


def test_the_first_table_of_the_readme_is_what_audit_and_crossval_say() -> None:
    rows = re.findall(r"^\| (KernelBench.*|two chosen.*) \|$", PAGES[0].read_text("utf-8"), re.M)
    audited: Any = json.loads(answer("suiteopt audit --json"))["protocols"]
    wild: Any = json.loads(
        (ROOT / "experiments/results/finding-wild-kernels.json").read_text("utf-8")
    )["ours"]
    expected = []
    for title, name in (
        ("KernelBench v0.1: five draws, 1e-2", "kernelbench-v0.1"),
        ("KernelBench today: five draws, 1e-4", "kernelbench"),
        ("KernelBench-Verified", "kernelbench-verified"),
    ):
        said = audited[name]
        inside, rejected = said["in_output"], said["false_rejections"]
        expected.append(
            f"{title} | {percent(said['detected_share'])} "
            f"| {percent(inside['detected'] / inside['mutants'])} "
            f"| {rejected['rejected']} of {rejected['controls']} | {caught(wild[name])}"
        )
    validated: Any = json.loads(answer("suiteopt crossval --budget 2 --json"))["denominators"]
    whole, visible = validated["witnessed"], validated["output"]
    expected.append(
        f"two chosen inputs a problem, calibrated | {percent(whole['fitted_share'])} "
        f"(held out by site {percent(whole['held_out_share'])}) "
        f"| {percent(visible['fitted_share'])} ({percent(visible['held_out_share'])}) "
        f"| 0 of 132 | {caught(wild['chosen two, calibrated'])}"
    )
    assert rows == expected
    page = PAGES[0].read_text("utf-8")
    (suite,) = (lines for command, lines in shown(page) if "select" in command)
    assert any("; 0 correct cells rejected;" in line for line in suite)


def caught(check: Any) -> str:
    wrong = check["wrong"]["in_output"]
    return f"{wrong['detected']} of {wrong['kernels']}"
