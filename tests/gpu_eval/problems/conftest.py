from collections.abc import Callable
from pathlib import Path

import pytest

from gpu_eval.problems.definition import Problem
from gpu_eval.problems.loader import Corpus, load_corpus, load_problem
from gpu_eval.problems.scaffold import new_problem


@pytest.fixture(scope="session")
def corpus() -> Corpus:
    return load_corpus()


@pytest.fixture
def edited(tmp_path: Path) -> Callable[..., Problem]:
    """Scaffold a problem, replace text in one of its files, and load it."""

    def edit(*edits: tuple[str, str], file: str = "problem.py") -> Problem:
        directory = new_problem("mine", tmp_path / "corpus")
        path = directory / file
        text = path.read_text("utf-8")
        for before, after in edits:
            assert text.count(before) >= 1, before
            text = text.replace(before, after, 1)
        path.write_text(text, "utf-8")
        return load_problem(directory / "problem.py")

    return edit
