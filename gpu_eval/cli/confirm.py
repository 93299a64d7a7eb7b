"""``gpu-eval confirm``: a suite's members at the benchmark's own shapes, beside its promises."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from gpu_eval.cli.output import (
    Corpora,
    DeviceName,
    Jobs,
    Json,
    Problems,
    absolute,
    command_line,
    show,
    table,
)
from gpu_eval.cli.run import tell_estimate
from suiteopt.console import EXIT_CHECK_FAILED

if TYPE_CHECKING:
    from rich.table import Table

    from suiteopt.export.confirmation import Confirmation, MemberConfirmation, ProblemConfirmation

_SHOWN = 12
_MEMBERS_SHOWN = 40


def confirm(
    suite: Annotated[Path, typer.Argument(help="A suite, as 'suiteopt select -o' writes it.")],
    output: Annotated[
        Path,
        typer.Option(
            "--output", "-o", help="Directory of the new matrix; one that was begun is finished."
        ),
    ],
    matrix: Annotated[
        Path | None,
        typer.Option("--matrix", help="Matrix that the suite was chosen on; else the default one."),
    ] = None,
    device: DeviceName = "auto",
    problem: Problems = None,
    corpus: Corpora = None,
    limits: Annotated[
        str | None,
        typer.Option(
            "--limits",
            help="Profile whose limits members may grow to; contract on a GPU by default.",
        ),
    ] = None,
    jobs: Jobs = None,
    skip_fatal: Annotated[
        bool,
        typer.Option(
            "--skip-fatal",
            help="Leave out what crashed or timed out on a member, or was closed by that.",
        ),
    ] = False,
    raised: Annotated[
        Path | None,
        typer.Option(
            "--raised",
            metavar="FILE",
            help="Write the suite again, with tolerances raised to what is needed there.",
        ),
    ] = None,
    dry_run: Annotated[
        bool, typer.Option("--dry-run", help="Say what it would cost on a GPU, and do nothing.")
    ] = False,
    as_json: Json = False,
) -> None:
    """Measure a suite's members at the benchmark's own shapes, and compare with its promises.

    Every substrate, control, null and mutant of the suite's problems runs on every member, at the
    benchmark's full dimensions where the limits carry them, else at the largest shape within
    them. Exit code 1 if a promised kill is not confirmed or a control is rejected. The same
    command again goes on where it was stopped.
    """
    from gpu_eval.campaign import confirming
    from gpu_eval.campaign.device_settings import GPU_PROFILE
    from gpu_eval.campaign.progress import reporter
    from gpu_eval.devices.registry import check_name, open_device
    from suiteopt.export.confirm import confirm as compare
    from suiteopt.export.raised import raised as raise_tolerances
    from suiteopt.export.raised import require_raisable
    from suiteopt.matrix.store import Matrix, resolve_matrix
    from suiteopt.suite import Suite

    whole = Suite.open(suite)
    chosen = confirming.narrowed(whole, problem or ())
    chosen_on = Matrix.open(resolve_matrix(matrix))
    # Whatever its own matrix cannot answer is refused before anything runs.
    compare(chosen, chosen_on, chosen_on)
    if raised is not None:
        _require_free(raised, suite, output)
        require_raisable(whole, chosen_on)
    corpora = absolute(corpus)
    if dry_run:
        check_name(device)
        wanted = limits or GPU_PROFILE
        asked = confirming.request(chosen, chosen_on, wanted, corpora, command_line(), skip_fatal)
        tell_estimate(asked, as_json)
        return
    growing = confirming.limits_of(output)
    opened = None
    if not growing:
        # What is begun says itself on which device it is, and what is done needs none.
        opened = open_device(device)
        growing = limits or confirming.limits_for(opened)
    growing = limits or growing
    asked = confirming.request(chosen, chosen_on, growing, corpora, command_line(), skip_fatal)
    with reporter() as progress:
        finished = confirming.measure(output, asked, opened, progress, jobs)
    measured = Matrix.open(finished.path)
    result = compare(chosen, chosen_on, measured)
    told = _told(result, f"{finished.path} ({measured.meta.label})")
    about = {
        "matrix": str(finished.path),
        "label": measured.meta.label,
        "limits": growing,
        "target": chosen.target,
        "seconds": finished.seconds,
        **result.to_json(),
    }
    if raised is not None:
        made = raise_tolerances(whole, chosen_on, result, command_line())
        made.suite.save(raised)
        about["raised"] = {"suite": str(raised), **made.to_json()}
        told.append(f"{made}; wrote {raised}")
    show(as_json, about, *told)
    if not result.ok:
        raise typer.Exit(EXIT_CHECK_FAILED)


def _require_free(raised: Path, suite: Path, output: Path) -> None:
    """Refuse a file for the raised suite that cannot be written, or that the command reads."""
    from suiteopt.errors import UserError
    from suiteopt.matrix.files import require_file

    require_file(raised)
    place = raised.resolve()
    if place == suite.resolve():
        # The same command again would confirm another suite, and may have left problems out.
        raise UserError(f"{raised} is the suite that is confirmed; give --raised another file")
    if output.resolve() in (place, *place.parents):
        raise UserError(f"{raised} lies in the new matrix {output}; give --raised another file")


def _told(result: "Confirmation", title: str) -> "list[Table | str]":
    """Return what people read: a line a problem, totals, members, and what was not confirmed."""
    told: list[Table | str] = [_problems(result, title), _totals(result)]
    members = [member for problem in result.problems for member in problem.members]
    if len(members) <= _MEMBERS_SHOWN:
        told.append(_members(members))
    else:
        told.append(f"shapes and tolerances of the {len(members)} members: see --json")
    complaints = [line for member in members for line in _complaints(member)]
    told += complaints[:_SHOWN]
    if len(complaints) > _SHOWN:
        told.append(f"and {len(complaints) - _SHOWN} more; see --json")
    return told


def _problems(result: "Confirmation", title: str) -> "Table":
    lines = table(
        title,
        "problem", "members#", "shapes", "promised kills#", "confirmed#", "not#", "not run#",
        "faults detected#", "controls accepted#", "rejected#", "tolerance needed#",
    )  # fmt: skip
    for problem in result.problems:
        lines.add_row(
            problem.problem,
            str(len(problem.members)),
            _shapes(problem),
            str(problem.total(lambda m: m.promised)),
            str(problem.total(lambda m: m.confirmed)),
            str(problem.total(lambda m: len(m.lost))),
            str(problem.total(lambda m: len(m.not_run))),
            f"{problem.detected_confirmed} of {problem.detected_promised}",
            str(problem.total(lambda m: m.controls_accepted)),
            str(problem.total(lambda m: len(m.controls_rejected))),
            _growth(problem),
        )
    return lines


def _shapes(problem: "ProblemConfirmation") -> str:
    counts: dict[str, int] = {}
    for member in problem.members:
        counts[member.where] = counts.get(member.where, 0) + 1
    return ", ".join(f"{count} {where}" for where, count in counts.items())


def _growth(problem: "ProblemConfirmation") -> str:
    """Return the largest ratio of the tolerance that a shape needs over the suite's."""
    ratios = [m.needed / m.tolerance for m in problem.members if m.tolerance > 0]
    return f"x {max(ratios):.3g}" if ratios else "-"


