"""Compile rate: the mutants of some problems, by the campaign's own compiler, on all cores."""

import tempfile
from collections.abc import Iterator
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
        distinct: dict[tuple[object, ...], KernelSource] = {}
        for sources in pool.map(sources_of, chosen):
            for source in sources:
                key = (source.main, source.kernels, source.flags, *sorted(source.files.items()))
                distinct.setdefault(key, source)
        list(pool.map(warm, [architecture] * options.cores))
        waiting = list(distinct.values())
        # Units of all problems mixed, so that one that is cut short has compiled of each.
        count = -(-len(waiting) // CHUNK)
        chunks = [waiting[i::count] for i in range(count)]
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
            f"{options.cores} processes, units of {CHUNK}, NVRTC {nvrtc_version()}, "
            f"{architecture}; processes already started"
        ),
    )


def _architecture() -> str:
    from gpu_eval.devices.cuda import CudaDevice

    return CudaDevice().architecture


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


def compiled(architecture: str, sources: "list[KernelSource]", cache: str) -> int:
    """Compile a chunk into the cache; return how many do not compile."""
    from gpu_eval.compilation.nvrtc import NvrtcCompiler

    binaries = NvrtcCompiler(architecture).compile(sources, Path(cache), 1)
    return sum(binary.path is None for binary in binaries)
