"""How much of one protocol's gain over another is inputs, and how much the tolerance."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from itertools import chain, combinations
from math import factorial
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from suiteopt.audit.checks import Check, require_answers
from suiteopt.audit.intervals import Interval, cluster_interval
from suiteopt.audit.left_out import LeftOut, left_out, left_out_json, of_problems
from suiteopt.errors import UserError
from suiteopt.matrix.denominator import Denominator, denominator_mask
from suiteopt.matrix.kill import kill_table
from suiteopt.matrix.store import Matrix
from suiteopt.protocols import Protocol, judges_alike, lacking_any, protocol_inputs


class Factor(StrEnum):
    """In what two protocols may differ."""

    INPUTS = "inputs"  # value recipes, and how many draws
    PARAMETERS = "parameters"  # parameter recipes
    SHAPES = "shapes"  # shape recipes
    TOLERANCE = "tolerance"  # the oracle: comparator, tolerance, policy for non-finite values


_COLUMNS = {
    Factor.INPUTS: "value_recipe",
    Factor.PARAMETERS: "parameter_recipe",
    Factor.SHAPES: "shape_recipe",
}

Coalition = frozenset[Factor]


@dataclass(frozen=True, eq=False)
class Decomposition:
    """The gain of one protocol over another, by factor.

    Attributes
    ----------
    first, second : str
        From which protocol to which.
    label : str
        The matrix's.
    mutants : ndarray of int64, problems
        That count.
    detected : mapping of frozenset of Factor to ndarray of int64, problems
        Detected when these factors are the second's and the others the first's.
    factors : tuple of Factor
        Those in which the two differ on this matrix.
    left_out : mapping of str to LeftOut
        Measured problems that lack an input of either.
    """

    first: str
    second: str
    label: str
    mutants: NDArray[np.int64]
    detected: dict[Coalition, NDArray[np.int64]]
    factors: tuple[Factor, ...]
    left_out: Mapping[str, LeftOut] = field(default_factory=dict)

    @property
    def rests_on(self) -> str:
        """On how many problems the shares rest, in words; empty where it is all of them."""
        return of_problems(len(self.mutants), self.left_out)

    def share(self, coalition: Iterable[Factor] = ()) -> float:
        """Return the detected share with some factors of the second protocol."""
        return float(self.detected[frozenset(coalition)].sum() / self.mutants.sum())

    @property
    def gain(self) -> float:
        """Difference of the detected shares, second minus first."""
        return self.share(self.factors) - self.share()

    def first_share(self, factor: Factor) -> float:
        """Return what a factor adds when it is changed before the others."""
        return self._mean(self._step(frozenset(), factor))

    def last_share(self, factor: Factor) -> float:
        """Return what a factor adds when it is changed after the others."""
        return self._mean(self._step(frozenset(self.factors) - {factor}, factor))

    def shapley_share(self, factor: Factor) -> float:
        """Return the mean of what a factor adds over all orders of change.

        The Shapley value (in: Contributions to the Theory of Games II, 1953, 307-317): the only
        split that is symmetric, adds up to the gain, and gives nothing to what changes nothing.
        """
        return self._mean(self.by_problem(factor))

    def interval(self, factor: Factor | None = None) -> Interval | None:
        """Return the 95% interval of a factor's Shapley share, or of the whole gain."""
        if factor is None:
            parts = self.detected[frozenset(self.factors)] - self.detected[frozenset()]
            return cluster_interval(parts, self.mutants, lowest=-1.0)
        return cluster_interval(self.by_problem(factor), self.mutants, lowest=-1.0)

    def by_problem(self, factor: Factor) -> NDArray[np.float64]:
        """Return the Shapley value of a factor in mutants, problem by problem."""
        total = np.zeros(len(self.mutants), dtype=np.float64)
        if factor not in self.factors:
            return total
        others = [other for other in self.factors if other != factor]
        count = len(self.factors)
        for coalition in _subsets(others):
            size = len(coalition)
            weight = factorial(size) * factorial(count - size - 1) / factorial(count)
            total += weight * self._step(coalition, factor)
        return total

    def as_dict(self) -> dict[str, Any]:
        """JSON form."""
        interval = self.interval()
        answer: dict[str, Any] = {
            "from": self.first,
            "to": self.second,
            "label": self.label,
            "mutants": int(self.mutants.sum()),
            "problems": len(self.mutants),
            "left_out": left_out_json(self.left_out),
            "from_share": self.share(),
            "to_share": self.share(self.factors),
            "gain_share": self.gain,
            "interval": None if interval is None else interval.as_list(),
            "interval_method": None if interval is None else str(interval.method),
            "factors": [str(factor) for factor in self.factors],
        }
        for factor in Factor:
            bounds = self.interval(factor)
            answer[f"{factor}_share"] = self.shapley_share(factor)
            answer[f"{factor}_interval"] = None if bounds is None else bounds.as_list()
            answer[f"first_{factor}_share"] = self.first_share(factor)
            answer[f"last_{factor}_share"] = self.last_share(factor)
        return answer

    def _step(self, coalition: Coalition, factor: Factor) -> NDArray[np.float64]:
        if factor not in self.factors:
            return np.zeros(len(self.mutants), dtype=np.float64)
        step = self.detected[coalition | {factor}] - self.detected[coalition]
        return step.astype(np.float64)

    def _mean(self, parts: NDArray[np.float64]) -> float:
        return float(parts.sum() / self.mutants.sum())


