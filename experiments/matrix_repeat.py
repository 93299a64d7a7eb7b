"""What a second run of the same command measures differently, and what that changes.

    python -m experiments.matrix_repeat MATRIX REPEAT

Compares every cell of two matrices in every column, the verdicts under three oracles, witnesses,
and what the suite of one detects on the other. Writes experiments/results/matrix_repeat.{json,md}.
"""

import sys
from collections import Counter
from typing import Any

import numpy as np
import pandas as pd

from experiments.comparison import run_comparison
from experiments.matrix_repeat_page import CAUSES, report
from experiments.two_matrices import (
    ORACLES,
    about,
    cells_of,
    crossed,
    require_same_implementations,
    require_same_inputs,
    verdicts,
)
from suiteopt.matrix.oracle import parse_oracle
from suiteopt.matrix.schema import COUNTS, EXCEPTION_STATUSES, Family, Kind, Status
from suiteopt.matrix.store import Matrix

NAME = "matrix_repeat"

EXCEPTIONS = frozenset(str(status) for status in EXCEPTION_STATUSES)
ASTRAY = frozenset({Family.BOUNDARY, Family.INDEXING})


def main(arguments: list[str]) -> int:
    """Compare two matrices and write both files."""
    about_it = __doc__.split("\n", 1)[0]
    return run_comparison(arguments, about_it, ("matrix", "repeat"), compare, report, NAME)


def compare(first: Matrix, second: Matrix) -> dict[str, Any]:
    """Return everything that is said about two runs of one command.

    Raises
    ------
    UserError
        If they did not run the same implementations on the same inputs.
    """
    require_same_inputs(first, second)
    require_same_implementations(first, second)
    cells = pd.concat([_paired(first, second, problem) for problem in first.problem_ids])
    kinds = first.implementations.set_index(first.implementations["implementation"].astype(str))
    flagged = {
        side: set(cells.loc[cells[f"disagreed{side}"] > 0, "implementation"]) for side in "AB"
    }
    either = flagged["A"] | flagged["B"]
    both = cells[cells["both"]]
    different = both[both["differs"]]
    quiet = different[~different["implementation"].isin(either)]
    causes = quiet.assign(cause=[_cause(row, kinds) for row in quiet.to_dict("records")])
    return {
        "A": about(first),
        "B": about(second),
        "cells": {
            "in_both": len(both),
            "in_one_alone": int((~cells["both"]).sum()),
            "equal": int((~both["differs"]).sum()),
            "differ": len(different),
            "differ_by_columns": {
                group: int(different[group].sum()) for group in _groups(first, second)
            },
        },
        "implementations_that_differ": _by_kind(different, kinds),
        "flagged": {
            "in_A": len(flagged["A"]),
            "in_B": len(flagged["B"]),
            "in_both": len(flagged["A"] & flagged["B"]),
            "in_either": len(either),
            "differ": different.loc[
                different["implementation"].isin(either), "implementation"
            ].nunique(),
            "cells": int(different["implementation"].isin(either).sum()),
        },
        "unflagged": {
            "implementations": causes["implementation"].nunique(),
            "cells": len(causes),
            "ran_once_in_both": int(((causes["repeatsA"] < 2) & (causes["repeatsB"] < 2)).sum()),
            "causes": {
                cause: {
                    "implementations": int(part["implementation"].nunique()),
                    "cells": len(part),
                }
                for cause in CAUSES
                if len(part := causes[causes["cause"] == cause])
            },
            "list": _listed(causes, kinds),
        },
        "verdicts": [_verdicts(first, second, name, either) for name in ORACLES],
        "witnesses": _witnesses(first, second),
        "suites": [crossed(first, second, name) for name in ORACLES[1:]],
    }


def _groups(first: Matrix, second: Matrix) -> dict[str, list[str]]:
    """Return the columns of cells by what they are about."""
    problem = first.problem_ids[0]
    there = set(cells_of(second, problem))
    columns = [str(c) for c in cells_of(first, problem) if c in there]
    groups: dict[str, list[str]] = {"status": [], "repeats": [], "counts": [], "statistics": []}
    for column in columns:
        name = column.removesuffix("_max")
        if name in ("status", "repeats", "disagreed"):
            groups["status" if name == "status" else "repeats"].append(column)
        else:
            groups["counts" if name in {str(c) for c in COUNTS} else "statistics"].append(column)
    return groups


