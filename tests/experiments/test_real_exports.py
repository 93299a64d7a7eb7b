"""What can be said of real exports without a checkout: shortening, and the page."""

from pathlib import Path

import pytest

pytest.importorskip("torch")

from experiments import real_exports as exports
from experiments.real_exports_shortened import shorten
from suiteopt.errors import UserError

DEFINITION = """import torch

batch, width, num_classes = 4, 5, 6
batch = 1024 * 16
width = 4096
num_classes = 1000000000


class Model(torch.nn.Module):
    def forward(self, x):
        return x


def get_inputs():
    return [torch.rand(batch, width)]


def get_init_inputs():
    return []
"""


def test_the_largest_constants_are_halved_until_it_is_small(tmp_path: Path) -> None:
    place, broken = tmp_path / "1_Same.py", tmp_path / "2_Broken.py"
    place.write_text(DEFINITION)
    broken.write_text("raise ValueError\n")
    assert shorten([place, broken]) == [str(broken)]
    text = place.read_text()
    assert "batch = 512\n" in text
    assert "width = 512\n" in text
    assert "num_classes = 1000000000\n" in text
    assert broken.read_text() == "raise ValueError\n"


@pytest.mark.parametrize(
    ("written", "halved"),
    [
        ("batch = 1024; width = height = 4096", "batch = 512; width = height = 512\n"),
        ("batch, width = 1024, 4096; height = width", "batch, width = 512, 512; height = width"),
        ("batch = 1024  # ü\nwidth = (\n    4096\n)", "batch = 512  # ü\nwidth = (\n    512\n)"),
    ],
)
def test_constants_are_halved_however_they_are_assigned(
    tmp_path: Path, written: str, halved: str
) -> None:
    place = tmp_path / "1_Same.py"
    head, _, rest = DEFINITION.partition("batch, width, num_classes")
    place.write_text(head + written + rest[rest.index("\n\n\nclass") :], encoding="utf-8")
    assert shorten([place]) == []
    assert halved in place.read_text(encoding="utf-8")


def test_a_row_in_which_anything_is_wrong_does_not_hold() -> None:
    good = {"applies": True, "dirty_refused": True, "shown_alike": True, "again": 0, "left": []}
    assert exports.held(good)
    assert not exports.held({**good, "again": 1})
    assert not exports.held({**good, "left": ["?? a"]})
    assert not exports.held({**good, "shortened": {"failed": ["one"]}})


def test_what_is_no_directory_of_checkouts_is_one_sentence(tmp_path: Path) -> None:
    with pytest.raises(UserError, match="is no directory; clone the benchmarks into one"):
        exports.main(["--checkouts", str(tmp_path / "none"), "--targets", "json"])
