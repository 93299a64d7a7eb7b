"""What an export and a removal did."""

from dataclasses import dataclass
from typing import Any

from suiteopt.export.shortened import Shortened


@dataclass(frozen=True)
class ExportReport:
    """What an export did, or with ``dry_run`` would do.

    Attributes
    ----------
    target, repo : str
    suite_hash : str
    members : int
        Members of the suite that the checkout now serves.
    files : int
        Files written, the manifest included.
    changed, created, removed : tuple of str
        Paths that existed before, that are new, and that an earlier export had written and this
        one does not; unchanged ones are in none of them.
    notes : tuple of str
        What the user should know: sentences.
    dry_run : bool
    diff : str
        What ``git apply`` takes; filled by a dry run only.
    shortened : tuple of Shortened
        Problems whose tolerances were calibrated at shorter reductions than the benchmark's.
    """

    target: str
    repo: str
    suite_hash: str
    members: int
    files: int
    changed: tuple[str, ...]
    created: tuple[str, ...]
    removed: tuple[str, ...]
    notes: tuple[str, ...]
    dry_run: bool
    diff: str = ""
    shortened: tuple[Shortened, ...] = ()

    def to_json(self) -> dict[str, Any]:
        """Return the report as JSON's own types."""
        return {
            "target": self.target,
            "repo": self.repo,
            "suite_hash": self.suite_hash,
            "members": self.members,
            "files": self.files,
            "changed": list(self.changed),
            "created": list(self.created),
            "removed": list(self.removed),
            "notes": list(self.notes),
            "dry_run": self.dry_run,
            "diff": self.diff,
            "shortened": [one.to_json() for one in self.shortened],
        }


@dataclass(frozen=True)
class RemovalReport:
    """What a removal did: paths given back their original bytes, and paths deleted."""

    target: str
    repo: str
    restored: tuple[str, ...]
    deleted: tuple[str, ...]

    def to_json(self) -> dict[str, Any]:
        """Return the report as JSON's own types."""
        return {
            "target": self.target,
            "repo": self.repo,
            "restored": list(self.restored),
            "deleted": list(self.deleted),
        }
