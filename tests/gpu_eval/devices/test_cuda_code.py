"""The machine code of the package's own kernels: compiled once a process, or not at all."""

import pytest

from gpu_eval.compilation import nvrtc
from gpu_eval.devices import cuda_chains, cuda_code, cuda_compare, cuda_hash
from suiteopt.errors import MissingExtraError, UserError

ARCHITECTURE = "sm_90"
ENTRIES = {
    cuda_code.COMPARISON: (cuda_compare.ENTRY, "checksum"),
    cuda_hash.PROGRAM: cuda_hash.KERNELS,
    cuda_chains.PROGRAM: cuda_chains.KERNELS,
}


@pytest.fixture(autouse=True)
def nothing_kept(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(cuda_code, "_KEPT", {})


@pytest.mark.parametrize("program", cuda_code.PROGRAMS)
def test_a_program_is_compiled_once(program: str, monkeypatch: pytest.MonkeyPatch) -> None:
    try:
        found = cuda_code.machine_code(program, ARCHITECTURE)
    except (MissingExtraError, UserError):
        pytest.skip("NVRTC is not installed")
    assert found[:4] == b"\x7fELF"
    for entry in ENTRIES[program]:
        assert entry.encode() in found
    monkeypatch.setattr(nvrtc, "compile_cubin", None)
    assert cuda_code.machine_code(program, ARCHITECTURE) is found


def test_what_is_carried_along_is_not_compiled(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(nvrtc, "compile_cubin", None)
    cuda_code.keep(ARCHITECTURE, {"hash": b"code"})
    assert cuda_code.machine_code("hash", ARCHITECTURE) == b"code"
    with pytest.raises(TypeError):
        cuda_code.machine_code("hash", "sm_80")
