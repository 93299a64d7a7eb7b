"""The command line of a comparison of two matrices: one JSON document, and a page made of it."""

import argparse
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from experiments.records import write_record
from suiteopt.errors import UserError
from suiteopt.matrix.files import write_atomic
from suiteopt.matrix.store import Matrix

RESULTS = Path(__file__).parent / "results"


def run_comparison(
    arguments: Sequence[str],
    description: str,
    sides: tuple[str, str],
    compare: Callable[[Matrix, Matrix], dict[str, Any]],
    report: Callable[[dict[str, Any]], str],
    name: str,
) -> int:
    """Compare two matrices that are named on the command line; print the page and write both files.

    Parameters
    ----------
    arguments : sequence of str
    description : str
        What ``--help`` says.
    sides : tuple of str
        Names of the two matrices there.
    compare, report : callable
        Make the document of the matrices, and the page of the document.
    name : str
        Of the files, without their endings.

    Returns
    -------
    int
        0, or 2 where the two cannot be compared.
    """
    parser = argparse.ArgumentParser(description=description)
    for side in sides:
        parser.add_argument(side, type=Path)
    parser.add_argument("--results", type=Path, default=RESULTS)
    given = parser.parse_args(arguments)
    try:
        document = compare(*(Matrix.open(getattr(given, side)) for side in sides))
    except UserError as error:
        print(f"error: {error}", file=sys.stderr)
        return 2
    given.results.mkdir(parents=True, exist_ok=True)
    write_record(given.results / f"{name}.json", document)
    text = report(document)
    write_atomic(given.results / f"{name}.md", text.encode())
    print(text)
    return 0
