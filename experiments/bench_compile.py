"""Where the time of compiling mutants for a GPU goes, on one core; needs NVRTC and no GPU.

One unit of each problem: preparing, the compiler's front end, its optimiser and ptxas, hashes, and
all that is left (keys, files). Front end and optimiser are told apart by what NVRTC says of its own
phases, ptxas by a second run that stops at PTX. Hashes are timed twice: with the cubin read anew
for each implementation, as it was until 0.1, and read once. Then units of several sizes, and what
sources of several kernels would save if a unit compiled equal kernels once.

Run: nice python -m experiments.bench_compile [--problems 12]
Writes experiments/results/bench_compile.json and bench_compile.md. All times are of the processor.
"""

import argparse
import gc
import json
import platform
import re
import tempfile
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, TypeVar

from experiments.gpu_stage.compiling import distinct_sources, warm
from gpu_eval.compilation.dialects import CUDA
from gpu_eval.compilation.nvrtc import (
    NvrtcCompiler,
    compile_options,
    entry_points,
    load_nvrtc,
    nvrtc_version,
)
from gpu_eval.compilation.sass import Cubin, machine_code_hash
from gpu_eval.compilation.unit import assemble_cuda, label, prepare
from gpu_eval.devices.base import Binary, KernelSource
from gpu_eval.problems.loader import load_corpus
from suiteopt.console import run_script

RESULTS = Path(__file__).parent / "results"
NAME = "bench_compile"
ARCHITECTURE, VIRTUAL = "sm_90", "compute_90"
UNIT = 48
SIZES = (1, 8, 16, 48, 96)
OF_SIZES = 96
"""Sources of a problem that are compiled in units of every size; of size 1 an eighth."""

_Result = TypeVar("_Result")


def timed(call: Callable[[], _Result]) -> tuple[_Result, float]:
    """Return what a call gives, and the seconds of the processor that it took."""
    began = time.process_time()
    result = call()
    return result, time.process_time() - began


def compile_text(
    text: str, entries: Sequence[str], architecture: str, phases: Path | None = None
) -> tuple[float, str]:
    """Compile a unit with nothing else; return seconds, and PTX where that is asked for."""
    nvrtc = load_nvrtc()
    _, program = nvrtc.nvrtcCreateProgram(text.encode(), b"unit.cu", 0, [], [])
    for entry in entries:
        nvrtc.nvrtcAddNameExpression(program, entry.encode())
    options = [*compile_options(architecture), *([f"--time={phases}"] if phases else [])]
    encoded = [option.encode() for option in options]
    (status,), seconds = timed(lambda: nvrtc.nvrtcCompileProgram(program, len(encoded), encoded))
    assert status == nvrtc.nvrtcResult.NVRTC_SUCCESS, status
    ptx = b""
    if architecture == VIRTUAL:
        ptx = b" " * nvrtc.nvrtcGetPTXSize(program)[1]
        nvrtc.nvrtcGetPTX(program, ptx)
    nvrtc.nvrtcDestroyProgram(program)
    return seconds, ptx.decode(errors="replace")


def unit_of(sources: Sequence[KernelSource]) -> tuple[str, list[str]]:
    """Return a unit's text and its kernels."""
    entries = [f"{label(i)}::{k}" for i, source in enumerate(sources) for k in source.kernels]
    return assemble_cuda([prepare(source, CUDA) for source in sources]), entries


def front_end_share(lines: str) -> float:
    """Return the front end's share of what NVRTC says before ptxas."""
    found = {
        fields[1].strip(): float(fields[2])
        for fields in (line.split(",") for line in lines.splitlines()[1:])
        if len(fields) >= 4
    }
    front = sum(value for name, value in found.items() if "Frontend" in name)
    optimiser = sum(value for name, value in found.items() if "NVVM" in name)
    return front / (front + optimiser)


def kept_share(ptx: str) -> float:
    """Return which share of a unit's PTX is left if each of equal kernels is there once."""
    text = re.sub(r"hgm\d{5}", "", ptx)
    kernels = re.split(r"(?=^(?:\.visible |\.weak )?\.entry )", text, flags=re.M)[1:]
    kernels = [re.sub(r"\$L__BB\d+_", "$L__BB_", kernel) for kernel in kernels]
    return sum(map(len, set(kernels))) / sum(map(len, kernels))


