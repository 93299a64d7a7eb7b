"""Bytes that come back as they went, and files that are none."""

import os
from pathlib import Path
from typing import Any

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from suiteopt.check.wire import DTYPES, WireError, checked, read, size_of, write

SHAPES = st.lists(st.integers(0, 4), max_size=4)


def made(dtype: str, shape: list[int], seed: int) -> torch.Tensor:
    values = torch.testing.make_tensor(shape, dtype=getattr(torch, dtype), device="cpu")
    return values.transpose(0, -1) if seed % 2 and shape else values


@settings(deadline=None, max_examples=60)
@given(st.lists(st.tuples(st.sampled_from(sorted(DTYPES)), SHAPES, st.integers(0, 9)), max_size=3))
def test_tensors_of_every_dtype_come_back(tmp_path_factory: Any, wanted: Any) -> None:
    path = tmp_path_factory.mktemp("wire") / "tensors"
    tensors = [made(*one) for one in wanted]
    header = write(path, tensors)
    assert checked(header) == header
    assert path.stat().st_size == size_of(header)
    for one, other in zip(tensors, read(path, header), strict=True):
        assert one.dtype == other.dtype
        assert torch.equal(one, other)


def test_special_values_keep_their_bits(tmp_path: Path) -> None:
    tensor = torch.tensor([float("nan"), float("inf"), -0.0, 1e-45])
    header = write(tmp_path / "t", [tensor])
    (back,) = read(tmp_path / "t", header)
    assert torch.equal(back.view(torch.int32), tensor.view(torch.int32))


@pytest.mark.parametrize(
    "header",
    [
        None,
        {},
        "float32",
        [1],
        [{"dtype": "object", "shape": [1]}],
        [{"dtype": ["float32"], "shape": [1]}],
        [{"dtype": "float32", "shape": 4}],
        [{"dtype": "float32", "shape": [-1]}],
        [{"dtype": "float32", "shape": [True]}],
        [{"dtype": "float32", "shape": [2.0]}],
        [{"dtype": "float32", "shape": [1 << 60]}],
        [{"dtype": "float32", "shape": [1] * 65}],
        [{"dtype": "float32", "shape": []}] * 1025,
    ],
)
def test_what_is_no_header_is_refused(header: Any) -> None:
    with pytest.raises(WireError):
        checked(header)


def test_what_is_no_file_of_that_size_is_refused(tmp_path: Path) -> None:
    header = [{"dtype": "float32", "shape": [4]}]
    right, short, pipe, link = (tmp_path / name for name in ("right", "short", "pipe", "link"))
    right.write_bytes(bytes(16))
    short.write_bytes(bytes(15))
    os.mkfifo(pipe)
    link.symlink_to(right)
    assert read(right, header)[0].tolist() == [0.0] * 4
    for path in (short, pipe, link, tmp_path, tmp_path / "none"):
        with pytest.raises(WireError):
            read(path, header)


def test_a_header_of_no_memory_is_refused_by_the_file(tmp_path: Path) -> None:
    (tmp_path / "t").write_bytes(bytes(16))
    with pytest.raises(WireError, match="size"):
        read(tmp_path / "t", checked([{"dtype": "float64", "shape": [1 << 40]}]))


def test_nothing_that_is_there_is_written_over(tmp_path: Path) -> None:
    (tmp_path / "t").write_bytes(b"")
    with pytest.raises(FileExistsError):
        write(tmp_path / "t", [torch.zeros(1)])
