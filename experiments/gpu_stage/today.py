"""The same verdicts by today's way (an extension build, five allclose trials) and by this stage."""

import os
import shutil
import statistics
import tempfile
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from experiments.gpu_stage.rows import Clock, Options, Row
from gpu_eval.campaign.implementations import Implementation
from gpu_eval.devices.base import Binary, Case, Outcome
from gpu_eval.problems.plan import ArgumentType, ResolvedPlan
from suiteopt.matrix.schema import EXCEPTION_STATUSES, Count, Statistic

PROBLEMS = ("level1/019", "level1/023", "level1/040", "level1/001")
MUTANTS = 5
TRIALS = 5
TOLERANCE = 1e-2
PROFILE = "quick"
TARGET = 1_000.0


@dataclass(frozen=True)
class Subject:
    """A mutant with its plan and the trials that judge it."""

    mutant: Implementation
    plan: ResolvedPlan
    cases: tuple[Case, ...]


def measure(options: Options) -> Iterator[Row]:
    """Yield seconds a verdict both ways, and whether the verdicts agree."""
    import torch

    from gpu_eval.devices.registry import open_device

    device = open_device(options.device)
    with device.open() as session, tempfile.TemporaryDirectory() as cache:
        subjects = list(_subjects(device.torch_device))
        sources = [s.mutant.source for s in subjects if s.mutant.source is not None]
        clock = Clock()
        binaries = device.compile(sources, Path(cache), options.cores)
        compiling = clock.seconds
        ready = [(s, b) for s, b in zip(subjects, binaries, strict=True) if b.path is not None]
        for subject, _ in ready:
            for case in subject.cases:
                session.bind(case)
        _judged(session, ready[:1])
        clock = Clock()
        ours = _judged(session, ready)
        ran = clock.seconds
        agreed, checking = 0, []
        for (subject, binary), killed in zip(ready, ours, strict=True):
            passed = True
            for case in subject.cases:
                session.bind(case)
                outcome = session.run(binary, subject.plan)
                outputs = {n: t.clone() for n, t in session.outputs().items()}
                clock = Clock()
                wanted = case.reference
                passed &= outcome.status not in EXCEPTION_STATUSES and all(
                    torch.allclose(wanted[n].to(t.device), t, rtol=TOLERANCE, atol=TOLERANCE)
                    for n, t in outputs.items()
                )
                checking.append(clock.seconds)
            agreed += passed is not killed
    mine = (compiling + ran) / len(ready)
    yield Row(
        7,
        "verdicts that equal five torch.allclose trials",
        100.0 * agreed / len(ready),
        "%",
        100.0,
        note=f"{len(ready)} mutants of {len(PROBLEMS)} problems, {sum(ours)} killed at {TOLERANCE}",
    )
    yield Row(
        7,
        "this stage, a verdict of five trials",
        mine,
        "s",
        note=(
            f"{compiling:.2f} s to compile {len(ready)} in one go, {ran / len(ready):.5f} s each "
            f"to run and judge; profile {PROFILE}"
        ),
    )
    reason = _no_toolkit(options)
    if reason:
        allclose = statistics.mean(checking) * TRIALS
        yield Row(
            7,
            "today, a verdict: torch.utils.cpp_extension.load_inline and five trials",
            None,
            note=f"{reason}; the five allclose calls alone took {allclose:.5f} s",
        )
        return
    subject, _ = ready[0]
    seconds = _built_and_checked(subject)
    yield Row(
        7,
        "today over this stage, a verdict",
        seconds / mine,
        "times",
        TARGET,
        note=f"{seconds:.1f} s for one mutant: load_inline and five trials",
    )


