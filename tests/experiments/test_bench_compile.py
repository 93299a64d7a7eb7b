"""The benchmark of compiling: what it computes from what it is told."""

import pytest

from experiments import bench_compile
from experiments.gpu_stage.compiling import CHUNK, divided
from gpu_eval.devices.base import KernelSource

SOURCES = [KernelSource(str(i), {"k.cu": ""}, "k.cu", ("k",)) for i in range(100)]


@pytest.mark.parametrize(("cores", "sizes"), [(1, {33, 34}), (2, {25}), (16, {6, 7}), (300, {1})])
def test_each_core_has_as_many_units(cores: int, sizes: set[int]) -> None:
    units = divided(SOURCES, cores)
    assert len(units) % cores == 0 or len(units) == len(SOURCES)
    assert {len(unit) for unit in units} == sizes
    assert max(sizes) <= CHUNK
    assert sorted(int(s.id) for unit in units for s in unit) == list(range(100))


def test_no_sources_are_no_units() -> None:
    assert divided([], 4) == []


def test_the_front_end_is_told_from_the_optimiser() -> None:
    said = (
        "File name, phase name, metric, unit\nunit.cu, CUDA C++ Frontend, 40, ms\n"
        "unit.cu, NVVM Optimizer, 120, ms\nunit.cu, PTX Translation, 999, ms\n"
    )
    assert bench_compile.front_end_share(said) == 0.25


def test_kernels_that_differ_in_namespace_and_labels_alone_are_there_once() -> None:
    kernel = ".visible .entry _ZN8hgm0000%d1kEv()\n{\n$L__BB%d_1: bra $L__BB%d_1;\n}\n"
    first, second = kernel % (1, 1, 1), kernel % (2, 2, 2)
    assert bench_compile.kept_share(f"head\n{first}{second}") == 0.5
    assert bench_compile.kept_share(f"head\n{first}{second.replace('bra', 'brx')}") == 1.0


def test_problems_count_by_their_sources() -> None:
    names = (*bench_compile.COLUMNS, *bench_compile.BEFORE)
    small = {"sources": 1, "ms": dict.fromkeys(names, 8.0)}
    large = {"sources": 3, "ms": {**dict.fromkeys(names, 4.0), "whole_before": 40.0 / 3}}
    total = bench_compile.totals({"a": small, "b": large})
    assert total["sources"] == 4
    assert total["ms"]["ptxas"] == 5.0
    assert total["mutants_a_second"] == 200.0
    assert total["mutants_a_second_of_nvrtc_alone"] == pytest.approx(1000 / 15, abs=0.05)
    assert total["faster"] == 2.4
