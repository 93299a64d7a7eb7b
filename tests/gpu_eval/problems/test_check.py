"""The check's judgement, on a device made of torch."""

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path

import pytest
import torch

from gpu_eval.campaign.pool import candidate_pool
from gpu_eval.campaign.shapes import PROFILES
from gpu_eval.devices.base import Binary, Case, Device, KernelSource, Outcome, Session
from gpu_eval.problems.check import CheckReport, check_inputs, check_problem, worst_ratio
from gpu_eval.problems.definition import Control, Problem
from gpu_eval.problems.loader import Corpus
from gpu_eval.problems.plan import ResolvedPlan
from suiteopt.errors import UserError
from suiteopt.matrix.schema import Count, Statistic, Status

IDS = ["level1/001", "level1/019", "level1/023", "level1/040", "level1/042", "level1/050"]

Kernel = Callable[
    [Mapping[str, torch.Tensor], Mapping[str, torch.Tensor]], Mapping[str, torch.Tensor]
]


class TorchSession(Session):
    """Runs a given function of (tensors, reference) wherever a kernel should run."""

    def __init__(self, kernel: Kernel) -> None:
        self._kernel = kernel
        self._case: Case | None = None

    def bind(self, case: Case) -> None:
        self._case = case

    def run(
        self, binary: Binary, plan: ResolvedPlan, *, schedule: int = 0, deadline: float = 2.0
    ) -> Outcome:
        assert self._case is not None
        assert plan.launches
        return self.judge(self._kernel(self._case.tensors, self._case.reference))

    def judge(self, outputs: Mapping[str, torch.Tensor]) -> Outcome:
        assert self._case is not None
        ((name, truth),) = self._case.truth.items()
        reference, output = self._case.reference[name], outputs[name]
        finite = truth.isfinite() & output.isfinite()
        worst = float((output.double() - truth)[finite].abs().max())
        scale = float(truth[finite].square().mean().sqrt())
        error = 0.0 if worst == 0 else (worst / scale if scale else math.inf)
        counts = {Count.NAN_ONE: int((output.isnan() != reference.isnan()).sum())}
        status = Status.NONFINITE if counts[Count.NAN_ONE] else Status.OK
        return Outcome(status, {Statistic.TRUTH_RMS: error}, counts)

    def outputs(self) -> Mapping[str, torch.Tensor]:
        raise NotImplementedError

    def close(self) -> None:
        self._case = None


class TorchDevice(Device):
    name = "torch"
    torch_device = "cpu"
    schedules = 1

    def __init__(self, kernel: Kernel, broken: str = "") -> None:
        self._kernel = kernel
        self._broken = broken

    def describe(self) -> dict[str, str]:
        return {}

    def compile(self, sources: Sequence[KernelSource], cache: Path, jobs: int) -> Sequence[Binary]:
        return [
            Binary(s.id, None, "", s.kernels, "", "expected ';'")
            if s.id == self._broken
            else Binary(s.id, cache / "x", s.id, s.kernels, "00")
            for s in sources
        ]

    def open(self) -> Session:
        return TorchSession(self._kernel)


def check(problem: Problem, kernel: Kernel, tmp_path: Path, first: int = 3) -> CheckReport:
    pool = candidate_pool(problem, PROFILES["demo"])[:first]
    return check_inputs(problem, TorchDevice(kernel), pool, tmp_path)


def right(tensors: Mapping[str, torch.Tensor], reference: Mapping[str, torch.Tensor]):
    return reference


def test_a_right_problem_passes(corpus: Corpus, tmp_path: Path) -> None:
    problem = corpus.problem("level1/001")
    report = check(problem, right, tmp_path)
    assert report.passed
    assert report.inputs == 3
    assert [i.name for i in report.implementations] == [
        *(s.name for s in problem.substrates),
        *(c.name for c in problem.controls),
    ]
    assert {i.kind for i in report.implementations[:2]} == {"substrate"}
    assert all(i.inputs == 3 for i in report.implementations)
    tiled = report.implementations[0]
    # The kernel gives the own reference: exactly PyTorch's error, an eighth of what is allowed.
    assert tiled.error == tiled.own_error > 0
    assert 0 < tiled.ratio <= 1 / 8
    assert worst_ratio([report]) == max(i.ratio for i in report.implementations)


def test_an_error_beyond_the_allowance_fails(corpus: Corpus, tmp_path: Path) -> None:
    def wrong(tensors, reference):
        return {n: t * (1 + 1e-4) for n, t in reference.items()}

    report = check(corpus.problem("level1/001"), wrong, tmp_path)
    assert not report.passed
    tiled = report.implementations[0]
    assert not tiled.passed
    assert tiled.ratio > 10
    assert tiled.input.startswith("level1/001")
    assert report.implementations[-1].passed, "torch controls do not run on the device"


