"""Which matrix a command works on when none is named."""

from pathlib import Path

from suiteopt.errors import UserError

DEFAULT = "DEFAULT"


def resolve_matrix(path: str | Path | None) -> Path:
    """Return the directory of the matrix to work on.

    Parameters
    ----------
    path : path or None
        What the user said. None: the one that ``matrices/DEFAULT`` names in the working
        directory or the nearest one above it, else the one that ships inside the package.

    Raises
    ------
    UserError
        If none is named and none is found.
    """
    if path is not None:
        return Path(path)
    package = Path(__file__).resolve().parents[1]
    here = Path.cwd()
    places = [directory / "matrices" for directory in (here, *here.parents)]
    places += [package / "data", package.parent / "matrices"]
    for place in places:
        marker = place / DEFAULT
        if marker.is_file():
            name = marker.read_text(encoding="utf-8").strip()
            if not name or not (place / name).is_dir():
                raise UserError(
                    f"{marker} names {name!r}, which is no directory beside it; "
                    "name one there or pass --matrix DIR"
                )
            return place / name
    raise UserError(
        "no matrix is given and none is found; pass --matrix DIR or make one with `make killmatrix`"
    )
