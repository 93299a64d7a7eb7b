"""The campaign of a confirmation: a suite's members at the benchmark's own shapes.

The same request again goes on where it was stopped, and finds what is done already.
"""

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from gpu_eval.campaign.device_settings import GPU_PROFILE, on_device
from gpu_eval.campaign.layout import Layout
from gpu_eval.campaign.plan import build_plan, find_profile
from gpu_eval.campaign.progress import Reporter
from gpu_eval.campaign.run import Finished, resume, start
from gpu_eval.campaign.settings import Settings
from gpu_eval.campaign.shapes import PROFILES
from gpu_eval.devices.base import Device
from gpu_eval.devices.registry import open_device
from suiteopt.errors import UserError
from suiteopt.matrix.closed import costly_cells, skipped_cells
from suiteopt.matrix.schema import Kind
from suiteopt.matrix.store import Matrix
from suiteopt.suite import Suite

_PREFIX = "confirm-"


def narrowed(suite: Suite, problems: Sequence[str]) -> Suite:
    """Return a suite with only these of its problems; all of them where none is named.

    Raises
    ------
    UserError
        If the suite does not have one of them.
    """
    known = [problem.problem for problem in suite.problems if problem.members]
    for name in problems:
        if name not in known:
            raise UserError(
                f"the suite has no members of {name}; it has some of {', '.join(known) or 'none'}"
            )
    if not problems:
        return suite
    return replace(suite, problems=tuple(p for p in suite.problems if p.problem in problems))


def request(
    suite: Suite,
    matrix: Matrix,
    limits: str,
    corpora: tuple[str, ...],
    command: str,
    skip_fatal: bool = False,
) -> Settings:
    """Return what a confirmation asks for, before it knows its device.

    Parameters
    ----------
    suite : Suite
    matrix : Matrix
        The one that it was chosen on; as many sites of a rule are run as it has.
    limits : str
        Name of the profile by whose limits members grow to the contract's shapes.
    corpora : tuple of str
    command : str
    skip_fatal : bool
        Whether to leave out mutants on members on which they crashed, ran out of time, or were
        closed by that, in that matrix.
    """
    measured = PROFILES.get(matrix.meta.profile)
    return Settings(
        profile=f"{_PREFIX}{find_profile(limits).name}",
        device="auto",
        corpora=corpora,
        command=command,
        suite=suite.to_json(),
        limits=limits,
        skipped=_fatal(suite, matrix) if skip_fatal else (),
        sites=None if measured is None else measured.sites,
    )


def _fatal(suite: Suite, matrix: Matrix) -> tuple[tuple[str, str], ...]:
    """Return mutant and member of the `costly_cells` of a suite's members, sorted.

    A refused launch runs, and so does what one once closed.
    """
    found: list[tuple[str, str]] = []
    for problem in suite.problems:
        if problem.members:
            table = matrix.implementations_of(problem.problem)
            mutants = set(table["implementation"][table["kind"] == str(Kind.MUTANT)].astype(str))
            members = {member.input for member in problem.members}
            costly = costly_cells(matrix, problem.problem)
            found.extend((name, on) for name, on in costly if name in mutants and on in members)
    return tuple(sorted(found))


def limits_of(root: Path) -> str:
    """Return the limits of the confirmation that a directory holds; empty where it holds nothing.

    Raises
    ------
    UserError
        If it holds another campaign or matrix.
    """
    layout = Layout(root)
    if layout.started:
        found = _settings(layout).profile
    elif layout.header.exists():
        found = Matrix.open(root).meta.profile
    else:
        return ""
    if not found.startswith(_PREFIX):
        raise _another(root)
    return found.removeprefix(_PREFIX)


def limits_for(device: Device) -> str:
    """Return the limits of a device where the user names none.

    Raises
    ------
    UserError
        On a CPU, which would be days over a benchmark's own shapes.
    """
    if device.torch_device == "cpu":
        raise UserError(
            "the benchmark's own shapes take a GPU, and this is a CPU; run this on a machine with "
            "one, or say --limits full for the largest shapes of a CPU's profiles"
        )
    return GPU_PROFILE


def measure(
    root: Path, asked: Settings, device: Device | None, reporter: Reporter, jobs: int | None = None
) -> Finished:
    """Measure what was asked, go on with it, or find it done.

    Parameters
    ----------
    root : Path
        A new or empty directory, or one of the same request.
    asked : Settings
        What `request` gave.
    device : Device or None
        For a new campaign; None opens one where it is needed.
    reporter : Reporter
    jobs : int, optional

    Raises
    ------
    UserError
        If the directory holds something else, or the campaign cannot be done or is interrupted.
    """
    layout = Layout(root)
    if layout.started:
        _require_same(root, asked, _settings(layout))
        return resume(root, device, reporter)
    if layout.header.exists():
        return _done(root, asked)
    opened = device or open_device()
    return start(root, on_device(asked, opened, jobs), opened, reporter)


def _settings(layout: Layout) -> Settings:
    return Settings.from_json(layout.settings.read_text("utf-8"), layout.settings)


def _require_same(root: Path, asked: Settings, found: Settings) -> None:
    for name in ("profile", "corpora", "suite", "limits", "skipped", "sites"):
        if getattr(found, name) != getattr(asked, name):
            raise _another(root)


def _done(root: Path, asked: Settings) -> Finished:
    """Take a matrix for the confirmation's own if it has its inputs, corpus, limits and cells.

    Closed cells of who crashed on another member are taken for closed by that.
    """
    matrix = Matrix.open(root)
    meta = matrix.meta
    plan = build_plan(asked)
    wanted = (plan.profile, plan.pool_hash, plan.corpus_hash)
    if not meta.complete or (meta.profile, meta.pool_hash, meta.corpus_hash) != wanted:
        raise _another(root)
    lacking = {
        cell for problem in matrix.problem_ids for cell in skipped_cells(matrix, problem)
    } - set(asked.skipped)
    if lacking:
        mutant, on = min(lacking)
        way_out = "" if asked.skipped else "say --skip-fatal, by which it was measured, or "
        raise UserError(
            f"{root} lacks {len(lacking)} of the cells that are asked for, the first of {mutant} "
            f"on {on}; {way_out}choose another --output"
        )
    return Finished(root, meta.seconds, already=True)


def _another(root: Path) -> UserError:
    return UserError(
        f"{root} holds something else than the confirmation of this suite (other members, "
        "corpus, limits or --skip-fatal); choose another --output"
    )