def decompose(
    matrix: Matrix,
    first: Protocol,
    second: Protocol,
    denominator: Denominator = Denominator.WITNESSED,
) -> Decomposition:
    """Split the gain of a protocol over another among the factors in which they differ.

    Both are judged on the problems that have the inputs of both.

    The protocols in between run the inputs of the first that the second has, too; an input that
    only the second has as soon as every respect in which it is new (values, parameters, shape) is
    the second's; and one that only the first has until a respect in which it is not the second's
    is.

    Parameters
    ----------
    matrix : Matrix
    first, second : Protocol
    denominator : Denominator

    Raises
    ------
    UserError
        If every problem lacks an input of either, or the matrix cannot answer an oracle or has
        no mutant that counts.
    """
    without = lacking_any(matrix, [first, second])
    problems = [name for name in matrix.measured_problems if name not in without]
    if without and not problems:
        problem, reason = next(iter(without.items()))
        raise UserError(
            f"no problem of the matrix at {matrix.path} has the inputs of both {first.name} and "
            f"{second.name}: on {problem} {reason}; use a matrix whose pool has them"
        )
    hybrids = {problem: _split(matrix, problem, first, second) for problem in problems}
    different = {need for split in hybrids.values() for needs in split.values() for need in needs}
    if not judges_alike(first, second, set(matrix.problems["dtype"].astype(str))):
        different.add(Factor.TOLERANCE)
    factors = tuple(factor for factor in Factor if factor in different)
    coalitions = list(_subsets(factors))
    counts: dict[Coalition, list[int]] = {coalition: [] for coalition in coalitions}
    mutants: list[int] = []
    for problem, split in hybrids.items():
        tables = [kill_table(matrix, problem, p.oracle) for p in (first, second)]
        rows = np.flatnonzero(denominator_mask(matrix, tables[0], denominator))
        own = set(protocol_inputs(matrix, problem, first))
        for protocol, table in zip((first, second), tables, strict=True):
            check = Check(protocol.name, protocol.oracle, {})
            require_answers(check, matrix, table, rows, np.arange(len(table.inputs)))
        kills = [np.asarray(table.kills[rows].toarray(), dtype=np.bool_) for table in tables]
        mutants.append(len(rows))
        for coalition in coalitions:
            names = [n for n, needs in split.items() if _runs(n in own, needs, coalition)]
            columns = [tables[0].inputs.index(name) for name in names]
            detected = kills[Factor.TOLERANCE in coalition][:, columns].any(axis=1)
            counts[coalition].append(int(detected.sum()))
    if not sum(mutants):
        raise UserError(
            f"the matrix at {matrix.path} has no mutants that count as {denominator}; give "
            "--denominator valid, or a matrix with a witness pool"
        )
    return Decomposition(
        first=first.name,
        second=second.name,
        label=matrix.meta.label,
        mutants=np.array(mutants, dtype=np.int64),
        detected={key: np.array(value, dtype=np.int64) for key, value in counts.items()},
        factors=factors,
        left_out=left_out(matrix, Check(first.name, first.oracle, {}, without), denominator),
    )


def _runs(in_first: bool, needs: frozenset[Factor], coalition: Coalition) -> bool:
    """Whether a protocol in between runs an input; ``needs`` is empty if both protocols do."""
    if not needs:
        return True
    return not needs & coalition if in_first else needs <= coalition


def _split(
    matrix: Matrix, problem: str, first: Protocol, second: Protocol
) -> dict[str, frozenset[Factor]]:
    """Return, for each input of either, the respects in which the other has nothing like it."""
    sides = [protocol_inputs(matrix, problem, protocol) for protocol in (first, second)]
    rows = matrix.inputs_of(problem).set_index("input")
    split: dict[str, frozenset[Factor]] = {}
    for mine, other in (sides, sides[::-1]):
        for name in mine:
            if name in other:
                split[name] = frozenset()
                continue
            new = {
                factor
                for factor, column in _COLUMNS.items()
                if rows.loc[name, column] not in set(_words(rows, other, column))
            }
            split[name] = frozenset(new or {Factor.INPUTS})
    return split


def _words(rows: pd.DataFrame, names: Iterable[str], column: str) -> list[str]:
    return [str(rows.loc[name, column]) for name in names]


def _subsets(items: Iterable[Factor]) -> Iterable[Coalition]:
    pool = list(items)
    sizes = (combinations(pool, size) for size in range(len(pool) + 1))
    return (frozenset(chosen) for chosen in chain.from_iterable(sizes))
