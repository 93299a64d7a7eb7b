"""What a kill table needs of a problem's rows, as arrays: read from the tables once."""

import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from suiteopt.matrix.schema import ImplementationClass, Kind, Role, ShapeScope
from suiteopt.matrix.store import Matrix
from suiteopt.matrix.tables import floor_column


@dataclass(frozen=True, eq=False)
class Layout:
    """A problem's implementations and inputs, in the order of their tables.

    Attributes
    ----------
    ids : ndarray of object
    rows, columns : mapping of str to int
        Positions of implementations and inputs by id.
    kinds : ndarray of object
    names : tuple of str
        Ids of the inputs.
    valid, candidate, varied : ndarray of bool, inputs
        The last: of another shape than the contract's or the profile's.
    shapes : ndarray of int64, inputs
        Equal for inputs of the same shape; 0 to the number of shapes less one.
    blind, identical : ndarray of bool, implementations
    always, locked : ndarray of bool, implementations
        Rows of every kill table, and rows of one that counts locked mutants.
    rounds : bool
    dtype : str
    """

    ids: NDArray[np.object_]
    rows: Mapping[str, int]
    kinds: NDArray[np.object_]
    names: tuple[str, ...]
    columns: Mapping[str, int]
    valid: NDArray[np.bool_]
    candidate: NDArray[np.bool_]
    varied: NDArray[np.bool_]
    shapes: NDArray[np.int64]
    blind: NDArray[np.bool_]
    identical: NDArray[np.bool_]
    always: NDArray[np.bool_]
    locked: NDArray[np.bool_]
    rounds: bool
    dtype: str

    def rows_with(
        self, locked: bool
    ) -> tuple[NDArray[np.bool_], tuple[str, ...], tuple[Kind, ...]]:
        """Return the rows of a kill table: which ones, their ids, and their kinds."""
        return self._every_row if locked else self._open_rows

    @cached_property
    def _open_rows(self) -> tuple[NDArray[np.bool_], tuple[str, ...], tuple[Kind, ...]]:
        return self._named(self.always)

    @cached_property
    def _every_row(self) -> tuple[NDArray[np.bool_], tuple[str, ...], tuple[Kind, ...]]:
        return self._named(self.locked)

    def _named(
        self, rows: NDArray[np.bool_]
    ) -> tuple[NDArray[np.bool_], tuple[str, ...], tuple[Kind, ...]]:
        ids = tuple(str(name) for name in self.ids[rows])
        return rows, ids, tuple(Kind(kind) for kind in self.kinds[rows])


def is_varied(inputs: pd.DataFrame) -> NDArray[np.bool_]:
    """Tell which inputs have another shape than the contract's or the profile's."""
    varied = inputs["scope"].astype(str) == str(ShapeScope.OTHER)
    return np.asarray(varied.to_numpy(dtype=np.bool_), dtype=np.bool_)


def number_shapes(shapes: Iterable[str]) -> NDArray[np.int64]:
    """Number shapes, JSON objects, from 0 on: equal for equal ones in whatever order of keys."""
    texts = [json.dumps(json.loads(shape), sort_keys=True) for shape in shapes]
    numbers: NDArray[np.int64] = np.unique(np.array(texts, dtype=str), return_inverse=True)[1]
    return numbers


def layout_of(matrix: Matrix, problem: str) -> Layout:
    """Return the layout of a problem; built once for a matrix that is open."""
    return matrix.remember(f"layout {problem}", lambda: _build(matrix, problem))


def floors_of(matrix: Matrix, problem: str, comparator: str) -> NDArray[np.float64]:
    """Return what no calibrated tolerance of each input may be below: 0 where nothing is told."""

    def read() -> NDArray[np.float64]:
        inputs = matrix.inputs_of(problem)
        name = floor_column(comparator)
        if name not in inputs:
            return np.zeros(len(inputs))
        floors: NDArray[np.float64] = np.nan_to_num(inputs[name].to_numpy(dtype=np.float64))
        return floors

    return matrix.remember(f"floors {problem} {comparator}", read)


def _build(matrix: Matrix, problem: str) -> Layout:
    implementations = matrix.implementations_of(problem)
    inputs = matrix.inputs_of(problem)
    about = matrix.problem(problem)
    ids = implementations["implementation"].astype(str).to_numpy(dtype=object)
    names = tuple(str(name) for name in inputs["input"])
    kinds = implementations["kind"].to_numpy(dtype=object)
    valid = implementations["class"].to_numpy(dtype=object) == str(ImplementationClass.VALID)
    mutant = (kinds == str(Kind.MUTANT)) & valid
    others = np.isin(kinds.astype(str), [str(Kind.NULL), str(Kind.CONTROL), str(Kind.WILD)])
    shut = implementations["locked"].to_numpy(dtype=np.bool_)
    return Layout(
        ids=ids,
        rows={name: row for row, name in enumerate(ids)},
        kinds=kinds,
        names=names,
        columns={name: column for column, name in enumerate(names)},
        valid=inputs["valid"].to_numpy(dtype=np.bool_),
        candidate=(inputs["role"] == str(Role.CANDIDATE)).to_numpy(dtype=np.bool_),
        varied=is_varied(inputs),
        shapes=number_shapes(inputs["shape"]),
        blind=implementations["blind"].to_numpy(dtype=np.bool_),
        identical=implementations["identical"].to_numpy(dtype=np.bool_),
        always=np.asarray((mutant & ~shut) | others, dtype=np.bool_),
        locked=np.asarray(mutant | others, dtype=np.bool_),
        rounds=bool(about["rounds"]),
        dtype=str(about["dtype"]),
    )
