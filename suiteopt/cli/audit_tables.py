"""The tables that `suiteopt audit` prints."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from rich.table import Table

from suiteopt.audit.blind_band import BlindBand
from suiteopt.audit.ceiling import TOLERANCES, Ceilings
from suiteopt.audit.comparison import Comparison
from suiteopt.audit.decomposition import Decomposition
from suiteopt.audit.detection import Audit
from suiteopt.audit.intervals import Interval
from suiteopt.audit.left_out import left_out_sentences
from suiteopt.audit.refereeability import Referee
from suiteopt.cli.format import interval, points, share
from suiteopt.protocols import Protocol
from suiteopt.selection.problem_report import Tally

LISTED = 12
"""Rules and mutants listed for people; --json has them all."""


def overview(compared: Comparison) -> Iterator[Any]:
    """All protocols, one a row."""
    first = compared.audits[0]
    fewest, most = compared.mutants
    faults = f"{most} faults" if fewest == most else f"{fewest} to {most} faults, by the protocol,"
    yield f"{faults} that count as {first.denominator}  ({first.label})"
    # Shares of different problems look alike and are not: a column says what each rests on.
    differ = any(found.left_out for found in compared.audits)
    rows = table(
        "protocol", "detected#", "interval#", "in an output#", "only it#", "rejected#",
        *(["on#"] if differ else []),
    )  # fmt: skip
    for found in compared.audits:
        measured = len(found.judged) + len(found.left_out)
        rows.add_row(
            found.protocol,
            share(found.tally.share),
            _ends(found.interval),
            share(found.in_output.share),
            str(len(compared.only(found.protocol))),
            _rejected(found),
            *([found.rests_on or f"{measured} problems"] if differ else []),
        )
    yield rows
    yield f"{_escaping(compared)}; rejected: correct kernels of those run"
    for found in compared.audits:
        yield from (f"{found.protocol}: {line}" for line in left_out_sentences(found.left_out))
    yield from (f"not compared: {sentence}" for sentence in compared.refused.values())


def protocol(found: Audit, mine: Protocol, compared: Comparison) -> Iterator[Any]:
    """One protocol in full."""
    title = mine.title if mine.title == mine.name else f"{mine.name}: {mine.title}"
    yield f"{title}  ({found.label})"
    yield (
        f"detects {share(found.tally.share)} ({_ends(found.interval)}{_method(found.interval)}) of "
        f"{found.tally.mutants} faults{_on(found.rests_on)}, {share(found.in_output.share)} of the "
        f"{found.in_output.mutants} that show in an output; misses "
        f"{share(found.tally.missed_share)}"
    )
    yield _tallies("family", found.by_family)
    yield _tallies("operation", found.by_operation)
    yield _tallies("problem", found.by_problem)
    missed = {name: t for name, t in found.by_rule.items() if t.mutants > t.detected}
    worst = sorted(missed.items(), key=lambda item: (item[1].detected - item[1].mutants, item[0]))
    yield f"rules with the most missed faults, {min(len(worst), LISTED)} of {len(worst)}:"
    yield _tallies("rule", dict(worst[:LISTED]))
    yield (
        f"rejects {_rejected(found)} correct kernels: {found.false_rejections} of "
        f"{found.control_cells} cells"
        + (f"; {', '.join(found.rejected_controls)}" if found.rejected_controls else "")
    )
    only = compared.only(found.protocol)
    others = ", ".join(name for name in compared.names if name != found.protocol)
    among = f" on {compared.on_common}" if compared.on_common else ""
    yield f"only it finds {len(only)} faults{among}{_some(only)} (against {others or 'no other'})"
    yield f"all miss {len(compared.missed_by_all)} faults{among}"
    yield from left_out_sentences(found.left_out)
    for other in compared.audits:
        if other is not found and other.left_out:
            yield f"{other.protocol} is judged on {other.rests_on}"
    if found.absent:
        yield f"recipes that some pool has not: {', '.join(found.absent)}"
    yield from (f"not compared: {sentence}" for sentence in compared.refused.values())


def decomposition(found: Decomposition) -> Iterator[Any]:
    """A gain by factor."""
    yield (
        f"{found.first} detects {share(found.share())}, {found.second} "
        f"{share(found.share(found.factors))} of {int(found.mutants.sum())} faults"
        f"{_on(found.rests_on)}: "
        f"{points(found.gain)} points ({_differences(found.interval())}"
        f"{_method(found.interval())})  ({found.label})"
    )
    rows = table("factor", "changed first#", "changed last#", "Shapley#", "interval#")
    for factor in found.factors:
        rows.add_row(
            str(factor),
            points(found.first_share(factor)),
            points(found.last_share(factor)),
            points(found.shapley_share(factor)),
            _differences(found.interval(factor)),
        )
    yield rows
    yield from left_out_sentences(found.left_out)


def blind_band(found: BlindBand) -> Iterator[Any]:
    """A blind band by problem."""
    yield f"relative error on every output that {found.protocol} accepts  ({found.label})"
    rows = table(
        "operation", "problem", "n#", "tolerance#", "accepted#", "terms#", "worst fault passed#",
        "correct kernels#", "model#", "u√n#", "u n#",
    )  # fmt: skip
    for row in found.rows:
        rows.add_row(
            row.operation,
            row.problem,
            str(row.length),
            f"{row.tolerance:.2g}",
            _number(row.band),
            "all" if row.terms is None else str(row.terms),
            _number(row.worst_accepted),
            _number(row.control),
            _number(row.floor),
            f"{row.as_dict()['root_law']:.1e}",
            f"{row.as_dict()['linear_law']:.1e}",
        )
    yield rows
    yield (
        "accepted: above 1 an output of zeros passes; terms: of n equal ones that may be left out; "
        "worst fault passed: RMS error over RMS; correct kernels, model: max d / RMS"
    )
    for name, exponent in found.slopes.items():
        if exponent is not None:
            yield f"{name}: correct kernels' error grows as n^{exponent:.2f}"
    for problem, reason in found.left_out.items():
        yield f"left out {problem}: {reason}"


def ceilings(found: Ceilings) -> Iterator[Any]:
    """Recipe families against tolerances."""
    yield f"correct kernels rejected under {found.comparator}  ({found.label})"
    heads = [f"{tolerance:g}#" for tolerance in found.tolerances]
    rows = table("family", "setting", "scale#", "controls#", "needs#", *heads)
    for (family, parameters), group in found.families.items():
        name = family if parameters == "benchmark" else f"{family} ({parameters} parameters)"
        for ceiling in group:
            rows.add_row(
                name,
                ceiling.setting.name,
                "" if ceiling.setting.scale is None else f"{ceiling.setting.scale:g}",
                str(ceiling.count),
                _number(ceiling.critical),
                *(str(ceiling.rejected(tolerance) or "") for tolerance in found.tolerances),
            )
            name = ""
    yield rows
    yield "most aggressive setting at which no correct kernel is rejected:"
    safe = table("family", *(f"{tolerance:g}" for tolerance in found.tolerances))
    for key in found.families:
        settings = [found.safe(key, tolerance) for tolerance in found.tolerances]
        safe.add_row(
            key[0] if key[1] == "benchmark" else f"{key[0]} ({key[1]} parameters)",
            *("none" if setting is None else setting.setting.name for setting in settings),
        )
    yield safe


def refereeability(
    found: Sequence[Referee], mine: Protocol, label: str, left_out: Mapping[str, str]
) -> Iterator[Any]:
    """Problems against tolerances, then reasons and cures."""
    yield f"the inputs of {mine.name} under {mine.oracle.comparator}  ({label})"
    rows = table("problem", "name", "dtype", "measured at", *(f"{t:g}" for t in TOLERANCES))
    for row in found:
        rows.add_row(
            row.problem,
            row.name,
            row.dtype,
            row.shape,
            *("yes" if row.refereeable(tolerance) else "no" for tolerance in TOLERANCES),
        )
    yield rows
    yield from (f"left out {problem}: {reason}" for problem, reason in left_out.items())
    if not any(row.reasons for row in found):
        yield "nothing stands against any of them"
        return
    reasons = table("problem", "tolerances", "reason", "fix")
    for row in found:
        for reason in row.reasons:
            reasons.add_row(
                row.problem, _range(reason.lowest, reason.highest), reason.detail, reason.fix
            )
    yield reasons


def table(*headings: str) -> Table:
    """Return an empty table; a heading that ends in # is of numbers."""
    made = Table(box=None, pad_edge=False)
    for heading in headings:
        number = heading.endswith("#")
        made.add_column(
            heading.removesuffix("#"), justify="right" if number else "left", overflow="fold"
        )
    return made


