"""A tolerance is never baked in: one matrix answers every tolerance as exact arithmetic does."""

import math
from fractions import Fraction
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from suiteopt.matrix.kill import KillTable, kill_table
from suiteopt.matrix.oracle import fixed
from suiteopt.matrix.store import Matrix
from suiteopt.matrix.writer import MatrixWriter
from tests.suiteopt.builders import header
from tests.suiteopt.matrix import exact

INF, NAN = math.inf, math.nan
DENORMAL = float(np.float32(1e-45))
PROBLEM = "level1/001"
BAND = (1 + Fraction(1, 2**11)) ** 2  # kills between t and t x BAND may be missed

HAND_MADE = [  # out, ref
    ([], []),
    ([1.0], [1.0]),
    ([1.0], [1.001]),
    ([1.001], [1.0]),
    ([0.0], [-0.0]),
    ([-0.0], [0.0]),
    ([DENORMAL], [0.0]),
    ([DENORMAL, 1.0], [-DENORMAL, 1.0]),
    ([1e-30], [-1e-30]),
    ([3990.0], [4000.0]),
    ([100.0, 0.0], [101.0, 0.0]),
    ([1e20], [1.001e20]),
    ([1.0, -2.0, 3.0], [1.0, 2.0, 3.0]),
    ([INF], [INF]),
    ([-INF], [-INF]),
    ([INF], [-INF]),
    ([INF], [1.0]),
    ([1.0], [INF]),
    ([NAN], [NAN]),
    ([NAN], [1.0]),
    ([1.0], [NAN]),
    ([INF], [NAN]),
    ([NAN], [-INF]),
    ([INF, 1.0], [INF, 1.01]),
    ([1.0, NAN, 2.0], [1.0, NAN, 2.0]),
]


def drawn(seed: int = 7) -> list[tuple[list[float], list[float]]]:
    rng = np.random.default_rng(seed)
    pairs = []
    for size in (1, 2, 5, 16):
        for spread in (1e-7, 1e-5, 1e-4, 1e-3, 1e-2, 0.3):
            ref = (rng.normal(size=size) * 10.0 ** rng.uniform(-4, 4)).astype(np.float32)
            out = (ref * (1 + spread * rng.normal(size=size))).astype(np.float32)
            pairs.append((out.tolist(), ref.tolist()))
    return pairs


PAIRS = [
    ([float(np.float32(x)) for x in out], [float(np.float32(x)) for x in ref])
    for out, ref in HAND_MADE + drawn()
]
TOLERANCES = [0.0, *(float(f"{m}e{e}") for e in range(-8, 1) for m in (1, 2, 3, 5)), 7.0, 1e4]


@pytest.fixture(scope="module")
def matrix(tmp_path_factory: pytest.TempPathFactory) -> Matrix:
    """One mutant and one control a pair, all on one input."""
    path: Path = tmp_path_factory.mktemp("sweep") / "matrix"
    numbers = range(len(PAIRS))
    writer = MatrixWriter(path, header())
    writer.write_problems(pd.DataFrame({"problem": [PROBLEM]}))
    ids = [f"m{j}" for j in numbers] + [f"c{j}" for j in numbers]
    kinds = ["mutant"] * len(PAIRS) + ["control"] * len(PAIRS)
    writer.write_implementations(
        pd.DataFrame({"implementation": ids, "problem": PROBLEM, "kind": kinds})
    )
    writer.write_inputs(pd.DataFrame({"input": ["i"], "problem": [PROBLEM], "role": "candidate"}))
    cells = [exact.columns(out, ref) for out, ref in PAIRS] * 2
    rows = [{"implementation": name, "input": "i", **c} for name, c in zip(ids, cells, strict=True)]
    writer.write_cells(PROBLEM, pd.DataFrame(rows))
    writer.finish(True)
    return Matrix.open(path)