def _paired(first: Matrix, second: Matrix, problem: str) -> pd.DataFrame:
    """Return a problem's cells of both matrices, with what differs."""
    sides = [cells_of(matrix, problem) for matrix in (first, second)]
    place = sides[0].index.union(sides[1].index)
    here, there = (side.reindex(place) for side in sides)
    found = pd.DataFrame(index=place)
    found["both"] = here["status"].notna() & there["status"].notna()
    for group, columns in _groups(first, second).items():
        found[group] = False
        for column in columns:
            alike = (here[column] == there[column]) | (here[column].isna() & there[column].isna())
            found[group] |= ~alike
    found["differs"] = found[list(_groups(first, second))].any(axis=1)
    for side, table in zip("AB", (here, there), strict=True):
        for column in ("status", "repeats", "disagreed"):
            found[f"{column}{side}"] = table[column]
    return found.reset_index(names=["implementation", "input"])


def _cause(cell: dict[Any, Any], kinds: pd.DataFrame) -> str:
    """Return the first of `CAUSES` that holds for a cell of an implementation without a flag."""
    statuses = [cell["statusA"], cell["statusB"]]
    row = kinds.loc[cell["implementation"]]
    if any(status in EXCEPTIONS for status in statuses):
        return "exception"
    if row["kind"] == Kind.WILD:
        return "wild"
    if row["family"] == Family.SYNCHRONIZATION:
        return "race"
    if str(Status.OUT_OF_BOUNDS) in statuses:
        return "outside"
    if cell["counts"]:
        return "nonfinite"
    return "index" if row["family"] in ASTRAY else "other"


def _by_kind(different: pd.DataFrame, kinds: pd.DataFrame) -> dict[str, dict[str, int]]:
    every = Counter(kinds["kind"].astype(str))
    of = different["implementation"].map(kinds["kind"].astype(str))
    return {
        str(kind): {
            "implementations": every[kind],
            "differ": int(different.loc[of == kind, "implementation"].nunique()),
            "cells": int((of == kind).sum()),
        }
        for kind in Kind
        if every[kind]
    }


def _listed(causes: pd.DataFrame, kinds: pd.DataFrame) -> list[dict[str, Any]]:
    """Return one entry an implementation that no repeat flagged, the most cells first."""
    found = []
    for name in sorted(set(causes["implementation"])):
        part = causes[causes["implementation"] == name]
        statuses = Counter(zip(part["statusA"], part["statusB"], strict=True))
        found.append(
            {
                "implementation": name,
                "family": str(kinds.loc[name, "family"] or ""),
                "cells": len(part),
                "causes": dict(Counter(part["cause"]).most_common()),
                "statuses": {f"{a} / {b}": n for (a, b), n in statuses.most_common()},
            }
        )
    return sorted(found, key=lambda entry: (-int(entry["cells"]), str(entry["implementation"])))


def _verdicts(first: Matrix, second: Matrix, name: str, flagged: set[str]) -> dict[str, Any]:
    """Return how many verdicts of mutants differ under an oracle."""
    oracle = parse_oracle(name)
    known, names = 0, Counter[str]()
    for problem in first.problem_ids:
        found = verdicts(first, second, problem, oracle)
        known += int(found.known.sum())
        for row in np.argwhere(found.differ)[:, 0]:
            names[found.mutants[row]] += 1
    return {
        "oracle": name,
        "cells": known,
        "differ": names.total(),
        "mutants": len(names),
        "of_flagged_mutants": sum(n for mutant, n in names.items() if mutant in flagged),
        "flagged_mutants": sum(mutant in flagged for mutant in names),
        "unflagged": {m: n for m, n in names.most_common() if m not in flagged},
    }


def _witnesses(first: Matrix, second: Matrix) -> list[dict[str, str]]:
    """Return the mutants whose witness verdicts differ."""
    rows = [
        m.implementations.assign(name=m.implementations["implementation"].astype(str))
        .set_index("name")[["witness", "witness_how"]]
        .astype(str)
        for m in (first, second)
    ]
    differ = rows[0].index[(rows[0] != rows[1].reindex(rows[0].index)).any(axis=1)]
    return [
        {
            "mutant": name,
            "A": " ".join(rows[0].loc[name]).strip(),
            "B": " ".join(rows[1].loc[name]).strip(),
        }
        for name in differ
    ]


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
