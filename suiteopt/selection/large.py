"""An instance beyond a table of mutants x inputs: compressed rows in the place of arrays.

What a plain choice needs of an instance are some columns at a time, products with a vector, and a
pass over blocks of rows; all of that costs memory by the kill. Reductions and certifiers need the
table, and are for instances that have one.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.sparse import csr_array

from suiteopt.matrix.judge import share_places
from suiteopt.selection.instance import SLACK_CEILING_DECADES, SLACK_UNITS, Instance, make_instance

BLOCK_CELLS = 1 << 24
"""Cells of a block of rows that is unpacked."""


@dataclass(frozen=True, eq=False)
class LargeInstance(Instance):
    """An instance whose kills and slack are `csr_array` with the same places.

    ``kills`` has an int8 of 1 for a kill, ``slack`` an int16 that may be 0.
    """

    kills: Any
    slack: Any

    def kills_exact(self) -> Any:
        """Kills as exact floats, in compressed rows."""
        return self._with(np.ones(self.kills.nnz, dtype=self.exact_type))

    def killed_by(self, columns: Sequence[int]) -> NDArray[np.bool_]:
        """Kills of some columns, unpacked."""
        return np.asarray(self.kills[:, list(columns)].toarray(), dtype=np.bool_)

    def slack_by(self, columns: Sequence[int]) -> NDArray[np.int32]:
        """Slack of some columns, unpacked."""
        return np.asarray(self.slack[:, list(columns)].toarray(), dtype=np.int32)

    def counts(self, columns: Sequence[int]) -> NDArray[np.int64]:
        """How many of some columns kill each mutant."""
        asked = np.zeros(len(self.inputs), dtype=np.float32)
        asked[list(columns)] = 1
        found = [self.kills[rows].astype(np.float32) @ asked for rows in self._steps()]
        return np.concatenate([np.zeros(0), *found]).astype(np.int64)

    def killers(self) -> list[NDArray[np.intp]]:
        """Mutants that each column kills."""
        by_column = self.kills.tocsc()
        return np.split(by_column.indices, by_column.indptr[1:-1])

    def unpacked(self, kills: Any) -> Iterator[tuple[slice, NDArray[np.floating[Any]]]]:
        """Yield some mutants at a time, and their rows of `kills_exact` unpacked."""
        for rows in self._steps():
            yield rows, kills[rows].toarray()

    def part(self, table: Any, columns: NDArray[np.intp]) -> Any:
        """Return some columns of kills or slack, in compressed rows."""
        return csr_array(table[:, columns])

    def _steps(self) -> Iterator[slice]:
        step = max(1, BLOCK_CELLS // max(len(self.inputs), 1))
        for start in range(0, len(self.mutants), step):
            yield slice(start, start + step)

    def _with(self, data: NDArray[Any]) -> csr_array:
        kills = self.kills
        return csr_array((data, kills.indices, kills.indptr), shape=kills.shape)


def make_large(
    problem: str,
    mutants: Sequence[str],
    inputs: Sequence[str],
    kills: csr_array,
    slack: csr_array,
    *,
    costs: ArrayLike | None = None,
    given: ArrayLike | None = None,
    given_slack_decades: ArrayLike | None = None,
    groups: ArrayLike | None = None,
) -> LargeInstance:
    """Build a large instance of mutants that weigh one each, as `make_instance` does.

    Parameters
    ----------
    problem : str
    mutants : sequence of str
    inputs : sequence of str
        Ascending.
    kills, slack : csr_array
        As a `LargeInstance` has them.
    costs, given, given_slack_decades, groups : array_like, optional
        As `make_instance` takes them.

    Raises
    ------
    ValueError
        If inputs are out of order, or slack is stored elsewhere than kills.
    """
    if list(inputs) != sorted(inputs):
        raise ValueError("inputs of a large instance are ascending")
    share_places(slack, kills)
    if slack.indices is not kills.indices:
        raise ValueError("slack is stored of the kills")
    columns = make_instance(problem, [], inputs, [], costs=costs, groups=groups)
    rows = make_instance(
        problem, mutants, [], [], given=given, given_slack_decades=given_slack_decades
    )
    return LargeInstance(
        problem=problem,
        mutants=rows.mutants,
        inputs=columns.inputs,
        kills=kills,
        weights=rows.weights,
        slack=slack,
        costs=columns.costs,
        given=rows.given,
        given_slack=rows.given_slack,
        groups=columns.groups,
    )


def whole_kills(kills: NDArray[np.bool_]) -> NDArray[np.int8]:
    """Kills as a large instance counts them."""
    return kills.astype(np.int8)


def whole_slack(decades: NDArray[np.float32]) -> NDArray[np.int16]:
    """Slack as a large instance counts it: thousandths of a decade, exact in float64 alone."""
    some = np.clip(decades.astype(np.float64), 0.0, SLACK_CEILING_DECADES)
    return (some * SLACK_UNITS).astype(np.int16)
