"""Where a campaign keeps what, while it is under way.

Everything that is not the matrix lies in one directory inside the output::

    OUTPUT/.campaign/settings.json   what was asked
                     lock            held by the running process
                     frozen.json     hashes of corpus and pools, written before anything runs
                     journal.jsonl   what is done, append-only
                     shards/         results of tasks, named by their content key
                     cache/          compiled binaries, unless SUITEOPT_CACHE is set
                     beacons/        what each worker is doing at this moment
"""

import os
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path


@dataclass(frozen=True)
class Layout:
    """Paths of a campaign in an output directory."""

    root: Path

    @property
    def work(self) -> Path:
        """The directory of everything that is not the matrix."""
        return self.root / ".campaign"

    @property
    def settings(self) -> Path:
        """What was asked."""
        return self.work / "settings.json"

    @property
    def lock(self) -> Path:
        """The lock file."""
        return self.work / "lock"

    @property
    def frozen(self) -> Path:
        """Hashes of corpus and pools."""
        return self.work / "frozen.json"

    @property
    def journal(self) -> Path:
        """What is done."""
        return self.work / "journal.jsonl"

    @property
    def shards(self) -> Path:
        """Results of tasks."""
        return self.work / "shards"

    @property
    def cache(self) -> Path:
        """Compiled binaries; ``SUITEOPT_CACHE`` keeps them beyond the campaign, for the next."""
        chosen = os.environ.get("SUITEOPT_CACHE")
        return Path(chosen) / "kernels" if chosen else self.work / "cache"

    @property
    def beacons(self) -> Path:
        """Progress records of the workers."""
        return self.work / "beacons"

    @property
    def header(self) -> Path:
        """The matrix's header, written last."""
        # Here, because the module loads pyarrow, which starts a thread: workers go without.
        from suiteopt.matrix.tables import HEADER

        return self.root / HEADER

    def shard(self, name: str) -> Path:
        """Return the path of a result file."""
        return self.shards / name

    @property
    def started(self) -> bool:
        """Whether a campaign was begun here."""
        return self.settings.exists()

    @property
    def began(self) -> datetime:
        """When a campaign was begun here; nobody touches its settings afterwards."""
        return datetime.fromtimestamp(self.settings.stat().st_mtime, UTC)