def mangled(binary: Binary) -> list[str]:
    """Return the mangled names of an implementation's kernels, in its plan's order."""
    names = entry_points(binary)
    return [names[kernel] for kernel in binary.kernels]


def hashes_apart(binaries: Sequence[Binary]) -> list[str]:
    """Hash implementations of a unit, reading its cubin for each."""
    found = []
    for binary in binaries:
        assert binary.path is not None
        data = binary.path.read_bytes()
        found.append(machine_code_hash(data, mangled(binary), binary.symbol))
    return found


def hashes_together(binaries: Sequence[Binary]) -> list[str]:
    """Hash implementations of a unit, reading its cubin once."""
    assert binaries[0].path is not None
    cubin = Cubin(binaries[0].path.read_bytes())
    return [cubin.hash_of(mangled(binary), binary.symbol) for binary in binaries]


def bench_problem(sources: Sequence[KernelSource]) -> dict[str, Any]:
    """Measure one unit of a problem."""
    with tempfile.TemporaryDirectory() as directory:
        place = Path(directory)
        compiler = NvrtcCompiler(ARCHITECTURE)
        _, prepared = timed(lambda: unit_of(sources))
        # Sources that do not compile are left out: they would be a second run of the front end.
        first, known = timed(lambda: compiler.compile(sources, place / "first", 1))
        living = [
            s
            for s, b in zip(sources, first, strict=True)
            if b.path is not None and prepare(s, CUDA).balanced
        ]
        binaries = first
        if len(living) < len(sources):
            binaries, known = timed(lambda: compiler.compile(living, place / "second", 1))
        (text, entries), prepared_again = timed(lambda: unit_of(living))
        phases = place / "phases.csv"
        until_ptx, _ = compile_text(text, entries, VIRTUAL, phases)
        front = until_ptx * front_end_share(phases.read_text())
        to_cubin, _ = compile_text(text, entries, ARCHITECTURE)
        apart, apart_seconds = timed(lambda: hashes_apart(binaries))
        together, together_seconds = timed(lambda: hashes_together(binaries))
    assert apart == together == [binary.machine_code for binary in binaries]
    # What has been tokenized once is not again: the second time is the compiler's.
    prepared *= len(living) / len(sources)
    whole = known - prepared_again + prepared
    each = {
        "prepare": prepared,
        "front_end": front,
        "optimiser": until_ptx - front,
        "ptxas": to_cubin - until_ptx,
        "hash": together_seconds,
        "other": max(0.0, whole - prepared - to_cubin - together_seconds),
        "whole": whole,
        "hash_before": apart_seconds,
        "whole_before": whole - together_seconds + apart_seconds,
    }
    many = [s for s in living if len(s.kernels) > 1]
    kept = 1.0
    if many:
        kept = kept_share(compile_text(*unit_of(many), VIRTUAL)[1])
    return {
        "unit": len(living),
        "kernels": len(entries),
        "several_kernels": len(many),
        "kept": round(kept, 3),
        "ms": {name: round(1000 * value / len(living), 2) for name, value in each.items()},
    }


def bench_sizes(sources: Sequence[KernelSource]) -> dict[str, float]:
    """Return milliseconds of NVRTC a mutant, by the size of the unit."""
    with tempfile.TemporaryDirectory() as directory:
        found = NvrtcCompiler(ARCHITECTURE).compile(sources[:OF_SIZES], Path(directory), 1)
    living = [s for s, b in zip(sources, found, strict=False) if b.path is not None]
    answer = {}
    for size in SIZES:
        chosen = living[::8] if size == 1 else living
        units = [chosen[i : i + size] for i in range(0, len(chosen), size)]
        seconds = sum(compile_text(*unit_of(unit), ARCHITECTURE)[0] for unit in units)
        answer[str(size)] = round(1000 * seconds / len(chosen), 1)
    return answer


def totals(problems: dict[str, dict[str, Any]]) -> dict[str, Any]:
    """Sum up problems, each weighted by its number of different sources."""
    weight = sum(p["sources"] for p in problems.values())
    ms = {
        name: sum(p["sources"] * p["ms"][name] for p in problems.values()) / weight
        for name in next(iter(problems.values()))["ms"]
    }
    nvrtc = ms["front_end"] + ms["optimiser"] + ms["ptxas"]
    return {
        "sources": weight,
        "ms": {name: round(value, 2) for name, value in ms.items()},
        "mutants_a_second_before": round(1000 / ms["whole_before"], 1),
        "mutants_a_second": round(1000 / ms["whole"], 1),
        "mutants_a_second_of_nvrtc_alone": round(1000 / nvrtc, 1),
        "faster": round(ms["whole_before"] / ms["whole"], 2),
    }


