"""Which version a campaign names."""

from importlib.metadata import PackageNotFoundError
from pathlib import Path

import pytest

from gpu_eval.campaign import header


@pytest.fixture
def not_installed(monkeypatch: pytest.MonkeyPatch) -> None:
    def missing(name: str) -> str:
        raise PackageNotFoundError(name)

    monkeypatch.setattr(header, "version", missing)


def test_an_installed_distribution_says_its_version(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(header, "version", {"kernel-suiteopt": "7.8.9"}.__getitem__)
    assert header.tool_version() == "7.8.9"


@pytest.mark.usefixtures("not_installed")
def test_a_checkout_says_its_own_and_that_it_is_source() -> None:
    text = header.PYPROJECT.read_text("utf-8")
    assert f'version = "{header.tool_version().removesuffix("+source")}"' in text
    assert header.tool_version().endswith("+source")


@pytest.mark.usefixtures("not_installed")
@pytest.mark.parametrize("text", [None, "no [toml", "[tool]\n", '[project]\nname = "x"\n'])
def test_without_either_it_is_unknown(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, text: str | None
) -> None:
    monkeypatch.setattr(header, "PYPROJECT", tmp_path / "pyproject.toml")
    if text is not None:
        header.PYPROJECT.write_text(text)
    assert header.tool_version() == "0+unknown"
