"""The counts on the matrices' cards, and a card for a matrix that has none.

``python -m experiments.card`` renews the rows of every card that bears the mark `MARK`, and writes
a card for the default matrix if it has none; a test compares. What only people know (sittings,
what the label means, what was repeated) stands beside the table by hand.
"""

import re
from collections import Counter
from pathlib import Path

from experiments.headline import EMPTY
from suiteopt.audit.refereeability import refereeability
from suiteopt.console import run_script
from suiteopt.matrix.files import write_atomic
from suiteopt.matrix.schema import Kind, ShapeScope, Status
from suiteopt.matrix.store import Matrix, resolve_matrix
from suiteopt.matrix.summary import summarise
from suiteopt.protocols import load_protocol

ROOT = Path(__file__).parents[1]
MARK = "<!-- counts: python -m experiments.card -->"
CARD = "README.md"

_ROW = re.compile(r"^\| ([a-z ]+) \| .* \|$", re.M)
_STATUSES = {
    Status.OK: "ok",
    Status.NONFINITE: "non-finite",
    Status.UNWRITTEN: "unwritten",
    Status.OUT_OF_BOUNDS: "out of bounds",
    Status.CRASH: "crashes",
    Status.TIMEOUT: "timeouts",
    Status.LAUNCH_ERROR: "launch errors",
    Status.CLOSED: "closed",
    Status.DECIDED: "decided",
    Status.INVALID: "on invalid inputs",
}


def facts(matrix: Matrix) -> dict[str, str]:
    """Return the rows of a card that the matrix itself answers for."""
    statuses, flaky, torn = _cells(matrix)
    return {
        "policy": _policy(matrix),
        "faults": _faults(matrix),
        "other implementations": _others(matrix),
        "inputs": _inputs(matrix),
        "cells": f"{statuses.total():,}: "
        + ", ".join(f"{statuses[key]:,} {name}" for key, name in _STATUSES.items()),
        "flaky cells": f"{flaky:,} of {sum(torn.values()):,} implementations differ between two "
        f"runs (column `disagreed`): {_kinds(torn)}",
        "refereeability": _referees(matrix),
    }


def _policy(matrix: Matrix) -> str:
    names = {"tf32": "TF32", "fast_math": "fast-math"}
    return ", ".join(
        name if matrix.meta.policy.get(key) else f"no {name}" for key, name in names.items()
    )


def _faults(matrix: Matrix) -> str:
    held = summarise(matrix)
    made = held.mutants
    return (
        f"{made.generated:,} by {held.rules} rules in {held.families} families: "
        f"{made.stillborn:,} stillborn, {made.equivalent:,} equivalent, {made.duplicate:,} "
        f"duplicate, {made.locked:,} of locked rules, {made.valid:,} valid, {made.witnessed:,} of "
        f"them witnessed, {made.distinct:,} distinct behaviours"
    )


def _others(matrix: Matrix) -> str:
    rows = matrix.implementations
    kinds = rows["kind"].value_counts()
    blind = int(rows.loc[rows["kind"] == str(Kind.CONTROL), "blind"].sum())
    named = {
        Kind.SUBSTRATE: "kernels that faults were made in",
        Kind.NULL: "null mutants",
        Kind.CONTROL: f"controls ({blind} blind)",
        Kind.WILD: "wild kernels",
    }
    found = [f"{kinds[str(kind)]:,} {text}" for kind, text in named.items() if str(kind) in kinds]
    return ", ".join(found)


def _inputs(matrix: Matrix) -> str:
    rows = matrix.inputs
    roles = rows["role"].value_counts()
    others = (rows["scope"].astype(str) == str(ShapeScope.OTHER)).to_numpy()
    full = (rows["scope"].astype(str) == str(ShapeScope.CONTRACT)).to_numpy()
    by_role = ", ".join(f"{roles[role]:,} {role}" for role in roles.index)
    return (
        f"{len(rows):,} ({by_role}), {int(rows['valid'].sum()):,} of them valid; reductions have "
        f"the contract's length on {int(full.sum()):,}, a shortened one on "
        f"{int((~full & ~others).sum()):,}, and {int(others.sum()):,} have another shape"
    )


