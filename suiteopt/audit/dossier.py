"""All that a matrix knows of one implementation: edit, killers, and why the own check misses it."""

from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd

from suiteopt.audit.checks import Check, check_table
from suiteopt.audit.critical import critical_table
from suiteopt.audit.diff import mutant_diff, site_of
from suiteopt.audit.evidence import gather
from suiteopt.audit.reasons import EXPLANATIONS, Reason
from suiteopt.audit.survival import why
from suiteopt.errors import UserError
from suiteopt.matrix.kill import kill_table
from suiteopt.matrix.oracle import Oracle
from suiteopt.matrix.schema import Kind, Role
from suiteopt.matrix.store import Matrix
from suiteopt.protocols import Protocol, protocol_inputs

_FIELDS = ("kind", "class", "duplicate_of", "family", "witness", "witness_how", "before", "after")


@dataclass(frozen=True)
class Cell:
    """One input and what the implementation does on it.

    Attributes
    ----------
    input, role : str
    critical : float or None
        The smallest tolerance at which the oracle's comparator accepts it; infinite where none
        does, None where nothing is known.
    at_least : bool
        Whether only a lower bound is known.
    tolerance : float
        In force.
    killed : bool
    """

    input: str
    role: str
    critical: float | None
    at_least: bool
    tolerance: float
    killed: bool

    def as_dict(self) -> dict[str, Any]:
        """JSON form; an infinite critical tolerance is null and ``never_accepted`` true."""
        return {
            "input": self.input,
            "role": self.role,
            "critical_tol": self.critical,
            "at_least": self.at_least,
            "never_accepted": self.critical == np.inf,
            "tolerance": self.tolerance,
            "killed": self.killed,
        }


@dataclass(frozen=True)
class OwnCheck:
    """What a benchmark's own check makes of an implementation.

    Attributes
    ----------
    protocol : str
    detected : bool
    reason : Reason or None
        Why not; None where it is detected or is no mutant.
    sentence : str
    cells : tuple of Cell
        Its inputs, in its own comparator.
    """

    protocol: str
    detected: bool
    reason: Reason | None
    sentence: str
    cells: tuple[Cell, ...]

    def as_dict(self) -> dict[str, Any]:
        """JSON form."""
        return {
            "protocol": self.protocol,
            "detected": self.detected,
            "reason": None if self.reason is None else str(self.reason),
            "sentence": self.sentence,
            "inputs": [cell.as_dict() for cell in self.cells],
        }


@dataclass(frozen=True)
class Dossier:
    """What is known of one implementation."""

    implementation: str
    problem: str
    rules: tuple[str, ...]
    site: str
    fields: dict[str, str]
    oracle: str
    cells: tuple[Cell, ...]
    own: OwnCheck | None
    diff: str | None

    @property
    def killers(self) -> tuple[Cell, ...]:
        """Inputs that kill it, witnesses apart; the one that clears its tolerance most first."""
        found = [cell for cell in self.cells if cell.killed and cell.role != Role.WITNESS]
        return tuple(sorted(found, key=lambda cell: (-_margin(cell), cell.input)))

    def as_dict(self) -> dict[str, Any]:
        """JSON form."""
        return {
            "implementation": self.implementation,
            "problem": self.problem,
            "rules": list(self.rules),
            "site": self.site,
            **self.fields,
            "oracle": self.oracle,
            "killed_by": [
                cell.input for cell in self.cells if cell.killed and cell.role != Role.WITNESS
            ],
            "cells": [cell.as_dict() for cell in self.cells],
            "own_check": None if self.own is None else self.own.as_dict(),
            "diff": self.diff,
        }


def dossier(matrix: Matrix, name: str, oracle: Oracle, protocol: Protocol | None) -> Dossier:
    """Collect what is known of an implementation.

    Parameters
    ----------
    matrix : Matrix
    name : str
    oracle : Oracle
        By which killers are told.
    protocol : Protocol or None
        The benchmark's own check; left out where the matrix cannot answer it.

    Raises
    ------
    UserError
        If there is no such implementation, or the matrix cannot answer the oracle.
    """
    rows = matrix.implementations
    found = rows[rows["implementation"] == name]
    if found.empty:
        raise UserError(
            f"the matrix at {matrix.path} has no problem and no implementation '{name}'; "
            + (_instead(matrix, name) or f"its problems are {', '.join(matrix.problem_ids)}")
        )
    row = found.iloc[0]
    problem = str(row["problem"])
    return Dossier(
        implementation=name,
        problem=problem,
        rules=tuple(str(rule) for rule in row["rules"]),
        site=site_of(row),
        fields={field: str(row[field]) for field in _FIELDS},
        oracle=oracle.name,
        cells=_cells(matrix, problem, name, oracle),
        own=None if protocol is None else own_check(matrix, problem, name, protocol),
        diff=mutant_diff(matrix, name),
    )


