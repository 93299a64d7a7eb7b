"""Verifying an exported checkout: what its own loader gets, and what the suite promised.

Every promise ends as reproduced, failed, or unproved with the reason; nothing is taken for good
because it was not looked at, and the members that ran are counted.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from suiteopt.errors import UserError
from suiteopt.export.checkout import Checkout
from suiteopt.export.finding import Finding, Verdict
from suiteopt.export.loading import FileRecord, Progress, load_files
from suiteopt.export.manifest import Manifest, State
from suiteopt.export.present import read_export, resolve_export
from suiteopt.export.private import check_private_seeds
from suiteopt.export.replay import check_replay
from suiteopt.export.shortened import shortened, warning
from suiteopt.export.target import LoadJob, Target
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
    findings = list(_check_files(checkout, kind, manifest))
    jobs = kind.jobs(manifest.suite, checkout.root)
    first, second = (
        load_files(kind, checkout.root, jobs, turn, max_bytes, timeout, progress) for turn in (0, 1)
    )
    for job in jobs:
        findings.extend(_check_job(job, first[job.problem], second[job.problem]))
    findings.extend(_check_kills(manifest, matrix, replay))
    findings.extend(_check_lengths(manifest.suite))
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


def _check_files(checkout: Checkout, target: Target, manifest: Manifest) -> Iterator[Finding]:
    """Every exported file is as exported; every original is kept."""
    where = target.manifest_path
    if manifest.state is State.COMPLETE:
        yield Finding.reproduced("file", "", where)
    else:
        yield Finding.failed(
            "file",
            "",
            where,
            f"the last change was interrupted ({manifest.state}): export again, or remove it",
        )
    for entry in manifest.entries:
        found = checkout.hash(entry.path)
        if found == entry.after:
            yield Finding.reproduced("file", "", entry.path)
        else:
            what = "is missing" if found is None else "was changed since the export"
            yield Finding.failed("file", "", entry.path, what)


def _check_job(job: LoadJob, first: FileRecord, second: FileRecord) -> Iterator[Finding]:
    where = job.hidden_file
    if first.absent:
        yield Finding.unproved(
            "load", job.problem, where, f"the harness's own package is needed: {first.absent}"
        )
        return
    if first.memory and first.count is None:
        yield Finding.unproved("load", job.problem, where, _short_of_memory(first, second))
    elif first.error or first.count is None:
        yield Finding.failed("load", job.problem, where, first.error or "it did not load")
    elif first.kept < 0:
        yield Finding.failed(
            "count",
            job.problem,
            where,
            f"{first.count} configurations, and the suite has {len(job.inputs)} members",
        )
    else:
        yield from _check_counts(job, first)
    if first.generator_unchanged and second.generator_unchanged:
        yield Finding.reproduced("generator", job.problem, where)
    else:
        yield Finding.failed(
            "generator", job.problem, where, "torch's global generator was changed by loading"
        )
    for index in range(-max(first.kept, 0), len(job.inputs)):
        yield from _check_configuration(job, index, first, second)


def _check_counts(job: LoadJob, record: FileRecord) -> Iterator[Finding]:
    assert record.count is not None
    seen = len(record.seen) + len(record.left_out)
    if seen == record.count:
        yield Finding.reproduced("count", job.problem, job.hidden_file, f"{seen} configurations")
    elif record.memory:
        yield Finding.unproved(
            "count", job.problem, job.hidden_file, _short_of_memory(record, record)
        )
    else:
        yield Finding.failed(
            "count",
            job.problem,
            job.hidden_file,
            f"len() says {record.count} configurations, and iteration gave {seen}",
        )


def _check_configuration(
    job: LoadJob, index: int, first: FileRecord, second: FileRecord
) -> Iterator[Finding]:
    name = job.inputs[index] if index >= 0 else f"original configuration {index}"
    checks = ("repeat", "layout", "reference")
    skipped = first.skipped.get(index) or second.skipped.get(index)
    if skipped is not None:
        for check in checks:
            yield Finding.unproved(
                check,
                job.problem,
                name,
                f"needs {skipped[0]} bytes, and {skipped[1]} are allowed (--max-bytes)",
            )
        return
    one, other = first.configurations.get(index), second.configurations.get(index)
    if one is None and first.memory:
        for check in checks:
            yield Finding.unproved(check, job.problem, name, _short_of_memory(first, second))
        return
    if one is None:
        yield Finding.failed("delivery", job.problem, name, "the loader did not get it")
        return
    if one["hashes"] is not None:  # the harness draws it anew each time
        yield _check_repeat(job, name, one, other, second)
    yield _judge("layout", job, name, one["layout"], "get_inputs() gives another layout: ")
    yield _judge("reference", job, name, one["reference"], "")


def _short_of_memory(first: FileRecord, second: FileRecord) -> str:
    return f"the memory did not suffice: {first.memory or second.memory}"


def _check_repeat(
    job: LoadJob,
    name: str,
    one: dict[str, Any],
    other: dict[str, Any] | None,
    second: FileRecord,
) -> Finding:
    if other is None and second.memory:
        return Finding.unproved("repeat", job.problem, name, _short_of_memory(second, second))
    if other is None:
        reason = second.error or "it was not delivered"
        return Finding.failed("repeat", job.problem, name, f"the second load failed: {reason}")
    if one["hashes"] != other["hashes"]:
        return Finding.failed("repeat", job.problem, name, "two loads gave different contents")
    return Finding.reproduced("repeat", job.problem, name)


def _judge(check: str, job: LoadJob, name: str, wrong: str | None, prefix: str) -> Finding:
    if wrong is None:
        return Finding.unproved(
            check, job.problem, name, "the target's files hold no problems: its harness has them"
        )
    if wrong:
        return Finding.failed(check, job.problem, name, prefix + wrong)
    return Finding.reproduced(check, job.problem, name)


def _check_kills(
    manifest: Manifest, matrix: Matrix | None, replay: Matrix | None
) -> Iterator[Finding]:
    suite = manifest.suite
    if matrix is not None and replay is not None:
        check = check_replay if manifest.seeds is None else check_private_seeds
        yield from check(suite, matrix, replay)
        return
    reason = (
        "kernels must run for this: run 'gpu-eval replay' and give its matrix (--replay)"
        if replay is None
        else "the suite's own matrix is needed beside the replay (--matrix)"
    )
    for problem in suite.problems:
        for member in problem.members:
            yield Finding.unproved("kills", problem.problem, member.input, reason)


def _check_lengths(suite: Suite) -> Iterator[Finding]:
    """Nobody has shown that a tolerance lets right kernels pass at longer reductions."""
    for one in shortened(suite):
        for member in one.members:
            yield Finding.unproved("tolerance", one.problem, member, warning([one]))


def _delivered(record: FileRecord, *, members: bool) -> int:
    return sum((index >= 0) is members for index in record.configurations)
