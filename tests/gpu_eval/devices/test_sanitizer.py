"""The real compute-sanitizer on planted kernels; skipped without it or without a GPU."""

from pathlib import Path

import pytest

from gpu_eval.compilation.labelled import compile_labelled
from gpu_eval.devices.base import KernelSource
from gpu_eval.devices.cuda import CudaDevice
from gpu_eval.devices.planted import CLEAN, PLANTED, planted_job, planted_subject
from gpu_eval.devices.sanitizer import Sanitizer, find_sanitizer
from gpu_eval.devices.sanitizer_job import JobDirectory, SanitizerSubject
from gpu_eval.devices.sanitizer_reports import Tool
from gpu_eval.devices.sanitizer_settle import SanitizerVerdict
from suiteopt.errors import UserError
from tests.gpu_eval.devices.conftest import integer, plan, tensor

pytestmark = pytest.mark.gpu

WORDS = {
    Tool.RACECHECK: "Race reported between",
    Tool.MEMCHECK: "Invalid __global__ write of size 4 bytes",
    Tool.INITCHECK: "Uninitialized __global__ memory read of size 4 bytes",
    Tool.SYNCCHECK: "Barrier error detected",
}
STRAY = r"""
__global__ void beyond(const float* x, float* out, int n) {
    int i = threadIdx.x;
    if (i < n) out[i] = x[i];
    if (i == 0) out[n + 4096] = x[0];
}
__global__ void far_away(const float* x, float* out, int n) {
    out[(1LL << 38) + threadIdx.x] = x[0];
}
"""


@pytest.fixture(scope="module")
def architecture() -> str:
    try:
        return CudaDevice().architecture
    except UserError as error:
        pytest.skip(str(error))


@pytest.fixture(scope="module")
def tool_runner(architecture: str) -> Sanitizer:
    try:
        return Sanitizer(find_sanitizer(), 60.0)
    except UserError as error:
        pytest.skip(str(error))


@pytest.fixture
def job(tmp_path: Path) -> JobDirectory:
    return planted_job(tmp_path)


@pytest.mark.parametrize("tool", list(Tool))
def test_planted_faults_are_told_from_a_clean_kernel(
    tool_runner: Sanitizer, architecture: str, job: JobDirectory, tool: Tool
) -> None:
    kernels = [CLEAN, PLANTED[tool], CLEAN]
    subjects = [planted_subject(k, 1 + i, architecture) for i, k in enumerate(kernels)]
    found = tool_runner.check(tool, job, subjects)
    assert [found[n].verdict for n in (1, 2, 3)] == [
        SanitizerVerdict.CLEAN,
        SanitizerVerdict.ACCUSED,
        SanitizerVerdict.CLEAN,
    ]
    assert WORDS[tool] in found[2].first
    assert "planted.cu:" in found[2].first  # line numbers came along


def test_only_its_own_tool_accuses_a_race(
    tool_runner: Sanitizer, architecture: str, job: JobDirectory
) -> None:
    subject = planted_subject(PLANTED[Tool.RACECHECK], 1, architecture)
    for tool in (Tool.MEMCHECK, Tool.INITCHECK, Tool.SYNCCHECK):
        assert tool_runner.check(tool, job, [subject])[1].verdict == SanitizerVerdict.CLEAN


def test_strays_into_other_memory_and_out_of_all_are_seen_and_others_go_on(
    tool_runner: Sanitizer, architecture: str, job: JobDirectory
) -> None:
    source = KernelSource("stray", {"stray.cu": STRAY}, "stray.cu", ("beyond", "far_away"))
    arguments = [tensor("x"), tensor("out"), integer(100)]
    subjects = [
        SanitizerSubject(n, compile_labelled(source, n, architecture), plan(kernel, arguments))
        for n, kernel in ((1, "beyond"), (2, "far_away"))
    ]
    subjects.append(planted_subject(CLEAN, 3, architecture))
    found = tool_runner.check(Tool.MEMCHECK, job, subjects)
    assert [found[n].verdict for n in (1, 2, 3)] == [
        SanitizerVerdict.ACCUSED,
        SanitizerVerdict.ACCUSED,
        SanitizerVerdict.CLEAN,
    ]
