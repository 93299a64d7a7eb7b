"""What the rules about survivors look at, for one problem and one check."""

from dataclasses import dataclass

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from suiteopt.audit.checks import Check
from suiteopt.audit.critical import critical_table
from suiteopt.audit.settings import Setting, setting_of
from suiteopt.matrix.kill import KillTable, kill_table
from suiteopt.matrix.oracle import Oracle
from suiteopt.matrix.rounding import round_up_12
from suiteopt.matrix.schema import Role, Statistic
from suiteopt.matrix.store import Matrix
from suiteopt.matrix.tables import floor_column


@dataclass(frozen=True, eq=False)
class Evidence:
    """What the rules look at, for one problem; columns are all inputs.

    Attributes
    ----------
    table : KillTable
        Of the check's oracle.
    mine : ndarray of bool, inputs
        Whether the check runs it.
    offered : ndarray of bool, inputs
        Whether it may be chosen: no correct kernel is rejected on it.
    witness : ndarray of bool, inputs
    valid : ndarray of bool, inputs
        Whether reference and substrate ran on it.
    seen : ndarray of bool, implementations x inputs
        The error exceeds what correct kernels and the rounding model show.
    relative : ndarray of bool, implementations x inputs
        The output is so small that the absolute part of the tolerance outweighs the relative one,
        and the error exceeds the tolerance times the output's RMS; correct kernels' does not.
    unstable : ndarray of bool, implementations x inputs
        Rejected in some repeat, not in all.
    settings : tuple of Setting
    shapes : tuple of str
    kills, ran : ndarray of bool, implementations x inputs
        As in the table, dense.
    low : ndarray of float64, implementations x inputs
        Critical tolerance in the mildest repeat.
    """

    table: KillTable
    mine: NDArray[np.bool_]
    offered: NDArray[np.bool_]
    witness: NDArray[np.bool_]
    valid: NDArray[np.bool_]
    seen: NDArray[np.bool_]
    relative: NDArray[np.bool_]
    unstable: NDArray[np.bool_]
    settings: tuple[Setting, ...]
    shapes: tuple[str, ...]
    kills: NDArray[np.bool_]
    ran: NDArray[np.bool_]
    low: NDArray[np.float64]


def gather(matrix: Matrix, problem: str, check: Check, table: KillTable) -> Evidence:
    """Collect what the rules look at.

    Parameters
    ----------
    matrix : Matrix
    problem : str
    check : Check
    table : KillTable
        Of the check's oracle on the problem.
    """
    oracle = check.oracle
    rows = matrix.inputs_of(problem)
    model = Oracle("noise", oracle.comparator, safety=1.0, nonfinite=oracle.nonfinite)
    noise = kill_table(matrix, problem, model)
    own = critical_table(matrix, problem, oracle.comparator, oracle.nonfinite)
    at = {name: row for row, name in enumerate(own.implementations)}
    order = [at[name] for name in table.implementations]
    low, high = own.low[order], own.high[order]
    mine = np.isin(np.array(table.inputs, dtype=object), list(check.inputs.get(problem, ())))
    role = rows["role"].to_numpy(dtype=object)
    return Evidence(
        table=table,
        mine=mine,
        offered=table.choosable & ~mine,
        witness=np.array([value == str(Role.WITNESS) for value in role], dtype=np.bool_),
        valid=rows["valid"].to_numpy(dtype=np.bool_),
        seen=noise.kills.toarray() | _above_floor(rows, noise, low),
        relative=_relative(matrix, problem, table),
        unstable=(high > table.tolerances) & ~(low > table.tolerances),
        settings=matrix.remember(
            f"settings {problem}", lambda: tuple(setting_of(row) for _, row in rows.iterrows())
        ),
        shapes=tuple(rows["shape_recipe"].astype(str)),
        kills=table.kills.toarray(),
        ran=table.ran.toarray(),
        low=low,
    )


def _above_floor(
    rows: pd.DataFrame, noise: KillTable, low: NDArray[np.float64]
) -> NDArray[np.bool_]:
    """Where no control was run, what exceeds the rounding model's floor alone."""
    name = floor_column(noise.oracle.comparator)
    floors = rows[name].to_numpy(dtype=np.float64) if name in rows else np.zeros(len(rows))
    alone = ~noise.control_ran[noise.calibrating].any(axis=0)
    return np.asarray(alone & (low > round_up_12(np.nan_to_num(floors))), dtype=np.bool_)


def _relative(matrix: Matrix, problem: str, table: KillTable) -> NDArray[np.bool_]:
    """Kills if the same tolerance were taken of the output's RMS; nothing for such an oracle."""
    shape = (len(table.implementations), len(table.inputs))
    if table.oracle.comparator == Statistic.RMS or table.oracle.calibrated:
        return np.zeros(shape, dtype=np.bool_)
    tolerance = float(table.tolerances[0]) if len(table.tolerances) else 0.0
    relative = Oracle("relative", str(Statistic.RMS), tolerance=tolerance)
    found = kill_table(matrix, problem, relative)
    safe = ~(found.control_rejections & found.control_ran).any(axis=0)
    ratio = float(table.oracle.comparator.partition("@")[2] or 1.0)
    small = ratio * output_rms(matrix, problem) < 1.0
    return np.asarray(found.kills.toarray() & safe & small, dtype=np.bool_)


def output_rms(matrix: Matrix, problem: str) -> NDArray[np.float64]:
    """Return the RMS of the own reference's output on each input; NaN where no cell tells.

    Of any cell that is off it is max d over max d / RMS; both are stored rounded up to 12 bits.
    """
    largest = critical_table(matrix, problem, Statistic.MAX_ABS).low
    relative = critical_table(matrix, problem, Statistic.RMS).low
    known = np.isfinite(largest) & np.isfinite(relative) & (relative > 0)
    with np.errstate(divide="ignore", invalid="ignore"):
        ratio = np.where(known, largest / relative, np.nan)
    told = known.any(axis=0)
    scale = np.full(ratio.shape[1], np.nan)
    scale[told] = np.nanmedian(ratio[:, told], axis=0)
    return scale
