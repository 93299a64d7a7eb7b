"""The hash of a kernel's machine code on a GPU: NVRTC needs no GPU for it."""

import json
from pathlib import Path

import pyarrow.parquet as pq
import pytest

from gpu_eval.campaign.chunks import compile_chunks
from gpu_eval.campaign.implementations import implementations
from gpu_eval.compilation.nvrtc import NvrtcCompiler, entry_points, load_nvrtc, nvrtc_version
from gpu_eval.compilation.sass import Cubin, machine_code_hash
from gpu_eval.devices.base import Binary, KernelSource
from gpu_eval.devices.host import HostDevice
from gpu_eval.devices.sass_equivalence import SassEquivalence
from gpu_eval.problems.loader import load_corpus
from suiteopt.errors import UserError

MATRICES = Path(__file__).resolve().parents[3] / "matrices"
MATRIX = MATRICES / (MATRICES / "DEFAULT").read_text().strip()

KERNEL = """\
static __device__ __noinline__ float scaled(float v, int i) { return v * (float)(i & 3); }
__global__ void smooth(const float* __restrict__ x, float* __restrict__ y, int n)
{
    __shared__ float tile[128];
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    tile[threadIdx.x] = i < n ? x[i] : 0.0f;
    __syncthreads();
    if (i < n) {
        const float left = threadIdx.x > 0 ? tile[threadIdx.x - 1] : 0.0f;
        y[i] = scaled(left + 2.0f * tile[threadIdx.x], i);
    }
}
"""

SAME = {
    "comment": ("// nothing\n" + KERNEL),
    "spaces": KERNEL.replace("    ", "\t"),
    "local name": KERNEL.replace("left", "previous"),
    "parameter name": KERNEL.replace("float v, int i", "float value, int i").replace(
        "return v *", "return value *"
    ),
    "sides of a sum": KERNEL.replace("i < n ? x[i] : 0.0f", "n > i ? x[i] : 0.0f"),
}

DIFFERENT = {
    "constant": ("2.0f * tile", "2.5f * tile"),
    "comparison": ("if (i < n)", "if (i <= n)"),
    "operator": ("left + 2.0f", "left - 2.0f"),
    "index": ("tile[threadIdx.x - 1]", "tile[threadIdx.x - 2]"),
    "barrier": ("    __syncthreads();\n", ""),
    "shared size": ("tile[128]", "tile[256]"),
    "precision": ("v * (float)(i & 3)", "(float)((double)v * 1.1 * (i & 3))"),
    "called function": ("(i & 3)", "(i & 1)"),
    "store": ("y[i] = scaled(", "y[i] += scaled("),
    "thread index": ("blockIdx.x * blockDim.x + threadIdx.x", "blockIdx.x * blockDim.x"),
}


@pytest.fixture(scope="module", autouse=True)
def _nvrtc() -> None:
    try:
        load_nvrtc()
        import elftools  # noqa: F401
    except UserError as error:
        pytest.skip(str(error))
    except ImportError:
        pytest.skip("pyelftools is not installed")


