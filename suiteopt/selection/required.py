"""Inputs that must or must not be chosen, sorted by problem."""

from collections.abc import Sequence

from suiteopt.errors import UserError
from suiteopt.matrix.store import Matrix
from suiteopt.selection.constraints import Constraints


def split_constraints(
    matrix: Matrix, include: Sequence[str], exclude: Sequence[str]
) -> dict[str, Constraints]:
    """Sort required and barred inputs by problem; problems without any are left out.

    Raises
    ------
    UserError
        If no problem has an input of that name.
    """
    if not include and not exclude:
        return {}
    names = matrix.inputs["input"].astype(str)
    home = dict(zip(names, matrix.inputs["problem"].astype(str), strict=True))
    for name in (*include, *exclude):
        if name not in home:
            raise UserError(f"the matrix has no input '{name}'; `suiteopt show` lists them")
    return {
        problem: Constraints(
            frozenset(name for name in include if home[name] == problem),
            frozenset(name for name in exclude if home[name] == problem),
        )
        for problem in {home[name] for name in (*include, *exclude)}
    }
