"""`suiteopt show`: one problem's inputs, or one implementation with what kills it."""

from typing import Annotated, Any

import typer
from rich.table import Table

from suiteopt.cli.options import JsonOption, MatrixOption
from suiteopt.console import print_json, stdout
from suiteopt.errors import UserError
from suiteopt.matrix.kill import kill_table
from suiteopt.matrix.oracle import Oracle
from suiteopt.matrix.schema import Role
from suiteopt.matrix.store import Matrix, resolve_matrix
from suiteopt.protocols import load_oracle

_FIELDS = ("kind", "class", "duplicate_of", "family", "witness", "witness_how", "before", "after")


def show(
    name: Annotated[str, typer.Argument(help="Id of a problem or of an implementation.")],
    matrix: MatrixOption = None,
    oracle: Annotated[
        str, typer.Option("--oracle", metavar="O", help="What kills, as select takes it.")
    ] = "calibrated",
    json: JsonOption = False,
) -> None:
    """Show a problem's inputs, or an implementation and which inputs kill it."""
    opened = Matrix.open(resolve_matrix(matrix))
    judge = load_oracle(oracle)
    if name in opened.problem_ids:
        answer = _problem(opened, name, judge)
    else:
        answer = _implementation(opened, name, judge)
    if json:
        print_json(answer)
    elif "inputs" in answer:
        _tell_inputs(answer["inputs"])
    else:
        for key, value in answer.items():
            text = ", ".join(value) if isinstance(value, list) else str(value)
            stdout().print(f"{key:16} {text}", soft_wrap=True)


def _problem(matrix: Matrix, problem: str, oracle: Oracle) -> dict[str, Any]:
    table = kill_table(matrix, problem, oracle)
    rows = matrix.inputs_of(problem)
    kills = table.kills.toarray().sum(axis=0)
    inputs = [
        {
            "input": str(row["input"]),
            "role": str(row["role"]),
            "scope": str(row["scope"]),
            "needs": [str(need) for need in row["needs"]],
            "tolerance": float(table.tolerances[index]),
            "choosable": bool(table.choosable[index]),
            "kills": int(kills[index]),
        }
        for index, (_, row) in enumerate(rows.iterrows())
        if row["role"] != str(Role.WITNESS)
    ]
    return {"problem": problem, "oracle": oracle.name, "inputs": inputs}


def _implementation(matrix: Matrix, name: str, oracle: Oracle) -> dict[str, Any]:
    rows = matrix.implementations
    found = rows[rows["implementation"] == name]
    if found.empty:
        raise UserError(
            f"the matrix at {matrix.path} has no problem and no implementation '{name}'; "
            f"its problems are {', '.join(matrix.problem_ids)}"
        )
    row = found.iloc[0]
    table = kill_table(matrix, str(row["problem"]), oracle, include_locked=True)
    killers: list[str] = []
    if name in table.implementations:
        kills = table.kills.toarray()[table.implementations.index(name)]
        roles = matrix.inputs_of(str(row["problem"]))["role"]
        killers = [
            input_id
            for input_id, dies, role in zip(table.inputs, kills, roles, strict=True)
            if dies and role != str(Role.WITNESS)
        ]
    return {
        "implementation": name,
        "problem": str(row["problem"]),
        "rules": [str(rule) for rule in row["rules"]],
        **{field: str(row[field]) for field in _FIELDS},
        "oracle": oracle.name,
        "killed_by": killers,
    }


def _tell_inputs(inputs: list[dict[str, Any]]) -> None:
    table = Table(box=None, pad_edge=False)
    for heading in ("input", "role", "scope", "needs", "tolerance", "choosable", "kills"):
        table.add_column(heading, overflow="fold")
    for row in inputs:
        table.add_row(
            row["input"],
            row["role"],
            row["scope"],
            ", ".join(row["needs"]),
            f"{row['tolerance']:.2g}",
            "yes" if row["choosable"] else "no",
            str(row["kills"]),
        )
    stdout().print(table)
