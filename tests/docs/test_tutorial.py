"""``docs/tutorial.md`` says what its commands print."""

import pytest

from experiments.tutorial import PAGE, alike, rewritten, run, steps

STEPS = steps(PAGE.read_text("utf-8"))


def test_every_step_shows_an_answer() -> None:
    assert len(STEPS) >= 9
    assert any(step.slow for step in STEPS)
    assert [step.command for step in STEPS if not step.printed] == ["mkdir hardened"]


@pytest.mark.slow
def test_the_quick_steps_print_what_the_page_says() -> None:
    quick = [step for step in STEPS if not step.slow]
    for step, printed in zip(quick, run([step.command for step in quick]), strict=True):
        message = f"{step.command}: run `python -m experiments.tutorial`"
        assert alike(step.printed, printed), f"{message}\n{printed}"


def test_answers_are_written_under_their_commands_and_durations_stay() -> None:
    page = "a\n<!-- slow -->\n```console\n$ one\nold\n$ two\nin 3.2 s\n```\n```sh\n$ no\n```\n"
    assert [(s.command, s.printed, s.slow) for s in steps(page)] == [
        ("one", "old\n", True),
        ("two", "in 3.2 s\n", True),
    ]
    assert rewritten(page, {"one": "new\n", "two": "in 17 s\n"}) == page.replace("old", "new")
    assert rewritten(page, {}) == page
    assert not alike("in 3 s: 4 faults", "in 3 s: 5 faults")


def test_a_step_that_fails_is_no_answer() -> None:
    with pytest.raises(SystemExit, match="ends with 3"):
        list(run(["exit 3"]))
    assert list(run(["pwd", "printf 'a  \\nb'"]))[1] == "a\nb\n"
