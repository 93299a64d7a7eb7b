"""Rebuilds implementations of a matrix from the corpus, and makes sure that they are the same."""

from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from gpu_eval.campaign.chunks import compile_chunks
from gpu_eval.campaign.implementations import Implementation, implementations
from gpu_eval.compilation.inlining import SourceError
from gpu_eval.compilation.labelled import compile_labelled
from gpu_eval.compilation.nvrtc import CompileError, NvrtcCompiler
from gpu_eval.devices.base import Binary
from gpu_eval.devices.sanitizer_job import SanitizerSubject
from gpu_eval.problems.definition import Problem
from gpu_eval.problems.tensors import dimensions
from suiteopt.errors import UserError

if TYPE_CHECKING:
    from pandas import DataFrame


_OTHER = "its machine code is not the matrix's; use the corpus and the NVRTC that measured it"


@dataclass(frozen=True)
class Rebuilt:
    """What can run, and why others cannot, by id."""

    subjects: Mapping[str, SanitizerSubject]
    refused: Mapping[str, str]


def rebuild(
    problem: Problem,
    table: "DataFrame",
    wanted: Sequence[str],
    shape: Mapping[str, int],
    architecture: str,
    cache: Path,
    jobs: int = 1,
) -> Rebuilt:
    """Compile implementations again and compare their machine code with what a matrix says.

    Parameters
    ----------
    problem : Problem
    table : DataFrame
        The problem's rows of ``implementations.parquet``. All of them are compiled, in the units
        of the campaign: a stored hash counts with its unit.
    wanted : sequence of str
        Ids of those that are to run; each is compiled alone besides, to have a name of its own.
    shape : mapping of str to int
        Of the input that they run on.
    architecture : str
    cache : Path
    jobs : int
    """
    stored = dict(
        zip(table["implementation"].astype(str), table["machine_code"].astype(str), strict=True)
    )
    listed = [i for i in implementations(problem, wild=True) if i.id in stored]
    known = {i.id: i for i in listed}
    compiler = NvrtcCompiler(architecture)
    binaries: dict[str, Binary] = {}

    def compile_alone(numbered: tuple[int, str]) -> SanitizerSubject | str:
        number, name = numbered
        implementation = known.get(name)
        if implementation is None or implementation.source is None:
            return "the corpus has it no more"
        binary = binaries[implementation.source.id]
        if binary.machine_code != stored[name]:
            return _OTHER
        return _subject(problem, implementation, binary, shape, number, architecture)

    with ThreadPoolExecutor(max_workers=max(jobs, 1)) as pool:
        chunks = compile_chunks(listed)
        for compiled in pool.map(lambda chunk: compiler.compile(chunk, cache, 1), chunks):
            binaries.update((binary.id, binary) for binary in compiled)
        made = dict(zip(wanted, pool.map(compile_alone, enumerate(wanted, 1)), strict=True))
    return Rebuilt(
        {name: s for name, s in made.items() if isinstance(s, SanitizerSubject)},
        {name: reason for name, reason in made.items() if isinstance(reason, str)},
    )


def _subject(
    problem: Problem,
    implementation: Implementation,
    binary: Binary,
    shape: Mapping[str, int],
    number: int,
    architecture: str,
) -> SanitizerSubject | str:
    """Compile an implementation under a name of its own; or say why it cannot run."""
    assert implementation.source is not None
    assert implementation.plan is not None
    try:
        plan = implementation.plan.resolve(dimensions(problem, shape), problem.scalars)
    except UserError as error:
        return f"its wrapper fails before any launch: {error}"
    try:
        labelled = compile_labelled(implementation.source, number, architecture)
    except (CompileError, SourceError) as error:
        return f"it does not compile alone: {error}"
    return SanitizerSubject(number, labelled, plan) if labelled.equals(binary) else _OTHER
