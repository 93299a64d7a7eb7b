"""The default matrix is changed as a whole or not at all; everything generated has a script."""

import shutil
from importlib.util import find_spec
from pathlib import Path

import pytest

from experiments.publish import PAGES, ROOT, by_hand, make_default, publish, results
from suiteopt.errors import UserError
from suiteopt.matrix.store import Matrix, resolve_matrix
from tests.suiteopt.builders import tiny_matrix


def test_a_matrix_becomes_the_default(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    made = tiny_matrix(tmp_path / "matrices" / "new")
    tiny_matrix(tmp_path / "matrices" / "old")
    (tmp_path / "matrices" / "DEFAULT").write_text("old\n")
    shutil.copy(ROOT / "MANIFEST.in", tmp_path)
    make_default("new", tmp_path)
    monkeypatch.chdir(tmp_path)
    assert Matrix.open(resolve_matrix(None)).id == made.id
    manifest = (tmp_path / "MANIFEST.in").read_text("utf-8").splitlines()
    before = (ROOT / "MANIFEST.in").read_text("utf-8").splitlines()
    assert "recursive-include matrices/new *" in manifest
    assert len(set(before) - set(manifest)) == 1


def test_a_damaged_one_does_not(tmp_path: Path) -> None:
    made = tiny_matrix(tmp_path / "matrices" / "new")
    (tmp_path / "matrices" / "DEFAULT").write_text("old\n")
    next((made.path / "cells").iterdir()).write_bytes(b"PAR1")
    with pytest.raises(UserError, match="is damaged"):
        make_default("new", tmp_path)
    assert (tmp_path / "matrices" / "DEFAULT").read_text() == "old\n"


def test_the_archive_holds_the_default_matrix() -> None:
    line = f"recursive-include matrices/{resolve_matrix(None).name} *"
    assert line in (ROOT / "MANIFEST.in").read_text("utf-8").splitlines()


def test_every_result_that_names_the_default_has_its_script() -> None:
    modules = results()
    assert all(find_spec(f"experiments.{name}") for name in (*modules, *PAGES))
    written = {path.stem for path in (ROOT / "experiments" / "results").glob("finding-*.json")}
    assert {f"finding-{m.partition('.')[2].replace('_', '-')}" for m in modules[2:]} == written


def test_what_is_left_to_people_is_listed() -> None:
    listed = by_hand()
    for page in ("README", "docs/method.md", "docs/gpu.md", "docs/targets.md", "docs/tutorial.md"):
        assert page in listed


def test_a_script_that_fails_stops_it() -> None:
    with pytest.raises(UserError, match=r"experiments\.no_such_script ends with 1"):
        publish(["no_such_script"], 1)
