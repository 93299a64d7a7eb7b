"""``matrix.json``: read, checked, frozen."""

import hashlib
import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from types import MappingProxyType
from typing import Any

from suiteopt.errors import UserError
from suiteopt.matrix.schema import FORMAT_MAJOR, FORMAT_MINOR
from suiteopt.matrix.tables import HEADER, is_safe_name


@dataclass(frozen=True)
class MatrixMeta:
    """What ``matrix.json`` says (see ``docs/matrix-format.md``).

    Attributes
    ----------
    format : tuple of int
        Major and minor.
    files : mapping of str to str
        Relative name to SHA-256.
    raw : mapping
        Everything, keys of later minor versions included.
    """

    format: tuple[int, int]
    tool: str
    version: str
    id: str
    profile: str
    label: str
    device: Mapping[str, str]
    command: str
    started: str
    ended: str
    seconds: float
    corpus_hash: str
    pool_hash: str
    witness_hash: str
    policy: Mapping[str, bool]
    ratios: tuple[float, ...]
    complete: bool
    files: Mapping[str, str]
    ledger: tuple[Mapping[str, Any], ...]
    raw: Mapping[str, Any]


def matrix_id(files: Mapping[str, str]) -> str:
    """Return the SHA-256 over the lines ``<hash>  <name>``, in the order of the names.

    It names the content: two matrices with the same files have the same id, whatever command
    and whatever day made them.
    """
    digest = hashlib.sha256()
    for name in sorted(files):
        digest.update(f"{files[name]}  {name}\n".encode())
    return digest.hexdigest()


def read_header(path: Path) -> MatrixMeta:
    """Read and check ``matrix.json``.

    Raises
    ------
    UserError
        If the directory is none, has no header, or the header is damaged or of a newer format.
    """
    if not path.is_dir():
        raise UserError(f"{path} is no directory; give one that `gpu-eval run` has written")
    header = path / HEADER
    if not header.is_file():
        raise UserError(
            f"{path} is no kill matrix, it has no {HEADER}; "
            "give a directory that `gpu-eval run` has written"
        )
    try:
        raw = json.loads(header.read_text(encoding="utf-8"))
        major, minor = int(raw["format"]["major"]), int(raw["format"]["minor"])
    except (OSError, ValueError, KeyError, TypeError, OverflowError, RecursionError) as error:
        raise UserError(
            f"{header} is damaged or no header of a kill matrix; "
            "copy the matrix again or run `gpu-eval resume`"
        ) from error
    if major > FORMAT_MAJOR:
        raise UserError(
            f"the matrix at {path} has format {major}.{minor} and this version reads up to "
            f"{FORMAT_MAJOR}.x; upgrade with `pip install -U kernel-suiteopt`"
        )
    if major < FORMAT_MAJOR:
        raise UserError(
            f"the matrix at {path} has format {major}.{minor}, which this version "
            f"(format {FORMAT_MAJOR}.{FORMAT_MINOR}) no longer reads; make it again"
        )
    try:
        meta = _meta(raw, (major, minor))
    except (ValueError, TypeError, AttributeError, OverflowError) as error:
        raise UserError(
            f"{header} has a key of the wrong form ({error}); copy the matrix again"
        ) from error
    for name in meta.files:
        if not is_safe_name(name):
            raise UserError(
                f"{header} lists {name!r}, which lies outside the matrix; do not use it"
            )
    if meta.id != matrix_id(meta.files):
        raise UserError(
            f"{header} is damaged: its id is not that of the files it lists; "
            "copy the matrix again or run `gpu-eval resume`"
        )
    return meta


def _meta(raw: Mapping[str, Any], version: tuple[int, int]) -> MatrixMeta:
    def text(key: str) -> str:
        return str(raw.get(key) or "")

    def frozen(key: str) -> Mapping[str, Any]:
        return MappingProxyType({str(name): item for name, item in (raw.get(key) or {}).items()})

    return MatrixMeta(
        format=version,
        tool=text("tool"),
        version=text("version"),
        id=text("id"),
        profile=text("profile"),
        label=text("label"),
        device=frozen("device"),
        command=text("command"),
        started=text("started"),
        ended=text("ended"),
        seconds=float(raw.get("seconds") or 0.0),
        corpus_hash=text("corpus_hash"),
        pool_hash=text("pool_hash"),
        witness_hash=text("witness_hash"),
        policy=frozen("policy"),
        ratios=tuple(float(ratio) for ratio in raw.get("ratios") or ()),
        complete=raw.get("complete") is True,
        files=frozen("files"),
        ledger=tuple(MappingProxyType(dict(entry)) for entry in raw.get("ledger") or ()),
        raw=MappingProxyType(dict(raw)),
    )
