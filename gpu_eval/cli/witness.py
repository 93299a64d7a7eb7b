"""``gpu-eval witness``: which mutants are wrong, by the witness pool alone."""

from pathlib import Path
from typing import Annotated, Any

import typer

from gpu_eval.cli.output import Json, Problems, show, table
from suiteopt.errors import UserError


def witness(
    directory: Annotated[Path, typer.Argument(help="A matrix.")],
    problem: Problems = None,
    as_json: Json = False,
) -> None:
    """Compute every mutant's witness again from the cells, and compare with what is stored.

    Exits with code 1 if a stored verdict differs.
    """
    from suiteopt.matrix.store import Matrix

    matrix = Matrix.open(directory)
    rows = [_problem(matrix, name) for name in problem or matrix.problem_ids]
    lines = table(
        "Mutants by witness", "problem", "valid#", "contract#", "profile#", "other#", "none#", "how"
    )
    for row in rows:
        scopes = row["by_scope"]
        lines.add_row(
            row["problem"],
            str(row["valid"]),
            *(str(scopes.get(s, 0)) for s in ("contract", "profile", "other_shape", "none")),
            ", ".join(f"{how} {number}" for how, number in row["by_how"].items()),
        )
    differing = [name for row in rows for name in row["differing"]]
    verdict = f"{len(differing)} stored verdicts differ from the cells"
    show(as_json, {"matrix": str(directory), "problems": rows, "differing": differing}, lines)
    if differing:
        typer.echo(f"error: {verdict}: {', '.join(differing[:5])}", err=True)
        raise typer.Exit(1)


def _problem(matrix: Any, problem: str) -> dict[str, Any]:
    from gpu_eval.campaign.witness import verdicts

    if problem not in matrix.problem_ids:
        raise UserError(
            f"the matrix has no problem '{problem}'; it has {', '.join(matrix.problem_ids)}"
        )
    implementations = matrix.implementations_of(problem)
    found = verdicts(implementations, matrix.inputs_of(problem), matrix.cells(problem))
    stored = implementations.set_index(implementations["implementation"].astype(str))
    stored = stored.loc[found["implementation"]]
    same = (stored["witness"].astype(str).to_numpy() == found["witness"].to_numpy()) & (
        stored["witness_how"].astype(str).to_numpy() == found["witness_how"].to_numpy()
    )
    how = found.loc[found["witness_how"] != "", "witness_how"].value_counts()
    return {
        "problem": problem,
        "valid": len(found),
        "by_scope": {str(k): int(v) for k, v in found["witness"].value_counts().items()},
        "by_how": {str(k): int(v) for k, v in how.items()},
        "differing": found.loc[~same, "implementation"].tolist(),
    }
