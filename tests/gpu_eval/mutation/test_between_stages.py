"""The rules of what lies between stages, on a fused kernel with launches before and after."""

from collections import Counter
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import pytest
import torch

from gpu_eval.campaign.equivalence import classify
from gpu_eval.campaign.implementations import Implementation, implementations
from gpu_eval.compilation.nvrtc import NvrtcCompiler, load_nvrtc
from gpu_eval.devices.base import Binary, Case, Session
from gpu_eval.devices.host import HostDevice
from gpu_eval.mutation import catalogue
from gpu_eval.mutation.between_stages import BETWEEN_STAGES
from gpu_eval.mutation.catalogue import RULES, is_locked
from gpu_eval.problems.loader import kernel_source, load_problem
from gpu_eval.problems.tensors import dimensions
from suiteopt.errors import UserError
from suiteopt.matrix.schema import ImplementationClass, Kind, Statistic, Status
from tests.gpu_eval.mutation.corpus import FUSED, made

NEW = {
    "function-left-out",
    "function-order-swapped",
    "calls-exchanged",
    "epilogue-order-swapped",
    "element-stage-left-out",
    "read-along-other-axis",
    "read-other-tensor",
    "statistics-of-other-group",
    "result-fp16",
    "result-bf16",
    "launch-bypassed",
    "launch-order-swapped",
    "launch-tensor-of-equal-size",
}
SHAPE = {"rows": 7, "depth": 9, "cols": 20, "groups": 4}
VALUES = dimensions(FUSED, SHAPE)
SUBSTRATE = FUSED.substrates[0]


@cache
def mutants() -> tuple[Implementation, ...]:
    return tuple(i for i in implementations(FUSED) if i.fault is not None and i.name in NEW)


def case() -> Case:
    generator = torch.Generator().manual_seed(11)
    tensors = {
        one.name: torch.randn([SHAPE[d] for d in one.shape], generator=generator)
        for one in (*FUSED.inputs, *FUSED.parameters)
    }
    truth = FUSED.reference({name: value.double() for name, value in tensors.items()})
    return Case("fused", tensors, FUSED.reference(tensors), truth)


@pytest.fixture(scope="module")
def device(tmp_path_factory: pytest.TempPathFactory) -> HostDevice:
    return HostDevice(tmp_path_factory.mktemp("cache"))


@pytest.fixture(scope="module")
def binaries(device: HostDevice, tmp_path_factory: pytest.TempPathFactory) -> dict[str, Binary]:
    sources = [m.source for m in mutants() if m.source is not None and not m.is_launch_fault]
    sources.append(kernel_source(FUSED, SUBSTRATE, identifier="kernel"))
    made = device.compile(sources, tmp_path_factory.mktemp("binaries"), 2)
    return {binary.id: binary for binary in made}


@pytest.fixture(scope="module")
def session(device: HostDevice) -> Iterator[Session]:
    with device.open() as opened:
        opened.bind(case())
        yield opened


def test_every_kind_of_fault_has_rules_with_sites() -> None:
    counts = Counter(fault.rule for fault in made(FUSED, SUBSTRATE)[1])
    named = {name for rules in BETWEEN_STAGES.values() for name in rules}
    assert {name: counts[name] > 0 for name in named} == dict.fromkeys(named, True)
    assert named >= NEW
    assert named <= {one.name for one in RULES}


def test_rules_that_came_later_are_last_and_change_no_lock(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    assert {one.name for one in RULES[-len(NEW) :]} == NEW
    locked = {one.name for one in RULES if is_locked(one.name)}
    assert locked & NEW == {"function-left-out", "read-along-other-axis", "result-fp16"}
    catalogue._locked_names.cache_clear()
    with monkeypatch.context() as patch:
        patch.setattr(catalogue, "RULES", RULES[: -len(NEW)])
        before = catalogue._locked_names()
    catalogue._locked_names.cache_clear()
    assert before == locked - NEW


def test_the_kernel_is_right(session: Session, binaries: dict[str, Binary]) -> None:
    plan = SUBSTRATE.plan.resolve(VALUES, FUSED.scalars)
    outcome = session.run(binaries["kernel"], plan)
    assert outcome.status is Status.OK
    assert outcome.statistics[Statistic.ALLCLOSE_REFERENCE] < 1e-5


def test_every_mutant_compiles_and_computes_something_else(
    session: Session, binaries: dict[str, Binary]
) -> None:
    right = session.run(binaries["kernel"], SUBSTRATE.plan.resolve(VALUES, FUSED.scalars))
    same = []
    for mutant in mutants():
        assert mutant.source is not None
        assert mutant.plan is not None
        binary = binaries["kernel" if mutant.is_launch_fault else mutant.id]
        assert binary.path is not None, (mutant.id, binary.error)
        outcome = session.run(binary, mutant.plan.resolve(VALUES, FUSED.scalars))
        if outcome.output_hash == right.output_hash:
            same.append(mutant.id)
    assert len(mutants()) >= 2 * len(NEW)
    assert same == []


def test_mutants_compile_for_a_gpu(tmp_path: Path) -> None:
    try:
        load_nvrtc()
    except UserError as error:
        pytest.skip(str(error))
    of_rule = {m.name: m.source for m in mutants() if not m.is_launch_fault}  # one of each
    sources = [source for source in of_rule.values() if source is not None]
    assert len(sources) == len(NEW) - 3
    compiled = NvrtcCompiler("sm_90").compile(sources, tmp_path, 1)
    assert {binary.id: binary.error for binary in compiled if binary.path is None} == {}


def test_a_stage_that_does_nothing_is_left_out_without_a_difference(
    device: HostDevice, tmp_path: Path
) -> None:
    text = (FUSED.directory / SUBSTRATE.source).read_text()
    assert text.count("return value / (1.0f + expf(-value));") == 1
    idle = text.replace("return value / (1.0f + expf(-value));", "return value;")
    (tmp_path / SUBSTRATE.source).write_text(idle)
    (tmp_path / "problem.py").write_text((FUSED.directory / "problem.py").read_text())
    problem = load_problem(tmp_path / "problem.py")
    chosen = [
        one
        for one in implementations(problem)
        if one.kind == Kind.SUBSTRATE or one.name in ("element-stage-left-out", "calls-exchanged")
    ]
    sources = [one.source for one in chosen if one.source is not None]
    binaries = {b.id: b for b in device.compile(sources, tmp_path / "cache", 2)}
    found = classify(
        chosen,
        binaries,
        [SHAPE],
        lambda plan, shape: plan.resolve(dimensions(problem, shape), problem.scalars),
    )
    equivalent = [
        one.implementation.fault.before
        for one in found
        if one.cls == ImplementationClass.EQUIVALENT and one.implementation.fault is not None
    ]
    assert equivalent == ["acc[j] = silu(acc[j]);"]
    assert sum(one.cls == ImplementationClass.VALID for one in found) > 3
