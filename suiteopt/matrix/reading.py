"""Read the files of a matrix, each checked against its hash when it is first read."""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from hashlib import file_digest
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq

from suiteopt.errors import UserError
from suiteopt.matrix.files import sha256
from suiteopt.matrix.header import MatrixMeta

_TRY = "copy the matrix again or run `gpu-eval resume`"

ROWS_AT_ONCE = 1 << 18
"""Rows of a table that is read in parts."""


class Files:
    """The files that a matrix's header lists.

    Parameters
    ----------
    path : Path
        The directory.
    meta : MatrixMeta
    """

    def __init__(self, path: Path, meta: MatrixMeta) -> None:
        self.path = path
        self.meta = meta
        self._verified: set[str] = set()

    def bytes(self, name: str) -> bytes:
        """Return the content of a file.

        Raises
        ------
        UserError
            If it is not listed, missing, not readable, or differs from its hash.
        """
        expected = self._expected(name)
        with self._open_errors(name):
            data = (self.path / name).read_bytes()
        if name not in self._verified:
            self._check(name, sha256(data), expected)
        return data

    def table(self, name: str, columns: Sequence[str] | None, words: Sequence[str]) -> pa.Table:
        """Return a table, or some of its columns.

        Parameters
        ----------
        name : str
        columns : sequence of str or None
            All of them where None.
        words : sequence of str
            Columns that stay dictionary-encoded.

        Raises
        ------
        UserError
            As `bytes`, and if a column is missing or the file is no readable Parquet file.
        """
        data = _held_by_arrow(self.bytes(name))
        with self._parquet_errors(name):
            self._check_names(name, pa.BufferReader(data), columns, words)
            file = pq.ParquetFile(pa.BufferReader(data), read_dictionary=list(words))
            return file.read(columns=None if columns is None else list(columns))

    def parts(self, name: str, columns: Sequence[str], words: Sequence[str]) -> Iterator[pa.Table]:
        """Yield a table's rows some at a time; the file is never in memory as a whole.

        Raises
        ------
        UserError
            As `table`.
        """
        expected = self._expected(name)
        with self._open_errors(name), self._parquet_errors(name):
            if name not in self._verified:
                with (self.path / name).open("rb") as handle:
                    self._check(name, file_digest(handle, "sha256").hexdigest(), expected)
            self._check_names(name, self.path / name, columns, words)
            with pq.ParquetFile(
                self.path / name,
                read_dictionary=list(words),
                pre_buffer=False,  # which holds the bytes of all row groups until the last is read
            ) as file:
                for batch in file.iter_batches(ROWS_AT_ONCE, columns=list(columns)):
                    yield pa.Table.from_batches([batch])

    def _expected(self, name: str) -> str:
        if name in self.meta.files:
            return self.meta.files[name]
        if not self.meta.complete:
            raise UserError(
                f"the matrix at {self.path} is incomplete, it has no {name} yet; "
                "finish it with `gpu-eval resume`"
            )
        raise UserError(f"the matrix at {self.path} has no {name}; {_TRY}")

    def _check(self, name: str, found: str, expected: str) -> None:
        if found != expected:
            raise UserError(
                f"{self.path / name} is damaged, its hash differs from the one in "
                f"matrix.json; {_TRY}"
            )
        self._verified.add(name)

    def _check_names(
        self,
        name: str,
        source: pa.BufferReader | Path,
        columns: Sequence[str] | None,
        words: Sequence[str],
    ) -> None:
        missing = {*(columns or ()), *words} - set(pq.read_schema(source).names)
        if missing:
            raise UserError(
                f"{self.path / name} has no column {min(missing)!r}; "
                "this matrix cannot answer that query, ask for a statistic that it keeps"
            )

    @contextmanager
    def _open_errors(self, name: str) -> Iterator[None]:
        try:
            yield
        except FileNotFoundError as error:
            raise UserError(f"{self.path / name} is missing; {_TRY}") from error
        except OSError as error:
            raise UserError(f"{self.path / name} cannot be read ({error.strerror})") from error

    @contextmanager
    def _parquet_errors(self, name: str) -> Iterator[None]:
        try:
            yield
        except FileNotFoundError:
            raise
        except (pa.ArrowException, OSError, ValueError) as error:
            raise UserError(
                f"{self.path / name} is damaged, it is no readable Parquet file; {_TRY}"
            ) from error


def _held_by_arrow(data: bytes) -> pa.Buffer:
    """Copy bytes into memory of Arrow's own.

    Its threads may be the last to let go of a file. To free what Python holds they need the
    interpreter, and where that is ending they abort the process (apache/arrow issue 34314).
    """
    buffer = pa.allocate_buffer(len(data))
    memoryview(buffer).cast("B")[:] = data
    return buffer