def _instead(matrix: Matrix, name: str) -> str:
    """What a matrix measured of a mutant's rule, where it measured only some of its sites."""
    problem, *middle, rule, number = name.split(":") if name.count(":") >= 3 else [""] * 4
    if problem not in matrix.problem_ids or not middle or not number.isdecimal():
        return ""
    rows = matrix.implementations_of(problem)
    named = (rows["kind"] == str(Kind.MUTANT)) & (rows["implementation"].str.count(":") >= 3)
    mutants = rows.loc[named, ["implementation", "substrate"]]
    rules = mutants["implementation"].str.split(":").str[-2]
    same = mutants["implementation"][rules == rule].tolist()
    if not same:
        return ""
    one_each = not pd.DataFrame({"s": mutants["substrate"], "r": rules}).duplicated().any()
    which = "one site of each rule in each kernel" if one_each else "some sites of each rule"
    return f"it measured {which}, of {rule} in {problem} that of {', '.join(same)}"


def own_check(matrix: Matrix, problem: str, name: str, protocol: Protocol) -> OwnCheck | None:
    """Say whether a protocol detects an implementation and, if not, why not.

    Returns
    -------
    OwnCheck or None
        None where the matrix lacks what the protocol needs, or the implementation did not run.
    """
    try:
        inputs = {problem: protocol_inputs(matrix, problem, protocol)}
        check = Check(protocol.name, protocol.oracle, inputs)
        table, columns = check_table(matrix, problem, check)
    except UserError:
        return None
    cells = {cell.input: cell for cell in _cells(matrix, problem, name, protocol.oracle)}
    mine = tuple(cells[table.inputs[column]] for column in columns if table.inputs[column] in cells)
    if name not in table.implementations:
        return None
    detected = any(cell.killed for cell in mine)
    if detected:
        sentence = f"{protocol.name} detects it"
        return OwnCheck(protocol.name, True, None, sentence, mine)
    row = table.implementations.index(name)
    details = matrix.implementations_of(problem).set_index("implementation")
    if details.at[name, "kind"] not in (Kind.MUTANT, Kind.WILD):
        return OwnCheck(protocol.name, False, None, f"{protocol.name} accepts it", mine)
    reason = why(gather(matrix, problem, check, table), row, str(details.at[name, "witness_how"]))
    sentence = f"{protocol.name} accepts it: {EXPLANATIONS[reason]}"
    if reason is Reason.NOT_RUN:
        sentence = f"whether {protocol.name} detects it is not known: {EXPLANATIONS[reason]}"
    needs = [cell for cell in mine if cell.critical is not None]
    if reason in (Reason.MASKED, Reason.BELOW_ATOL) and needs:
        nearest = max(needs, key=_margin)
        sentence += f" ({nearest.critical:.3g} on {nearest.input}, {nearest.tolerance:g} allowed)"
    return OwnCheck(protocol.name, False, reason, sentence, mine)


def _cells(matrix: Matrix, problem: str, name: str, oracle: Oracle) -> tuple[Cell, ...]:
    """Return the cells of an implementation; none of one that was never run."""
    table = kill_table(matrix, problem, oracle, include_locked=True)
    if name not in table.implementations:
        return ()
    kills = table.kills.toarray()[table.implementations.index(name)]
    known = critical_table(matrix, problem, oracle.comparator, oracle.nonfinite)
    row = known.implementations.index(name)
    roles = matrix.inputs_of(problem)["role"].astype(str)
    return tuple(
        Cell(
            input=table.inputs[column],
            role=role,
            critical=None if np.isnan(known.low[row, column]) else float(known.low[row, column]),
            at_least=bool(known.decided[row, column]),
            tolerance=float(table.tolerances[column]),
            killed=bool(kills[column]),
        )
        for column, role in enumerate(roles)
    )


def _margin(cell: Cell) -> float:
    critical = 0.0 if cell.critical is None else cell.critical
    if np.isinf(critical):
        return float("inf")
    return critical / cell.tolerance if cell.tolerance > 0 else critical * 1e300
