import json
import subprocess
from pathlib import Path
from typing import Any

import pytest

from gpu_eval.compilation import batch
from gpu_eval.compilation.cache import BinaryCache, Entry, default_cache, write_atomically
from gpu_eval.compilation.host import HostCompiler
from gpu_eval.compilation.toolchain import find_toolchain, machine_options
from suiteopt.errors import UserError
from tests.gpu_eval.compilation.conftest import Recorder, source


def kernel(body: str) -> str:
    return f"__global__ void k(const float* x, float* out, int n) {{\n  {body}\n}}\n"


GOOD = [kernel(f"out[threadIdx.x] = x[threadIdx.x] + {i}.0f;") for i in range(8)]


def test_bad_mutants_in_the_middle_are_isolated(
    compiler: HostCompiler, recorder: Recorder, tmp_path: Path
) -> None:
    texts = list(GOOD)
    texts[3] = kernel("out[0] = undeclared + 1;")
    texts[5] = kernel("float4 v = {}; out[0] = __shfl_sync(0xffffffffu, v, 0).x;")
    binaries = compiler.compile([source(f"m{i}", t) for i, t in enumerate(texts)], tmp_path, 1)
    assert [b.id for b in binaries] == [f"m{i}" for i in range(8)]
    assert [b.path is None for b in binaries] == [i in (3, 5) for i in range(8)]
    assert binaries[3].error.startswith("kernel.cu:2:12: error: 'undeclared' was not declared")
    assert "a warp shuffle moves values of at most 8 bytes" in binaries[5].error
    assert binaries[3].machine_code == binaries[3].symbol == ""
    assert recorder.compilations == 2
    good = [b for b in binaries if b.path]
    assert len({b.path for b in good}) == 1
    assert len({b.symbol for b in good}) == len({b.machine_code for b in good}) == 6
    assert all(b.error == "" for b in good)


def test_unbalanced_sources_do_not_take_their_neighbours_along(
    compiler: HostCompiler, tmp_path: Path
) -> None:
    texts = [GOOD[0], kernel("if (n) {"), GOOD[1], "#if 1\n" + GOOD[2], kernel("} }"), GOOD[3]]
    binaries = compiler.compile([source(f"m{i}", t) for i, t in enumerate(texts)], tmp_path, 1)
    assert [b.path is None for b in binaries] == [False, True, False, True, True, False]
    assert all("error" in b.error for b in binaries if b.path is None)


def test_missing_kernel_and_missing_header_are_the_mutants_own_errors(
    compiler: HostCompiler, tmp_path: Path
) -> None:
    sources = [
        source("a", GOOD[0]),
        source("b", GOOD[1], "other"),
        source("c", '#include "gone.cuh"\n' + GOOD[2]),
    ]
    good, kernelless, headerless = compiler.compile(sources, tmp_path, 1)
    assert good.path is not None
    assert "'other' is not a member of" in kernelless.error
    assert headerless.error.startswith("kernel.cu:1: error: header 'gone.cuh'")


def test_errors_in_headers_name_the_header(compiler: HostCompiler, tmp_path: Path) -> None:
    headers = {"h.cuh": "\n\n__device__ int f() { return nothing; }\n"}
    (bad,) = compiler.compile(
        [source("a", '#include "h.cuh"\n' + GOOD[0], headers=headers)], tmp_path, 1
    )
    assert bad.error.startswith("h.cuh:3:")


def test_cache_hit_calls_no_compiler(
    compiler: HostCompiler, recorder: Recorder, tmp_path: Path
) -> None:
    sources = [source("a", GOOD[0]), source("b", kernel("bad")), source("c", GOOD[1])]
    first = compiler.compile(sources, tmp_path, 1)
    count = len(recorder.commands)
    assert compiler.compile(sources, tmp_path, 1) == first
    renamed = compiler.compile([source("other", GOOD[0])], tmp_path, 1)
    assert (renamed[0].path, renamed[0].machine_code) == (first[0].path, first[0].machine_code)
    assert len(recorder.commands) == count
    again = HostCompiler(find_toolchain(), recorder).compile(sources, tmp_path, 2)
    assert again == first
    assert len(recorder.commands) == count


def test_everything_that_matters_is_in_the_key(compiler: HostCompiler) -> None:
    headers = {"h.cuh": "int a;\n"}
    base = source("a", GOOD[0], headers=headers)
    keys = {
        compiler.key(base),
        compiler.key(source("a", GOOD[1], headers=headers)),
        compiler.key(source("a", GOOD[0], headers={"h.cuh": "int b;\n"})),
        compiler.key(source("a", GOOD[0], headers={"i.cuh": "int a;\n"})),
        compiler.key(source("a", GOOD[0], "k", "l", headers=headers)),
        compiler.key(source("a", GOOD[0], headers=headers, flags=("-ffp-contract=off",))),
    }
    assert len(keys) == 6
    assert compiler.key(source("b", GOOD[0], headers=headers)) == compiler.key(base)


