"""NumPy archives (``.npz``): a table of kills, with names if there are any."""

import zipfile
import zlib
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from suiteopt.errors import UserError
from suiteopt.importers.files import check_plain
from suiteopt.importers.killmap import ForeignMutant, KillMap, Outcome, check_unique, empty_outcomes

KEYS = ("kills", "ran", "mutants", "tests", "rules")

UNPACKED_LIMIT = 2**28
"""Bytes: three times what the largest table takes as 64-bit numbers; more is an accident."""

_UNREADABLE = (
    OSError,
    ValueError,
    EOFError,
    KeyError,
    OverflowError,  # a shape beyond what can be counted
    SyntaxError,
    MemoryError,  # a header may promise any shape
    NotImplementedError,  # a compression that Python has not
    RuntimeError,  # an encrypted archive
    zipfile.BadZipFile,
    zlib.error,
)


def read_arrays(path: Path) -> KillMap:
    """Read an archive.

    ``kills`` (bool or 0 and 1, mutants x tests) is needed. ``ran`` (bool, the same shape) says
    which pairs are known; all by default. ``mutants``, ``tests`` and ``rules`` are names (strings
    or whole numbers). Arrays of Python objects are refused, since reading them would run code.

    Raises
    ------
    UserError
        If it is no such archive.
    """
    arrays = _load(path)
    kills = arrays.get("kills")
    if kills is None or kills.ndim != 2:
        raise UserError(f"{path} has no two-dimensional array 'kills' (mutants x tests)")
    outcomes = empty_outcomes(kills.shape[0], kills.shape[1], str(path))
    outcomes[:] = np.where(_truths(kills, "kills", path), Outcome.FAILED, Outcome.PASSED)
    if "ran" in arrays:
        ran = _truths(arrays["ran"], "ran", path)
        if ran.shape != kills.shape:
            raise UserError(f"{path} has 'ran' in the shape {ran.shape}, 'kills' in {kills.shape}")
        outcomes[~ran] = Outcome.UNKNOWN
    mutants = _names(arrays, "mutants", kills.shape[0], "m", path)
    tests = _names(arrays, "tests", kills.shape[1], "t", path)
    rules = _labels(arrays["rules"], "rules", kills.shape[0], path) if "rules" in arrays else None
    gap = ""
    unknown = np.argwhere(outcomes == Outcome.UNKNOWN)
    if len(unknown):
        row, column = unknown[0]
        gap = f"of mutant {mutants[row]!r} nothing is told under test {tests[column]!r}"
    found = tuple(
        ForeignMutant(name, rules[row] if rules else "") for row, name in enumerate(mutants)
    )
    return KillMap("NumPy", tuple(tests), tuple(tests), found, outcomes, gap=gap)


def _load(path: Path) -> dict[str, NDArray[np.generic]]:
    try:
        check_plain(path)
        with zipfile.ZipFile(path) as archive:
            if sum(part.file_size for part in archive.infolist()) > UNPACKED_LIMIT:
                raise UserError(
                    f"{path} unpacks to more than {UNPACKED_LIMIT >> 20} MiB; store truth values "
                    "as bool, or split it"
                )
        with np.load(path, allow_pickle=False) as archive:
            unknown = sorted(set(archive.files) - set(KEYS))
            if unknown:
                raise UserError(f"{path} has the array {unknown[0]!r}; there are {', '.join(KEYS)}")
            arrays = {name: archive[name] for name in archive.files}
            strange = [name for name, found in arrays.items() if not isinstance(found, np.ndarray)]
            if strange:  # NumPy hands out the bytes of a member that it does not know
                raise ValueError(f"its {strange[0]!r} is no array")
            return arrays
    except _UNREADABLE as error:
        raise UserError(
            f"{path} is no NumPy archive of plain arrays ({error}); write it with numpy.savez, "
            "names as strings and not as objects"
        ) from error


def _truths(values: NDArray[np.generic], name: str, path: Path) -> NDArray[np.bool_]:
    if values.dtype.kind not in "bui" or not np.isin(values, (0, 1)).all():
        raise UserError(f"{path} has something else than truth values in {name!r}")
    return np.asarray(values, dtype=np.bool_)


def _labels(values: NDArray[np.generic], name: str, length: int, path: Path) -> list[str]:
    if values.shape != (length,) or values.dtype.kind not in "Uui":
        raise UserError(f"{path} has no {length} names in {name!r}")
    try:
        names = [str(value) for value in values]
        "".join(names).encode()
    except (ValueError, SystemError) as error:  # half of a pair, or a number beyond Unicode
        raise UserError(f"{path} has a name in {name!r} that is no text") from error
    return names


def _names(
    arrays: dict[str, NDArray[np.generic]], name: str, length: int, letter: str, path: Path
) -> list[str]:
    if name not in arrays:
        return [f"{letter}{number}" for number in range(length)]
    found = _labels(arrays[name], name, length, path)
    check_unique(found, name.removesuffix("s"), str(path))
    return found
