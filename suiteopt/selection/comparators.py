"""Inputs, comparators and tolerances chosen together: one column per (input, comparator).

Kills are monotone in the tolerance, so of one input and one comparator only the tightest safe
tolerance matters: the calibrated one. Which comparator shows most on an input depends on the
input; at most one is chosen for it, since a harness that runs an input compares it once.
"""

from collections.abc import Collection, Sequence
from dataclasses import replace

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from scipy.sparse import csr_array, hstack

from suiteopt.errors import UserError
from suiteopt.matrix.kill import KillTable, kill_table
from suiteopt.matrix.layout import layout_of
from suiteopt.matrix.oracle import CALIBRATED_COMPARATOR, CALIBRATED_SAFETY, Oracle
from suiteopt.matrix.schema import OWN_STATISTICS
from suiteopt.matrix.store import Matrix
from suiteopt.matrix.tables import ratio_comparators
from suiteopt.matrix.verdict import CellBlock

ANY = "any-comparator"
_MARK = "#"


def any_comparator(safety: float = CALIBRATED_SAFETY) -> Oracle:
    """Return the calibrated oracle that leaves the comparator of each input open."""
    name = ANY if safety == CALIBRATED_SAFETY else f"{ANY}:{safety:g}"
    return Oracle(name, ANY, safety=safety)


def parse_any(text: str) -> Oracle | None:
    """Return the oracle of ``any-comparator`` or ``any-comparator:<safety>``; None for others.

    Raises
    ------
    UserError
        If the safety is no number of 1 or more.
    """
    head, colon, tail = text.partition(":")
    if head != ANY:
        return None
    if not colon:
        return any_comparator()
    try:
        safety = float(tail)
    except ValueError:
        safety = 0.0
    if not 1.0 <= safety < 1e9:
        raise UserError(f"the safety of {text!r} is no number of 1 or more; give {ANY}:10")
    return any_comparator(safety)


def input_of(column: str) -> str:
    """Return the input that a column judges."""
    return column.partition(_MARK)[0]


def comparator_of(column: str, oracle_comparator: str) -> str:
    """Return the comparator that a column judges by, under the comparator of an oracle."""
    _, mark, comparator = column.partition(_MARK)
    if mark:
        return comparator
    return str(CALIBRATED_COMPARATOR) if oracle_comparator == ANY else oracle_comparator


def groups_of(columns: Sequence[str]) -> NDArray[np.int64] | None:
    """Number columns by their input; None where every column is an input of its own."""
    if not any(_MARK in column for column in columns):
        return None
    names = [input_of(column) for column in columns]
    numbers = {name: place for place, name in enumerate(dict.fromkeys(names))}
    if len(numbers) == len(columns):
        return None
    return np.array([numbers[name] for name in names], dtype=np.int64)


def input_rows(matrix: Matrix, problem: str, columns: Sequence[str]) -> pd.DataFrame:
    """Return the rows of ``inputs.parquet`` of some columns, in their order."""
    rows = matrix.inputs_of(problem)
    if tuple(columns) == layout_of(matrix, problem).names:
        return rows
    names = [input_of(column) for column in columns]
    return rows.set_index("input", drop=False).loc[names]


def input_bytes(matrix: Matrix, problem: str, columns: Sequence[str]) -> NDArray[np.int64]:
    """Return the sizes in bytes of the inputs of some columns, in their order."""

    def read() -> NDArray[np.int64]:
        sizes: NDArray[np.int64] = matrix.inputs_of(problem)["bytes"].to_numpy(dtype=np.int64)
        return sizes

    sizes = matrix.remember(f"bytes {problem}", read)
    layout = layout_of(matrix, problem)
    if tuple(columns) == layout.names:
        return sizes
    return sizes[[layout.columns[input_of(column)] for column in columns]]


def judged_table(
    matrix: Matrix,
    problem: str,
    oracle: Oracle,
    *,
    controls: Collection[str] | None = None,
    include_locked: bool = False,
    block: CellBlock | None = None,
) -> KillTable:
    """Return the kill table of any oracle; with an open comparator, one column for each.

    The columns of the default comparator keep the names of their inputs and stand first, in the
    order of ``inputs.parquet``; those of the others are ``<input>#<comparator>``.

    Parameters
    ----------
    matrix, problem, oracle, controls, include_locked, block
        As `suiteopt.matrix.kill.kill_table` takes them; ``block`` is of no use where the
        comparator is open.
    """
    if oracle.comparator != ANY:
        return kill_table(
            matrix, problem, oracle, controls=controls, include_locked=include_locked, block=block
        )
    others = [str(s) for s in OWN_STATISTICS if s != CALIBRATED_COMPARATOR]
    names = [str(CALIBRATED_COMPARATOR), *others, *ratio_comparators(matrix.meta.ratios)]
    tables = [
        kill_table(
            matrix,
            problem,
            replace(oracle, comparator=name),
            controls=controls,
            include_locked=include_locked,
        )
        for name in names
    ]
    first = tables[0]
    columns = list(first.inputs)
    for name in names[1:]:
        columns += [f"{column}{_MARK}{name}" for column in first.inputs]
    return replace(
        first,
        oracle=oracle,
        inputs=tuple(columns),
        kills=csr_array(hstack([table.kills for table in tables])),
        ran=csr_array(hstack([table.ran for table in tables])),
        slack=csr_array(hstack([table.slack for table in tables])),
        tolerances=np.concatenate([table.tolerances for table in tables]),
        choosable=np.concatenate([table.choosable for table in tables]),
        control_rejections=np.hstack([table.control_rejections for table in tables]),
        control_ran=np.hstack([table.control_ran for table in tables]),
    )


def first_comparator(table: KillTable, inputs: int) -> KillTable:
    """Return the columns of the default comparator alone: as many as there are inputs."""
    if len(table.inputs) == inputs:
        return table
    span = slice(0, inputs)
    return replace(
        table,
        inputs=table.inputs[span],
        kills=csr_array(table.kills[:, span]),
        ran=csr_array(table.ran[:, span]),
        slack=csr_array(table.slack[:, span]),
        tolerances=table.tolerances[span],
        choosable=table.choosable[span],
        control_rejections=table.control_rejections[:, span],
        control_ran=table.control_ran[:, span],
    )
