"""Which kernels add by fp32 atomics that flush, and what that costs."""

import math

import pytest
import torch

from gpu_eval.problems.flushed import SMALLEST_NORMAL, adds_atomically, flushing_floor
from gpu_eval.problems.loader import Corpus, all_substrates, sources

KERNEL = """
__global__ void k(float* out, unsigned int* finished, const float* x) {{
    __shared__ float part[4];
    {statement};
}}
"""


@pytest.mark.parametrize(
    ("statement", "expected"),
    [
        ("atomicAdd(&out[blockIdx.x], x[0])", True),
        ("atomicAdd(out + 3, 1.0f)", True),
        ("atomicAdd(finished, 1u)", False),
        ("atomicAdd(&part[0], x[0])", False),
        ("out[0] += x[0]  /* not atomicAdd(out, x[0]) */", False),
    ],
)
def test_only_sums_of_floats_in_global_memory_count(statement: str, expected: bool) -> None:
    assert adds_atomically({"k.cu": KERNEL.format(statement=statement)}) is expected


def test_the_corpus_has_eight_kernels_that_add_so(corpus: Corpus) -> None:
    found = {
        f"{problem.id} {substrate.name}"
        for problem in corpus.problems.values()
        for substrate in all_substrates(problem)
        if adds_atomically(sources(problem, substrate))
    }
    assert found == {
        "level1/006 atomic",
        "level1/033 atomic-sums",
        "level1/037 atomic-sum",
        "level1/048 atomics",
        "level1/065 scatter",
        "level1/070 atomics",
        "level1/073 scatter",
        "level1/075 scatter",
    }


def test_the_floor_counts_additions_against_the_output() -> None:
    ones = torch.ones(3, dtype=torch.float64)
    assert flushing_floor({"y": ones}, 5) == 5 * SMALLEST_NORMAL
    small = ones * SMALLEST_NORMAL / 2
    assert flushing_floor({"y": small}, 5) == 10
    assert flushing_floor({"y": ones, "z": small}, 1) == 2, "of several outputs the smallest"
    with_infinity = torch.tensor([math.inf, 2.0], dtype=torch.float64)
    assert flushing_floor({"y": with_infinity}, 4) == 2 * SMALLEST_NORMAL
    assert flushing_floor({"y": ones * 0}, 5) == 0, "zeros are not off by a share of themselves"
    assert flushing_floor({}, 5) == 0
