"""The tables of a report, from its content."""

from collections.abc import Iterator

from suiteopt.audit.detection import Audit
from suiteopt.audit.intervals import Interval, cluster_interval
from suiteopt.report.content import Content
from suiteopt.report.evidence import (
    band_table,
    ceilings_table,
    reasons_table,
    referees_table,
    suite_table,
    survivors_table,
)
from suiteopt.report.tables import Table, table
from suiteopt.selection.problem_report import Tally
from suiteopt.validation.figures import OUTPUT, SplitFigures
from suiteopt.validation.splits import Split

ALL = "all"
IN_OUTPUT = "that show in an output"


def tables(content: Content) -> dict[str, Table]:
    """Return every table that the content allows, by name."""
    return {found.name: found for found in _tables(content)}


def held_out_interval(figures: SplitFigures) -> Interval | None:
    """Return the interval of a held-out share, problems being the units."""
    return cluster_interval(
        [row.held_out for row in figures.problems], [row.mutants for row in figures.problems]
    )


def _tables(content: Content) -> Iterator[Table]:
    yield _families(content)
    yield _problems(content)
    if content.validation is not None:
        yield _validation(content)
        yield _denominators(content)
    if content.curve:
        yield _curve(content)
    if content.band is not None:
        yield band_table(content)
    if content.ceilings is not None:
        yield ceilings_table(content)
    if content.referees:
        yield referees_table(content)
    for name, found, what in (
        ("survivors", content.missed_after, "the suite"),
        ("survivors-before", content.missed_before, content.protocol),
    ):
        if found is not None:
            yield reasons_table(f"{name}-reasons", found, what)
            yield survivors_table(name, found, what)
    if content.suite is not None:
        yield suite_table(content)


def _families(content: Content) -> Table:
    before = {} if content.before is None else _views(content.before)
    after = {} if content.after is None else _views(content.after)
    held: dict[str, float | None] = {}
    if content.validation is not None:
        site = content.validation.splits[Split.SITE]
        held = {ALL: site.held_out_share, IN_OUTPUT: site.view(OUTPUT), **site.by_family}
    rests_on = "" if content.before is None else content.before.rests_on
    rows = [
        (name, _mutants(before.get(name), after.get(name)), _missed(before.get(name)),
         _missed(after.get(name)), None if held.get(name) is None else 1 - (held[name] or 0.0))
        for name in dict.fromkeys([*before, *after])
    ]  # fmt: skip
    return table(
        "families",
        f"Faults missed, by family{f'; before: of {rests_on}' if rests_on else ''}",
        ["family", "faults#", "missed before%", "missed after%", "missed, held out by site%"],
        rows,
    )


def _problems(content: Content) -> Table:
    before = {} if content.before is None else content.before.by_problem
    after = {} if content.after is None else content.after.by_problem
    operations: dict[str, str] = {}
    rejected: dict[str, int] = {}
    for audit in (content.before, content.after):
        if audit is not None:
            pairs = audit.outcomes[["problem", "operation"]].drop_duplicates()
            operations |= {str(p): str(o) for p, o in pairs.itertuples(index=False)}
    if content.after is not None:
        hits = content.after.controls.groupby("problem")["rejected"].sum()
        rejected = {str(name): int(count) for name, count in hits.items()}
    names = {row.problem: row.name for row in content.referees}
    held = {}
    if content.validation is not None:
        site = content.validation.splits[Split.SITE].problems
        held = {row.problem: row.held_out / row.mutants for row in site if row.mutants}
    members = {}
    if content.suite is not None:
        members = {part.problem: len(part.members) for part in content.suite.problems}
    rows = [
        (
            name,
            names.get(name, ""),
            operations.get(name, ""),
            _mutants(before.get(name), after.get(name)),
            _share(before.get(name)),
            _share(after.get(name)),
            held.get(name),
            _lost(after.get(name)),
            members.get(name, 0),
            rejected.get(name, 0),
        )
        for name in dict.fromkeys([*after, *before])
    ]
    return table(
        "problems",
        "Every problem",
        ["problem", "name", "operation", "faults#", "detected before%", "detected after%",
         "held out by site%", "survivors#", "inputs#", "correct cells rejected#"],
        rows,
    )  # fmt: skip


def _validation(content: Content) -> Table:
    found = content.validation
    assert found is not None
    rows = []
    for split, figures in found.splits.items():
        bounds = held_out_interval(figures)
        rows.append(
            (
                "at random" if split == Split.RANDOM else f"by {split}",
                found.fitted_share,
                figures.held_out_share,
                None if bounds is None else bounds.low,
                None if bounds is None else bounds.high,
                figures.gap_share,
                figures.share(lambda row: row.random),
                figures.own_share,
            )
        )
    return table(
        "validation",
        f"Fitted against held out, {found.chosen_by}",
        ["faults left out", "fitted%", "held out%", "low%", "high%", "gap%",
         "random inputs%", "own draws%"],
        rows,
    )  # fmt: skip


def _denominators(content: Content) -> Table:
    found = content.validation
    assert found is not None
    rows = [
        (name.replace("_", " "), row["mutants"], row.get("fitted_share"),
         row.get("held_out_share"), row.get("own_share"))
        for name, row in found.as_dict()["denominators"].items()
    ]  # fmt: skip
    return table(
        "denominators",
        "The same by other ways of counting",
        ["counted", "faults#", "fitted%", "held out by site%", "own draws%"],
        rows,
    )


def _curve(content: Content) -> Table:
    rows = [
        (point["oracle"], point["detected_share"], point["rejected"], point["held_out"],
         point["pool_rejected"], point["pool_held_out"])
        for point in content.curve
    ]  # fmt: skip
    return table(
        "tolerance",
        "Detection against false rejection, by coverage",
        [
            "oracle",
            "detected%",
            "rejected on members#",
            "cells of members#",
            "rejected on the pool#",
            "cells of the pool#",
        ],
        rows,
    )


def _views(audit: Audit) -> dict[str, Tally]:
    return {ALL: audit.tally, IN_OUTPUT: audit.in_output, **audit.by_family}


def _share(tally: Tally | None) -> float | None:
    return None if tally is None else tally.share


def _missed(tally: Tally | None) -> float | None:
    return None if tally is None else tally.missed_share


def _lost(tally: Tally | None) -> int | None:
    return None if tally is None else tally.mutants - tally.detected


def _mutants(*tallies: Tally | None) -> int | None:
    return next((tally.mutants for tally in tallies if tally is not None), None)
