"""GPUs that the cuda device refuses before anything runs on them."""

import pytest

from gpu_eval.devices import cuda
from suiteopt.errors import UserError
from tests.gpu_eval.devices import fake_driver


class Old(fake_driver.Device):
    """One without copies ahead."""

    def compute_capability(self) -> tuple[int, int]:
        return (7, 5)


class Small(fake_driver.Device):
    """One with less memory than a campaign needs."""

    def total_memory(self) -> int:
        return 1 << 30


@pytest.mark.parametrize(
    ("kind", "why"), [(Old, "the compute capability 7.5"), (Small, "has 1024 MiB of memory")]
)
def test_a_gpu_that_cannot_do(
    monkeypatch: pytest.MonkeyPatch, kind: type[fake_driver.Device], why: str
) -> None:
    monkeypatch.setattr(cuda, "_device", kind)
    with pytest.raises(UserError, match=why):
        cuda.CudaDevice()
    monkeypatch.setattr(cuda, "_device", fake_driver.Device)
    assert cuda.CudaDevice().architecture == "sm_90"
