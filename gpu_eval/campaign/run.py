"""A campaign from its settings to its matrix; started, or resumed wherever it was killed."""

import contextlib
import shutil
import time
from dataclasses import dataclass
from pathlib import Path

from gpu_eval.campaign import processes
from gpu_eval.campaign.assemble import assemble
from gpu_eval.campaign.header import tool_version
from gpu_eval.campaign.interruption import interruptible
from gpu_eval.campaign.journal import Journal
from gpu_eval.campaign.layout import Layout
from gpu_eval.campaign.lock import locked
from gpu_eval.campaign.occupancy import check_frozen, freeze, read_frozen, refuse_occupied
from gpu_eval.campaign.plan import CampaignPlan, build_plan
from gpu_eval.campaign.progress import Reporter
from gpu_eval.campaign.schedule import Schedule
from gpu_eval.campaign.settings import Settings
from gpu_eval.campaign.supervisor import Supervisor
from gpu_eval.campaign.task_making import device_text
from gpu_eval.devices.base import Device
from suiteopt.errors import UserError
from suiteopt.matrix.files import write_atomic
from suiteopt.matrix.header import read_header


@dataclass(frozen=True)
class Finished:
    """What a campaign came to: its directory, its wall-clock time, whether it had been done."""

    path: Path
    seconds: float
    already: bool = False


def start(
    root: Path, settings: Settings, device: Device, reporter: Reporter, scheduler: str = ""
) -> Finished:
    """Run a campaign in a new or empty directory.

    Parameters
    ----------
    root : Path
    settings : Settings
    device : Device
    reporter : Reporter
    scheduler : str
        A Dask cluster (`gpu_eval.campaign.cluster.connect`); empty for processes of this machine.

    Raises
    ------
    UserError
        If the directory holds anything, or the campaign cannot be done or is interrupted.
    """
    with interruptible(root):
        return _start(root, settings, device, reporter, scheduler)


def _start(
    root: Path, settings: Settings, device: Device, reporter: Reporter, scheduler: str
) -> Finished:
    layout = Layout(root)
    refuse_occupied(layout, settings)
    # Compiler and plan come first: a machine without one, or a wrong problem definition, leaves no
    # directory behind.
    device.describe()
    processes.warm_up()
    reporter.stage("planning")
    began = time.monotonic()
    plan = build_plan(settings)
    try:
        layout.work.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise UserError(
            f"{root} cannot be made ({error.strerror}); choose another --output"
        ) from error
    with locked(layout.lock):
        refuse_occupied(layout, settings)
        freeze(layout, plan)
        write_atomic(layout.settings, settings.to_json().encode())
        return _work(layout, settings, plan, device, reporter, scheduler, began)


def resume(root: Path, device: Device | None, reporter: Reporter, scheduler: str = "") -> Finished:
    """Go on with a campaign that was interrupted or killed.

    Parameters
    ----------
    root : Path
    device : Device or None
        None: the one that the campaign was started with.
    reporter : Reporter
    scheduler : str
        A Dask cluster, whatever the campaign was started on; empty for this machine.

    Raises
    ------
    UserError
        If there is no campaign, the corpus is no longer what it was, or it is interrupted.
    """
    with interruptible(root):
        return _resume(root, device, reporter, scheduler)


def _resume(root: Path, device: Device | None, reporter: Reporter, scheduler: str) -> Finished:
    layout = Layout(root)
    if not layout.started:
        if layout.header.exists():
            meta = read_header(root)
            if meta.complete:
                return Finished(root, meta.seconds, already=True)
            raise UserError(
                f"{root} holds an incomplete matrix but not what its campaign left; "
                "run it again into an empty directory"
            )
        raise UserError(f"{root} holds no campaign; start one with 'gpu-eval run --output {root}'")
    with locked(layout.lock):
        began = time.monotonic()
        settings = Settings.from_json(layout.settings.read_text("utf-8"), layout.settings)
        processes.warm_up()
        reporter.stage("planning")
        frozen = read_frozen(layout)
        # What the same version has checked when the campaign began need not be checked again.
        same = frozen.get("version") == tool_version()
        plan = build_plan(settings, str(frozen.get("corpus_hash")) if same else "")
        check_frozen(layout, plan, frozen)
        device = device or open_for(settings)
        return _work(layout, settings, plan, device, reporter, scheduler, began)


def open_for(settings: Settings) -> Device:
    """Return the device that a campaign was started with."""
    from gpu_eval.devices.registry import open_device

    return judged_by_sass(open_device(settings.device), settings.sass)


def judged_by_sass(device: Device, wanted: bool) -> Device:
    """Let NVRTC say which programs are equal, where that is wanted of a CPU."""
    if not wanted or device.torch_device != "cpu":
        return device
    from gpu_eval.devices.sass_equivalence import SassEquivalence

    return SassEquivalence(device)


def _work(
    layout: Layout,
    settings: Settings,
    plan: CampaignPlan,
    device: Device,
    reporter: Reporter,
    scheduler: str,
    began: float,
) -> Finished:
    journal = Journal(layout.journal, layout.shards)
    started = layout.began
    described = device.describe()
    try:
        journal.sit_down(began, described)
        schedule = Schedule(plan, settings, journal, layout.shards, device_text(described))

        def report(done: int, note: str) -> None:
            if note:
                reporter.note(note)
            if done >= 0:
                reporter.cells(done, schedule.cells, schedule.restored_cells)

        reporter.stage("measuring")
        try:
            if scheduler:
                from gpu_eval.campaign.cluster import ClusterRun, connect

                with connect(scheduler) as client:
                    ClusterRun(client, schedule, journal, layout, device, settings, report).run()
            else:
                Supervisor(schedule, journal, layout, device, settings, report).run()
        finally:
            with contextlib.suppress(OSError):
                journal.stand_up()
        reporter.stage("writing the matrix")
        assemble(layout.root, plan, settings, schedule, journal, layout.shards, described, started)
    except UserError as error:
        if isinstance(error.__cause__, OSError) and "gpu-eval resume" not in str(error):
            raise UserError(
                f"{error}; go on with 'gpu-eval resume {layout.root}'"
            ) from error.__cause__
        raise
    except OSError as error:
        where = error.filename or layout.root
        raise UserError(
            f"{where}: {error.strerror}; make room or correct the cause, nothing is lost: go on "
            f"with 'gpu-eval resume {layout.root}'"
        ) from error
    # The header says that the matrix is whole; what led to it is no longer needed. Without its
    # settings a half-removed directory is not taken for a campaign.
    layout.settings.unlink()
    shutil.rmtree(layout.work, ignore_errors=True)
    return Finished(layout.root, journal.seconds)
