"""Write a matrix, file by file, so that a crash at any moment leaves it readable."""

from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq

from suiteopt.errors import UserError
from suiteopt.matrix.cells import stored_cells
from suiteopt.matrix.files import remove_partials, sha256, write_atomic
from suiteopt.matrix.header import MatrixMeta, matrix_id, read_header
from suiteopt.matrix.jsonable import dumps
from suiteopt.matrix.parquet import encode, to_arrow
from suiteopt.matrix.schema import FORMAT_MAJOR, FORMAT_MINOR
from suiteopt.matrix.tables import (
    HEADER,
    IMPLEMENTATIONS,
    INPUTS,
    PROBLEMS,
    cell_columns,
    cells_file,
    implementation_columns,
    input_columns,
    is_safe_name,
    problem_columns,
    source_file,
)


class MatrixWriter:
    """Writes one matrix; the same content gives the same bytes.

    A directory that already holds a matrix of this format is taken up where it was left: files
    that the header lists stay until they are written again. A file that is about to change leaves
    the header first, and the header says ``"complete": false`` until `finish`, so a reader never
    takes an interrupted matrix for a whole one. One writer at a time.

    Parameters
    ----------
    path : path
        The directory; made if it is missing.
    header : mapping
        Keys of ``matrix.json`` but ``format``, ``files``, ``id`` and ``complete``. A ledger that
        the directory has is kept unless a new one is given.

    Raises
    ------
    UserError
        If the directory holds a matrix of a newer format or a damaged header, or cannot be
        written.
    """

    def __init__(self, path: str | Path, header: Mapping[str, Any]) -> None:
        self.path = Path(path)
        self._header = dict(header)
        self._files: dict[str, str] = {}
        self._written: set[str] = set()
        self._complete_on_disk: bool | None = None
        self._ids: dict[str, pd.DataFrame] = {}
        if (self.path / HEADER).is_file():
            old: MatrixMeta = read_header(self.path)
            remove_partials(self.path)
            self._files = {
                name: digest for name, digest in old.files.items() if (self.path / name).is_file()
            }
            self._complete_on_disk = old.complete
            self._header.setdefault("ledger", list(old.ledger))
        self._ratios = tuple(float(ratio) for ratio in self._header.get("ratios", ()))

    @property
    def files(self) -> Mapping[str, str]:
        """Relative name to SHA-256 of what is written so far."""
        return dict(self._files)

    def has_cells(self, problem: str) -> bool:
        """Tell whether a problem's cells are already there and undamaged."""
        return self._is_intact(cells_file(problem))

    def write_problems(self, problems: pd.DataFrame) -> None:
        """Write ``problems.parquet``; columns with a default may be left out.

        Raises
        ------
        ValueError
            If ids repeat, or would share a file name.
        """
        files = [cells_file(str(problem)) for problem in problems["problem"]]
        if len(set(files)) != len(files):
            raise ValueError("two problems have the same id, or ids that name the same file")
        if not all(is_safe_name(name) for name in files):
            raise ValueError("a problem's id is no file name")
        self._put(PROBLEMS, encode([to_arrow(problems, problem_columns())]))

    def write_implementations(self, implementations: pd.DataFrame) -> None:
        """Write ``implementations.parquet``, before any cells; ids are unique."""
        _check_unique(implementations, "implementation")
        table = to_arrow(implementations, implementation_columns())
        self._put(IMPLEMENTATIONS, encode([table]))
        self._ids.pop(IMPLEMENTATIONS, None)

    def write_inputs(self, inputs: pd.DataFrame) -> None:
        """Write ``inputs.parquet``, before any cells; ids are unique."""
        _check_unique(inputs, "input")
        self._put(INPUTS, encode([to_arrow(inputs, input_columns(self._ratios))]))
        self._ids.pop(INPUTS, None)

    def write_cells(self, problem: str, cells: pd.DataFrame | Iterable[pd.DataFrame]) -> None:
        """Write, or write again, all cells of a problem.

        Parameters
        ----------
        problem : str
        cells : DataFrame, or iterable of them
            See `suiteopt.matrix.cells.stored_cells`; statistics are exact. A problem too large for
            one frame comes in parts, each of implementations behind those of the part before; a
            part is a row group of the file.

        Raises
        ------
        ValueError
            If a cell contradicts the tables or itself, or parts are out of order.
        """
        implementations = self._ids_of(IMPLEMENTATIONS, "implementation", problem)
        inputs = self._ids_of(INPUTS, "input", problem)
        columns = cell_columns(self._ratios)

        def tables() -> Iterator[pa.Table]:
            reached = -1
            for part in [cells] if isinstance(cells, pd.DataFrame) else cells:
                stored = stored_cells(part, implementations, inputs, self._ratios)
                rows = stored["implementation"].cat.codes
                if len(rows) and rows.iloc[0] <= reached:
                    raise ValueError("parts come in the order of their implementations")
                reached = int(rows.iloc[-1]) if len(rows) else reached
                yield to_arrow(stored, columns)

        self._put(cells_file(problem), encode(tables()))

    def write_source(self, problem: str, file: str, text: str) -> None:
        """Write a source file that travels with the matrix; listed at the next table or finish."""
        name = source_file(problem, file)
        if not is_safe_name(name):
            raise ValueError(f"{file!r} is no relative file name")
        self._put(name, text.encode(), save_header=False)

    def finish(self, complete: bool, **updates: Any) -> None:
        """Write the header for good.

        Parameters
        ----------
        complete : bool
            Whether the campaign is over; then every problem must have its cells.
        **updates : Any
            Header keys known only now, such as ``ended`` and ``seconds``.

        Raises
        ------
        ValueError
            If a complete matrix lacks a table or a problem's cells.
        UserError
            If a file that an earlier writer left is damaged.
        """
        self._header.update(updates)
        if complete:
            self._check_whole()
        self._save_header(complete)

    def _check_whole(self) -> None:
        """Check that nothing is missing or damaged; drop what no problem owns any more."""
        needed = [PROBLEMS, IMPLEMENTATIONS, INPUTS]
        problems: list[str] = []
        if PROBLEMS in self._files:
            column = pq.read_table(self.path / PROBLEMS, columns=["problem"])["problem"]
            problems = column.to_pylist()
        needed += [cells_file(problem) for problem in problems]
        missing = [name for name in needed if name not in self._files]
        if missing:
            raise ValueError(f"a complete matrix has {missing[0]}")
        folders = tuple(source_file(problem, "") for problem in problems)
        for name in sorted(self._files):
            if name not in needed and not name.startswith(folders):
                del self._files[name]
            elif name not in self._written and not self._is_intact(name):
                raise UserError(
                    f"{self.path / name} is damaged, its hash differs from the one in {HEADER}; "
                    "run `gpu-eval resume`"
                )

    def _is_intact(self, name: str) -> bool:
        path = self.path / name
        return path.is_file() and self._files.get(name) == sha256(path.read_bytes())

    def _ids_of(self, table: str, column: str, problem: str) -> pd.Index:
        if table not in self._ids:
            if table not in self._files:
                raise ValueError(f"{table} is written before any cells")
            self._ids[table] = pq.read_table(
                self.path / table, columns=[column, "problem"]
            ).to_pandas()
        frame = self._ids[table]
        return pd.Index(frame.loc[frame["problem"] == problem, column].astype(str))

    def _put(self, name: str, data: bytes, save_header: bool = True) -> None:
        path = self.path / name
        digest = sha256(data)
        if self._files.get(name) == digest and self._is_intact(name):
            self._written.add(name)
            return
        if self._complete_on_disk is not False or name in self._files:
            self._files.pop(name, None)
            self._save_header(False)
        write_atomic(path, data)
        self._files[name] = digest
        self._written.add(name)
        if save_header:
            self._save_header(False)

    def _save_header(self, complete: bool) -> None:
        header = {
            **self._header,
            "format": {"major": FORMAT_MAJOR, "minor": FORMAT_MINOR},
            "files": self._files,
            "id": matrix_id(self._files),
            "complete": complete,
        }
        write_atomic(self.path / HEADER, (dumps(header, indent=2) + "\n").encode())
        self._complete_on_disk = complete


def _check_unique(frame: pd.DataFrame, column: str) -> None:
    repeated = frame[column][frame[column].duplicated()]
    if len(repeated):
        raise ValueError(f"the {column} {repeated.iloc[0]!r} is there twice")
