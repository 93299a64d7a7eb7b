"""Two matrices of the same pool: verdicts side by side, and the suite of one on the other."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from suiteopt.errors import UserError
from suiteopt.matrix.denominator import Denominator, denominator_mask
from suiteopt.matrix.kill import KillTable, kill_table
from suiteopt.matrix.oracle import Oracle, parse_oracle
from suiteopt.matrix.schema import Kind
from suiteopt.matrix.store import Matrix
from suiteopt.selection.problem_report import Tally
from suiteopt.selection.select import select

ORACLES = ("fixed:1e-2", "fixed:1e-4", "calibrated")
INPUT_COLUMNS = ("role", "values", "parameters", "shape", "seed", "scope")
BUDGET = 2


@dataclass(frozen=True, eq=False)
class Verdicts:
    """What an oracle says of the cells that both matrices have of a problem.

    Attributes
    ----------
    tables : tuple of KillTable
        One a matrix.
    mutants, inputs : tuple of str
        Rows and columns of the arrays.
    kills, ran : tuple of ndarray of bool, mutants x inputs
        One a matrix.
    """

    tables: tuple[KillTable, KillTable]
    mutants: tuple[str, ...]
    inputs: tuple[str, ...]
    kills: tuple[NDArray[np.bool_], NDArray[np.bool_]]
    ran: tuple[NDArray[np.bool_], NDArray[np.bool_]]

    @property
    def known(self) -> NDArray[np.bool_]:
        """Cells whose verdict both matrices know."""
        return self.ran[0] & self.ran[1]

    @property
    def differ(self) -> NDArray[np.bool_]:
        """Those of them whose verdicts differ."""
        differ: NDArray[np.bool_] = self.known & (self.kills[0] != self.kills[1])
        return differ


def require_same_inputs(first: Matrix, second: Matrix) -> None:
    """Refuse two matrices whose inputs are not the same.

    Raises
    ------
    UserError
        If a problem or an input is in one alone, or is made in another way.
    """
    for problem in sorted(set(first.problem_ids) ^ set(second.problem_ids)):
        raise UserError(
            f"{problem} is in one of the two matrices alone; give two that the same command made"
        )
    rows = [m.inputs.set_index(m.inputs["input"].astype(str)) for m in (first, second)]
    for name in sorted(set(rows[0].index) ^ set(rows[1].index)):
        raise UserError(
            f"the input {name} is in one of the two matrices alone; give two of the same pool"
        )
    for column in INPUT_COLUMNS:
        here, there = rows[0][column].astype(str), rows[1][column].astype(str)
        changed = here.index[here != there.reindex(here.index)]
        if len(changed):
            raise UserError(
                f"the two matrices do not make {changed[0]} alike ({column} differs); give two "
                "of the same pool"
            )


def require_same_implementations(first: Matrix, second: Matrix) -> None:
    """Refuse two matrices whose implementations are not the same.

    Raises
    ------
    UserError
        If one is in a matrix alone, or is of another kind, source or class there.
    """
    columns = ["kind", "source_hash", "class"]
    sides = [
        m.implementations.assign(name=m.implementations["implementation"].astype(str))
        .set_index("name")[columns]
        .astype(str)
        for m in (first, second)
    ]
    for name in sorted(set(sides[0].index) ^ set(sides[1].index)):
        raise UserError(
            f"{name} is in one of the two matrices alone; give two that the same command made"
        )
    changed = sides[0].index[(sides[0] != sides[1].reindex(sides[0].index)).any(axis=1)]
    if len(changed):
        raise UserError(
            f"{changed[0]} is not the same implementation in both matrices; give two that the "
            "same command made from the same corpus"
        )


def verdicts(first: Matrix, second: Matrix, problem: str, oracle: Oracle) -> Verdicts:
    """Return what an oracle says of a problem's mutants in both matrices."""
    tables = (kill_table(first, problem, oracle), kill_table(second, problem, oracle))
    there = set(tables[1].implementations)
    pairs = zip(tables[0].implementations, tables[0].kinds, strict=True)
    mutants = tuple(name for name, kind in pairs if kind is Kind.MUTANT and name in there)
    common = set(tables[1].inputs)
    inputs = tuple(name for name in tables[0].inputs if name in common)
    dense = [_dense(table, mutants, inputs) for table in tables]
    return Verdicts(tables, mutants, inputs, (dense[0][0], dense[1][0]), (dense[0][1], dense[1][1]))


