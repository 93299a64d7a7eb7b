"""The recipes' hash on a GPU in one launch, where torch needs two dozen."""

import ctypes
from functools import lru_cache
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from torch import Tensor

PROGRAM = "hash"
KERNELS = ("hash_indices",)

_THREADS = 256
_BLOCKS = 4096

SOURCE = r"""
static __device__ __forceinline__ unsigned mix(unsigned x)
{
    x ^= x >> 16;
    x *= 0x21F0AAADu;
    x ^= x >> 15;
    x *= 0x735A2D97u;
    return x ^ (x >> 15);
}

// 32 random bits for each index, as int64: `suiteopt.inputs.recipes` says the same in torch.
extern "C" __global__ void hash_indices(
    const long long* at, long long* bits, long long count, unsigned first, unsigned second)
{
    const long long step = (long long)gridDim.x * blockDim.x;
    for (long long i = (long long)blockIdx.x * blockDim.x + threadIdx.x; i < count; i += step) {
        const unsigned low = (unsigned)at[i], high = (unsigned)(at[i] >> 32);
        const unsigned inner = mix(low ^ first);
        bits[i] = (long long)mix((inner + high * 0x2C1B3C6Du) ^ second);
    }
}
"""


def use() -> None:
    """Let recipes on a GPU hash with this kernel from now on, in this process."""
    from suiteopt.inputs import recipes

    recipes.HASHERS["cuda"] = hashed


def hashed(at: "Tensor", first: int, second: int) -> "Tensor":
    """Return 32 random bits for each index under two keys.

    Parameters
    ----------
    at : Tensor of int64
        On a GPU; indices from 0.
    first, second : int
        Keys below 2**32.

    Returns
    -------
    Tensor of int64
        In the shape of ``at``, values below 2**32.
    """
    import torch
    from cuda.bindings import driver

    indices = at.contiguous()
    bits = torch.empty_like(indices)
    count = indices.numel()
    if count:
        function = _kernel(indices.device.index)
        blocks = min(-(-count // _THREADS), _BLOCKS)
        values = (indices.data_ptr(), bits.data_ptr(), count, first, second)
        types = (
            ctypes.c_void_p,
            ctypes.c_void_p,
            ctypes.c_longlong,
            ctypes.c_uint,
            ctypes.c_uint,
        )
        stream = torch.cuda.current_stream().cuda_stream
        launched = driver.cuLaunchKernel(
            function, blocks, 1, 1, _THREADS, 1, 1, 0, stream, (values, types), 0
        )
        _check(launched)
    return bits


@lru_cache(maxsize=8)
def _kernel(device: int) -> Any:
    """Load the kernel into torch's context of a device."""
    import torch
    from cuda.bindings import driver

    from gpu_eval.devices import cuda_code

    major, minor = torch.cuda.get_device_capability(device)
    cubin = cuda_code.machine_code(PROGRAM, f"sm_{major}{minor}")
    module = _check(driver.cuModuleLoadData(cubin))
    return _check(driver.cuModuleGetFunction(module, KERNELS[0].encode()))


def _check(answer: tuple[Any, ...]) -> Any:
    status, *values = answer
    if int(status) != 0:
        raise RuntimeError(f"the hash of a recipe failed: {status.name}")
    return values[0] if values else None