@pytest.fixture(scope="module")
def cache(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("cubins")


def source(name: str, text: str) -> KernelSource:
    return KernelSource(name, {"k.cu": text}, "k.cu", ("smooth",))


def edited(edit: tuple[str, str]) -> str:
    old, new = edit
    assert KERNEL.count(old) == 1
    return KERNEL.replace(old, new)


def compiled(texts: dict[str, str], cache: Path) -> dict[str, Binary]:
    found = NvrtcCompiler("sm_90").compile([source(n, t) for n, t in texts.items()], cache, 1)
    for binary in found:
        assert binary.path is not None, binary.error
    return {binary.id: binary for binary in found}


@pytest.fixture(scope="module")
def original(cache: Path) -> str:
    return compiled({"alone": KERNEL}, cache)["alone"].machine_code


@pytest.fixture(scope="module")
def batch(cache: Path) -> dict[str, Binary]:
    """Everything in one unit, so that no hash is one of a source alone."""
    different = {f"not {name}": edited(edit) for name, edit in DIFFERENT.items()}
    return compiled({**SAME, **different}, cache / "batch")


@pytest.mark.parametrize("name", SAME)
def test_what_changes_no_instruction_changes_no_hash(
    batch: dict[str, Binary], original: str, name: str
) -> None:
    assert batch[name].machine_code == original


@pytest.mark.parametrize("name", DIFFERENT)
def test_edits_show(batch: dict[str, Binary], original: str, name: str) -> None:
    assert batch[f"not {name}"].machine_code != original


@pytest.mark.parametrize("name", ["constant", "barrier", "called function", "shared size"])
def test_the_hash_is_the_same_alone_and_in_a_batch(
    batch: dict[str, Binary], cache: Path, name: str
) -> None:
    alone = compiled({"one": edited(DIFFERENT[name])}, cache / name.replace(" ", "-"))
    assert alone["one"].machine_code == batch[f"not {name}"].machine_code


def test_a_cubin_read_once_gives_the_hashes_of_one_read_for_each(
    batch: dict[str, Binary], cache: Path
) -> None:
    """In whatever order and however often they are asked for; stored hashes are never changed."""
    pair = KERNEL + KERNEL.replace("smooth", "second").replace("scaled", "other").replace(
        "2.0f", "7"
    )
    both = KernelSource("two kernels", {"k.cu": pair}, "k.cu", ("second", "smooth"))
    (two,) = NvrtcCompiler("sm_90").compile([both], cache / "two", 1)
    for binaries in (list(batch.values()), [two]):
        assert binaries[0].path is not None
        data = binaries[0].path.read_bytes()
        cubin = Cubin(data)
        for binary in (*binaries, *reversed(binaries)):
            lowered = [entry_points(binary)[kernel] for kernel in binary.kernels]
            assert cubin.hash_of(lowered, binary.symbol) == binary.machine_code
            assert machine_code_hash(data, lowered, binary.symbol) == binary.machine_code
    in_other_order = [entry_points(two)[kernel] for kernel in ("smooth", "second")]
    assert cubin.hash_of(in_other_order, two.symbol) != two.machine_code
    assert cubin.hash_of(in_other_order[:1], two.symbol) != two.machine_code


def test_the_hashes_of_the_default_matrix_are_found_again(tmp_path: Path) -> None:
    """A campaign that was begun earlier goes on: its tasks are named by these hashes."""
    header = json.loads((MATRIX / "matrix.json").read_text())["device"]
    if header["compiler"] != f"NVRTC {nvrtc_version()}":
        pytest.skip(f"the default matrix was compiled by {header['compiler']}")
    table = pq.read_table(MATRIX / "implementations.parquet").to_pandas()
    stored = dict(
        zip(table["implementation"].astype(str), table["machine_code"].astype(str), strict=True)
    )
    names = [name for name in stored if name.startswith("level1/095:")]
    everything = implementations(load_corpus().problem("level1/095"), wild=True)
    originals = compile_chunks([i for i in everything if i.id in names])[0]
    found = NvrtcCompiler(header["architecture"]).compile(originals, tmp_path, 1)
    assert {b.id: b.machine_code for b in found} == {b.id: stored[b.id] for b in found}
    assert len(found) > 2


def test_all_edits_differ_from_each_other(batch: dict[str, Binary]) -> None:
    codes = [batch[f"not {name}"].machine_code for name in DIFFERENT]
    assert len(set(codes)) == len(codes)


def test_tables_of_constants_count(cache: Path) -> None:
    """Where a table lies depends on the unit: equal ones may be told apart, never the reverse."""
    table = "__constant__ float weights[4] = {1.0f, 2.0f, 3.0f, %s};\n"
    reading = KERNEL.replace("(float)(i & 3)", "weights[i & 3]")
    texts = {last: table % last + reading for last in ("4.0f", "5.0f")}
    codes = {n: b.machine_code for n, b in compiled(texts, cache / "tables").items()}
    alone = compiled({"4.0f": texts["4.0f"]}, cache / "table")["4.0f"].machine_code
    assert len({*codes.values()}) == 2
    assert alone == codes["4.0f"]


def test_a_stillborn_source_leaves_the_others_of_its_unit(cache: Path, original: str) -> None:
    texts = {"good": KERNEL, "bad": KERNEL.replace("const int i =", "const int j =")}
    found = NvrtcCompiler("sm_90").compile(
        [source(n, t) for n, t in texts.items()], cache / "stillborn", 1
    )
    assert [binary.path is None for binary in found] == [False, True]
    assert "identifier" in found[1].error
    assert found[0].machine_code == original


def test_a_cpu_device_may_ask_nvrtc_which_programs_are_equal(tmp_path: Path) -> None:
    """Sources that g++ tells apart and NVRTC does not; what is run is what g++ made."""
    texts = {
        "one": KERNEL,
        "other": KERNEL.replace(
            "left + 2.0f * tile[threadIdx.x]", "2.0f * tile[threadIdx.x] + left"
        ),
        "wrong": edited(DIFFERENT["operator"]),
    }
    sources = [source(name, text) for name, text in texts.items()]
    device = SassEquivalence(HostDevice())
    one, other, wrong = device.compile(sources, tmp_path, 1)
    assert one.machine_code == other.machine_code != wrong.machine_code
    assert one.path is not None
    assert one.path.suffix == ".so"
    assert "sm_90" in device.describe()["equivalence"]
    assert "equivalence" not in HostDevice().describe()
