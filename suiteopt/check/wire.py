"""Tensors between processes: raw bytes in a file, and a JSON header that is checked.

Nothing is unpickled: what a candidate's process wrote is a file of bytes, read into buffers of the
size that its header and the file itself agree on. Both sides use this module; the candidate's side
may change it as it likes and gains nothing, since bytes are all that gets across.
"""

import math
import os
import stat
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from torch import Tensor

DTYPES = {
    "bool": 1,
    "uint8": 1,
    "int8": 1,
    "int16": 2,
    "int32": 4,
    "int64": 8,
    "float16": 2,
    "bfloat16": 2,
    "float32": 4,
    "float64": 8,
    "complex64": 8,
    "complex128": 16,
}
"""Bytes of an element, by dtype."""

MOST_TENSORS = 1024
MOST_DIMENSIONS = 64
_PIECE = 1 << 26

Header = list[dict[str, Any]]


class WireError(Exception):
    """A header, or a file, that is not what it should be."""


def describe(tensor: "Tensor") -> dict[str, Any]:
    """Return dtype and shape of a tensor, as a header holds them."""
    return {"dtype": str(tensor.dtype).removeprefix("torch."), "shape": list(tensor.shape)}


def size_of(header: Sequence[Mapping[str, Any]]) -> int:
    """Return the bytes of all tensors of a header that was checked."""
    return sum(DTYPES[item["dtype"]] * math.prod(item["shape"]) for item in header)


def checked(value: Any) -> Header:
    """Return a header that came from another process, if it is one.

    Raises
    ------
    WireError
        If it is no list of known dtypes and sensible shapes.
    """
    if not isinstance(value, list) or len(value) > MOST_TENSORS:
        raise WireError("its header is no short list")
    found = []
    for item in value:
        dtype, shape = (item.get("dtype"), item.get("shape")) if isinstance(item, dict) else (0, 0)
        if not isinstance(dtype, str) or dtype not in DTYPES:
            raise WireError("its header names no known dtype")
        if not isinstance(shape, list) or len(shape) > MOST_DIMENSIONS:
            raise WireError("its header has no shape")
        if any(type(size) is not int or not 0 <= size < 1 << 48 for size in shape):
            raise WireError("its header has a shape that is none")
        found.append({"dtype": dtype, "shape": shape})
    return found


def write(path: Path, tensors: Iterable["Tensor"]) -> Header:
    """Write tensors one after the other, each contiguous, into a new file; return the header."""
    import torch

    header = []
    with path.open("xb") as handle:
        for tensor in tensors:
            header.append(describe(tensor))
            flat = tensor.detach().reshape(-1)
            step = max(_PIECE // tensor.element_size(), 1)
            for start in range(0, flat.numel(), step):
                piece = flat[start : start + step].contiguous().cpu()
                handle.write(piece.view(torch.uint8).numpy().data)
    return header


def read(path: Path, header: Sequence[Mapping[str, Any]]) -> "list[Tensor]":
    """Read the tensors of a checked header.

    Raises
    ------
    WireError
        If there is no such regular file of just this size.
    """
    import torch

    # A candidate could put a pipe here, which would block, or a link to another file.
    try:
        number = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK)
    except OSError as error:
        raise WireError(f"its outputs cannot be read ({error.strerror})") from error
    about = os.fstat(number)
    if not stat.S_ISREG(about.st_mode) or about.st_size != size_of(header):
        os.close(number)
        raise WireError("its outputs are no file of the size that it announced")
    tensors = []
    with os.fdopen(number, "rb") as handle:
        for item in header:
            tensor = torch.empty(item["shape"], dtype=getattr(torch, item["dtype"]))
            if tensor.numel():
                buffer = tensor.view(-1).view(torch.uint8).numpy().data
                if handle.readinto(buffer) != len(buffer):
                    raise WireError("its outputs became shorter while they were read")
            tensors.append(tensor)
    return tensors
