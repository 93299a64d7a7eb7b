"""Verifying an exported checkout: what its own loader gets, and what the suite promised.

Every promise ends as reproduced, failed, or unproved with the reason; nothing is taken for good
because it was not looked at, and the members that ran are counted.
"""

from dataclasses import dataclass
from pathlib import Path
from typing import Any

from suiteopt.errors import UserError
from suiteopt.export.checkout import Checkout
from suiteopt.export.file_record import FileRecord, Progress
from suiteopt.export.finding import Finding, Verdict
from suiteopt.export.loading import load_files
from suiteopt.export.manifest import Manifest
from suiteopt.export.present import read_export, resolve_export
from suiteopt.export.target import Target
from suiteopt.export.verify_checks import check_files, check_job, check_kills, check_lengths
from suiteopt.matrix.store import Matrix
from suiteopt.suite import Suite

FILE_SECONDS = 1800.0


@dataclass(frozen=True)
class VerifyReport:
    """What became of every promise.

    Attributes
    ----------
    target, suite_hash, matrix_id : str
    members : int
        Members that the loader delivered.
    originals : int
        Original configurations that it delivered before them.
    files : int
        Exported files, manifest included.
    reproduced : int
        Promises that were kept.
    unproved, failed : tuple of Finding
        Promises that could not be tried, and that were broken.
    """

    target: str
    suite_hash: str
    matrix_id: str
    members: int
    originals: int
    files: int
    reproduced: int
    unproved: tuple[Finding, ...]
    failed: tuple[Finding, ...]

    @property
    def ok(self) -> bool:
        """Whether nothing failed."""
        return not self.failed

    def to_json(self) -> dict[str, Any]:
        """Return counts, and the findings behind them as lists."""
        return {
            "target": self.target,
            "suite_hash": self.suite_hash,
            "matrix_id": self.matrix_id,
            "members": self.members,
            "originals": self.originals,
            "files": self.files,
            "reproduced": self.reproduced,
            "unproved": len(self.unproved),
            "failed": len(self.failed),
            "unproved_items": [finding.to_json() for finding in self.unproved],
            "failed_items": [finding.to_json() for finding in self.failed],
        }


def verify(
    directory: Path,
    *,
    target: Target | str | None = None,
    suite: Suite | None = None,
    matrix: Matrix | None = None,
    replay: Matrix | None = None,
    max_bytes: int | None = None,
    timeout: float = FILE_SECONDS,
    progress: Progress | None = None,
) -> VerifyReport:
    """Verify an exported checkout.

    Parameters
    ----------
    directory : Path
        The checkout. Its files are code, and are run, in processes of their own.
    target : Target or str or None
        None finds out which known target's export it holds.
    suite : Suite or None
        What should be there; None takes the manifest's word.
    matrix : Matrix or None
        The matrix that the suite was chosen on; needed to compare kills.
    replay : Matrix or None
        A matrix that ``gpu-eval replay`` made; without it kills are unproved.
    max_bytes : int or None
        Bytes of inputs and outputs beyond which a member is not made but listed as unproved;
        None allows three quarters of the memory that is free.
    timeout : float
        Seconds for one exported file.
    progress : callable, optional
        Is told of every step of the loading.

    Raises
    ------
    UserError
        If the directory holds no export, or suite, matrix and export do not belong together.
    """
    checkout = Checkout(directory)
    kind = resolve_export(checkout, target)
    manifest = read_export(checkout, kind)
    if manifest is None:
        raise UserError(f"{checkout.root} holds no export to {kind.name}; make one first")
    _require_belonging(manifest, suite, matrix)
    findings = list(check_files(checkout, kind, manifest))
    jobs = kind.jobs(manifest.suite, checkout.root)
    first, second = (
        load_files(kind, checkout.root, jobs, turn, max_bytes, timeout, progress) for turn in (0, 1)
    )
    for job in jobs:
        findings.extend(check_job(job, first[job.problem], second[job.problem]))
    findings.extend(check_kills(manifest, matrix, replay))
    findings.extend(check_lengths(manifest.suite))
    by_verdict = {
        verdict: tuple(finding for finding in findings if finding.verdict is verdict)
        for verdict in Verdict
    }
    return VerifyReport(
        target=kind.name,
        suite_hash=manifest.suite.hash,
        matrix_id=manifest.suite.matrix_id,
        members=sum(_delivered(record, members=True) for record in first.values()),
        originals=sum(_delivered(record, members=False) for record in first.values()),
        files=len(manifest.entries) + 1,
        reproduced=len(by_verdict[Verdict.REPRODUCED]),
        unproved=by_verdict[Verdict.UNPROVED],
        failed=by_verdict[Verdict.FAILED],
    )


def _require_belonging(manifest: Manifest, suite: Suite | None, matrix: Matrix | None) -> None:
    exported = manifest.suite
    if suite is not None and suite.hash != exported.hash:
        raise UserError(
            f"the checkout holds the suite {exported.hash[:12]}, and {suite.hash[:12]} was given; "
            "export that one first, or give the suite that was exported"
        )
    if matrix is not None and matrix.id != exported.matrix_id:
        raise UserError(
            f"the suite was chosen on the matrix {exported.matrix_id[:12]}, and "
            f"{matrix.id[:12]} was given; give the matrix that it was chosen on"
        )


def _delivered(record: FileRecord, *, members: bool) -> int:
    return sum((index >= 0) is members for index in record.configurations)
