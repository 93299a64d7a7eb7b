"""What a protocol detects of a problem's mutants: its oracle on its own inputs."""

from fnmatch import fnmatchcase

import numpy as np
from numpy.typing import NDArray

from suiteopt.errors import UserError
from suiteopt.matrix.kill import KillTable, kill_table
from suiteopt.matrix.schema import Kind, Role
from suiteopt.matrix.store import Matrix
from suiteopt.protocols.protocol import Protocol


def protocol_inputs(matrix: Matrix, problem: str, protocol: Protocol) -> tuple[str, ...]:
    """Return the ids of the inputs that a protocol runs on a problem.

    Inputs of the witness pool are never among them.

    Raises
    ------
    UserError
        If the matrix has fewer than the protocol runs.
    """
    inputs = matrix.inputs_of(problem)
    chosen: list[str] = []
    for rule in protocol.inputs:
        fits = (
            inputs["value_recipe"].map(lambda name, glob=rule.values: fnmatchcase(name, glob))
            & (inputs["parameter_recipe"] == rule.parameters)
            & (inputs["shape_recipe"] == rule.shape)
            & (inputs["role"] != str(Role.WITNESS))
        )
        found = [str(name) for name in inputs.loc[fits, "input"]]
        if len(found) < rule.count:
            raise UserError(
                f"the protocol {protocol.name} cannot be judged on {problem}: it runs {rule}, "
                f"of which the matrix has {len(found)}; use a matrix whose pool has them"
            )
        chosen += found[: rule.count]
    return tuple(dict.fromkeys(chosen))


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