def _cells(matrix: Matrix) -> tuple[Counter[str], int, Counter[str]]:
    """Statuses, cells whose repeats disagree, and the implementations they belong to by kind."""
    statuses: Counter[str] = Counter()
    torn: Counter[str] = Counter()
    flaky = 0
    for problem in matrix.measured_problems:
        cells = matrix.cells(problem, ["implementation", "status", "disagreed"])
        statuses.update({str(k): int(n) for k, n in cells["status"].value_counts().items()})
        disagreed = cells.loc[cells["disagreed"] > 0, "implementation"].astype(str)
        flaky += len(disagreed)
        rows = matrix.implementations_of(problem)
        torn.update(rows.loc[rows["implementation"].isin(set(disagreed)), "kind"])
    return statuses, flaky, torn


def _kinds(torn: Counter[str]) -> str:
    names = {str(Kind.WILD): "wild kernels"}
    counted = (f"{n:,} {names.get(kind, f'{kind}s')}" for kind, n in torn.most_common())
    return ", ".join(counted) or "none"


def _referees(matrix: Matrix) -> str:
    """Count problems by what stands against their own inputs under the benchmark's check."""
    found = refereeability(matrix, load_protocol("kernelbench"))
    defects: Counter[str] = Counter()
    for row in found:
        defects.update({str(reason.defect).replace("_", " ") for reason in row.reasons})
    counted = ", ".join(f"{name} in {count}" for name, count in sorted(defects.items()))
    clean = sum(not row.reasons for row in found)
    return (
        f"nothing against {clean} of {len(found)} problems under `kernelbench`; {counted or '-'} "
        "(`suiteopt audit --refereeability`)"
    )


def renewed(card: str, found: dict[str, str]) -> str:
    """Return a card with the rows that the matrix answers for; others stay."""
    return _ROW.sub(
        lambda row: f"| {row[1]} | {found[row[1]]} |" if row[1] in found else row[0], card
    )


def new_card(matrix: Matrix) -> str:
    """Return a first card: the counts, the marks that `headline` writes between, the commands."""
    meta = matrix.meta
    device = meta.device
    model = device.get("model") or device.get("name", "?")
    command = re.sub(r" --output \S+", "", meta.command) + " --output DIR"
    rows = {
        "command": f"`{command}`",
        "device": f"{model}; driver {device.get('driver', '-')}, {device.get('compiler', '-')} "
        f"(`{device.get('options', '')}`), torch {device.get('torch', '-')}",
        "duration": f"{meta.seconds:,.0f} s",
        **facts(matrix),
        "licence": "CC-BY-4.0; the kernels under `sources/` are MIT",
    }
    table = "\n".join(f"| {name} | {text} |" for name, text in rows.items())
    commands = "\n\n".join(
        f"$ suiteopt {words}" for words in ("select --budget 2", "crossval --budget 2", "audit")
    )
    return (
        f"# {matrix.path.name}\n\nA kill matrix of {len(matrix.problem_ids)} KernelBench problems, "
        f"measured on **{model}** ({meta.label}). It is the default of every `suiteopt` command.\n"
        f"\n{MARK}\n\n| | |\n|---|---|\n{table}\n\n{EMPTY}\n\nWhat `suiteopt` prints from it:\n\n"
        f"```\n{commands}\n```\n"
    )


def marked() -> list[Path]:
    """Return the cards whose counts are renewed."""
    cards = sorted((ROOT / "matrices").glob(f"kernelbench-*/{CARD}"))
    return [card for card in cards if MARK in card.read_text("utf-8")]


def main() -> None:
    """Renew all marked cards; write one for a default matrix without."""
    default = resolve_matrix(None)
    if not (default / CARD).exists():
        write_atomic(default / CARD, new_card(Matrix.open(default)).encode())
    for card in marked():
        text = renewed(card.read_text("utf-8"), facts(Matrix.open(card.parent)))
        write_atomic(card, text.encode())
        print(card.relative_to(ROOT))


if __name__ == "__main__":
    run_script(main)
