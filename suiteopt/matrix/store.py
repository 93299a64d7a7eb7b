"""Open a matrix and read it, one problem at a time."""

from collections.abc import Callable, Iterator, Sequence
from functools import cached_property
from pathlib import Path
from typing import Any, TypeVar

import numpy as np
import pandas as pd
import pyarrow as pa
from numpy.typing import NDArray

from suiteopt.errors import UserError
from suiteopt.matrix.checks import check_columns, check_rows
from suiteopt.matrix.header import MatrixMeta, read_header
from suiteopt.matrix.locate import resolve_matrix
from suiteopt.matrix.reading import Files
from suiteopt.matrix.tables import (
    IMPLEMENTATIONS,
    INPUTS,
    PROBLEMS,
    Column,
    cell_columns,
    cells_file,
    implementation_columns,
    input_columns,
    problem_columns,
    source_file,
)

__all__ = ["Matrix", "resolve_matrix"]

T = TypeVar("T")

_CELL_WORDS = tuple(c.name for c in cell_columns() if pa.types.is_dictionary(c.type))


class Matrix:
    """A kill matrix on disk. The three tables are cached; cells are read when asked for.

    Every file is checked against its hash when it is first read.

    Attributes
    ----------
    path : Path
    meta : MatrixMeta
        What ``matrix.json`` says.
    """

    def __init__(self, path: Path, meta: MatrixMeta) -> None:
        self.path = path
        self.meta = meta
        self._files = Files(path, meta)
        self._made: dict[str, Any] = {}
        self._parts: dict[tuple[str, str], pd.DataFrame] = {}

    @classmethod
    def open(cls, path: str | Path) -> "Matrix":
        """Open a directory.

        Raises
        ------
        UserError
            If it is no matrix, of a newer format, or its header is damaged.
        """
        return cls(Path(path), read_header(Path(path)))

    def __repr__(self) -> str:
        return f"Matrix({str(self.path)!r})"

    @property
    def id(self) -> str:
        """SHA-256 over the matrix's files."""
        return self.meta.id

    @cached_property
    def problems(self) -> pd.DataFrame:
        """Rows of ``problems.parquet``."""
        return self._frame(PROBLEMS, problem_columns())

    @cached_property
    def implementations(self) -> pd.DataFrame:
        """Rows of ``implementations.parquet``."""
        return self._frame(IMPLEMENTATIONS, implementation_columns())

    @cached_property
    def inputs(self) -> pd.DataFrame:
        """Rows of ``inputs.parquet``."""
        return self._frame(INPUTS, input_columns(self.meta.ratios))

    @cached_property
    def problem_ids(self) -> tuple[str, ...]:
        """Ids of all problems, in the order of their table."""
        return tuple(self.problems["problem"].astype(str))

    @cached_property
    def measured_problems(self) -> tuple[str, ...]:
        """Ids of the problems whose cells are written; all of them in a complete matrix."""
        return tuple(p for p in self.problem_ids if cells_file(p) in self.meta.files)

    def problem(self, problem: str) -> pd.Series:
        """Return the row of a problem.

        Raises
        ------
        UserError
            If the matrix has no such problem.
        """
        return self.problems.iloc[int(self._rows_of("problems", self._known(problem))[0])]

    def implementations_of(self, problem: str) -> pd.DataFrame:
        """Return a problem's implementations, in the order of their table."""
        return self._part("implementations", problem)

    def inputs_of(self, problem: str) -> pd.DataFrame:
        """Return a problem's inputs of all roles, in the order of their table."""
        return self._part("inputs", problem)

    def cells(self, problem: str, columns: Sequence[str] | None = None) -> pd.DataFrame:
        """Return the cells of a problem.

        Parameters
        ----------
        problem : str
        columns : sequence of str, optional
            Only these; all of them by default.

        Returns
        -------
        DataFrame
            One row a cell that ran (or is closed or decided), ids and status as categories,
            statistics as float32 with NaN where nothing was measured. No row means "not run".

        Raises
        ------
        UserError
            If there is no such problem or column, or the file is missing or damaged.
        """
        frame: pd.DataFrame = self.cells_table(problem, columns).to_pandas()
        return frame

    def cells_table(self, problem: str, columns: Sequence[str] | None = None) -> pa.Table:
        """Return the cells of a problem as an Arrow table, its words dictionary-encoded."""
        return self._files.table(self._cells_file(problem), columns, _CELL_WORDS)

    def cells_parts(self, problem: str, columns: Sequence[str]) -> Iterator[pa.Table]:
        """Yield what `cells_table` returns, some rows at a time: for a problem beyond memory."""
        return self._files.parts(self._cells_file(problem), columns, _CELL_WORDS)

    def source(self, problem: str, file: str) -> str:
        """Return the text of a substrate's source file.

        Raises
        ------
        UserError
            If the matrix does not carry it.
        """
        name = source_file(self._known(problem), file)
        if name not in self.meta.files:
            prefix = source_file(problem, "")
            known = sorted(n.removeprefix(prefix) for n in self.meta.files if n.startswith(prefix))
            raise UserError(
                f"the matrix at {self.path} carries no source {file!r} of {problem}; "
                f"it has {', '.join(known) or 'none'}"
            )
        return self._files.bytes(name).decode("utf-8", errors="replace")

    def verify(self) -> None:
        """Check every file of the matrix against its hash, whether read or not.

        Raises
        ------
        UserError
            At the first file that is missing or differs.
        """
        for name in sorted(self.meta.files):
            self._files.bytes(name)

    def _cells_file(self, problem: str) -> str:
        name = cells_file(self._known(problem))
        if name not in self.meta.files and not self.meta.complete:
            raise UserError(
                f"the matrix at {self.path} is incomplete, the cells of {problem} are not "
                "measured yet; finish it with `gpu-eval resume`"
            )
        return name

    def _known(self, problem: str) -> str:
        if problem not in self._rows["problems"]:
            raise UserError(
                f"the matrix at {self.path} has no problem {problem!r}; "
                f"it has {', '.join(self.problem_ids)}"
            )
        return problem

    @cached_property
    def _rows(self) -> dict[str, dict[str, NDArray[np.intp]]]:
        """Positions of each problem's rows; filled table by table."""
        return {"problems": _positions(self.problems)}

    def _rows_of(self, table: str, problem: str) -> NDArray[np.intp]:
        if table not in self._rows:
            self._rows[table] = _positions(getattr(self, table))
        return self._rows[table].get(problem, np.empty(0, dtype=np.intp))

    def remember(self, key: str, make: Callable[[], T]) -> T:
        """Return what was made under a key, making it the first time.

        For whatever is derived from the tables alone, which do not change while a matrix is open.
        """
        if key not in self._made:
            self._made[key] = make()
        made: T = self._made[key]
        return made

    def _part(self, table: str, problem: str) -> pd.DataFrame:
        """A problem's rows, cut out once; the copy shares them until somebody writes to it."""
        key = (table, problem)
        if key not in self._parts:
            rows = self._rows_of(table, self._known(problem))
            self._parts[key] = getattr(self, table).iloc[rows]
        return self._parts[key].copy(deep=False)

    def _frame(self, name: str, columns: Sequence[Column]) -> pd.DataFrame:
        table = self._files.table(name, None, ())
        check_columns(table, columns, str(self.path / name))
        words = [f.name for f in table.schema if pa.types.is_dictionary(f.type)]
        plain: pd.DataFrame = table.to_pandas()
        frame = plain.astype(dict.fromkeys(words, "str"))
        check_rows(frame, name, str(self.path / name))
        return frame


def _positions(frame: pd.DataFrame) -> dict[str, NDArray[np.intp]]:
    groups: Any = frame.groupby("problem", sort=False, observed=True).indices
    return {str(problem): np.sort(rows) for problem, rows in groups.items()}
