"""Foreign files: read whole, as text, up to a size that is no accident."""

import csv
import io
import stat
from pathlib import Path

from suiteopt.errors import UserError

BYTES_LIMIT = 2**30
"""One gigabyte of text; a larger report is a mistake or an attack."""


def read_text(path: Path) -> str:
    """Return a file's text, UTF-8 with or without a byte-order mark.

    Raises
    ------
    UserError
        If it cannot be read, is too large, or is no text.
    """
    try:
        check_plain(path)
        with path.open("rb") as file:
            data = file.read(BYTES_LIMIT + 1)  # a file may grow, or lie about its size
        if len(data) > BYTES_LIMIT:
            raise UserError(f"{path} is larger than 1 GiB, which no report is; give another file")
        return data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise UserError(f"{path} is no UTF-8 text; give the tool's report") from error
    except OSError as error:
        raise UserError(f"{path} cannot be read ({error.strerror}); give another file") from error


def check_plain(path: Path) -> None:
    """Refuse what is no regular file: a pipe is waited for, and a device never ends.

    Raises
    ------
    UserError
    OSError
        If there is nothing.
    """
    mode = path.stat().st_mode
    if not stat.S_ISREG(mode) and not stat.S_ISDIR(mode):  # a directory has a reason of its own
        raise UserError(f"{path} is no regular file; give the file that the tool wrote")


def read_rows(path: Path) -> list[list[str]]:
    """Return the rows of a CSV file, empty ones left out, cells stripped.

    Raises
    ------
    UserError
        If it cannot be read, or has no rows.
    """
    try:
        rows = [[cell.strip() for cell in row] for row in csv.reader(io.StringIO(read_text(path)))]
    except csv.Error as error:
        raise UserError(f"{path} is no CSV file ({error}); give another file") from error
    kept = [row for row in rows if any(row)]
    if not kept:
        raise UserError(f"{path} is empty; give a table with a header")
    return kept


def whole_number(text: str) -> int | None:
    """Return a number of up to nine digits, or None."""
    return int(text) if text.isdecimal() and len(text) < 10 else None
