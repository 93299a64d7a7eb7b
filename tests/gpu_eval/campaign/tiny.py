"""A corpus of two tiny problems, and what a test wants to know of a finished matrix."""

from pathlib import Path
from typing import Any

import pandas as pd

from gpu_eval.campaign.implementations import implementations
from gpu_eval.campaign.settings import Settings
from gpu_eval.problems.loader import load_corpus
from suiteopt.matrix.files import sha256
from suiteopt.matrix.schema import Kind
from suiteopt.matrix.store import Matrix

KERNEL = """\
__global__ void row_sum(const float* __restrict__ x, float* __restrict__ y, int rows, int cols) {
    int row = blockIdx.x * blockDim.x + threadIdx.x;
    if (row < rows) {
        float sum = 0.0f;
        for (int i = 0; i < cols; ++i) {
            sum += x[row * cols + i];
        }
        y[row] = sum;
    }
}
"""

DEFINITION = """\
import torch

from gpu_eval.problems.definition import (
    Control, Dimension, DimensionKind, Problem, Substrate, TensorSpec,
)
from gpu_eval.problems.orders import ordered_controls, terms_of_rows
from gpu_eval.problems.plan import Launch, LaunchPlan, int32, pointer
from suiteopt.matrix.schema import OperationClass


def reference(tensors):
    return {"y": tensors["x"].sum(dim=1)}


def in_order(tensors, order):
    return {"y": order(terms_of_rows(tensors["x"]), tensors["x"].shape[1])}


PROBLEM = Problem(
    id="test/NAME",
    benchmark="test",
    level=0,
    name="NAME",
    operation_class=OperationClass.REDUCTION,
    dimensions=(
        Dimension("rows", ROWS, DimensionKind.PARALLEL, tile=4),
        Dimension("cols", 12, DimensionKind.REDUCED),
    ),
    inputs=(TensorSpec("x", ("rows", "cols")),),
    outputs=(TensorSpec("y", ("rows",)),),
    reference=reference,
    reduction_length="cols",
    exact_lattice=True,
    substrates=(
        Substrate(
            name="plain",
            source="kernel.cu",
            plan=LaunchPlan(
                steps=(
                    Launch(
                        kernel="row_sum",
                        grid=("ceil_div(rows, 4)", "1", "1"),
                        block=("4", "1", "1"),
                        arguments=(pointer("x"), pointer("y"), int32("rows"), int32("cols")),
                    ),
                )
            ),
        ),
    ),
    controls=(
        *ordered_controls(in_order),
        Control("eager", "eager", run=reference, identical=True),
    ),
)
"""


def write_corpus(directory: Path) -> Path:
    """Write the problems ``test/one`` (9 rows) and ``test/two`` (6 rows)."""
    for name, rows in (("one", 9), ("two", 6)):
        (directory / name).mkdir(parents=True)
        text = DEFINITION.replace("NAME", name).replace("ROWS", str(rows))
        (directory / name / "problem.py").write_text(text)
        (directory / name / "kernel.cu").write_text(KERNEL)
    return directory


def mutants(corpus: Path, problem: str = "test/one") -> list[str]:
    """Return the ids of a problem's mutants that have a source of their own, in order."""
    listed = implementations(load_corpus([corpus]).problem(problem))
    return [i.id for i in listed if i.kind == Kind.MUTANT and not i.is_launch_fault]


def settings(corpus: Path, **changes: Any) -> Settings:
    """Return settings for the tiny corpus on the fake device."""
    values: dict[str, Any] = {
        "profile": "demo",
        "device": "fake",
        "corpora": (str(corpus),),
        "jobs": 2,
        "command": "gpu-eval run",
        "deadline_floor": 0.1,
        "hang_seconds": 0.3,
        "block": 8,
    }
    return Settings(**{**values, **changes})


def cell_hashes(root: Path) -> dict[str, str]:
    """Return the hashes of the cells and the table of implementations."""
    names = [*sorted((root / "cells").iterdir()), root / "implementations.parquet"]
    return {path.name: sha256(path.read_bytes()) for path in names}


def cells_of(root: Path, implementation: str) -> "pd.DataFrame":
    """Return the cells of one implementation, by input."""
    matrix = Matrix.open(root)
    problem = implementation.split(":")[0]
    cells = matrix.cells(problem)
    return cells[cells["implementation"] == implementation].set_index("input")


def row_of(root: Path, implementation: str) -> "pd.Series[Any]":
    """Return the row of one implementation."""
    table = Matrix.open(root).implementations
    return table[table["implementation"] == implementation].iloc[0]
