"""`suiteopt info`: what a matrix holds."""

from rich.table import Table

from suiteopt.cli.options import JsonOption, MatrixOption
from suiteopt.console import print_json, stdout
from suiteopt.matrix.denominator import IMPORTED_DEVICE
from suiteopt.matrix.store import Matrix, resolve_matrix
from suiteopt.matrix.summary import MatrixSummary, summarise


def info(matrix: MatrixOption = None, json: JsonOption = False) -> None:
    """Say what a kill matrix holds."""
    opened = Matrix.open(resolve_matrix(matrix))
    summary = summarise(opened)
    if json:
        print_json({"matrix": str(opened.path), **summary.as_dict()})
        return
    console = stdout()
    console.print(f"{opened.path}  ({summary.label})", soft_wrap=True)
    console.print(_table(summary))


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
