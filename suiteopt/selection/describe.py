"""From a choice to what is said about it."""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from suiteopt.matrix.store import Matrix
from suiteopt.selection.cases import Case
from suiteopt.selection.comparators import input_rows
from suiteopt.selection.cuts import null_rows, rejected_cells
from suiteopt.selection.parts import columns_of
from suiteopt.selection.problem_report import ProblemSelection, Tally
from suiteopt.selection.result import Selection


def describe(matrix: Matrix, case: Case, selection: Selection, times: int = 1) -> ProblemSelection:
    """Say what a choice does to a problem, where so many kills make a detection."""
    instance, table = case.instance, case.table
    columns = columns_of(instance, selection.members, "find")
    killed = instance.counts_in_all(columns) >= times
    killable = instance.counts_in_all(range(len(instance.inputs))) >= times
    measured = input_rows(matrix, case.problem, selection.members)
    positions = [table.inputs.index(name) for name in selection.members]
    rejected, cells = rejected_cells(table, selection.members)
    nulls = null_rows(table)
    dead = np.asarray(table.kills[nulls].toarray()[:, positions].any(axis=1))
    return ProblemSelection(
        selection=selection,
        tolerances=tuple(float(table.tolerances[position]) for position in positions),
        by_family=_by_family(case.families, killed),
        distinct=_distinct(case.behaviours, killed),
        in_output=Tally(int(case.shows.sum()), int((case.shows & killed).sum())),
        survivors=tuple(
            name for name, dies in zip(instance.mutants, killed, strict=True) if not dies
        ),
        unkillable=int((~killable).sum()),
        nulls=Tally(len(nulls), int(dead.sum())),
        surviving_nulls=tuple(
            table.implementations[row] for row, dies in zip(nulls, dead, strict=True) if not dies
        ),
        false_rejections=rejected,
        control_cells=cells,
        unknown_cells=case.unknown_cells,
        bytes=int(measured["bytes"].sum()),
        milliseconds=1000.0 * float(measured["seconds"].sum()),
        choosable=len(instance.inputs),
        comparator=case.table.oracle.comparator,
    )


def _by_family(families: Sequence[str], killed: NDArray[np.bool_]) -> dict[str, Tally]:
    tallies: dict[str, Tally] = {}
    for name, dies in zip(families, killed, strict=True):
        tallies[name] = tallies.get(name, Tally(0, 0)) + Tally(1, int(dies))
    return dict(sorted(tallies.items()))


def _distinct(behaviours: NDArray[np.int64], killed: NDArray[np.bool_]) -> Tally:
    """Behaviours and how many of them are detected; equal behaviour dies together."""
    return Tally(len(np.unique(behaviours)), len(np.unique(behaviours[killed])))