def _subjects(torch_device: str) -> Iterator[Subject]:
    """Yield mutants that are unlikely to fault, with the benchmark's own five draws."""
    from gpu_eval.campaign.cases import CaseFactory
    from gpu_eval.campaign.implementations import implementations
    from gpu_eval.campaign.plan import find_profile
    from gpu_eval.campaign.pool import candidate_pool
    from gpu_eval.problems.loader import load_corpus
    from gpu_eval.problems.tensors import dimensions
    from suiteopt.matrix.schema import Family, Kind, Role

    calm = (Family.ARITHMETIC, Family.PRECISION, Family.SEMANTIC)
    for name in PROBLEMS:
        problem = load_corpus().problem(name)
        pool = candidate_pool(problem, find_profile(PROFILE))
        draws = (pool[0], *(i for i in pool if i.role is Role.OWN))[:TRIALS]
        factory = CaseFactory(problem, torch_device)
        cases = tuple(factory.get(draw).case for draw in draws)
        values = dimensions(problem, draws[0].shape)
        mutants = [
            i
            for i in implementations(problem)
            if i.kind is Kind.MUTANT
            and not i.is_launch_fault
            and i.fault is not None
            and i.fault.family in calm
        ]
        step = max(1, len(mutants) // MUTANTS)
        for mutant in mutants[::step][:MUTANTS]:
            assert mutant.plan is not None
            yield Subject(mutant, mutant.plan.resolve(values, problem.scalars), cases)


def _judged(session: Any, ready: list[tuple[Subject, Binary]]) -> list[bool]:
    """Return which mutants the stage's statistics kill; inputs are the outer loop."""
    killed = [False] * len(ready)
    for trial in range(TRIALS):
        bound = None
        for index, (subject, binary) in enumerate(ready):
            case = subject.cases[trial]
            if case is not bound:
                session.bind(case)
                bound = case
            killed[index] |= _is_kill(session.run(binary, subject.plan))
    return killed


def _is_kill(outcome: Outcome) -> bool:
    if outcome.status in EXCEPTION_STATUSES:
        return True
    counts = outcome.counts
    if counts[Count.NAN_ONE] or counts[Count.NAN_BOTH] or counts[Count.INF_MISMATCH]:
        return True
    return outcome.statistics[Statistic.ALLCLOSE_CANDIDATE] > TOLERANCE


def _no_toolkit(options: Options) -> str:
    """Say why no extension can be built here, or nothing."""
    from torch.utils.cpp_extension import CUDA_HOME

    if options.device == "cpu":
        return "not measured without a GPU"
    if not (CUDA_HOME and (Path(CUDA_HOME) / "bin" / "nvcc").exists()):
        return "no CUDA toolkit (nvcc) on this machine, so that load_inline cannot build"
    if not shutil.which("ninja"):
        return "no ninja on this machine, so that load_inline cannot build"
    return ""


def extension_source(files: Mapping[str, str], main: str, plan: ResolvedPlan) -> str:
    """Return one file that launches a plan on tensors: its pointers in the order of their use."""
    names: list[str] = []
    launches = []
    for launch in plan.launches:
        arguments = []
        for argument in launch.arguments:
            if argument.type is ArgumentType.POINTER:
                if str(argument.value) not in names:
                    names.append(str(argument.value))
                arguments.append(f"Pointer{{t[{names.index(str(argument.value))}].data_ptr()}}")
            elif argument.type is ArgumentType.FLOAT:
                arguments.append(f"(float){float(argument.value)!r}")
            else:
                arguments.append(f"{int(argument.value)}")
        grid, block = (", ".join(map(str, sizes)) for sizes in (launch.grid, launch.block))
        launches.append(
            f"    {launch.kernel}<<<dim3({grid}), dim3({block}), {launch.shared}>>>"
            f"({', '.join(arguments)});"
        )
    body = "\n".join(launches)
    return (
        "#include <torch/extension.h>\n#include <vector>\n"
        f"{files[main]}\n"
        "struct Pointer { void* p; template <class T> operator T*() const { return (T*)p; } };\n"
        f"void launch(std::vector<torch::Tensor> t) {{\n{body}\n}}\n"
        f"// {' '.join(names)}\n"
    )


def _built_and_checked(subject: Subject) -> float:
    """Return the seconds of a build and five trials."""
    import torch
    from torch.utils import cpp_extension

    source = subject.mutant.source
    assert source is not None
    text = extension_source(source.files, source.main, subject.plan)
    names = text.rstrip().rsplit("// ", 1)[1].split()
    os.environ.setdefault("MAX_JOBS", "8")
    with tempfile.TemporaryDirectory() as directory:
        for name, content in source.files.items():
            (Path(directory) / name).write_text(content)
        clock = Clock()
        load_inline: Any = cpp_extension.load_inline
        built = load_inline(
            name="today",
            cpp_sources="void launch(std::vector<torch::Tensor> t);",
            cuda_sources=text,
            functions=["launch"],
            build_directory=directory,
            extra_include_paths=[directory],
        )
        for case in subject.cases:
            outputs = {n: torch.empty_like(r, device="cuda") for n, r in case.reference.items()}
            given = {n: t.cuda() for n, t in case.tensors.items()} | outputs
            built.launch([given[name] for name in names])
            for name, out in outputs.items():
                torch.allclose(case.reference[name].cuda(), out, rtol=TOLERANCE, atol=TOLERANCE)
        torch.cuda.synchronize()
        return clock.seconds
