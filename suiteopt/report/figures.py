"""The figures of a report, from its content."""

from collections.abc import Iterator

from suiteopt.audit.band_model import linear_law, root_law
from suiteopt.report.charts import Line, Span, bars, curves, intervals, strips
from suiteopt.report.content import Content
from suiteopt.report.layout import ALL, IN_OUTPUT, held_out_interval
from suiteopt.report.svg import Drawing
from suiteopt.validation.splits import Split

MOST_BAND = 1e3
"""A band above this is drawn here: zeros pass anyway."""


def figures(content: Content) -> dict[str, Drawing]:
    """Return every figure that the content allows, by name."""
    return dict(_figures(content))


def _figures(content: Content) -> Iterator[tuple[str, Drawing]]:
    yield "families", _families(content)
    if content.validation is not None:
        yield "validation", _validation(content)
    fixed = _points(content, "fixed:")
    if len(fixed[0]) > 1:
        yield "tolerance-fixed", _curve("by fixed tolerance", fixed, "tolerance")
    safeties = _points(content, "calibrated:")
    if len(safeties[0]) > 1:
        yield "tolerance-calibrated", _curve("by calibrated safety", safeties, "safety")
    if content.band is not None:
        yield "blind-band", _band(content)
    if content.ceilings is not None:
        yield "ceilings", _ceilings(content)


def _families(content: Content) -> Drawing:
    audits = [audit for audit in (content.before, content.after) if audit is not None]
    series = [
        f"{audit.protocol} ({audit.rests_on})" if audit.rests_on else audit.protocol
        for audit in audits
    ]
    tallies = [
        {ALL: audit.tally, IN_OUTPUT: audit.in_output, **audit.by_family} for audit in audits
    ]
    names = list(dict.fromkeys(name for found in tallies for name in found))
    rows = [
        (name, [found[name].missed_share if name in found else None for found in tallies])
        for name in names
    ]
    return bars("Faults missed, by family", series, rows)


def _validation(content: Content) -> Drawing:
    found = content.validation
    assert found is not None
    rows = [Span("fitted", found.fitted_share or 0.0, None, None)]
    for split, figure in found.splits.items():
        if figure.held_out_share is not None:
            bounds = held_out_interval(figure)
            rows.append(
                Span(
                    f"held out {'at random' if split == Split.RANDOM else f'by {split}'}",
                    figure.held_out_share,
                    None if bounds is None else bounds.low,
                    None if bounds is None else bounds.high,
                )
            )
    return intervals("Detection of faults seen and never seen", rows)


Points = tuple[tuple[float, float], ...]


def _points(content: Content, kind: str) -> tuple[Points, Points]:
    """Detected and falsely rejected shares against the number in an oracle's name."""
    detected, rejected = [], []
    for point in content.curve:
        name = str(point["oracle"])
        name = "calibrated:10" if name == "calibrated" else name
        if not name.startswith(kind):
            continue
        at = float(name.removeprefix(kind))
        if point["detected_share"] is not None:
            detected.append((at, float(point["detected_share"])))
        if point["pool_held_out"]:
            rejected.append((at, point["pool_rejected"] / point["pool_held_out"]))
    return tuple(sorted(detected)), tuple(sorted(rejected))


def _curve(what: str, points: tuple[Points, Points], x_name: str) -> Drawing:
    lines = [
        Line("faults detected by the best inputs", points[0]),
        Line("held-out correct cells rejected, of the pool", points[1]),
    ]
    return curves(f"Detection and false rejection {what}", lines, x_name, "share")


def _band(content: Content) -> Drawing:
    found = content.band
    assert found is not None
    lengths = sorted({float(max(row.length, 1)) for row in found.rows} | {1.0, 10_000.0})
    accepted = tuple((float(row.length), min(row.band, MOST_BAND)) for row in found.rows)
    control = tuple((float(r.length), r.control) for r in found.rows if r.control is not None)
    lines = [
        Line(f"accepted by {found.protocol}", accepted, joined=False),
        Line("worst correct kernel, max d / RMS", control, joined=False),
        Line("u √n", tuple((n, root_law(int(n))) for n in lengths), dashed=True),
        Line("u n", tuple((n, linear_law(int(n))) for n in lengths), dashed=True),
    ]
    return curves(
        "Blind band: relative error on every output, by length of the reduction",
        lines,
        "terms of the reduction",
        "relative error",
        log_y=True,
    )


def _ceilings(content: Content) -> Drawing:
    found = content.ceilings
    assert found is not None
    rows = [
        (
            family if parameters == "benchmark" else f"{family} ({parameters} parameters)",
            [(ceiling.setting.name, ceiling.critical) for ceiling in group],
        )
        for (family, parameters), group in found.families.items()
    ]
    return strips(
        f"Tolerance that correct kernels need, by recipe family, {found.comparator}",
        rows,
        "tolerance; left edge: 0, right edge: none suffices",
    )
