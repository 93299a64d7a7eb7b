"""Tables of `suiteopt select`, for people."""

from collections.abc import Mapping, Sequence

from rich.table import Table

from suiteopt.cli.format import share
from suiteopt.console import stdout
from suiteopt.selection.report import MatrixSelection
from suiteopt.selection.review import Review


def tell(chosen: MatrixSelection) -> None:
    """Print what was chosen, and what it detects."""
    console = stdout()
    console.print(
        f"{chosen.members} inputs for {len(chosen.problems)} problems under {chosen.oracle}"
        + (f" for {chosen.target}" if chosen.target else "")
        + f", {chosen.chosen_by}  ({chosen.label})",
        soft_wrap=True,
    )
    problems = Table(box=None, pad_edge=False)
    for heading in ("problem", "faults", "detected", "proof", "optima", "members"):
        problems.add_column(heading, justify="right" if heading in {"faults", "optima"} else "left")
    for part in chosen.problems:
        problems.add_row(
            part.problem,
            str(part.tally.mutants),
            share(part.tally.share),
            str(part.selection.status),
            "" if part.selection.optima is None else str(part.selection.optima),
            ", ".join(name.removeprefix(f"{part.problem}:") for name in part.selection.members),
        )
    console.print(problems)
    families = Table(box=None, pad_edge=False)
    for heading in ("family", "faults", "detected", "missed"):
        families.add_column(heading, justify="left" if heading == "family" else "right")
    for name, tally in chosen.by_family.items():
        families.add_row(name, str(tally.mutants), str(tally.detected), share(tally.missed_share))
    console.print(families)
    if chosen.wishes.bounded:
        console.print(
            f"{chosen.members} inputs, {sum(p.bytes for p in chosen.problems) / 1e6:.3g} MB, "
            f"{sum(p.milliseconds for p in chosen.problems):.3g} ms in all",
            soft_wrap=True,
        )
    if chosen.at_least is not None:
        console.print(
            f"{chosen.members} inputs; no suite with fewer than {chosen.at_least} detects that",
            soft_wrap=True,
        )
    if chosen.wishes.times > 1:
        console.print(f"detected: killed at least {chosen.wishes.times} times")
    console.print(
        f"detects {share(chosen.fitted_share)} of {chosen.tally.mutants} faults "
        f"(macro {share(chosen.fitted_macro_share)}, distinct behaviours "
        f"{share(chosen.distinct_share)}); {chosen.false_rejections} correct cells rejected; "
        f"{chosen.status} in {chosen.seconds:.2f} s",
        soft_wrap=True,
    )
    hidden = chosen.tally.mutants - chosen.in_output.mutants
    if hidden and chosen.in_output.mutants:
        console.print(
            f"detects {share(chosen.in_output.share)} of the {chosen.in_output.mutants} that show "
            f"in an output; the other {hidden} leave elements unwritten over a stale right result, "
            "write beside the output or race, which poison, guard zones and a sanitizer find",
            soft_wrap=True,
        )


def tell_review(rows: Sequence[Review], left_out: Mapping[str, str]) -> None:
    """Print which inputs are needed, which are not, and which problems lack some."""
    table = Table(box=None, pad_edge=False)
    for heading in ("input", "kills", "sole killer of", "verdict"):
        left = heading in {"input", "verdict"}
        table.add_column(heading, justify="left" if left else "right", overflow="fold")
    for part in rows:
        for row in part.inputs:
            verdict = "needed"
            if row.dominated_by is not None:
                verdict = f"dominated by {row.dominated_by.removeprefix(f'{part.problem}:')}"
            elif row.redundant:
                verdict = "redundant"
            table.add_row(row.input, str(row.kills), str(len(row.sole)), verdict)
    console = stdout()
    console.print(table)
    gone = [name for part in rows for name in part.removable]
    console.print(
        f"{len(gone)} of {sum(len(part.inputs) for part in rows)} inputs can go together without "
        f"losing a fault: {', '.join(gone) or 'none'}",
        soft_wrap=True,
    )
    for problem, reason in left_out.items():
        console.print(f"left out {problem}: {reason}", soft_wrap=True)
