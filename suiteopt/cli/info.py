"""`suiteopt info`: what a matrix holds."""

from collections.abc import Iterator
from typing import Annotated, Any

import typer
from rich.table import Table

from suiteopt.cli.audit_tables import table
from suiteopt.cli.options import JsonOption, MatrixOption
from suiteopt.console import print_json, stdout
from suiteopt.matrix.denominator import IMPORTED_DEVICE
from suiteopt.matrix.rule_behaviour import RuleBehaviours, rule_behaviours
from suiteopt.matrix.store import Matrix, resolve_matrix
from suiteopt.matrix.summary import MatrixSummary, summarise


def info(
    matrix: MatrixOption = None,
    rules: Annotated[
        bool,
        typer.Option("--rules", help="Also say of each rule how many behaviours it alone adds."),
    ] = False,
    json: JsonOption = False,
) -> None:
    """Say what a kill matrix holds."""
    opened = Matrix.open(resolve_matrix(matrix))
    summary = summarise(opened)
    found = rule_behaviours(opened) if rules else None
    if json:
        added = {} if found is None else {"rule_behaviours": found.as_dict()}
        print_json({"matrix": str(opened.path), **summary.as_dict(), **added})
        return
    console = stdout()
    console.print(f"{opened.path}  ({summary.label})", soft_wrap=True)
    console.print(_table(summary))
    for part in () if found is None else _rules(found):
        console.print(part)


def _rules(found: RuleBehaviours) -> Iterator[Any]:
    rows = table("rule", "family", "valid#", "count#", "behaviours#", "own#", "most like")
    for rule in sorted(found.rules, key=lambda rule: (-rule.own, -rule.behaviours, rule.rule)):
        numbers = (rule.valid, rule.witnessed, rule.behaviours, rule.own)
        rows.add_row(rule.rule, rule.family, *map(str, numbers), rule.like)
    yield rows
    yield (
        f"{len(found.copies)} of {len(found.rules)} rules add only copies of other rules' "
        f"behaviour: {', '.join(found.copies) or '-'}"
    )
    yield (
        f"{len(found.spare)} of these can be left out together without losing one of the "
        f"{found.distinct} behaviours: {', '.join(found.spare) or '-'}"
    )
    yield (
        f"{len(found.unwitnessed)} rules have valid faults, none of which counts: "
        f"{', '.join(found.unwitnessed) or '-'}"
    )


def _counted(summary: MatrixSummary) -> str:
    imported = summary.device.get("name") == IMPORTED_DEVICE
    return "counted, none witnessed" if imported else "witnessed wrong"


def _table(summary: MatrixSummary) -> Table:
    table = Table(box=None, show_header=False, pad_edge=False)
    table.add_column(style="bold")
    table.add_column()
    mutants = summary.mutants
    rows = {
        "id": summary.id[:16],
        "complete": "yes" if summary.complete else "no (finish it with gpu-eval resume)",
        "device": ", ".join(
            summary.device[key] for key in ("name", "model", "compiler") if key in summary.device
        ),
        "problems": f"{summary.problems}, {summary.substrates} substrates",
        "faults": f"{mutants.generated} by {summary.rules} rules in {summary.families} families",
        "of these": (
            f"{mutants.stillborn} stillborn, {mutants.equivalent} equivalent, "
            f"{mutants.duplicate} duplicate, {mutants.locked} of locked rules"
        ),
        "valid": (
            f"{mutants.valid}; {mutants.witnessed} {_counted(summary)}, "
            f"{mutants.distinct} distinct behaviours"
        ),
        "others": f"{summary.nulls} null mutants, {summary.controls} controls",
        "inputs": str(summary.inputs),
        "cells": str(summary.cells),
    }
    for key, value in rows.items():
        table.add_row(key, value)
    return table
