"""What a matrix holds, in numbers: the answer of ``suiteopt info``."""

from collections.abc import Mapping
from dataclasses import asdict, dataclass, replace
from typing import Any

import pandas as pd

from suiteopt.matrix.behaviour import behaviours
from suiteopt.matrix.denominator import is_valid_mutant, is_witnessed
from suiteopt.matrix.schema import ImplementationClass, Kind
from suiteopt.matrix.store import Matrix


@dataclass(frozen=True)
class MutantSummary:
    """Mutants by what became of them.

    Attributes
    ----------
    generated : int
        All of them: stillborn + equivalent + duplicate + valid + locked.
    stillborn, equivalent, duplicate, valid : int
        By class, of the rules that are not set aside.
    locked : int
        Of the rules that are set aside, whatever their class; out of everything below.
    witnessed : int
        Valid ones that are in the headline denominator.
    distinct : int
        Different behaviours of those over all pools.
    """

    generated: int
    stillborn: int
    equivalent: int
    duplicate: int
    valid: int
    locked: int
    witnessed: int
    distinct: int


@dataclass(frozen=True)
class MatrixSummary:
    """What a matrix holds; the keys of ``suiteopt info``."""

    id: str
    label: str
    profile: str
    device: Mapping[str, str]
    complete: bool
    problems: int
    substrates: int
    rules: int
    families: int
    mutants: MutantSummary
    nulls: int
    controls: int
    wild: int
    inputs: int
    cells: int

    def as_dict(self) -> dict[str, Any]:
        """Return it with JSON's own types."""
        return asdict(replace(self, device=dict(self.device)))


def summarise(matrix: Matrix) -> MatrixSummary:
    """Count what a matrix holds, one problem at a time.

    Of an incomplete matrix, cells and behaviours of the problems that are measured.

    Raises
    ------
    UserError
        If a file is missing or damaged.
    """
    rows = matrix.implementations
    mutants = rows[rows["kind"] == str(Kind.MUTANT)]
    kinds = rows["kind"].value_counts()
    witnessed = rows[is_witnessed(rows, matrix.meta)]
    cells = distinct = 0
    for problem in matrix.measured_problems:
        cells += matrix.cells_table(problem, ["status"]).num_rows
        ids = witnessed.loc[witnessed["problem"] == problem, "implementation"].tolist()
        groups = behaviours(matrix, problem, ids)
        distinct += int(groups.max()) + 1 if len(groups) else 0
    return MatrixSummary(
        id=matrix.id,
        label=matrix.meta.label,
        profile=matrix.meta.profile,
        device=matrix.meta.device,
        complete=matrix.meta.complete,
        problems=len(matrix.problem_ids),
        substrates=int(kinds.get(str(Kind.SUBSTRATE), 0)),
        rules=len({rule for rules in mutants["rules"] for rule in rules}),
        families=mutants["family"].nunique(),
        mutants=MutantSummary(
            generated=len(mutants),
            stillborn=_of_class(mutants, ImplementationClass.STILLBORN),
            equivalent=_of_class(mutants, ImplementationClass.EQUIVALENT),
            duplicate=_of_class(mutants, ImplementationClass.DUPLICATE),
            valid=int(is_valid_mutant(mutants).sum()),
            locked=int(mutants["locked"].sum()),
            witnessed=len(witnessed),
            distinct=distinct,
        ),
        nulls=int(kinds.get(str(Kind.NULL), 0)),
        controls=int(kinds.get(str(Kind.CONTROL), 0)),
        wild=int(kinds.get(str(Kind.WILD), 0)),
        inputs=len(matrix.inputs),
        cells=cells,
    )


def _of_class(mutants: pd.DataFrame, wanted: ImplementationClass) -> int:
    return int(((mutants["class"] == str(wanted)) & ~mutants["locked"]).sum())
