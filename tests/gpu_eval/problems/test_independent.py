"""Two problems against second implementations that were written from the contract alone."""

import shutil
from dataclasses import replace
from pathlib import Path
from types import ModuleType

import pytest
import torch

from gpu_eval.campaign.cases import CaseFactory
from gpu_eval.campaign.pool import candidate_pool
from gpu_eval.campaign.shapes import PROFILES
from gpu_eval.devices.registry import open_device
from gpu_eval.problems.allowances import ALLOWANCE
from gpu_eval.problems.definition import Problem
from gpu_eval.problems.loader import Corpus
from gpu_eval.problems.tensors import dimensions, floors, reduction_length
from suiteopt.matrix.schema import Statistic, Status
from tests.gpu_eval.problems.independent import level1_044, level1_088
from tests.gpu_eval.problems.test_host import compiled

HERE = Path(__file__).parent / "independent"
REWRITTEN: dict[str, ModuleType] = {"level1/044": level1_044, "level1/088": level1_088}
SHAPES: dict[str, list[tuple[int, ...]]] = {
    "level1/044": [(2, 3, 41), (1, 2, 8)],
    "level1/088": [(3, 37), (1, 1001)],
}


def rewritten(problem: Problem) -> Problem:
    """Return the contract with the second reference and kernel, and nothing else of ours."""
    second = REWRITTEN[problem.id]
    return replace(
        problem,
        reference=second.reference,
        magnitude=None,
        substrates=(second.SUBSTRATE,),
        controls=(),
        directory=HERE,
    )


@pytest.mark.parametrize("identifier", REWRITTEN)
@pytest.mark.parametrize("number", [0, 1])
@pytest.mark.parametrize("scale", [1.0, 1e-3, 50.0])
def test_references_agree_in_double(
    corpus: Corpus, identifier: str, number: int, scale: float
) -> None:
    problem = corpus.problem(identifier)
    shape = SHAPES[identifier][number]
    generator = torch.Generator().manual_seed(number)
    x = scale * torch.randn(shape, generator=generator, dtype=torch.float64)
    ours = problem.reference({"x": x})["y"]
    theirs = rewritten(problem).reference({"x": x})["y"]
    torch.testing.assert_close(theirs, ours, rtol=1e-12, atol=1e-14 * scale)


@pytest.mark.skipif(shutil.which("g++") is None, reason="the host device needs g++")
@pytest.mark.parametrize("identifier", REWRITTEN)
def test_kernels_agree_within_the_bound_of_the_check(
    corpus: Corpus, tmp_path: Path, identifier: str
) -> None:
    problem = corpus.problem(identifier)
    second = rewritten(problem)
    device = open_device("cpu")
    kernels = [*compiled(second, device, tmp_path)]
    kernels += compiled(replace(problem, controls=()), device, tmp_path)
    # The truth is the second reference's, so that ours is not judged by itself.
    factory = CaseFactory(second, device.torch_device)
    pool = candidate_pool(problem, PROFILES["demo"])
    chosen = [pool[0], pool[len(pool) // 2], pool[-1]]
    with device.open() as session:
        for pool_input in chosen:
            values = dimensions(problem, pool_input.shape)
            case = factory.get(pool_input).case
            session.bind(case)
            own = session.judge(case.reference).statistics[Statistic.TRUTH_RMS]
            length = reduction_length(problem, values)
            floor = floors(problem, case.tensors, case.reference, length, pool_input.exact)
            allowed = ALLOWANCE * max(own, floor[Statistic.RMS])
            outputs = {}
            for name, substrate, binary in kernels:
                plan = substrate.plan.resolve(values, problem.scalars)
                outcome = session.run(binary, plan, deadline=30.0)
                where = (name, pool_input.id)
                assert outcome.status is Status.OK, (where, outcome)
                assert outcome.statistics[Statistic.TRUTH_RMS] <= allowed, where
                outputs[name] = session.outputs()["y"].double().clone()
            scale = case.truth["y"].square().mean().sqrt()
            mine = outputs.pop("independent")
            assert len(outputs) == len(problem.substrates)
            for name, theirs in outputs.items():
                apart = float((mine - theirs).abs().max() / scale)
                assert apart <= allowed, (name, pool_input.id, apart)
