"""Options that several commands share."""

from pathlib import Path
from typing import Annotated

import typer

from suiteopt.errors import UserError
from suiteopt.matrix.store import Matrix
from suiteopt.selection.question import Objective

MatrixOption = Annotated[
    Path | None,
    typer.Option(
        "--matrix",
        metavar="DIR",
        help="Kill matrix; by default the one that matrices/DEFAULT names.",
    ),
]
JsonOption = Annotated[
    bool, typer.Option("--json", help="Print exactly one JSON object on standard output.")
]
BudgetOption = Annotated[
    int, typer.Option("--budget", "-k", metavar="K", help="Inputs per problem, at most.")
]
OracleOption = Annotated[
    str | None,
    typer.Option(
        "--oracle",
        metavar="O",
        help="fixed:<tolerance>, calibrated[:<safety>], calibrated:held-out, best-fixed, "
        "any-comparator[:<safety>], <comparator>:<tolerance>, or a protocol's name; by default "
        "the target's own, else calibrated.",
    ),
]
TargetOption = Annotated[
    str | None,
    typer.Option("--target", metavar="T", help="Choose for what this benchmark can carry."),
]
SolverOption = Annotated[
    str,
    typer.Option("--solver", metavar="S", help="auto, enumerate, greedy, cp-sat, mathopt or pulp."),
]
ObjectiveOption = Annotated[
    Objective | None,
    typer.Option(
        "--objective",
        help="What a suite is chosen by; by default held-out, faults of the kinds that there are, "
        "and coverage, the faults that there are, where more is asked than a budget a problem or "
        "no classes of faults are known.",
    ),
]
LockedOption = Annotated[
    bool,
    typer.Option(
        "--open-locked",
        help="Also count the rules that were set aside; the opening goes into the ledger.",
    ),
]
IncompleteOption = Annotated[
    bool,
    typer.Option(
        "--allow-incomplete",
        help="Take an unfinished matrix as it is; cells that were not run count as no kills.",
    ),
]


def outside(path: Path, matrix: Matrix) -> Path:
    """Return a place to write to, if it is not in the matrix that is read.

    Raises
    ------
    UserError
    """
    try:
        inside = path.resolve().is_relative_to(matrix.path.resolve())
    except (OSError, RuntimeError) as error:  # links in a ring
        raise UserError(f"{path} cannot be written; give another place") from error
    if inside:
        raise UserError(f"{path} lies in the matrix that is read; write beside it")
    return path
