"""The manifest of an export: what was written where, over what, and for which suite.

It is written first with the state ``exporting`` or ``removing`` and last with ``complete``, so
that whoever finds a checkout after a crash knows every file that may have been touched, and what
each was before.
"""

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any

from suiteopt.errors import UserError
from suiteopt.export.seeds import PrivateSeeds
from suiteopt.matrix.jsonable import dumps
from suiteopt.suite import Suite

FORMAT_NAME = "suiteopt-export"
FORMAT_MAJOR = 1
FORMAT_MINOR = 1


class State(StrEnum):
    """How far a change of the checkout got."""

    EXPORTING = "exporting"
    COMPLETE = "complete"
    REMOVING = "removing"


@dataclass(frozen=True)
class Entry:
    """One file of an export.

    Attributes
    ----------
    path : str
        Relative to the checkout.
    before : str or None
        SHA-256 of what stood there before any export; None where nothing did.
    after : str or None
        SHA-256 of what the export writes; None where an earlier export's file goes.
    preserved : str or None
        Where the replaced bytes are kept.
    previous : tuple of str
        While a change is under way: what an earlier export had written there.
    """

    path: str
    before: str | None
    after: str | None
    preserved: str | None = None
    previous: tuple[str, ...] = ()

    def knows(self, found: str | None) -> bool:
        """Whether a file with this hash (None: absent) is the export's doing or the original."""
        return found in (None, self.before, self.after, *self.previous)

    def exported(self, found: str | None) -> bool:
        """Whether a file with this hash is the export's doing."""
        return found is not None and found in (self.after, *self.previous)


@dataclass(frozen=True)
class Manifest:
    """What an export did to a checkout.

    Attributes
    ----------
    target : str
    options : mapping
        The target's options in force.
    suite : Suite
        Whole, so that a checkout can be verified without the suite's file.
    state : State
    entries : tuple of Entry
        Support files first; the order in which they are written.
    directories : tuple of str
        Directories that the export made, parents first.
    seeds : PrivateSeeds or None
        Where the seeds come from, if they are not the matrix's own.
    """

    target: str
    options: Mapping[str, Any]
    suite: Suite
    state: State
    entries: tuple[Entry, ...]
    directories: tuple[str, ...] = field(default=())
    seeds: PrivateSeeds | None = None

    def entry(self, path: str) -> Entry | None:
        """Return the entry of a path, or None."""
        return next((entry for entry in self.entries if entry.path == path), None)

    def to_json(self) -> bytes:
        """Return the manifest's bytes, the same for equal manifests."""
        document = {
            "format": {"name": FORMAT_NAME, "major": FORMAT_MAJOR, "minor": FORMAT_MINOR},
            "target": self.target,
            "options": self.options,
            "state": str(self.state),
            "suite_hash": self.suite.hash,
            "matrix_id": self.suite.matrix_id,
            "files": [_entry_document(entry) for entry in self.entries],
            "directories": list(self.directories),
            "suite": json.loads(self.suite.to_json()),
        }
        if self.seeds is not None:
            document["private_seeds"] = {
                "variable": self.seeds.variable,
                "commitment": self.seeds.commitment,
            }
        return (dumps(document, indent=2) + "\n").encode()


def read_manifest(data: bytes, source: str) -> Manifest:
    """Read a manifest.

    Parameters
    ----------
    data : bytes
    source : str
        What an error calls it.

    Raises
    ------
    UserError
        If it is no manifest, is damaged, or has another major version.
    """
    try:
        document = json.loads(data)
        version = document["format"]
        if version["name"] != FORMAT_NAME:
            raise ValueError(f"its format is '{version['name']}'")
        major = version["major"]
        if major != FORMAT_MAJOR:
            raise UserError(
                f"{source} has manifest format {major}, and this version of suiteopt knows "
                f"format {FORMAT_MAJOR}; use the version that made the export"
            )
        suite = Suite.from_json(json.dumps(document["suite"]), source)
        if suite.hash != document["suite_hash"]:
            raise ValueError("the suite in it does not have the hash that it names")
        return Manifest(
            target=str(document["target"]),
            options=dict(document["options"]),
            suite=suite,
            state=State(document["state"]),
            entries=tuple(_entry(item) for item in document["files"]),
            directories=tuple(str(item) for item in document["directories"]),
            seeds=_seeds(document.get("private_seeds")),
        )
    except (ValueError, KeyError, TypeError, AttributeError) as error:
        raise UserError(
            f"{source} is no manifest of an export, or is damaged ({error}); "
            "restore it from version control"
        ) from error


def _entry_document(entry: Entry) -> dict[str, Any]:
    document: dict[str, Any] = {
        "path": entry.path,
        "before": entry.before,
        "after": entry.after,
        "preserved": entry.preserved,
    }
    if entry.previous:
        document["previous"] = list(entry.previous)
    return document


def _entry(item: Mapping[str, Any]) -> Entry:
    return Entry(
        path=_text(item["path"]),
        before=_text_or_none(item["before"]),
        after=_text_or_none(item["after"]),
        preserved=_text_or_none(item["preserved"]),
        previous=tuple(_text(value) for value in item.get("previous", ())),
    )


def _seeds(item: Mapping[str, Any] | None) -> PrivateSeeds | None:
    if item is None:
        return None
    return PrivateSeeds(_text(item["variable"]), _text(item["commitment"]))


def _text(value: Any) -> str:
    if not isinstance(value, str):
        raise TypeError(f"{value!r} is no text")
    return value


def _text_or_none(value: Any) -> str | None:
    return None if value is None else _text(value)
