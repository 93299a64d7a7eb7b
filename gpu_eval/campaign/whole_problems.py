"""A matrix of those problems of an unfinished campaign that are whole so far.

The campaign stays as it is. No device is opened: what a problem's cells depend on is in the keys of
its tasks, and the journal says what the device was.

Nor is the campaign's lock taken, since nothing that is read changes under a campaign that is under
way: result files are whole before the journal names them, and what is undamaged is never written
again. All that can happen is that the campaign ends meanwhile and clears up; that is told.
"""

import os
import shutil
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from gpu_eval.campaign import processes
from gpu_eval.campaign.assemble import assemble
from gpu_eval.campaign.header import tool_version
from gpu_eval.campaign.journal import Journal
from gpu_eval.campaign.layout import Layout
from gpu_eval.campaign.occupancy import check_frozen, read_frozen
from gpu_eval.campaign.plan import CampaignPlan, build_plan
from gpu_eval.campaign.progress import Reporter
from gpu_eval.campaign.schedule import Schedule
from gpu_eval.campaign.settings import Settings
from gpu_eval.campaign.task_making import device_text
from suiteopt.errors import UserError
from suiteopt.matrix.files import is_taken, sync_directory
from suiteopt.matrix.header import read_header


@dataclass(frozen=True)
class Assembled:
    """What was written: the matrix's id, its problems, and those that it lacks."""

    id: str
    problems: tuple[str, ...]
    missing: tuple[str, ...]


def assemble_whole(
    root: Path, output: Path, command: str, reporter: Reporter, like: Path | None = None
) -> Assembled:
    """Write a complete matrix of the problems of a campaign that are whole so far.

    Parameters
    ----------
    root : Path
        Directory of the campaign, which may be under way.
    output : Path
        A new or empty directory outside it.
    command : str
        For the header, behind the command that began the campaign.
    reporter : Reporter
    like : Path or None
        A matrix of the same device, for a campaign whose journal does not say what its was. Where
        it is of another, no problem is found to be whole.

    Raises
    ------
    UserError
        If there is no campaign, it is finished or its corpus is no longer what it was, no problem
        is whole, or the output is occupied or cannot be written.
    """
    layout = Layout(root)
    _check_open(layout)
    _check_free(output, root)
    try:
        return _assemble_whole(layout, output, command, reporter, like)
    except (OSError, UserError) as error:
        if not layout.started:
            raise UserError(
                f"the campaign in {root} has ended meanwhile; {root} is its matrix"
            ) from error
        if isinstance(error, OSError):
            raise UserError(
                f"{error.filename or output}: {error.strerror}; correct the cause and run the "
                "command again"
            ) from error
        raise


def _assemble_whole(
    layout: Layout, output: Path, command: str, reporter: Reporter, like: Path | None
) -> Assembled:
    settings = Settings.from_json(layout.settings.read_text("utf-8"), layout.settings)
    began = layout.began
    frozen = read_frozen(layout)
    journal = Journal(layout.journal, layout.shards)
    devices = journal.devices if like is None else (read_header(like).device,)
    if not devices:
        raise UserError(
            f"the campaign in {layout.root} does not say what it was measured on; name a matrix of "
            "the same device with --device-of"
        )
    processes.warm_up()
    reporter.stage("planning")
    same = frozen.get("version") == tool_version()
    plan = build_plan(settings, str(frozen.get("corpus_hash")) if same else "")
    check_frozen(layout, plan, frozen)
    reporter.stage("looking for whole problems")
    device, schedule = _best(layout, settings, plan, journal, devices)
    kept = tuple(p for p in plan.problems if schedule.states[p.id].whole)
    if not kept:
        raise UserError(
            f"no problem of the campaign in {layout.root} is whole yet"
            + ("" if like is None else f" on the device of {like}")
            + f"; go on with 'gpu-eval resume {layout.root}'"
        )
    reporter.stage("writing the matrix")
    # Two command lines, as they would be typed: the first one measured.
    both = replace(settings, command="; ".join(filter(None, (settings.command, command))))
    part = replace(plan, problems=kept)
    place = output.resolve()
    stage = place.with_name(f".{place.name}.{os.getpid()}")
    try:
        stage.mkdir(parents=True)
        assemble(stage, part, both, schedule, journal, layout.shards, device, began)
        os.rename(stage, place)
    except BaseException:
        shutil.rmtree(stage, ignore_errors=True)
        raise
    sync_directory(place.parent)
    names = tuple(problem.id for problem in kept)
    missing = tuple(p.id for p in plan.problems if p.id not in names)
    return Assembled(read_header(output).id, names, missing)


def _best(
    layout: Layout,
    settings: Settings,
    plan: CampaignPlan,
    journal: Journal,
    devices: Sequence[Mapping[str, str]],
) -> tuple[Mapping[str, str], Schedule]:
    """Return the device on which most problems are whole, the latest of several, and their states.

    A campaign that went on under another driver has measured again what it had; a matrix is of one.
    """
    found = [
        (device, Schedule(plan, settings, journal, layout.shards, device_text(device)))
        for device in devices
    ]
    return max(found, key=lambda pair: sum(s.whole for s in pair[1].states.values()))


def _check_open(layout: Layout) -> None:
    """Refuse a directory without a campaign that can be gone on with."""
    root = layout.root
    if layout.header.exists() and read_header(root).complete:
        raise UserError(f"{root} is a matrix already; use it as it is")
    if not layout.started:
        raise UserError(f"{root} holds no campaign; start one with 'gpu-eval run --output {root}'")


def _check_free(output: Path, root: Path) -> None:
    """Refuse an output that holds anything, or that the campaign would hold."""
    if output.resolve().is_relative_to(root.resolve()):
        raise UserError(f"{output} lies in the campaign {root}; choose another --output")
    if is_taken(output):
        raise UserError(f"{output} is not empty; choose another --output")