COLUMNS = ("prepare", "front_end", "optimiser", "ptxas", "hash", "other", "whole")
BEFORE = ("hash_before", "whole_before")


def page(result: dict[str, Any]) -> str:
    """Return the tables as Markdown."""
    total = result["total"]
    lines = [
        f"Compiling for {ARCHITECTURE} on one core of a CPU machine ({result['machine']}), NVRTC "
        f"{result['nvrtc']}: units of up to {UNIT}, milliseconds of the processor a mutant.",
        "",
        f"| problem | sources | {' | '.join(c.replace('_', ' ') for c in (*COLUMNS, *BEFORE))} "
        "| mutants/s | before |",
        f"|{'---|' * (len(COLUMNS) + len(BEFORE) + 4)}",
    ]
    for name, found in (*result["problems"].items(), ("all, weighted by sources", total)):
        cells = [f"{found['ms'][c]:.1f}" for c in (*COLUMNS, *BEFORE)]
        rates = [f"{1000 / found['ms'][c]:.1f}" for c in ("whole", "whole_before")]
        lines.append(f"| {' | '.join([name, str(found['sources']), *cells, *rates])} |")
    lines += [
        "",
        f"{total['faster']} times as many as before; NVRTC alone would give "
        f"{total['mutants_a_second_of_nvrtc_alone']} mutants a second.",
        "",
        "NVRTC, milliseconds a mutant by the size of the unit:",
        "",
        f"| problem | {' | '.join(map(str, SIZES))} |",
        f"|{'---|' * (len(SIZES) + 1)}",
    ]
    for name, row in result["sizes"].items():
        lines.append(f"| {name} | {' | '.join(f'{row[str(size)]:.1f}' for size in SIZES)} |")
    lines += [
        "",
        "Sources of several kernels, and which share of their unit's PTX is left if equal kernels "
        "are there once (not done: it would change a unit's id, which hashes contain):",
        "",
        "| problem | of the unit | kernels in all | left |",
        "|---|---|---|---|",
    ]
    lines += [
        f"| {name} | {p['several_kernels']} of {p['unit']} | {p['kernels']} | {p['kept']:.2f} |"
        for name, p in result["problems"].items()
        if p["several_kernels"]
    ]
    return "\n".join(lines) + "\n"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n", 1)[0])
    parser.add_argument("--problems", type=int, default=12)
    parser.add_argument("--sizes", type=int, default=2, help="problems in units of all sizes")
    parser.add_argument("--directory", type=Path, default=RESULTS)
    given = parser.parse_args()
    names = [name for name in load_corpus().problems if name.startswith("level1/")]
    chosen = names[:: max(1, len(names) // given.problems)][: given.problems]
    warm(ARCHITECTURE)
    gc.freeze()  # as a campaign's workers do with all that they inherit
    problems: dict[str, dict[str, Any]] = {}
    sizes: dict[str, dict[str, float]] = {}
    for name in chosen:
        sources = distinct_sources([name])
        # In order, as a campaign's units are; from the middle, where all kernels are met.
        start = max(0, len(sources) - UNIT) // 2
        found = bench_problem(sources[start : start + UNIT])
        problems[name] = {"sources": len(sources), **found}
        print(name, problems[name]["ms"], flush=True)
    for name in chosen[:: max(1, len(chosen) // given.sizes)][: given.sizes]:
        sizes[name] = bench_sizes(distinct_sources([name]))
        print(name, sizes[name], flush=True)
    result = {
        "machine": f"{platform.machine()}, Python {platform.python_version()}",
        "nvrtc": nvrtc_version(),
        "problems": problems,
        "total": totals(problems),
        "sizes": sizes,
    }
    given.directory.mkdir(parents=True, exist_ok=True)
    (given.directory / f"{NAME}.json").write_text(json.dumps(result, indent=1) + "\n")
    (given.directory / f"{NAME}.md").write_text(page(result))
    print(page(result))


if __name__ == "__main__":
    run_script(main)
