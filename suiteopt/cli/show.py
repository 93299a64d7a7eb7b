"""`suiteopt show`: one problem's inputs, or one implementation with what kills it."""

from typing import Annotated, Any

import typer
from rich.table import Table

from suiteopt.audit.dossier import Cell, Dossier, dossier
from suiteopt.cli.options import JsonOption, MatrixOption
from suiteopt.console import print_json, stdout
from suiteopt.errors import UserError
from suiteopt.matrix.kill import kill_table
from suiteopt.matrix.oracle import Oracle
from suiteopt.matrix.schema import Role
from suiteopt.matrix.store import Matrix, resolve_matrix
from suiteopt.protocols import load_oracle, load_protocol, protocol_inputs

DEFAULT_PROTOCOL = "kernelbench"
LISTED = 12
_STYLES = {"+": "green", "-": "red", "@": "cyan"}
_FIELDS = ("kind", "class", "duplicate_of", "family", "witness", "witness_how")


def show(
    name: Annotated[str, typer.Argument(help="Id of a problem or of an implementation.")],
    matrix: MatrixOption = None,
    oracle: Annotated[
        str, typer.Option("--oracle", metavar="O", help="What kills, as select takes it.")
    ] = "calibrated",
    protocol: Annotated[
        str | None,
        typer.Option(
            "--protocol",
            "-p",
            metavar="P",
            help="The own check that is explained; kernelbench by default.",
        ),
    ] = None,
    json: JsonOption = False,
) -> None:
    """Show a problem's inputs, or an implementation: its edit, its killers, the own check."""
    opened = Matrix.open(resolve_matrix(matrix))
    judge = load_oracle(oracle)
    if name in opened.problem_ids:
        if protocol is not None:
            raise UserError("--protocol explains one implementation; leave it out of a problem")
        answer = _problem(opened, name, judge)
        if json:
            print_json(answer)
        else:
            _tell_inputs(answer["inputs"])
        return
    found = dossier(opened, name, judge, load_protocol(protocol or DEFAULT_PROTOCOL))
    if json:
        print_json(found.as_dict())
    else:
        _tell_implementation(found)
        if protocol is not None and found.own is None:
            _tell_absent(opened, found.problem, protocol)


def _tell_absent(matrix: Matrix, problem: str, protocol: str) -> None:
    """Say why a protocol that was asked for explains nothing, if it lacks inputs there."""
    try:
        protocol_inputs(matrix, problem, load_protocol(protocol))
    except UserError as error:
        stdout().print(f"{'own check':16} {error}", soft_wrap=True)


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


def _tell_implementation(found: Dossier) -> None:
    console = stdout()
    facts = {
        "implementation": found.implementation,
        "problem": found.problem,
        "rules": ", ".join(found.rules),
        "site": found.site,
        **{key: found.fields[key] for key in _FIELDS},
    }
    for key, value in facts.items():
        if value:
            console.print(f"{key:16} {value}", soft_wrap=True)
    if found.own is not None:
        console.print(f"{'own check':16} {found.own.sentence}", soft_wrap=True)
    if found.diff is None:
        console.print(f"{'diff':16} the matrix does not carry the source", soft_wrap=True)
    elif found.diff:
        for line in found.diff.splitlines():
            console.print(line, style=_STYLES.get(line[:1], ""), soft_wrap=True)
    killers = found.killers
    if not killers:
        console.print(f"no input kills it under {found.oracle}")
        return
    console.print(f"{len(killers)} inputs kill it under {found.oracle}, the clearest first:")
    table = Table(box=None, pad_edge=False)
    for heading in ("input", "critical tolerance", "tolerance in force"):
        table.add_column(heading, justify="left" if heading == "input" else "right")
    for cell in killers[:LISTED]:
        table.add_row(cell.input, _critical(cell), f"{cell.tolerance:.2g}")
    console.print(table)
    if len(killers) > LISTED:
        console.print(f"and {len(killers) - LISTED} more; --json lists all")


def _critical(cell: Cell) -> str:
    if cell.critical is None or cell.critical == float("inf"):
        return "none"
    return f"{'over ' if cell.at_least else ''}{cell.critical:.2g}"
