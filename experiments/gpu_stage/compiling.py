"""Compile rate: the mutants of some problems, by the campaign's own compiler, on all cores."""

import tempfile
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor, as_completed
from multiprocessing import get_context
from pathlib import Path
from typing import TYPE_CHECKING

from experiments.gpu_stage.rows import Clock, Options, Row

if TYPE_CHECKING:
    from gpu_eval.devices.base import KernelSource

TARGET = 400.0
CHUNK = 48
PROFILE = "contract"
SHARE = 0.6
"""Of a part's seconds, how many may go by before no further unit is begun."""


def measure(options: Options) -> Iterator[Row]:
    """Yield mutants compiled a second, hashes of their machine code and writing included."""
    from gpu_eval.compilation.nvrtc import nvrtc_version
    from gpu_eval.problems.loader import load_corpus

    names = [name for name in load_corpus().problems if name.startswith("level1/")]
    step = max(1, len(names) // options.problems)
    chosen = names[::step][: options.problems]
    started = Clock()
    architecture = "sm_90" if options.device == "cpu" else _architecture()
    with (
        tempfile.TemporaryDirectory() as cache,
        ProcessPoolExecutor(options.cores, mp_context=get_context("spawn")) as pool,
    ):
        waiting = distinct_sources(chosen, pool.map)
        list(pool.map(warm, [architecture] * options.cores))
        chunks = divided(waiting, options.cores)
        clock = Clock()
        jobs = {pool.submit(compiled, architecture, c, cache): len(c) for c in chunks}
        done = stillborn = 0
        for job in as_completed(jobs):
            if job.cancelled():
                continue
            done += jobs[job]
            stillborn += job.result()
            if started.seconds > SHARE * options.seconds:
                for waiting_job in jobs:
                    waiting_job.cancel()
        seconds = clock.seconds
    yield Row(
        1,
        "compile, fresh cache",
        done / seconds,
        "mutants/s",
        TARGET,
        note=(
            f"{done} of {len(waiting)} different sources of {len(chosen)} level-1 problems, sites "
            f"as in profile {PROFILE} ({stillborn} do not compile), in {seconds:.1f} s; "
            f"{options.cores} processes, {len(chunks)} units of up to {CHUNK}, "
            f"NVRTC {nvrtc_version()}, {architecture}; processes already started"
        ),
    )


def _architecture() -> str:
    from gpu_eval.devices.cuda import CudaDevice

    return CudaDevice().architecture


def divided(waiting: "Sequence[KernelSource]", cores: int) -> "list[Sequence[KernelSource]]":
    """Divide sources into units, the same number for each core, so that none waits at the end.

    Units have sources of all problems, so that a run that is cut short has compiled of each.
    """
    count = min(len(waiting), -(-len(waiting) // (CHUNK * cores)) * cores)
    return [waiting[i::count] for i in range(count)]


def distinct_sources(
    problems: "Sequence[str]", over: "Callable[..., Iterable[list[KernelSource]]]" = map
) -> "list[KernelSource]":
    """Return the different sources of problems; ``over`` is what asks `sources_of` for each."""
    distinct: dict[tuple[object, ...], KernelSource] = {}
    for sources in over(sources_of, problems):
        for source in sources:
            key = (source.main, source.kernels, source.flags, *sorted(source.files.items()))
            distinct.setdefault(key, source)
    return list(distinct.values())


def sources_of(problem: str) -> "list[KernelSource]":
    """Return the sources of a problem's mutants."""
    from gpu_eval.campaign.implementations import implementations
    from gpu_eval.campaign.plan import find_profile
    from gpu_eval.problems.loader import load_corpus
    from suiteopt.matrix.schema import Kind

    sites = find_profile(PROFILE).sites
    found = implementations(load_corpus().problem(problem), sites=sites)
    return [
        i.source
        for i in found
        if i.kind is Kind.MUTANT and not i.is_launch_fault and i.source is not None
    ]


def warm(architecture: str) -> None:
    """Load the compiler, which its first call waits for."""
    from gpu_eval.compilation.nvrtc import compile_cubin

    compile_cubin("__global__ void k() {}", "warm.cu", architecture, (), ("k",))


def compiled(architecture: str, sources: "Sequence[KernelSource]", cache: str) -> int:
    """Compile a chunk into the cache; return how many do not compile."""
    from gpu_eval.compilation.nvrtc import NvrtcCompiler

    binaries = NvrtcCompiler(architecture).compile(sources, Path(cache), 1)
    return sum(binary.path is None for binary in binaries)