def _members(members: "list[MemberConfirmation]") -> "Table":
    lines = table(
        "", "member", "measured at", "", "comparator", "tolerance#", "needed#", "worst control#"
    )
    for member in members:
        lines.add_row(
            member.input,
            " ".join(f"{name}={size}" for name, size in member.shape.items()),
            member.where,
            member.comparator,
            f"{member.tolerance:.2e}",
            f"{member.needed:.2e}",
            f"{member.worst_control:.2e}",
        )
    return lines


def _totals(result: "Confirmation") -> str:
    found = result.to_json()
    never = f" ({found['never_run']} of them closed and never run)" if found["never_run"] else ""
    unseen = found["detected_not_run"]
    unseen = f" ({unseen} not run)" if unseen else ""
    return (
        f"{found['members']} members, {found['full']} at the benchmark's full dimensions; kills: "
        f"{found['promised']} promised, {found['confirmed']} confirmed "
        f"({found['confirmed_at_needed']} at the tolerances needed here), "
        f"{found['not_confirmed']} not{never}, {found['not_run']} not run; faults detected: "
        f"{found['detected_confirmed']} of {found['detected_promised']}{unseen}; controls: "
        f"{found['controls_accepted']} accepted, {found['controls_rejected']} rejected; nulls: "
        f"{found['nulls_confirmed']} of {found['nulls_promised']} killed"
    )


def _complaints(member: "MemberConfirmation") -> list[str]:
    if member.invalid:
        return [f"not run: {member.input}: {member.invalid}"]
    lines = [
        f"control rejected: {member.input}: {name} (tolerance {member.tolerance:.2e}, needed "
        f"{member.needed:.2e})"
        for name in member.controls_rejected
    ]
    for lost in member.lost:
        figure = "no number" if lost.critical is None else f"error {lost.critical:.2e}"
        source = "; the matrix had not run it here, but closed it" if lost.assumed else ""
        lines.append(
            f"not confirmed: {member.input}: {lost.mutant} ({figure}, tolerance "
            f"{member.tolerance:.2e}{source})"
        )
    if member.not_run:
        lines.append(
            f"not run: {member.input}: {len(member.not_run)} mutants, {member.not_run[0]} first"
        )
    return lines
