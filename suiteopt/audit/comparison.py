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
    """What several protocols detect, and of the same mutants which of them detects what.

    Attributes
    ----------
    audits : tuple of Audit
        Of the protocols that the matrix can answer, in the order they were given.
    refused : mapping of str to str
        Protocols that it cannot answer, and why.
    detected : DataFrame of bool
        Mutants x protocols, of the problems in ``common``.
    common : tuple of str
        The problems that all of the protocols are judged on.
    """

    audits: tuple[Audit, ...]
    refused: dict[str, str]
    detected: pd.DataFrame
    common: tuple[str, ...]

    @property
    def mutants(self) -> tuple[int, int]:
        """Mutants that count, of all measured problems: the fewest and the most of a protocol."""
        counts = [
            found.tally.mutants + sum(part.mutants for part in found.left_out.values())
            for found in self.audits
        ]
        return min(counts), max(counts)

    @property
    def on_common(self) -> str:
        """On how many problems protocols are compared, in words; empty where it is on all."""
        first = self.audits[0]
        measured = len(first.judged) + len(first.left_out)
        same = len(self.common) == measured
        return "" if same else f"{len(self.common)} of {measured} problems"

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

    Each is audited on all problems that have its inputs. What only one of them detects, and what
    all of them miss, is said of the problems that have the inputs of all.

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
    common = tuple(
        problem
        for problem in audits[0].judged
        if all(problem not in found.left_out for found in audits)
    )
    columns = {}
    for found in audits:
        rows = found.outcomes[found.outcomes["problem"].isin(common)]
        columns[found.protocol] = rows.set_index("implementation")["detected"].astype(bool)
    # Of `witnessed_or_killed` each oracle counts mutants of its own. One that does not count under
    # a protocol's is killed by no input of the pool under it: the protocol does not detect it.
    names = list(dict.fromkeys(name for column in columns.values() for name in column.index))
    detected = pd.DataFrame(
        {name: column.reindex(names, fill_value=False) for name, column in columns.items()},
        index=pd.Index(names, name="implementation"),
    )
    return Comparison(tuple(audits), refused, detected, common)
