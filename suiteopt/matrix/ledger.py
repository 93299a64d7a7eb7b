"""Openings of the locked rules: each is recorded in the matrix's header, for all to see.

Rules that are locked were set aside before recipes were frozen. A figure on them is honest only
as long as nobody chose anything by it, so whoever looks leaves a line.
"""

import json
import shutil
import subprocess
from collections.abc import Mapping
from datetime import UTC, datetime
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

from suiteopt.matrix.files import write_atomic
from suiteopt.matrix.jsonable import dumps
from suiteopt.matrix.store import Matrix
from suiteopt.matrix.tables import HEADER


def record_opening(matrix: Matrix, suite_hash: str, result: Mapping[str, Any]) -> None:
    """Append an opening to the ledger of a matrix; its files and id stay as they are.

    Parameters
    ----------
    matrix : Matrix
    suite_hash : str
        SHA-256 of the suite that was scored, or empty.
    result : mapping
        What came out.

    Raises
    ------
    UserError
        If the matrix cannot be written: an opening that leaves no line is not allowed.
    """
    path = matrix.path / HEADER
    header = json.loads(path.read_text(encoding="utf-8"))
    entry = {
        "date": datetime.now(UTC).isoformat(timespec="seconds"),
        "commit": _commit(),
        "suite": suite_hash,
        "result": dict(result),
    }
    header["ledger"] = [*(header.get("ledger") or []), entry]
    write_atomic(path, (dumps(header, indent=2) + "\n").encode())


def _commit() -> str:
    """Return the commit of the checkout that this code runs from, or the installed version."""
    here = Path(__file__).resolve().parent
    git = shutil.which("git")
    if git is not None:
        found = subprocess.run(
            [git, "-C", str(here), "rev-parse", "HEAD"], capture_output=True, text=True, check=False
        )
        if found.returncode == 0:
            return found.stdout.strip()
    try:
        return f"version {version('kernel-suiteopt')}"
    except PackageNotFoundError:
        return "unknown"
