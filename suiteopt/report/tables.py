"""Tables of a report: one layout for the page and for CSV."""

import csv
import io
from collections.abc import Sequence
from dataclasses import dataclass

Cell = str | int | float | None

SENTENCE = 30
"""Letters from which on a text with spaces gets a wide column."""


@dataclass(frozen=True)
class Column:
    """A heading and how its cells are shown.

    Attributes
    ----------
    name : str
        In CSV, too.
    form : str
        ``text``, ``count``, ``share`` (shown as a percentage) or ``number`` (two digits).
    """

    name: str
    form: str = "text"

    @property
    def numeric(self) -> bool:
        """Whether it is set to the right and sorted by size."""
        return self.form != "text"

    def show(self, cell: Cell) -> str:
        """Return a cell as the page shows it."""
        if cell is None:
            return "–"
        if isinstance(cell, str) or self.form == "text":
            return str(cell)
        if self.form == "share":
            return f"{100 * cell:.1f}%"
        if self.form == "number":
            return "0" if cell == 0 else f"{cell:.2g}"
        return f"{cell:d}" if isinstance(cell, int) else f"{cell:g}"

    def order(self, cell: Cell) -> str:
        """Return what the page sorts by; empty cells come last."""
        return "" if cell is None else repr(float(cell)) if self.numeric else str(cell)


@dataclass(frozen=True)
class Table:
    """Rows under columns.

    Attributes
    ----------
    name : str
        Of its CSV file.
    caption : str
    columns : tuple of Column
    rows : tuple of tuple
    """

    name: str
    caption: str
    columns: tuple[Column, ...]
    rows: tuple[tuple[Cell, ...], ...]

    def long(self, index: int) -> bool:
        """Whether a column holds sentences, which need room on a narrow page."""
        texts = [cell for cell in (row[index] for row in self.rows) if isinstance(cell, str)]
        return any(len(text) > SENTENCE and " " in text for text in texts)

    def csv(self) -> bytes:
        """Return it as CSV, UTF-8: shares as fractions, nothing rounded, gaps empty."""
        text = io.StringIO()
        writer = csv.writer(text, lineterminator="\n")
        writer.writerow([column.name for column in self.columns])
        writer.writerows([_plain(cell) for cell in row] for row in self.rows)
        return text.getvalue().encode()


def table(
    name: str, caption: str, headings: Sequence[str], rows: Sequence[Sequence[Cell]]
) -> Table:
    """Lay out a table; a heading ends in ``%`` (shares), ``#`` (counts), ``~`` (numbers) or not."""
    forms = {"%": "share", "#": "count", "~": "number"}
    columns = tuple(
        Column(heading.rstrip("%#~"), forms.get(heading[-1:], "text")) for heading in headings
    )
    return Table(name, caption, columns, tuple(tuple(row) for row in rows))


def _plain(cell: Cell) -> str:
    if cell is None:
        return ""
    text = repr(cell) if isinstance(cell, float) else str(cell)
    # A spreadsheet would take such a text for a formula.
    return f"'{text}" if isinstance(cell, str) and text[:1] in ("=", "+", "-", "@") else text
