"""A problem of another benchmark is refused as that, before its name is looked for."""

from dataclasses import replace
from pathlib import Path

import pytest

from suiteopt.errors import UserError
from suiteopt.export.exporter import export
from suiteopt.export.registry import get_target, target_references
from tests.suiteopt.export.checkouts import calibrated, checkout, own_member
from tests.suiteopt.export.samples import problem, recipe

SAMPLES = {
    "flashinfer-bench": "flashinfer",
    "gpumode": "gpumode",
    "kernelbench": "kernelbench",
    "kernelbench-sidecar": "kernelbench",
    "kernelbench-verified": "kernelbench_verified",
    "multikernelbench": "multikernelbench",
    "robust-kbench": "robust_kbench",
}


@pytest.mark.parametrize("target", SAMPLES)
def test_it_says_whose_problem_it_is(target: str, tmp_path: Path) -> None:
    kind = get_target(target)
    other = "kernelbench" if target in ("gpumode", "flashinfer-bench") else "another"
    tolerance = 1e-3 if kind.tolerance is None else kind.tolerance
    comparator = "allclose_candidate" if kind.comparator is None else kind.comparator
    member = own_member(
        "level1/019:n", {"x": recipe("normal")}, tolerance=tolerance, comparator=str(comparator)
    )
    suite = calibrated(target, replace(problem(19, member), benchmark=other))
    suite = replace(suite, oracle=kind.capabilities.oracle or "calibrated")
    with pytest.raises(UserError, match=rf"^level1/019 is a problem of '{other}', and "):
        export(suite, kind, checkout(SAMPLES[target], tmp_path))


def test_every_target_with_a_benchmark_of_its_own_is_tried() -> None:
    assert {*SAMPLES, "json"} == set(target_references())
