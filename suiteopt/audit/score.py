"""Run a check on a matrix: one row a mutant, one row a control."""

from collections.abc import Mapping, Sequence

import numpy as np
import pandas as pd

from suiteopt.audit.checks import Check, check_table, protocol_check, require_answers
from suiteopt.audit.detection import Audit
from suiteopt.audit.left_out import left_out
from suiteopt.errors import UserError
from suiteopt.matrix.denominator import Denominator, denominator_mask, shows_in_output
from suiteopt.matrix.store import Matrix
from suiteopt.protocols import Protocol, absent_inputs


def audit(
    matrix: Matrix, protocol: Protocol, denominator: Denominator = Denominator.WITNESSED
) -> Audit:
    """Run a protocol on the problems of a matrix that have all of its inputs.

    Parameters
    ----------
    matrix : Matrix
    protocol : Protocol
    denominator : Denominator
        Which mutants count.

    Raises
    ------
    UserError
        If every problem lacks an input of the protocol, or the matrix cannot answer its oracle
        or has no mutant that counts.
    """
    check = protocol_check(matrix, protocol)
    absent: dict[str, list[str]] = {}
    for problem in matrix.measured_problems:
        for name in absent_inputs(matrix, problem, protocol):
            absent.setdefault(name, []).append(problem)
    return audit_check(matrix, check, denominator, {k: tuple(v) for k, v in absent.items()})


def audit_check(
    matrix: Matrix,
    check: Check,
    denominator: Denominator = Denominator.WITNESSED,
    absent: Mapping[str, tuple[str, ...]] | None = None,
) -> Audit:
    """Run a check, of a protocol or of a suite, on the problems that it has inputs for."""
    outcomes, controls = [], []
    for problem in check.inputs:
        mutants, correct = _problem(matrix, problem, check, denominator)
        outcomes.append(mutants)
        controls.append(correct)
    if not sum(len(frame) for frame in outcomes):
        raise UserError(
            f"the matrix at {matrix.path} has no mutants that count as {denominator}, so there is "
            "nothing to detect; give --denominator valid, or a matrix with a witness pool"
        )
    return Audit(
        protocol=check.name,
        label=matrix.meta.label,
        denominator=denominator,
        outcomes=_concat(outcomes),
        controls=_concat(controls),
        absent=absent or {},
        judged=tuple(check.inputs),
        left_out=left_out(matrix, check, denominator),
    )


def _problem(
    matrix: Matrix, problem: str, check: Check, denominator: Denominator
) -> tuple[pd.DataFrame, pd.DataFrame]:
    table, columns = check_table(matrix, problem, check)
    rows = np.flatnonzero(denominator_mask(matrix, table, denominator))
    ran = table.ran[rows].toarray()[:, columns]
    require_answers(check, matrix, table, rows, columns)
    names = [table.implementations[index] for index in rows]
    details = matrix.implementations_of(problem).set_index("implementation")
    about = details.loc[names]
    killed = table.kills[rows].toarray()[:, columns].any(axis=1)
    operation = str(matrix.problem(problem)["operation_class"])
    outcomes = pd.DataFrame(
        {
            "problem": problem,
            "implementation": names,
            "family": about["family"].astype(str).to_numpy(),
            "rules": [tuple(str(rule) for rule in rules) for rules in about["rules"]],
            "operation": operation,
            "detected": killed,
            "shows": shows_in_output(about),
            "unknown": np.where(killed, 0, (~ran).sum(axis=1)),
        }
    )
    known = table.control_ran[:, columns]
    controls = pd.DataFrame(
        {
            "problem": problem,
            "control": list(table.controls),
            "control_kind": [str(details.loc[n, "control_kind"]) for n in table.controls],
            "cells": known.sum(axis=1),
            "rejected": (table.control_rejections[:, columns] & known).sum(axis=1),
        }
    )
    return outcomes, controls


def _concat(frames: Sequence[pd.DataFrame]) -> pd.DataFrame:
    kept = [frame for frame in frames if len(frame)] or list(frames[:1])
    return pd.concat(kept, ignore_index=True)
