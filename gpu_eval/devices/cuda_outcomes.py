"""What several runs of a job say together, and which jobs need the same memory."""

from collections.abc import Sequence
from dataclasses import replace

from gpu_eval.devices.base import Job, Outcome
from gpu_eval.devices.cuda_case import BoundCase
from gpu_eval.devices.cuda_kernels import refusal
from suiteopt.matrix.schema import MEASURED_STATUSES, Status


def alike(bound: BoundCase, jobs: Sequence[Job]) -> Sequence[Job]:
    """Return the first jobs, as long as they need the same buffers."""
    first: list[tuple[str, int]] | None = None
    for place, job in enumerate(jobs):
        if refusal(job.plan):
            continue
        sizes = list(bound.sizes(job.plan).items())
        first = sizes if first is None else first
        if sizes != first:
            return jobs[:place]
    return jobs


def is_unwritten(outcome: Outcome | None) -> bool:
    """Tell whether a run left elements of its outputs."""
    return outcome is not None and outcome.status is Status.UNWRITTEN


def merged(first: Outcome | None, stale: Outcome) -> Outcome:
    """Return the outcome of a run that left elements unwritten, judged over the stale result."""
    if first is None or not stale.statistics:
        return stale
    return Outcome(
        Status.UNWRITTEN,
        stale.statistics,
        stale.counts,
        first.output_hash,
        first.seconds,
        message=first.message,
    )


def accused(outcome: Outcome, words: int) -> Outcome:
    """Return the outcome of a run after which changed words were seen in the ground."""
    if outcome.status not in MEASURED_STATUSES:
        return outcome
    message = f"words far outside the outputs were written, {words} of them seen"
    if outcome.message and outcome.status is Status.OUT_OF_BOUNDS:
        message = f"{outcome.message}; {message}"
    return replace(outcome, status=Status.OUT_OF_BOUNDS, message=message)
