"""Is a mutant wrong? Evidence from the witness pool, which selection never sees.

Works on the tables of a matrix, so that a verdict can be computed again by anyone.
"""

from collections.abc import Iterable

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from suiteopt.matrix.rounding import round_up_12
from suiteopt.matrix.schema import (
    ImplementationClass,
    Kind,
    Role,
    ShapeScope,
    Statistic,
    Status,
    WitnessScope,
)

WITNESS_FACTOR = 8.0
"""How far a mutant must be beyond what correct implementations show."""

RACE = "race"
ERROR = "error"
NONFINITE = "nonfinite"

_STATUS_HOW = {
    Status.CRASH: "crash",
    Status.TIMEOUT: "timeout",
    Status.LAUNCH_ERROR: "launch_error",
    Status.OUT_OF_BOUNDS: "out_of_bounds",
    Status.UNWRITTEN: "unwritten",
}
# What a harness can see first: an exception, then a wrong output. The others are in the output
# only by luck: an unwritten element is wrong even where the stale result happens to be right.
_HOW_ORDER = ["crash", "timeout", "launch_error", NONFINITE, ERROR, "unwritten", "out_of_bounds"]
_HOW_ORDER += [RACE]
_SCOPES = {
    ShapeScope.CONTRACT: WitnessScope.CONTRACT,
    ShapeScope.PROFILE: WitnessScope.PROFILE,
    ShapeScope.OTHER: WitnessScope.OTHER_SHAPE,
}
_SCOPE_ORDER = list(_SCOPES.values())
_FATAL = (Status.CRASH, Status.TIMEOUT, Status.LAUNCH_ERROR)


def thresholds(
    implementations: pd.DataFrame, inputs: pd.DataFrame, cells: pd.DataFrame
) -> "pd.Series[float]":
    """Return, for each witness input, the error against fp64 above which a mutant is wrong.

    `WITNESS_FACTOR` times the larger of the worst control's max d / RMS(truth) and the rounding
    floor of that statistic. Blind controls are left out: they are opened once, for another
    purpose.

    Returns
    -------
    Series of float64
        Indexed by input id; invalid inputs are left out.
    """
    used = inputs[(inputs["role"] == Role.WITNESS) & inputs["valid"].astype(bool)]
    floor = pd.Series(used["floor_rms"].to_numpy(float), index=used["input"].astype(str))
    correct = implementations[
        (implementations["kind"] == Kind.CONTROL) & ~implementations["blind"].astype(bool)
    ]
    rows = cells[cells["implementation"].astype(str).isin(set(correct["implementation"]))]
    worst = highest(rows, Statistic.TRUTH_RMS)
    by_input = pd.Series(worst, index=rows["input"].astype(str)).groupby(level=0).max()
    limit = np.fmax(floor.to_numpy(), by_input.reindex(floor.index).to_numpy(float))
    return pd.Series(WITNESS_FACTOR * limit, index=floor.index)


def highest(cells: pd.DataFrame, statistic: str) -> NDArray[np.float64]:
    """Return the maximum over repeats (stored as null where equal to the minimum)."""
    low = pd.to_numeric(cells[statistic]).to_numpy(float, na_value=np.nan)
    high = pd.to_numeric(cells[f"{statistic}_max"]).to_numpy(float, na_value=np.nan)
    return np.where(np.isnan(high), low, high)


