"""A finished campaign to compare others with."""

from dataclasses import dataclass
from pathlib import Path

import pytest

from gpu_eval.campaign.progress import Silent
from gpu_eval.campaign.run import start
from tests.gpu_eval.campaign import tiny
from tests.gpu_eval.campaign.fake import FakeDevice


@dataclass(frozen=True)
class Baseline:
    """A corpus and the matrix of its undisturbed campaign."""

    corpus: Path
    root: Path

    @property
    def hashes(self) -> dict[str, str]:
        return tiny.cell_hashes(self.root)


@pytest.fixture(scope="session")
def baseline(tmp_path_factory: pytest.TempPathFactory) -> Baseline:
    directory = tmp_path_factory.mktemp("baseline")
    corpus = tiny.write_corpus(directory / "corpus")
    start(directory / "matrix", tiny.settings(corpus), FakeDevice(), Silent())
    return Baseline(corpus, directory / "matrix")
