"""What a protocol detects of a problem's mutants: its oracle on its own inputs."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fnmatch import fnmatchcase

import numpy as np
from numpy.typing import NDArray

from suiteopt.errors import UserError
from suiteopt.matrix.kill import KillTable, kill_table
from suiteopt.matrix.schema import Kind, Role
from suiteopt.matrix.store import Matrix
from suiteopt.protocols.protocol import InputRule, Protocol


def protocol_inputs(matrix: Matrix, problem: str, protocol: Protocol) -> tuple[str, ...]:
    """Return the ids of the inputs that a protocol runs on a problem.

    Inputs of the witness pool are never among them.

    Raises
    ------
    UserError
        If the matrix has fewer than the protocol runs.
    """
    found = _found(matrix, problem, protocol)
    if isinstance(found, str):
        raise UserError(
            f"the protocol {protocol.name} cannot be judged on {problem}: {found}; "
            "use a matrix whose pool has them"
        )
    return found


@dataclass(frozen=True)
class Judged:
    """On which problems of a matrix a protocol can be judged.

    Attributes
    ----------
    inputs : mapping of str to tuple of str
        By problem, in the order of the matrix: the ids of all inputs that the protocol runs.
    left_out : mapping of str to str
        The other measured problems, and which input their pool lacks.
    """

    inputs: Mapping[str, tuple[str, ...]]
    left_out: Mapping[str, str]


def judged_problems(matrix: Matrix, protocol: Protocol) -> Judged:
    """Say on which measured problems a protocol can be judged: those with all of its inputs.

    What the benchmark's harness would detect on the others is not known. It runs there what the
    pool leaves out, as KernelBench-Verified scales probabilities although their rows no longer
    add up to one; to judge it on the remaining inputs would count less than it detects.

    Raises
    ------
    UserError
        If no problem has them.
    """
    inputs: dict[str, tuple[str, ...]] = {}
    left_out: dict[str, str] = {}
    for problem in matrix.measured_problems:
        found = _found(matrix, problem, protocol)
        if isinstance(found, str):
            left_out[problem] = found
        else:
            inputs[problem] = found
    if left_out and not inputs:
        first, reason = next(iter(left_out.items()))
        others = f" nor on {len(left_out) - 1} more problems" if len(left_out) > 1 else ""
        raise UserError(
            f"the protocol {protocol.name} cannot be judged on {first}{others}: {reason}; "
            "use a matrix whose pool has them"
        )
    return Judged(inputs, left_out)


def lacking_any(matrix: Matrix, protocols: Sequence[Protocol]) -> dict[str, str]:
    """Return the problems on which some protocol cannot be judged, and why, for a comparison.

    Raises
    ------
    UserError
        If one of them cannot be judged on any problem.
    """
    judged = [(protocol.name, judged_problems(matrix, protocol)) for protocol in protocols]
    reasons: dict[str, str] = {}
    for problem in matrix.measured_problems:
        found = [(name, by.left_out[problem]) for name, by in judged if problem in by.left_out]
        if found:
            name, reason = found[0]
            reasons[problem] = f"{name} cannot be judged, as {reason}"
    return reasons


def _found(matrix: Matrix, problem: str, protocol: Protocol) -> tuple[str, ...] | str:
    """Return the inputs of a protocol, or what the problem's pool lacks of them."""
    pool = _pool(matrix, problem)
    chosen: list[str] = []
    for rule in protocol.inputs:
        found = _matching(pool, rule)
        wanted = len(found) if rule.count is None else rule.count
        if len(found) < wanted:
            return f"it runs {rule}, of which the matrix has {len(found)}"
        chosen += found[:wanted]
    if not chosen:
        return "the matrix has none of its inputs"
    return tuple(dict.fromkeys(chosen))


def absent_inputs(matrix: Matrix, problem: str, protocol: Protocol) -> tuple[str, ...]:
    """Return the value recipes that a protocol would run and a problem's pool does not have.

    Only rules that ask for all there are can be without an input; see `protocol_inputs`.
    """
    rules = [rule for rule in protocol.inputs if rule.count is None]
    pool = _pool(matrix, problem) if rules else []
    return tuple(rule.values for rule in rules if not _matching(pool, rule))


_POOL = ["input", "value_recipe", "parameter_recipe", "shape_recipe"]


def _pool(matrix: Matrix, problem: str) -> list[tuple[str, ...]]:
    """Return what tells the inputs of a problem apart; the witness pool's are left out."""
    inputs = matrix.inputs_of(problem)
    rows = inputs.loc[(inputs["role"] != str(Role.WITNESS)).to_numpy(), _POOL]
    return [tuple(map(str, row)) for row in rows.to_numpy(dtype=object)]


def _matching(pool: list[tuple[str, ...]], rule: InputRule) -> list[str]:
    return [
        name
        for name, values, parameters, shape in pool
        if parameters == rule.parameters
        and shape == rule.shape
        and fnmatchcase(values, rule.values)
    ]


def protocol_table(matrix: Matrix, problem: str, protocol: Protocol) -> KillTable:
    """Return the kill table of a protocol's oracle on a problem, all inputs included."""
    return kill_table(matrix, problem, protocol.oracle)


def protocol_detects(
    matrix: Matrix, problem: str, protocol: Protocol, *, table: KillTable | None = None
) -> NDArray[np.bool_]:
    """Tell which mutants of a problem a benchmark's own check detects.

    Parameters
    ----------
    matrix : Matrix
    problem : str
    protocol : Protocol
    table : KillTable, optional
        `protocol_table` of the same problem, when it is at hand.

    Returns
    -------
    ndarray of bool
        One entry a row of kind mutant of the kill table, in its order. A mutant is detected when
        the oracle kills it on one of the protocol's inputs.

    Raises
    ------
    UserError
        If the matrix lacks one of the protocol's inputs, or cannot answer its oracle.
    """
    table = protocol_table(matrix, problem, protocol) if table is None else table
    columns = [table.inputs.index(name) for name in protocol_inputs(matrix, problem, protocol)]
    kills = table.kills.toarray()[table.rows(Kind.MUTANT)][:, columns]
    return np.asarray(kills.any(axis=1), dtype=np.bool_)