def test_what_never_rounds_must_be_equal(corpus: Corpus, tmp_path: Path) -> None:
    def nudged(tensors, reference):
        y = reference["y"].clone()
        y.view(-1)[0] += 2e-7
        return {"y": y}

    report = check(corpus.problem("level1/019"), nudged, tmp_path)
    assert report.implementations[0].ratio == math.inf
    assert check(corpus.problem("level1/019"), right, tmp_path).passed


@pytest.mark.parametrize(
    ("kind", "passes"), [("algorithm", True), ("pairwise", False), ("eager", False)]
)
def test_only_a_librarys_other_algorithm_may_round_where_sums_are_exact(
    corpus: Corpus, tmp_path: Path, kind: str, passes: bool
) -> None:
    problem = corpus.problem("level1/001")
    lattice = [i for i in candidate_pool(problem, PROFILES["demo"]) if i.exact][:2]
    assert lattice

    def transformed(tensors):
        # As far off as Winograd's convolution: some units in the last place.
        return {"c": torch.matmul(tensors["a"], tensors["b"]) * (1 + 4 * 2**-24)}

    tried = replace(problem, controls=(Control("transformed", kind, run=transformed),))
    report = check_inputs(tried, TorchDevice(right), lattice, tmp_path)
    found = {i.name: i for i in report.implementations}["transformed"]
    assert found.passed is passes
    assert (found.ratio < 1) is passes
    assert found.own_error == 0


def test_a_nan_that_the_reference_has_not_fails(corpus: Corpus, tmp_path: Path) -> None:
    def nan(tensors, reference):
        c = reference["c"].clone()
        c.view(-1)[0] = math.nan
        return {"c": c}

    tiled = check(corpus.problem("level1/001"), nan, tmp_path).implementations[0]
    assert not tiled.passed
    assert tiled.ratio == math.inf
    assert tiled.reason.startswith("non-finite elements differ from the reference (nan_one 1) on ")


def test_a_wrong_control_fails_and_may_not_hide_behind_the_worst_case(
    corpus: Corpus, tmp_path: Path
) -> None:
    problem = corpus.problem("level1/023")

    def half(tensors):
        return {"y": torch.softmax(tensors["x"].half().float(), dim=1)}

    wrong = replace(problem, controls=(*problem.controls, Control("half", "half", run=half)))
    checks = {i.name: i for i in check(wrong, right, tmp_path).implementations}
    assert not checks["half"].passed
    assert checks["serial"].passed


def test_a_control_that_raises_is_a_failure(corpus: Corpus, tmp_path: Path) -> None:
    problem = corpus.problem("level1/001")

    def raising(tensors):
        raise IndexError("out of reach")

    wrong = replace(problem, controls=(Control("broken", "broken", run=raising),))
    broken = check(wrong, right, tmp_path).implementations[-1]
    assert not broken.passed
    assert broken.reason.startswith("crash IndexError: out of reach on level1/001")


def test_inputs_that_the_reference_cannot_do_are_listed(corpus: Corpus, tmp_path: Path) -> None:
    problem = corpus.problem("level1/001")

    def reference(tensors):
        if tensors["a"].abs().max() < 0.5:
            raise RuntimeError("too small")
        return problem.reference(tensors)

    pool = candidate_pool(problem, PROFILES["demo"])[:5]  # with the own draw times 0.01
    picky = replace(problem, reference=reference)
    report = check_inputs(picky, TorchDevice(right), pool, tmp_path)
    assert report.passed
    assert report.invalid
    assert all("too small" in reason for reason in report.invalid.values())
    assert report.implementations[0].inputs == len(pool) - len(report.invalid)

    def never(tensors):
        raise RuntimeError("never")

    nothing = check_inputs(
        replace(problem, reference=never), TorchDevice(right), pool[:2], tmp_path
    )
    assert not nothing.passed
    assert nothing.doubt == "no input is valid"


def test_where_pytorch_is_as_wrong_as_the_output_is_large_nothing_is_judged(
    corpus: Corpus, tmp_path: Path
) -> None:
    problem = corpus.problem("level1/019")

    def cancelling(tensors):
        x = tensors["x"]
        offset = 1e9 if x.abs().max() < 0.5 else 1.0  # the own draw times 0.01
        return {"y": (x + offset) - offset}

    def wrong_there(tensors, reference):
        return {"y": reference["y"] + 1} if tensors["x"].abs().max() < 0.5 else reference

    lost = replace(problem, reference=cancelling, rounds=True, magnitude=None, controls=())
    pool = candidate_pool(problem, PROFILES["demo"])[:5]
    report = check_inputs(lost, TorchDevice(wrong_there), pool, tmp_path)
    (name,) = report.unjudged
    assert name == "level1/019:own-x0.01"
    assert "PyTorch's own fp32 result is off by 1.8 times the output's RMS" in report.unjudged[name]
    assert (report.inputs, report.judged, report.zero) == (5, 4, 0)
    assert report.implementations[0].inputs == 4
    assert report.passed
    assert report.proven
    assert not report.doubt

    only = [i for i in pool if i.id == name]
    nothing = check_inputs(lost, TorchDevice(right), only, tmp_path)
    assert not nothing.passed
    assert nothing.doubt == f"no input can be judged: {nothing.unjudged[name]}"