def query(matrix: Matrix, comparator: str, tolerance: float) -> tuple[KillTable, list[bool]]:
    table = kill_table(matrix, PROBLEM, fixed(tolerance, comparator))
    assert table.tolerances.tolist() == [tolerance]
    return table, table.kills.toarray()[: len(PAIRS), 0].tolist()


@pytest.mark.parametrize(
    "comparator", ["allclose_candidate", "allclose_reference", "max_abs", "max_rel", "either_or"]
)
def test_sweep_against_exact_arithmetic(matrix: Matrix, comparator: str) -> None:
    functions = {
        "allclose_candidate": lambda o, r: exact.critical(o, r, "candidate"),
        "allclose_reference": lambda o, r: exact.critical(o, r, "reference"),
        "max_abs": exact.max_abs,
        "max_rel": exact.max_rel,
        "either_or": exact.either_or,
    }
    criticals = [functions[comparator](out, ref) for out, ref in PAIRS]
    near = [float(c) * f for c in criticals if 0 < c < 1e30 for f in (0.999, 1.0, 1.001)]
    decided = 0
    for tolerance in [*TOLERANCES, *near]:
        table, kills = query(matrix, comparator, tolerance)
        rejections = table.control_rejections[:, 0].tolist()
        for (out, ref), c, killed, rejected in zip(
            PAIRS, criticals, kills, rejections, strict=True
        ):
            counted = exact.counts(out, ref)
            if counted["nan_both"] or counted["nan_one"] or counted["inf_mismatch"]:
                assert killed
                assert rejected
                continue
            if c <= tolerance:
                assert not killed, "a kill was invented"
            elif c > Fraction(max(tolerance, 1e-37)) * BAND:
                assert killed
                decided += 1
            if c > tolerance:
                assert rejected, "a rejection was missed"
            elif Fraction(tolerance) > c * BAND and tolerance > 1e-37:
                assert not rejected
    assert decided > 300


@pytest.mark.parametrize("comparator", ["allclose_candidate", "allclose_reference"])
def test_sweep_against_torch_allclose_in_both_argument_orders(
    matrix: Matrix, comparator: str
) -> None:
    torch = pytest.importorskip("torch")
    scale = comparator.removeprefix("allclose_")
    compared = 0
    for tolerance in TOLERANCES:
        _, kills = query(matrix, comparator, tolerance)
        for (out, ref), killed in zip(PAIRS, kills, strict=True):
            c = exact.critical(out, ref, scale)
            if tolerance and abs(c / Fraction(tolerance) - 1) < Fraction(1, 900):
                continue  # within the rounding band of the stored statistic
            if c and abs(float(c) - tolerance) < 2e-7:
                continue  # within fp32's own rounding of the threshold
            o = torch.tensor(out, dtype=torch.float32)
            r = torch.tensor(ref, dtype=torch.float32)
            first, second = (r, o) if scale == "candidate" else (o, r)
            accepted = torch.allclose(first, second, atol=tolerance, rtol=tolerance)
            assert killed != accepted, (out, ref, tolerance)
            compared += 1
    assert compared > 1200


def test_the_two_argument_orders_differ_where_torch_does(matrix: Matrix) -> None:
    """|out| = 0 and |ref| large: scaled by the reference it passes at 1, by the candidate not."""
    out, ref = [100.0, 0.0], [101.0, 0.0]
    j = PAIRS.index((out, ref))
    assert exact.critical(out, ref, "candidate") == Fraction(1, 101)
    assert exact.critical(out, ref, "reference") == Fraction(1, 102)
    between = 1 / 101.5
    assert query(matrix, "allclose_candidate", between)[1][j]
    assert not query(matrix, "allclose_reference", between)[1][j]


def test_zero_tolerance_kills_the_smallest_difference_and_no_signed_zero(matrix: Matrix) -> None:
    _, kills = query(matrix, "max_abs", 0.0)
    assert kills[PAIRS.index(([DENORMAL], [0.0]))]
    assert not kills[PAIRS.index(([0.0], [-0.0]))]
    assert not kills[PAIRS.index(([], []))]
    assert not kills[PAIRS.index(([INF], [INF]))]
