"""Kernels of problems 4, 26, 36, 47, 51, 89, 94 and 95 on the host device, at odd shapes."""

import math
import shutil
from pathlib import Path

import pytest
import torch

from gpu_eval.devices.base import Case, Device
from gpu_eval.devices.registry import open_device
from gpu_eval.problems.loader import Corpus
from gpu_eval.problems.tensors import dimensions, floors, reduction_length, smallest_sizes
from suiteopt.matrix.schema import Count, Statistic, Status
from tests.gpu_eval.problems.level1_extension import IDS, case_of, draw, gelu_in_double, shapes_of
from tests.gpu_eval.problems.test_host import compiled

pytestmark = pytest.mark.skipif(shutil.which("g++") is None, reason="the host device needs g++")


@pytest.fixture(scope="module")
def device() -> Device:
    return open_device("cpu")


@pytest.fixture(scope="module")
def cache(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("cache")


@pytest.mark.parametrize("identifier", IDS)
def test_kernels_at_odd_shapes(
    corpus: Corpus, device: Device, cache: Path, identifier: str
) -> None:
    problem = corpus.problem(identifier)
    kernels = list(compiled(problem, device, cache))
    with device.open() as session:
        for values in shapes_of(problem):
            for how in ("normal", "offset"):
                tensors = draw(problem, values, how)
                case = case_of(problem, tensors, f"{sorted(values.items())}{how}")
                session.bind(case)
                own = session.judge(case.reference).statistics[Statistic.TRUTH_RMS]
                length = reduction_length(problem, values)
                floor = floors(problem, tensors, case.reference, length, False)[Statistic.RMS]
                for name, substrate, binary in kernels:
                    plan = substrate.plan.resolve(values, problem.scalars)
                    hashes = set()
                    for schedule in range(device.schedules):
                        outcome = session.run(binary, plan, schedule=schedule, deadline=30.0)
                        where = (name, values, how, schedule)
                        assert outcome.status is Status.OK, (where, outcome)
                        assert not outcome.divergent, where
                        assert outcome.statistics[Statistic.TRUTH_RMS] <= 8 * max(own, floor), where
                        hashes.add(outcome.output_hash)
                    assert len(hashes) == 1, f"{name} depends on the order of its threads"


@pytest.mark.parametrize("identifier", ["level1/004", "level1/047", "level1/089"])
def test_kernels_are_exact_on_integers(
    corpus: Corpus, device: Device, cache: Path, identifier: str
) -> None:
    problem = corpus.problem(identifier)
    values = dimensions(problem, smallest_sizes(problem))
    with device.open() as session:
        session.bind(case_of(problem, draw(problem, values, "integers"), "integers"))
        for name, substrate, binary in compiled(problem, device, cache):
            outcome = session.run(binary, substrate.plan.resolve(values, problem.scalars))
            assert outcome.statistics[Statistic.TRUTH_RMS] == 0, name


def test_gelu_follows_the_formula_on_special_values(
    corpus: Corpus, device: Device, cache: Path
) -> None:
    problem = corpus.problem("level1/026")
    values = dimensions(problem, {"rows": 3, "cols": 341})
    tensors = draw(problem, values, "normal")
    special = [math.nan, math.inf, -math.inf, 0.0, -0.0, 1e-42, 3e38, -3e38]
    tensors["x"].view(-1)[: 8 * 31 : 31] = torch.tensor(special)
    truth = gelu_in_double(tensors["x"])
    with device.open() as session:
        session.bind(Case("special", tensors, {"y": truth.float()}, {"y": truth}))
        for name, substrate, binary in compiled(problem, device, cache):
            outcome = session.run(binary, substrate.plan.resolve(values, problem.scalars))
            assert outcome.counts[Count.NAN_BOTH] == 2, name
            assert outcome.counts[Count.NAN_ONE] == outcome.counts[Count.INF_MISMATCH] == 0, name
            assert outcome.statistics[Statistic.ALLCLOSE_REFERENCE] < 1e-6, name


@pytest.mark.parametrize("how", ["ties", "nan", "constant"])
def test_argmax_finds_the_first_of_equal_elements(
    corpus: Corpus, device: Device, cache: Path, how: str
) -> None:
    problem = corpus.problem("level1/051")
    with device.open() as session:
        for values in shapes_of(problem):
            tensors = draw(problem, values, "integers")
            if how == "nan":
                tensors["x"].view(-1)[::37] = math.nan
            elif how == "constant":
                tensors["x"].fill_(-1.5)
            case = case_of(problem, tensors, f"{sorted(values.items())}{how}")
            session.bind(case)
            for name, substrate, binary in compiled(problem, device, cache):
                outcome = session.run(binary, substrate.plan.resolve(values, problem.scalars))
                assert outcome.status is Status.OK, (name, outcome)
                assert torch.equal(session.outputs()["y"], case.reference["y"]), (name, values)
                assert set(outcome.statistics.values()) == {0.0}, name
