"""Exported members are what a campaign measured: the same bits at the same shapes."""

import sys
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

torch = pytest.importorskip("torch")

from gpu_eval.campaign.pool import candidate_pool, realise  # noqa: E402
from gpu_eval.campaign.shapes import PROFILES  # noqa: E402
from gpu_eval.problems.loader import load_corpus  # noqa: E402
from suiteopt.export.exporter import export  # noqa: E402
from suiteopt.export.kernelbench_verified import KernelBenchVerified  # noqa: E402
from suiteopt.suite import Member, ProblemSuite  # noqa: E402
from tests.suiteopt.export.samples import copy_sample, suite  # noqa: E402

SHAPES = {
    "level1/001": {"n": 96},
    "level1/019": {"rows": 16, "cols": 1000},
    "level1/023": {"rows": 16, "cols": 1000},
    "level1/040": {"batch": 4, "features": 8, "dim1": 16, "dim2": 16},
    "level1/042": {"batch": 2, "channels": 4, "height": 37, "width": 41},
    "level1/050": {"batch": 2, "height": 64, "width": 64},
}


@pytest.mark.parametrize("identity", SHAPES)
def test_every_candidate_that_the_target_carries_is_exported_to_the_bit(
    identity: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sys, "dont_write_bytecode", True)
    task = load_corpus().problems[identity]
    target = KernelBenchVerified(keep_original=False)
    members, measured = [], []
    for candidate in candidate_pool(task, PROFILES["demo"]):
        member = Member(
            input=candidate.id,
            values=candidate.values,
            parameters=candidate.parameters,
            shape=candidate.shape,
            shape_recipe=candidate.shape_recipe,
            seed=candidate.seed,
            tolerance=target.tolerance,
            comparator=str(target.comparator),
            needs=tuple(str(need) for need in candidate.needs),
        )
        if member.required <= target.capabilities.needs:
            members.append(member)
            measured.append(replace(candidate, shape={**candidate.shape, **SHAPES[identity]}))
    assert len(members) >= 10
    chosen = ProblemSuite(
        problem=identity,
        benchmark=task.benchmark,
        level=task.level,
        name=task.name,
        dtype="float32",
        members=tuple(members),
        mutants=1,
        detected=1,
    )
    repo = copy_sample(tmp_path)
    export(suite(chosen), target, repo)
    path = str(repo / target.hidden_path(chosen))
    context: dict[str, Any] = {"torch": torch, "__file__": path}
    exec(compile(Path(path).read_text(), path, "exec"), context)
    for pool_input, values in zip(measured, context["get_hidden_inputs"](), strict=True):
        expected = realise(task, pool_input)
        for spec, value in zip(task.inputs, values, strict=True):
            wanted = expected[spec.name]
            assert value.shape == wanted.shape, pool_input.id
            assert torch.equal(value.view(torch.int32), wanted.view(torch.int32)), pool_input.id
