"""Protocols side by side: what only one of them finds, and what all of them miss."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import pandas as pd

from suiteopt.audit.detection import Audit
from suiteopt.audit.score import audit
from suiteopt.errors import UserError
from suiteopt.matrix.denominator import Denominator
from suiteopt.matrix.store import Matrix
from suiteopt.protocols import Protocol


@dataclass(frozen=True, eq=False)
class Comparison:
    """What several protocols detect of the same mutants.

    Attributes
    ----------
    audits : tuple of Audit
        Of the protocols that the matrix can answer, in the order they were given.
    refused : mapping of str to str
        Protocols that it cannot answer, and why.
    detected : DataFrame of bool
        Mutants x protocols.
    """

    audits: tuple[Audit, ...]
    refused: dict[str, str]
    detected: pd.DataFrame

    @property
    def names(self) -> tuple[str, ...]:
        """Names of the protocols that were compared."""
        return tuple(str(name) for name in self.detected.columns)

    @property
    def missed_by_all(self) -> tuple[str, ...]:
        """Mutants that no protocol detects."""
        missed = ~self.detected.to_numpy(dtype=np.bool_).any(axis=1)
        return tuple(str(name) for name in self.detected[missed].index)

    def only(self, protocol: str) -> tuple[str, ...]:
        """Return the mutants that a protocol detects and no other one."""
        alone = self.detected[protocol].to_numpy() & (self.detected.to_numpy().sum(axis=1) == 1)
        return tuple(str(name) for name in self.detected[alone].index)


def compare(
    matrix: Matrix,
    protocols: Sequence[Protocol],
    denominator: Denominator = Denominator.WITNESSED,
) -> Comparison:
    """Audit several protocols; one that the matrix cannot answer is left out and named.

    Raises
    ------
    UserError
        If the matrix can answer none of them.
    """
    audits: list[Audit] = []
    refused: dict[str, str] = {}
    for protocol in protocols:
        try:
            audits.append(audit(matrix, protocol, denominator))
        except UserError as error:
            refused[protocol.name] = str(error)
    if not audits:
        raise UserError(next(iter(refused.values()), "no protocol is given; name one"))
    columns = {
        found.protocol: found.outcomes.set_index("implementation")["detected"].astype(bool)
        for found in audits
    }
    return Comparison(tuple(audits), refused, pd.DataFrame(columns))