def _tallies(heading: str, tallies: Mapping[str, Tally]) -> Table:
    rows = table(heading, "faults#", "detected#", "missed#")
    for name, tally in tallies.items():
        rows.add_row(name, str(tally.mutants), str(tally.detected), share(tally.missed_share))
    return rows


def _ends(bounds: Interval | None) -> str:
    return interval(None if bounds is None else bounds.as_list())


def _differences(bounds: Interval | None) -> str:
    return "-" if bounds is None else f"{points(bounds.low)} to {points(bounds.high)}"


def _method(bounds: Interval | None) -> str:
    if bounds is None:
        return ""
    return f", {str(bounds.method).replace('_', ' ')} over {bounds.problems} problems"


def _rejected(found: Audit) -> str:
    ran = int((found.controls["cells"] > 0).sum())
    return f"{len(found.rejected_controls)} of {ran}"


def _escaping(compared: Comparison) -> str:
    """Say how many faults no protocol detects, and on which problems that was asked."""
    if not compared.common:
        return "no problem has the inputs of all of them, so they are not compared fault by fault"
    among = (
        f"; that and only it are asked on the {compared.on_common} that all are judged on"
        if compared.on_common
        else ""
    )
    return f"{len(compared.missed_by_all)} faults escape all of them{among}"


def _on(problems: str) -> str:
    return f" on {problems}" if problems else ""


def _some(names: Sequence[str]) -> str:
    if not names:
        return ""
    more = f" and {len(names) - LISTED} more" if len(names) > LISTED else ""
    return f": {', '.join(names[:LISTED])}{more}"


def _number(value: float | None) -> str:
    return "-" if value is None else "0" if value == 0 else f"{value:.2g}"


def _range(lowest: float, highest: float) -> str:
    if lowest == 0:
        return "all" if highest == float("inf") else f"below {highest:.2g}"
    return f"from {lowest:.2g}" if highest == float("inf") else f"{lowest:.2g} to {highest:.2g}"
