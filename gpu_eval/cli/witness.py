"""``gpu-eval witness``: which mutants are wrong, by the witness pool alone."""

from pathlib import Path
from typing import Annotated, Any

import typer

from gpu_eval.cli.output import Corpora, Json, Problems, show, table
from gpu_eval.cli.sanitizer import DEADLINE, SanitizerRequest, sanitize
from suiteopt.errors import UserError


def witness(
    directory: Annotated[Path, typer.Argument(help="A matrix.")],
    problem: Problems = None,
    sanitizer: Annotated[
        bool, typer.Option("--sanitizer", help="Run mutants under compute-sanitizer instead.")
    ] = False,
    tool: Annotated[
        list[str] | None,
        typer.Option(
            "--tool",
            help="With --sanitizer: racecheck, memcheck, initcheck or synccheck; may be given "
            "several times. The first three by default.",
        ),
    ] = None,
    mutant: Annotated[
        list[str] | None,
        typer.Option("--mutant", help="With --sanitizer: only this one; several times for more."),
    ] = None,
    everything: Annotated[
        bool,
        typer.Option(
            "--all",
            help="With --sanitizer: all valid mutants, not only those without a witness or with "
            "repeats as the only one.",
        ),
    ] = False,
    on_input: Annotated[
        list[str] | None,
        typer.Option(
            "--input",
            help="With --sanitizer: run its problem on this input, not on the cheapest one.",
        ),
    ] = None,
    deadline: Annotated[
        float | None,
        typer.Option(
            "--deadline", min=1.0, help="With --sanitizer: seconds for one run (120 by default)."
        ),
    ] = None,
    corpus: Corpora = None,
    output: Annotated[
        Path | None, typer.Option("--output", "-o", help="With --sanitizer: write JSON there, too.")
    ] = None,
    as_json: Json = False,
) -> None:
    """Compute every mutant's witness again from the cells, and compare with what is stored.

    Exits with code 1 if a stored verdict differs. With --sanitizer, run mutants on the GPU under
    compute-sanitizer, one small input a problem, and say whom it accuses; the matrix stays as it
    is, and code 1 says that something has no result.
    """
    given: dict[str, object] = {
        "--tool": tool,
        "--mutant": mutant,
        "--all": everything,
        "--input": on_input,
    }
    given |= {"--deadline": deadline, "--corpus": corpus, "--output": output}
    if sanitizer:
        sanitize(
            SanitizerRequest(
                directory,
                tuple(problem or ()),
                tuple(mutant or ()),
                everything,
                tuple(tool or ()),
                tuple(on_input or ()),
                deadline or DEADLINE,
                tuple(corpus or ()),
                output,
                as_json,
            )
        )
        return
    for name, value in given.items():
        if value:
            raise UserError(f"{name} goes with --sanitizer; add it, or leave {name} out")
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