def verdicts(
    implementations: pd.DataFrame, inputs: pd.DataFrame, cells: pd.DataFrame
) -> pd.DataFrame:
    """Decide for every valid mutant and wild kernel of a problem whether it is wrong, and where.

    A mutant is witnessed when on a witness input its error exceeds `thresholds`, or it writes
    out of bounds, leaves output unwritten, fails, or is non-finite where the reference is not.
    Races show on the candidate inputs that ran under two schedules: equal sources, different
    bits, while its substrate agrees with itself. A mutant that was closed is witnessed where
    it ended in an exception. A wild kernel has no substrate to compare with, and atomics
    may rightly differ: it races where one of its schedules is wrong on a witness input.

    Parameters
    ----------
    implementations, inputs, cells : DataFrame
        One problem's rows of the matrix's tables, as stored (statistics rounded up).

    Returns
    -------
    DataFrame
        ``implementation``, ``witness`` (a `WitnessScope`), ``witness_how``, ``input`` (where it
        shows, or empty) and ``excess`` (error over threshold there, NaN where it is no error),
        one row a valid mutant, in the order of the table.
    """
    mutants = implementations[
        implementations["kind"].isin([str(Kind.MUTANT), str(Kind.WILD)])
        & (implementations["class"] == ImplementationClass.VALID)
    ]
    names = mutants["implementation"].astype(str).tolist()
    evidence = _evidence(mutants, implementations, inputs, cells)
    position = {str(name): rank for rank, name in enumerate(inputs["input"])}
    best: dict[str, tuple[int, int, int, float]] = {}
    for name, scope, how, cell_input, excess in evidence:
        rank = (
            _SCOPE_ORDER.index(_SCOPES[ShapeScope(scope)]),
            _HOW_ORDER.index(how),
            position[cell_input],
            excess,
        )
        if name not in best or rank[:3] < best[name][:3]:
            best[name] = rank
    order = inputs["input"].astype(str).tolist()
    rows = []
    for name in names:
        if name in best:
            scope_rank, how_rank, where, excess = best[name]
            rows.append(
                (name, str(_SCOPE_ORDER[scope_rank]), _HOW_ORDER[how_rank], order[where], excess)
            )
        else:
            rows.append((name, str(WitnessScope.NONE), "", "", float("nan")))
    columns = ["implementation", "witness", "witness_how", "input", "excess"]
    return pd.DataFrame(rows, columns=columns)


def _evidence(
    mutants: pd.DataFrame,
    implementations: pd.DataFrame,
    inputs: pd.DataFrame,
    cells: pd.DataFrame,
) -> Iterable[tuple[str, str, str, str, float]]:
    limits = thresholds(implementations, inputs, cells)
    scope = dict(zip(inputs["input"].astype(str), inputs["scope"].astype(str), strict=True))
    of_mutants = cells["implementation"].astype(str).isin(set(mutants["implementation"]))
    rows = cells[of_mutants]
    name = rows["implementation"].astype(str).to_numpy()
    where = rows["input"].astype(str).to_numpy()
    status = rows["status"].astype(str).to_numpy()
    on_witness = np.isin(where, limits.index.to_numpy())

    limit = limits.reindex(where).to_numpy(float)
    error = pd.to_numeric(rows[Statistic.TRUTH_RMS]).to_numpy(float, na_value=np.nan)
    stored_limit = np.full(len(rows), np.inf)
    stored_limit[on_witness] = round_up_12(limit[on_witness])
    for i in np.flatnonzero(error > stored_limit):
        excess = error[i] / limit[i] if limit[i] > 0 else float("inf")
        yield name[i], scope[where[i]], ERROR, where[i], excess

    for bad, how in _STATUS_HOW.items():
        for i in np.flatnonzero(on_witness & (status == bad)):
            yield name[i], scope[where[i]], how, where[i], float("nan")

    one_sided = rows["nan_one"].fillna(0).to_numpy() + rows["inf_mismatch"].fillna(0).to_numpy()
    for i in np.flatnonzero(on_witness & (one_sided > 0)):
        yield name[i], scope[where[i]], NONFINITE, where[i], float("nan")

    closed = set(name[on_witness & (status == Status.CLOSED)])
    for bad in _FATAL:
        for i in np.flatnonzero(status == bad):
            if name[i] in closed:
                yield name[i], scope[where[i]], _STATUS_HOW[bad], where[i], float("nan")

    steady = _steady(implementations, cells)
    substrate = dict(
        zip(mutants["implementation"].astype(str), mutants["substrate"].astype(str), strict=True)
    )
    disagreed = rows["disagreed"].to_numpy()
    wild = set(mutants.loc[mutants["kind"] == Kind.WILD, "implementation"].astype(str))
    beyond = highest(rows, Statistic.TRUTH_RMS) > stored_limit
    for i in np.flatnonzero(disagreed > 0):
        raced = beyond[i] if name[i] in wild else (substrate[name[i]], where[i]) in steady
        if raced:
            yield name[i], scope[where[i]], RACE, where[i], float("nan")


def _steady(implementations: pd.DataFrame, cells: pd.DataFrame) -> set[tuple[str, str]]:
    """Return the pairs of substrate and input whose repeats agreed to the bit."""
    substrates = implementations.loc[implementations["kind"] == Kind.SUBSTRATE, "implementation"]
    rows = cells[
        cells["implementation"].astype(str).isin(set(substrates.astype(str)))
        & (cells["repeats"] > 1)
        & (cells["disagreed"] == 0)
    ]
    pairs = zip(rows["implementation"].astype(str), rows["input"].astype(str), strict=True)
    return set(pairs)
