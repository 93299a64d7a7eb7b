"""The findings in the checkout are those of the shipped matrix."""

import json
from importlib import import_module
from pathlib import Path
from typing import Any

import pytest

from experiments.findings.common import RESULTS, slim
from suiteopt.matrix.jsonable import dumps
from suiteopt.matrix.store import Matrix, resolve_matrix

QUICK = ("miss_rate", "decomposition", "blind_band", "ceilings", "refereeability")


def alike(first: Any, second: Any) -> bool:
    """Whether two documents are equal up to the last digits of their numbers."""
    if isinstance(first, dict) and isinstance(second, dict):
        return first.keys() == second.keys() and all(alike(first[k], second[k]) for k in first)
    if isinstance(first, list) and isinstance(second, list):
        return len(first) == len(second) and all(map(alike, first, second))
    if isinstance(first, float) and isinstance(second, float | int):
        return bool(first == pytest.approx(second, rel=1e-9, abs=1e-12))
    return bool(first == second)


@pytest.mark.parametrize("name", QUICK)
def test_a_finding_is_what_its_script_finds(name: str) -> None:
    matrix = Matrix.open(resolve_matrix(None))
    path: Path = RESULTS / f"finding-{name.replace('_', '-')}.json"
    written = json.loads(path.read_text(encoding="utf-8"))
    assert written["matrix_id"] == matrix.id, "another matrix ships now: run `make findings`"
    found = import_module(f"experiments.findings.{name}").find(matrix)
    ours = json.loads(dumps(dict(found.ours)))
    assert alike(written["ours"], ours)
    assert written["words"] == list(found.words)
    assert found.tables or "refused" in found.ours


def test_long_tables_are_left_out() -> None:
    assert slim({"a": 1, "rows": [1], "b": {"by_rule": {}, "c": 2}}) == {"a": 1, "b": {"c": 2}}
