"""An implementation alone is the one of the unit, under another name; needs NVRTC, no GPU."""

import pytest

from gpu_eval.compilation.labelled import Labelled, compile_labelled
from gpu_eval.compilation.nvrtc import NvrtcCompiler, load_nvrtc
from gpu_eval.compilation.unit import label
from gpu_eval.devices.base import Binary, KernelSource
from suiteopt.errors import UserError

# A constant of internal linkage carries an id of the unit in its name.
TEXT = """\
namespace { constexpr int kTile = 4; }
constexpr float kScale = 2.0f;
__device__ const float* table(const float* x) { return x + kTile; }
__global__ void twice(const float* x, float* y, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    const float& scale = kScale;
    if (i < n) y[i] = scale * table(x)[i];
}
"""


def source(name: str, text: str = TEXT) -> KernelSource:
    return KernelSource(name, {"k.cu": text}, "k.cu", ("twice",))


@pytest.fixture(scope="module")
def unit(tmp_path_factory: pytest.TempPathFactory) -> list[Binary]:
    try:
        load_nvrtc()
    except UserError as error:
        pytest.skip(str(error))
    others = [source("a", TEXT.replace("2.0f", "3.0f")), source("b"), source("c", TEXT + "\n\n")]
    return list(NvrtcCompiler("sm_90").compile(others, tmp_path_factory.mktemp("cubins"), 1))


def alone(number: int, text: str = TEXT) -> Labelled:
    return compile_labelled(source("x", text), number, "sm_90")


def test_it_equals_the_member_and_no_other(unit: list[Binary]) -> None:
    for number in (0, 1, 99_999):
        made = alone(number)
        assert [made.equals(binary) for binary in unit] == [False, True, True]


def test_its_kernels_carry_its_number_and_its_lines(unit: list[Binary]) -> None:
    made = alone(4321)
    assert made.label == label(4321) == "hgm04321"
    assert made.label in made.names["twice"]
    assert made.label.encode() in made.cubin
    assert b"/hgm04321\0\0k.cu\0" in made.cubin  # folder and file of the line table


def test_what_did_not_compile_equals_nothing(unit: list[Binary]) -> None:
    broken = Binary("z", None, "", ("twice",), "", "error")
    assert not alone(1).equals(broken)
