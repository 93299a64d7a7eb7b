"""Every launch of the corpus within CUDA's limits, at every shape that a profile plans."""

import json
from collections.abc import Iterator, Mapping

import pytest

from gpu_eval.campaign.pool import candidate_pool
from gpu_eval.campaign.shapes import PROFILES
from gpu_eval.campaign.witness_pool import witness_pool
from gpu_eval.problems.definition import Problem
from gpu_eval.problems.loader import Corpus, all_substrates
from gpu_eval.problems.plan import ResolvedLaunch
from gpu_eval.problems.tensors import contract, dimensions

# CUDA C++ Programming Guide, technical specifications per compute capability (5.0 to 12.0), and the
# 227 KiB of compute capability 9.0 that one block may have in all; what a kernel declares itself is
# not known here.
LARGEST_GRID = (2**31 - 1, 65535, 65535)
LARGEST_BLOCK = (1024, 1024, 64)
THREADS = 1024
SHARED_BYTES = 227 * 1024


def shapes(problem: Problem) -> dict[str, tuple[str, Mapping[str, int]]]:
    """The different shapes of a problem, with an input that has it; no tensor is made."""
    found = {"": ("contract", contract(problem))}
    for profile in PROFILES.values():
        for pool_input in (*candidate_pool(problem, profile), *witness_pool(problem, profile)):
            key = json.dumps(dict(pool_input.shape), sort_keys=True)
            if key not in found:
                where = f"{profile.name} {pool_input.id}"
                found[key] = where, dimensions(problem, pool_input.shape)
    return found


def beyond(launch: ResolvedLaunch) -> Iterator[str]:
    sizes = (("grid", launch.grid, LARGEST_GRID), ("block", launch.block, LARGEST_BLOCK))
    for what, given, largest in sizes:
        for axis, size, limit in zip("xyz", given, largest, strict=True):
            if not 1 <= size <= limit:
                yield f"{what}.{axis} {size}"
    x, y, z = launch.block
    if x * y * z > THREADS:
        yield f"{x * y * z} threads"
    if not 0 <= launch.shared <= SHARED_BYTES:
        yield f"{launch.shared} bytes of shared memory"


@pytest.mark.parametrize("level", [1, 2])
def test_every_launch_is_one_that_cuda_accepts(corpus: Corpus, level: int) -> None:
    wrong = []
    for problem in (p for p in corpus.problems.values() if p.level == level):
        substrates = all_substrates(problem)
        assert substrates
        for where, sizes in shapes(problem).values():
            for substrate in substrates:
                launches = substrate.plan.resolve(sizes, problem.scalars).launches
                assert launches, f"{problem.id} {substrate.name} on {where}"
                wrong += [
                    f"{problem.id} {substrate.name}, {launch.kernel} on {where}: {reason}"
                    for launch in launches
                    for reason in beyond(launch)
                ]
    assert not wrong


@pytest.mark.parametrize(
    ("grid", "block", "shared", "reasons"),
    [
        ((2**31 - 1, 65535, 65535), (1024, 1, 1), 227 * 1024, []),
        ((1, 1, 1), (1, 16, 64), 0, []),
        ((2**31, 65536, 65536), (1, 1, 1), 0, ["x 2147483648", "y 65536", "z 65536"]),
        ((0, 1, 1), (1, 1, 0), 0, ["grid.x 0", "block.z 0"]),
        ((1, 1, 1), (1025, 1, 1), 0, ["block.x 1025", "1025 threads"]),
        ((1, 1, 1), (32, 33, 1), 0, ["1056 threads"]),
        ((1, 1, 1), (1, 1, 65), 0, ["block.z 65"]),
        ((1, 1, 1), (1, 1, 1), 227 * 1024 + 1, ["232449 bytes"]),
        ((1, 1, 1), (1, 1, 1), -4, ["-4 bytes"]),
    ],
)
def test_the_limits_themselves(
    grid: tuple[int, int, int], block: tuple[int, int, int], shared: int, reasons: list[str]
) -> None:
    found = list(beyond(ResolvedLaunch("k", grid, block, shared, ())))
    assert len(found) == len(reasons)
    assert all(reason in text for reason, text in zip(reasons, found, strict=True))
