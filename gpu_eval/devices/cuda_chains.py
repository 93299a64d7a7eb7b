"""Chains of rounded additions on a GPU, one launch where torch needs one a term.

A serial sum of a million terms is a million launches of `torch.add`; here each output is one
thread that walks its terms. The bits are those of the element-wise operations: products and sums
are rounded one by one, nothing is fused or reordered.
"""

import ctypes
import math
from collections.abc import Sequence
from functools import lru_cache
from importlib.resources import files
from typing import TYPE_CHECKING, Any

from suiteopt.errors import UserError

if TYPE_CHECKING:
    from torch import Tensor

PROGRAM = "chains"
KERNELS = (
    "chain",
    "long_chain",
    "tile_chain",
    "tree",
    "treetop",
    "scan",
    "backward",
    "welford",
    "long_welford",
)

PART = 1 << 12
"""Terms of a long tree that are added in one go, a power of two."""

FEW = 1 << 10
"""Chains that do not fill a GPU."""

MANY = 1 << 19
"""Chains whose tiles fill a GPU."""

SIDE = 64
"""Chains of a tile along each dimension, as the kernel has it."""

# The text, part by part; the first has what the others use.
_FILES = ("chains.cu", "trees.cu", "running.cu")
_THREADS = 64
_LOADERS = 256
_TILED = 256
_MOST = (1 << 31) - 1


def source() -> str:
    """Return the text of the program."""
    directory = files("gpu_eval.devices")
    return "\n".join(directory.joinpath(name).read_text() for name in _FILES)


def usable(*tensors: "Tensor | None") -> bool:
    """Tell whether chains over these tensors can run here: float32 on a GPU, NVRTC installed."""
    import torch

    given = [tensor for tensor in tensors if tensor is not None]
    if not all(tensor.is_cuda and tensor.dtype == torch.float32 for tensor in given):
        return False
    try:
        _kernels(torch.cuda.current_device())
    except (UserError, ImportError):
        return False
    return True


def chains(left: "Tensor", right: "Tensor | None", parts: Sequence[range]) -> "Tensor":
    """Add the terms of some indices in their order, for several parts at once.

    Parameters
    ----------
    left, right : Tensor of float32
        Shapes (count, m) and (count, n); term k is the outer product of their rows k, or the row
        of ``left`` where there is no ``right`` (n = 1).
    parts : sequence of range
        Indices, at least one each.

    Returns
    -------
    Tensor of float32, shape (parts, m, n)
    """
    import torch

    m, n = left.shape[1], 1 if right is None else right.shape[1]
    out = torch.empty((len(parts), m, n), dtype=torch.float32, device=left.device)
    table = torch.tensor([(p.start, p.step, len(p)) for p in parts], device=left.device)
    name = _kernel_for(m, n, parts)
    threads = tiles(m, n) * _TILED if name == "tile_chain" else m * n
    _launch(name, threads, [left, right, table, out], [m, n], len(parts))
    return out


def _kernel_for(m: int, n: int, parts: Sequence[range]) -> str:
    """Return what adds chains fastest: a block for each, a tile for many, or a thread for each."""
    chains = m * n * len(parts)
    if _is_long(chains, max(map(len, parts))):
        return "long_chain"
    # Of the tiles of a thin product most would be empty.
    return "tile_chain" if chains >= MANY and min(m, n) >= SIDE // 4 else "chain"


def tiles(m: int, n: int) -> int:
    """Return how many tiles cover m x n chains."""
    return math.ceil(m / SIDE) * math.ceil(n / SIDE)


def tree(left: "Tensor", right: "Tensor | None", count: int) -> "Tensor":
    """Add the first ``count`` terms pairwise; otherwise like `chains`."""
    import torch

    m, n = left.shape[1], 1 if right is None else right.shape[1]
    width = PART if _is_long(m * n, count) else 1 << 62
    whole, rest = (count // width, count % width) if count > width else (1, 0)
    sums = torch.empty((whole + (rest > 0), m, n), dtype=torch.float32, device=left.device)
    _launch("tree", m * n, [left, right, sums], [m, n, count, width], len(sums))
    if len(sums) == 1:
        return sums[0]
    out = torch.empty((m, n), dtype=torch.float32, device=left.device)
    _launch("treetop", m * n, [sums, out], [m * n, whole, rest])
    return out


def scan(left: "Tensor", start: "Tensor | None") -> "Tensor":
    """Return the running sums over the rows of a (count, m) tensor, after ``start`` (m,)."""
    import torch

    count, m = left.shape
    out = torch.empty_like(left)
    _launch("scan", m, [left, start, out], [m, count])
    return out


def backward(x: "Tensor") -> "Tensor":
    """Sum every prefix of every row of a matrix from its last term back to the first."""
    import torch

    out = torch.empty_like(x)
    _launch("backward", x.numel(), [x, out], list(x.shape))
    return out


def welford(left: "Tensor") -> "tuple[Tensor, Tensor]":
    """Return running mean and sum of squared deviations over the rows of a (count, m) tensor."""
    import torch

    count, m = left.shape
    mean = torch.empty(m, dtype=torch.float32, device=left.device)
    m2 = torch.empty_like(mean)
    name = "long_welford" if _is_long(m, count) else "welford"
    _launch(name, m, [left, mean, m2], [m, count])
    return mean, m2


def _is_long(chains: int, count: int) -> bool:
    """Whether a block for each chain pays: few chains, which leave the GPU idle, of many terms."""
    return chains <= FEW and count >= 2 * PART


@lru_cache(maxsize=8)
def _kernels(device: int) -> dict[str, Any]:
    """Load the kernels into torch's context of a device."""
    import torch
    from cuda.bindings import driver

    from gpu_eval.devices import cuda_code

    major, minor = torch.cuda.get_device_capability(device)
    cubin = cuda_code.machine_code(PROGRAM, f"sm_{major}{minor}")
    torch.zeros(1, device="cuda")  # makes the context and leaves it current
    module = _check(driver.cuModuleLoadData(cubin))
    return {name: _check(driver.cuModuleGetFunction(module, name.encode())) for name in KERNELS}


def _launch(
    name: str,
    threads: int,
    tensors: "Sequence[Tensor | None]",
    numbers: Sequence[int],
    parts: int = 1,
) -> None:
    import torch
    from cuda.bindings import driver

    function = _kernels(torch.cuda.current_device())[name]
    a_block_each = name.startswith("long_")
    width = _LOADERS if a_block_each else _TILED if name == "tile_chain" else _THREADS
    blocks = threads if a_block_each else math.ceil(threads / width)
    block = (width, 1, 1)
    if not 0 < blocks <= _MOST:
        raise ValueError(f"{threads} outputs are no launch")
    for tensor in tensors:
        assert tensor is None or tensor.is_contiguous()
    values = (*(0 if t is None else t.data_ptr() for t in tensors), *numbers)
    types = (ctypes.c_void_p,) * len(tensors) + (ctypes.c_longlong,) * len(numbers)
    stream = torch.cuda.current_stream().cuda_stream
    grid = (blocks, parts, 1)
    _check(driver.cuLaunchKernel(function, *grid, *block, 0, stream, (values, types), 0))


def _check(answer: tuple[Any, ...]) -> Any:
    status, *values = answer
    if int(status) != 0:
        raise RuntimeError(f"a control's launch failed: {status.name}")
    return values[0] if values else None
