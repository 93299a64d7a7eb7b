"""Which mutants count: the denominators of every detection figure."""

from enum import StrEnum

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from suiteopt.matrix.header import MatrixMeta
from suiteopt.matrix.kill import KillTable
from suiteopt.matrix.layout import layout_of
from suiteopt.matrix.schema import ImplementationClass, Kind, Role, WitnessScope
from suiteopt.matrix.store import Matrix

CUDA_DEVICE = "cuda"
IMPORTED_DEVICE = "imported"
"""Of a matrix that `suiteopt import` made from another tool's: it has no witness pool."""


class Denominator(StrEnum):
    """Over which of the valid mutants a share is taken; locked ones are out of all of them."""

    WITNESSED = "witnessed"  # the headline: shown to be wrong at the scope of the device
    OUTPUT = "output"  # witnessed by an exception or a wrong output: see `HIDDEN_WITNESSES`
    WITNESSED_OR_KILLED = "witnessed_or_killed"  # or killed by some input that is no witness
    VALID = "valid"  # compiled, neither equivalent nor a duplicate


HIDDEN_WITNESSES = frozenset({"unwritten", "out_of_bounds", "race"})
"""Evidence that a check of outputs need not see, whatever its inputs and tolerance.

Elements that were not written and hold the stale correct result, a stray write beside the output,
two schedules that differ within the rounding error: no input shows these, poisoned outputs, guard
zones and a sanitizer do. Such mutants are wrong and stay in the headline.
"""


def headline_scopes(meta: MatrixMeta) -> frozenset[WitnessScope]:
    """Return the witness scopes that count on the matrix's device.

    On a GPU the contract's alone; on a CPU, whose shapes are shortened, the profile's too, and
    the matrix's label says so. Another tool's matrix has no witnesses; there every valid mutant
    counts, as that tool counts, and the label says so too.
    """
    if meta.device.get("name") == IMPORTED_DEVICE:
        return frozenset(WitnessScope)
    if meta.device.get("name") == CUDA_DEVICE:
        return frozenset({WitnessScope.CONTRACT})
    return frozenset({WitnessScope.CONTRACT, WitnessScope.PROFILE})


def is_valid_mutant(implementations: pd.DataFrame) -> pd.Series:
    """Tell which rows of implementations are valid mutants of rules that are not set aside."""
    return (
        (implementations["kind"] == str(Kind.MUTANT))
        & (implementations["class"] == str(ImplementationClass.VALID))
        & ~implementations["locked"]
    )


def is_witnessed(implementations: pd.DataFrame, meta: MatrixMeta) -> pd.Series:
    """Tell which rows of implementations are in the headline denominator."""
    scopes = [str(scope) for scope in headline_scopes(meta)]
    return is_valid_mutant(implementations) & implementations["witness"].isin(scopes)


def shows_in_output(implementations: pd.DataFrame) -> NDArray[np.bool_]:
    """Tell which rows of implementations are witnessed by an exception or a wrong output."""
    how = implementations["witness_how"].astype(str)
    hidden = how.isin(["", *sorted(HIDDEN_WITNESSES)])
    return np.asarray(~hidden.to_numpy(dtype=np.bool_), dtype=np.bool_)


def denominator_mask(
    matrix: Matrix, table: KillTable, which: Denominator = Denominator.WITNESSED
) -> NDArray[np.bool_]:
    """Tell which rows of a kill table count.

    Parameters
    ----------
    matrix : Matrix
    table : KillTable
        Locked mutants count only where the table was made with them.
    which : Denominator

    Returns
    -------
    ndarray of bool, implementations of the table
        False for everything but mutants.
    """
    mutants = np.array([kind == Kind.MUTANT for kind in table.kinds], dtype=np.bool_)
    if which == Denominator.VALID:
        return mutants
    witnessed, shows = matrix.remember(
        f"witnessed {table.problem}", lambda: _evidence(matrix, table.problem)
    )
    places = layout_of(matrix, table.problem).rows
    rows = np.array([places[name] for name in table.implementations], dtype=np.intp)
    seen = witnessed[rows]
    if which == Denominator.OUTPUT:
        seen = seen & shows[rows]
    if which == Denominator.WITNESSED_OR_KILLED:
        roles = matrix.inputs_of(table.problem)["role"]
        pool = (roles != str(Role.WITNESS)).to_numpy(dtype=np.bool_)
        seen = seen | table.kills.toarray()[:, pool].any(axis=1)
    result: NDArray[np.bool_] = mutants & seen
    return result


def _evidence(matrix: Matrix, problem: str) -> tuple[NDArray[np.bool_], NDArray[np.bool_]]:
    """Which implementations of a problem are witnessed in scope, and which show in an output."""
    rows = matrix.implementations_of(problem)
    scopes = [str(scope) for scope in headline_scopes(matrix.meta)]
    return rows["witness"].isin(scopes).to_numpy(dtype=np.bool_), shows_in_output(rows)
