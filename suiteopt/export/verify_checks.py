"""What is looked at to verify an export: files, what a loader delivered, kills."""

from collections.abc import Iterator
from typing import Any

from suiteopt.export.checkout import Checkout
from suiteopt.export.file_record import FileRecord
from suiteopt.export.finding import Finding
from suiteopt.export.manifest import Manifest, State
from suiteopt.export.private import check_private_seeds
from suiteopt.export.replay import check_replay
from suiteopt.export.shortened import shortened, warning
from suiteopt.export.target import LoadJob, Target
from suiteopt.matrix.store import Matrix
from suiteopt.suite import Suite


def check_files(checkout: Checkout, target: Target, manifest: Manifest) -> Iterator[Finding]:
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


def check_job(job: LoadJob, first: FileRecord, second: FileRecord) -> Iterator[Finding]:
    """Judge what two loads of a file delivered."""
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


def check_kills(
    manifest: Manifest, matrix: Matrix | None, replay: Matrix | None
) -> Iterator[Finding]:
    """Judge the kills that were promised, where a replay tells of them."""
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


def check_lengths(suite: Suite) -> Iterator[Finding]:
    """Nobody has shown that a tolerance lets right kernels pass at longer reductions."""
    for one in shortened(suite):
        for member in one.members:
            yield Finding.unproved("tolerance", one.problem, member, warning([one]))
