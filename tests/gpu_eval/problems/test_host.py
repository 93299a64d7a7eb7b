"""Every kernel of the corpus on the host device, at odd shapes, against fp64."""

import math
import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest
import torch

from gpu_eval.campaign.pool import candidate_pool
from gpu_eval.campaign.shapes import PROFILES
from gpu_eval.devices.base import Binary, Case, Device
from gpu_eval.devices.registry import open_device
from gpu_eval.problems.check import check_inputs
from gpu_eval.problems.definition import Problem, Substrate
from gpu_eval.problems.loader import Corpus, kernel_source, load_corpus
from gpu_eval.problems.scaffold import new_problem
from gpu_eval.problems.tensors import dimensions, floors, reduction_length, smallest_sizes
from gpu_eval.problems.validate import validate
from suiteopt.matrix.schema import Count, Statistic, Status
from tests.gpu_eval.problems.test_corpus import IDS, ODD_SIZES, SPECIAL, draw

pytestmark = pytest.mark.skipif(shutil.which("g++") is None, reason="the host device needs g++")


@pytest.fixture(scope="module")
def device() -> Device:
    return open_device("cpu")


@pytest.fixture(scope="module")
def cache(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("cache")


def compiled(
    problem: Problem, device: Device, cache: Path
) -> Iterator[tuple[str, Substrate, Binary]]:
    entries = [(s.name, s, ()) for s in problem.substrates]
    entries += [(c.name, c.substrate, c.flags) for c in problem.controls if c.substrate]
    sources = [kernel_source(problem, s, identifier=n, flags=f) for n, s, f in entries]
    for (name, substrate, _), binary in zip(
        entries, device.compile(sources, cache, 1), strict=True
    ):
        assert binary.error == ""
        yield name, substrate, binary


def case_of(problem: Problem, tensors: dict[str, torch.Tensor], key: str) -> Case:
    reference = {n: t.contiguous() for n, t in problem.reference(tensors).items()}
    truth = problem.reference({n: t.double() for n, t in tensors.items()})
    return Case(key, tensors, reference, {n: t.contiguous() for n, t in truth.items()})


@pytest.mark.parametrize("identifier", IDS)
def test_kernels_at_odd_shapes(
    corpus: Corpus, device: Device, cache: Path, identifier: str
) -> None:
    problem = corpus.problem(identifier)
    kernels = list(compiled(problem, device, cache))
    with device.open() as session:
        for sizes in [smallest_sizes(problem), *ODD_SIZES[identifier]]:
            values = dimensions(problem, sizes)
            for how in ("normal", "offset"):
                tensors = draw(problem, values, how)
                case = case_of(problem, tensors, f"{sizes}{how}")
                session.bind(case)
                own = session.judge(case.reference).statistics[Statistic.TRUTH_RMS]
                length = reduction_length(problem, values)
                floor = floors(problem, tensors, case.reference, length, False)[Statistic.RMS]
                for name, substrate, binary in kernels:
                    plan = substrate.plan.resolve(values, problem.scalars)
                    hashes = set()
                    for schedule in range(device.schedules):
                        outcome = session.run(binary, plan, schedule=schedule, deadline=30.0)
                        where = (name, sizes, how, schedule)
                        assert outcome.status is Status.OK, (where, outcome)
                        assert outcome.statistics[Statistic.TRUTH_RMS] <= 8 * max(own, floor), where
                        hashes.add(outcome.output_hash)
                    assert len(hashes) == 1, f"{name} depends on the order of its threads"


@pytest.mark.parametrize("identifier", ["level1/019", "level1/023", "level1/042"])
def test_kernels_treat_special_values_as_the_reference_does(
    corpus: Corpus, device: Device, cache: Path, identifier: str
) -> None:
    problem = corpus.problem(identifier)
    values = dimensions(problem, ODD_SIZES[identifier][1] | {"rows": 16})
    tensors = draw(problem, values, "normal")
    flat = tensors["x"].view(-1)
    for k, value in enumerate(SPECIAL):
        flat[(331 * k + 5) % flat.numel()] = value
    case = case_of(problem, tensors, "special")
    with device.open() as session:
        session.bind(case)
        assert case.reference["y"].isnan().any()
        assert case.reference["y"].isfinite().any()
        for name, substrate, binary in compiled(problem, device, cache):
            outcome = session.run(binary, substrate.plan.resolve(values, problem.scalars))
            assert outcome.counts[Count.NAN_ONE] == 0, name
            assert outcome.counts[Count.INF_MISMATCH] == 0, name
            assert outcome.statistics[Statistic.ALLCLOSE_REFERENCE] < 1e-6, name


@pytest.mark.parametrize("identifier", ["level1/001", "level1/050"])
def test_kernels_are_exact_on_integers(
    corpus: Corpus, device: Device, cache: Path, identifier: str
) -> None:
    problem = corpus.problem(identifier)
    values = dimensions(problem, smallest_sizes(problem))
    tensors = {n: (t * 3).round() for n, t in draw(problem, values, "normal").items()}
    with device.open() as session:
        session.bind(case_of(problem, tensors, "integers"))
        for name, substrate, binary in compiled(problem, device, cache):
            outcome = session.run(binary, substrate.plan.resolve(values, problem.scalars))
            assert outcome.statistics[Statistic.TRUTH_RMS] == 0, name


def test_a_scaffolded_problem_runs(device: Device, cache: Path, tmp_path: Path) -> None:
    new_problem("mine", tmp_path)
    problem = load_corpus([tmp_path], built_in=False).problem("user/mine")
    validate(problem)
    pool = candidate_pool(problem, PROFILES["demo"])
    report = check_inputs(problem, device, pool, cache)
    assert report.passed, report
    assert {i.name: i.inputs for i in report.implementations}["tree"] == len(pool)
    assert max(i.error for i in report.implementations) > 0
    assert not math.isinf(max(i.ratio for i in report.implementations))