def _dense(table: KillTable, mutants: tuple[str, ...], inputs: tuple[str, ...]) -> Any:
    rows = {name: row for row, name in enumerate(table.implementations)}
    columns = {name: column for column, name in enumerate(table.inputs)}
    place = np.ix_([rows[name] for name in mutants], [columns[name] for name in inputs])
    return table.kills.toarray()[place], table.ran.toarray()[place]


def members_of(matrix: Matrix, oracle: Oracle, which: Denominator) -> Mapping[str, tuple[str, ...]]:
    """Return the inputs that `select` chooses, `BUDGET` a problem."""
    chosen = select(matrix, BUDGET, oracle, denominator=which)
    return {part.problem: tuple(part.selection.members) for part in chosen.problems}


def detects(
    matrix: Matrix, members: Mapping[str, tuple[str, ...]], oracle: Oracle, which: Denominator
) -> Tally:
    """Return how many of a matrix's mutants that count some inputs detect there."""
    total = Tally(0, 0)
    for problem, names in members.items():
        table = kill_table(matrix, problem, oracle)
        columns = [table.inputs.index(name) for name in names]
        killed = table.kills.toarray()[:, columns].any(axis=1)
        counts = denominator_mask(matrix, table, which)
        total += Tally(int(counts.sum()), int((killed & counts).sum()))
    return total


def crossed(
    first: Matrix, second: Matrix, name: str, which: Denominator = Denominator.WITNESSED
) -> dict[str, Any]:
    """Choose a suite on each of two matrices, A and B, and measure both on both.

    Parameters
    ----------
    first, second : Matrix
    name : str
        Of the oracle.
    which : Denominator
        The mutants to choose for, and that count.
    """
    oracle = parse_oracle(name)
    suites = [members_of(matrix, oracle, which) for matrix in (first, second)]
    same = sum(set(suites[0].get(p, ())) == set(names) for p, names in suites[1].items())
    return {
        "budget": BUDGET,
        "oracle": name,
        "denominator": str(which),
        "problems": len(suites[1]),
        "same_members": same,
        "detected": {
            f"suite of {chosen} on {measured}": _tally(detects(matrix, suite, oracle, which))
            for chosen, suite in zip("AB", suites, strict=True)
            for measured, matrix in zip("AB", (first, second), strict=True)
        },
    }


def _tally(tally: Tally) -> dict[str, Any]:
    return {"mutants": tally.mutants, "detected": tally.detected, "share": tally.share}


def suites_table(suites: list[dict[str, Any]]) -> list[str]:
    """Return what suites detect on both matrices as a table."""
    head = ["oracle", "problems with the same members", *suites[0]["detected"]]
    rows = [
        [s["oracle"], f"{s['same_members']} of {s['problems']}"]
        + [f"{t['detected']} of {t['mutants']} ({t['share']:.1%})" for t in s["detected"].values()]
        for s in suites
    ]
    return markdown([head, *rows])


def about(matrix: Matrix) -> dict[str, Any]:
    """Return what the record of a comparison says of a matrix."""
    return {
        "matrix_id": matrix.id,
        "device": dict(matrix.meta.device),
        "started": matrix.meta.started,
        "seconds": matrix.meta.seconds,
    }


def cells_of(matrix: Matrix, problem: str) -> pd.DataFrame:
    """Return a problem's cells by implementation and input, both as text."""
    cells = matrix.cells(problem).copy()
    for column in ("implementation", "input", "status"):
        cells[column] = cells[column].astype(str)
    return cells.set_index(["implementation", "input"])


def markdown(rows: list[list[Any]]) -> list[str]:
    """Return a table in Markdown; the first row has the headings."""
    lines = ["| " + " | ".join(str(value) for value in row) + " |" for row in rows]
    return [lines[0], "|" + "---|" * len(rows[0]), *lines[1:]]