def test_a_reference_that_is_random_proves_nothing_and_fails_nobody(
    corpus: Corpus, tmp_path: Path
) -> None:
    problem = corpus.problem("level1/019")

    def drawn(tensors):
        return {"y": torch.randn_like(tensors["x"])}

    lost = replace(problem, reference=drawn, rounds=True, magnitude=None, controls=())
    pool = candidate_pool(problem, PROFILES["demo"])[:2]
    report = check_inputs(lost, TorchDevice(right), pool, tmp_path)
    assert (report.judged, report.random, len(report.unjudged)) == (0, 2, 2)
    assert report.passed
    assert not report.proven
    assert report.doubt == "the reference gives another result each time, so that nothing is proven"


def test_an_error_up_to_the_limit_is_judged(corpus: Corpus, tmp_path: Path) -> None:
    problem = corpus.problem("level1/019")

    def off_by(share: float) -> Problem:
        def reference(tensors):
            x = tensors["x"]
            # Of ones, an fp32 result that is off by a share of the RMS; the truth is in fp64.
            return {"y": torch.ones_like(x) + (share if x.dtype == torch.float32 else 0)}

        return replace(problem, reference=reference, rounds=True, magnitude=None, controls=())

    pool = candidate_pool(problem, PROFILES["demo"])[:1]
    for share, judged in ((0.125, 1), (0.1875, 0)):
        report = check_inputs(off_by(share), TorchDevice(right), pool, tmp_path)
        assert (report.judged, len(report.unjudged)) == (judged, 1 - judged)


def test_zeros_that_are_always_right_prove_nothing(corpus: Corpus, tmp_path: Path) -> None:
    problem = corpus.problem("level1/019")
    zero = replace(problem, reference=lambda tensors: {"y": tensors["x"] * 0}, controls=())
    pool = candidate_pool(problem, PROFILES["demo"])[:3]
    report = check_inputs(zero, TorchDevice(right), pool, tmp_path)
    assert (report.judged, report.zero) == (3, 3)
    assert report.passed
    assert not report.proven
    assert report.doubt == "the right output is zero on every input, so that nothing is proven"

    def one(tensors, reference):
        return {"y": reference["y"] + 1}

    wrong = check_inputs(zero, TorchDevice(one), pool, tmp_path)
    assert not wrong.passed
    assert not wrong.doubt, "what is wrong says enough"


def test_what_atomics_flush_on_a_gpu_is_allowed_to_them_alone(
    corpus: Corpus, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    problem = corpus.problem("level1/006")
    pool = [i for i in candidate_pool(problem, PROFILES["demo"]) if i.id.endswith("own-0")]
    tiny = 2.0**-70  # products of two such inputs are subnormal

    def reference(tensors):
        a, b = (tensors[name].double() * tiny for name in ("a", "b"))
        return {"c": (a @ b).to(tensors["a"].dtype)}

    def magnitude(tensors):
        return reference({name: tensor.abs() for name, tensor in tensors.items()})

    def flushing(tensors, reference):
        c = reference["c"]
        return {"c": torch.where(c.abs() < 2.0**-126, 0.0, c)}

    kept = tuple(c for c in problem.controls if c.substrate is not None)
    subnormal = replace(problem, reference=reference, magnitude=magnitude, controls=kept)

    def failed(flushes: bool) -> set[str]:
        monkeypatch.setattr(TorchDevice, "flushes_atomics", flushes)
        report = check_inputs(subnormal, TorchDevice(flushing), pool, tmp_path)
        assert report.judged == 1
        return {i.name for i in report.implementations if not i.passed}

    everyone = {*(s.name for s in problem.substrates), *(c.name for c in kept)}
    assert failed(flushes=False) == everyone
    assert failed(flushes=True) == everyone - {"atomic"}


def test_running_out_of_memory_is_no_ones_fault(corpus: Corpus, tmp_path: Path) -> None:
    def greedy(tensors):
        raise torch.OutOfMemoryError("no room")

    problem = replace(
        corpus.problem("level1/019"), controls=(Control("greedy", "greedy", run=greedy),)
    )
    with pytest.raises(torch.OutOfMemoryError):
        check(problem, right, tmp_path)


def test_a_kernel_that_does_not_compile_is_named(corpus: Corpus, tmp_path: Path) -> None:
    problem = corpus.problem("level1/001")
    device = TorchDevice(right, broken="level1/001:split-k")
    with pytest.raises(UserError, match=r"split_k\.cu: 'split-k' does not compile: expected ';'"):
        check_problem(problem, device, PROFILES["demo"], tmp_path)


def test_a_wrong_definition_is_refused_first(corpus: Corpus, tmp_path: Path) -> None:
    problem = replace(corpus.problem("level1/001"), controls=())
    with pytest.raises(UserError, match="kinds of controls"):
        check_problem(problem, TorchDevice(right), PROFILES["demo"], tmp_path)