def test_flags_form_units_of_their_own(
    compiler: HostCompiler, recorder: Recorder, tmp_path: Path
) -> None:
    flags = ("-ffp-contract=off",)
    text = kernel("out[0] = x[0] * x[1] + x[2];")
    fused, split = compiler.compile(
        [source("a", text), source("b", text, flags=flags)], tmp_path, 1
    )
    assert fused.path != split.path
    assert fused.machine_code != split.machine_code
    assert sum("-ffp-contract=off" in c for c in recorder.commands) == 1


def test_equal_sources_are_compiled_once(
    compiler: HostCompiler, recorder: Recorder, tmp_path: Path
) -> None:
    compiler.compile([source("a", GOOD[0]), source("b", GOOD[0])], tmp_path, 1)
    assert recorder.units[0].count("HOSTGPU_TABLE") == 1


def test_units_are_of_even_size(compiler: HostCompiler, recorder: Recorder, tmp_path: Path) -> None:
    texts = [f"__global__ void k(float* out) {{ out[0] = {i}; }}" for i in range(50)]
    compiler.compile([source(f"m{i}", t) for i, t in enumerate(texts)], tmp_path, 2)
    assert sorted(u.count("HOSTGPU_TABLE") for u in recorder.units) == [25, 25]


@pytest.mark.parametrize("how", ["crash", "timeout"])
def test_a_compiler_that_fails_without_a_name_is_bisected(
    how: str, tmp_path: Path, recorder: Recorder
) -> None:
    def run(command: list[str], **options: Any) -> "subprocess.CompletedProcess[str]":
        done = recorder(command, **options)
        if "-c" in command and "poison" in recorder.units[-1]:
            if how == "timeout":
                raise subprocess.TimeoutExpired(command, options["timeout"])
            return subprocess.CompletedProcess(command, 1, "", "g++: fatal error: Killed signal\n")
        return done

    texts = [*GOOD[:5], kernel("float poison = 1; out[0] = poison;")]
    sources = [source(f"m{i}", t) for i, t in enumerate(texts)]
    binaries = HostCompiler(find_toolchain(), run).compile(sources, tmp_path, 1)
    assert [b.path is None for b in binaries] == [False] * 5 + [True]
    expected = "did not come to an end" if how == "timeout" else "Killed signal"
    assert expected in binaries[5].error
    entries = [json.loads(p.read_text()) for p in (tmp_path / "entries").rglob("*.json")]
    # What a busy machine did is not remembered; what the compiler said is.
    assert sum(not e["unit"] for e in entries) == (0 if how == "timeout" else 1)


def test_internal_compiler_error_names_its_mutant() -> None:
    messages = (
        "hgm00002/kernel.cu: In function 'void hgm00002::{anonymous}::k()':\n"
        "hgm00002/kernel.cu:3:1: internal compiler error: Segmentation fault\n"
    )
    assert batch.named_members(messages, 3) == {
        2: "kernel.cu:3:1: internal compiler error: Segmentation fault"
    }


def test_damaged_and_missing_cache_files_are_made_again(
    compiler: HostCompiler, recorder: Recorder, tmp_path: Path
) -> None:
    sources = [source("a", GOOD[0])]
    (first,) = compiler.compile(sources, tmp_path, 1)
    assert first.path is not None
    first.path.unlink()
    assert compiler.compile(sources, tmp_path, 1) == [first]
    assert first.path.is_file()
    (entry,) = (tmp_path / "entries").rglob("*.json")
    entry.write_text("{")
    assert compiler.compile(sources, tmp_path, 1) == [first]
    assert recorder.compilations == 3
    assert not list(tmp_path.rglob(".*"))


def test_cache_round_trip_and_unwritable_directory(tmp_path: Path) -> None:
    cache = BinaryCache(tmp_path)
    entry = Entry("", "", "", "no")
    assert cache.find("ab12") is None
    cache.add("ab12", entry)
    assert cache.find("ab12") == entry
    cache.add("ab12", Entry("unit.so", "s", "m", ""))
    assert cache.find("ab12") is None  # its unit is not there
    cache.add_unit("unit.so", b"x")
    assert cache.find("ab12") == Entry("unit.so", "s", "m", "")
    (tmp_path / "file").write_text("")
    with pytest.raises(UserError, match=r"cannot write .*free space or choose another directory"):
        write_atomically(tmp_path / "file" / "below", b"")


def test_default_cache_follows_the_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SUITEOPT_CACHE", "/a/b")
    assert default_cache() == Path("/a/b")
    monkeypatch.delenv("SUITEOPT_CACHE")
    monkeypatch.setenv("XDG_CACHE_HOME", "/c")
    assert default_cache() == Path("/c/suiteopt")


def test_instruction_set_is_fixed_and_its_lack_told() -> None:
    v3 = frozenset({"avx", "avx2", "bmi1", "bmi2", "f16c", "fma", "abm", "movbe", "sse"})
    assert machine_options("x86_64", v3) == (("-march=x86-64-v3",), "")
    options, note = machine_options("x86_64", v3 - {"fma"})
    assert options == ("-march=x86-64",)
    assert note.startswith("this processor lacks fma:")
    assert machine_options("aarch64", frozenset())[0] == ("-march=armv8-a",)
