"""The documentation site: complete, and built without a warning."""

import importlib.util
import subprocess
import sys
from html.parser import HTMLParser
from pathlib import Path
from types import ModuleType

import pytest
from ruamel.yaml import YAML

ROOT = Path(__file__).parents[2]


@pytest.fixture(scope="module")
def hooks() -> ModuleType:
    spec = importlib.util.spec_from_file_location("site_hooks", ROOT / "docs" / "site_hooks.py")
    assert spec is not None
    assert spec.loader is not None
    loaded = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(loaded)
    return loaded


def pages(nav: list[dict[str, object]]) -> set[str]:
    found: set[str] = set()
    for entry in nav:
        for value in entry.values():
            found |= pages(value) if isinstance(value, list) else {str(value)}
    return found


def test_every_page_is_in_the_navigation() -> None:
    listed = pages(YAML(typ="safe").load((ROOT / "mkdocs.yml").read_text("utf-8"))["nav"])
    docs = ROOT / "docs"
    assert listed == {str(p.relative_to(docs).as_posix()) for p in docs.rglob("*.md")}


def test_links_of_the_readme_lead_into_the_site(hooks: ModuleType) -> None:
    text = "![a](docs/figures/a.svg) [b](docs/b.md#c) [d](LICENSE) [e](https://e.org) [f](#f)"
    wanted = "![a](figures/a.svg) [b](b.md#c) d (`LICENSE`) [e](https://e.org) [f](#f)"
    assert hooks.site_links(text) == wanted


def test_the_reference_names_every_command_and_option(hooks: ModuleType) -> None:
    text = hooks.command_reference("gpu-eval")
    for words in ("`gpu-eval run`", "`gpu-eval mutants list`", "--no-compile", "`gpu-eval new`"):
        assert words in text
    assert "# `gpu-eval`" in text.splitlines()[0]
    assert "`suiteopt select`" in hooks.command_reference("suiteopt")


class Sources(HTMLParser):
    """Collects what a page loads."""

    def __init__(self) -> None:
        super().__init__()
        self.loaded: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        values = dict(attrs)
        if tag in ("script", "img", "iframe") or values.get("rel") == "stylesheet":
            self.loaded.append(values.get("src") or values.get("href") or "")


@pytest.mark.slow
def test_the_site_builds_without_a_warning_and_loads_nothing_from_outside(tmp_path: Path) -> None:
    for package in ("mkdocs", "material", "mkdocstrings"):
        pytest.importorskip(package)
    command = [sys.executable, "-m", "mkdocs", "build", "--strict", "-q", "-d", str(tmp_path)]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    parser = Sources()
    for page in tmp_path.rglob("*.html"):
        parser.feed(page.read_text("utf-8"))
    assert parser.loaded
    assert [place for place in parser.loaded if "//" in place] == []
    api = (tmp_path / "reference" / "api.html").read_text("utf-8")
    assert 'id="gpu_eval.mutation.rule.Rule"' in api
    assert 'id="suiteopt.matrix.store.Matrix"' in api
    assert "gpu-eval mutants list" in (tmp_path / "reference" / "commands.html").read_text("utf-8")
    assert "figures/missed-by-family.svg" in (tmp_path / "index.html").read_text("utf-8")
