"""Which foreign formats there are, and which of them a file is in."""

from enum import StrEnum
from pathlib import Path

from suiteopt.errors import UserError
from suiteopt.importers.arrays import read_arrays
from suiteopt.importers.killmap import KillMap
from suiteopt.importers.major import is_kill_map, read_major
from suiteopt.importers.pit import read_pit
from suiteopt.importers.plain import read_plain
from suiteopt.importers.stryker import read_stryker


class Format(StrEnum):
    """What `suiteopt import` reads."""

    AUTO = "auto"  # by the name's end, and by the header of a CSV file
    STRYKER = "stryker"  # mutation-testing-elements, JSON
    PIT = "pit"  # mutations.xml
    MAJOR = "major"  # killMap.csv, or its directory
    CSV = "csv"
    NPZ = "npz"


_READERS = {
    Format.STRYKER: read_stryker,
    Format.PIT: read_pit,
    Format.MAJOR: read_major,
    Format.CSV: read_plain,
    Format.NPZ: read_arrays,
}
_ENDS = {".json": Format.STRYKER, ".xml": Format.PIT, ".npz": Format.NPZ}


def read_kill_map(path: Path, form: Format = Format.AUTO) -> KillMap:
    """Read a foreign kill matrix.

    Raises
    ------
    UserError
        If there is no such file, or it is not in the format.
    """
    if not path.exists():
        raise UserError(f"{path} does not exist; give the report of a mutation tool")
    if path.is_dir() and form not in (Format.AUTO, Format.MAJOR):
        raise UserError(f"{path} is a directory; give the file, or a directory of Major's")
    return _READERS[detect(path) if form == Format.AUTO else form](path)


def detect(path: Path) -> Format:
    """Tell the format of a file.

    Raises
    ------
    UserError
        If it cannot be told.
    """
    found = _ENDS.get(path.suffix.lower())
    if found is not None:
        return found
    if (path.is_dir() or path.suffix.lower() == ".csv") and is_kill_map(path):
        return Format.MAJOR
    if path.suffix.lower() == ".csv":
        return Format.CSV
    raise UserError(
        f"it cannot be told in what format {path} is; give --format "
        f"{', '.join(form for form in Format if form != Format.AUTO)}"
    )
