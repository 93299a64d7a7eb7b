"""Four kinds of chart, narrow enough for a phone: bars, intervals, curves, strips."""

import math
from collections.abc import Sequence
from dataclasses import dataclass

from suiteopt.report.svg import Drawing

WIDTH = 420.0
RIGHT = 400.0
LOWEST = 1e-9
"""Drawn in place of 0 on a logarithmic axis."""
MOST_TICKS = 5
"""Steps between labels of a logarithmic axis."""


@dataclass(frozen=True)
class Span:
    """A share with its interval."""

    name: str
    value: float
    low: float | None
    high: float | None


@dataclass(frozen=True)
class Line:
    """A series of points; joined where it is a curve."""

    name: str
    points: tuple[tuple[float, float], ...]
    joined: bool = True
    dashed: bool = False


def percent(value: float) -> str:
    """Write a share as a percentage with one decimal."""
    return f"{100 * value:.1f}%"


def decades(low: int, high: int) -> range:
    """Return the exponents that are labelled, few enough for a phone."""
    return range(low, high + 1, max(1, -(-(high - low) // MOST_TICKS)))


def power(exponent: int) -> str:
    """Write a power of ten briefly: 0.01, 1000, 1e-9."""
    return f"{10.0**exponent:g}" if -3 <= exponent <= 3 else f"1e{exponent}"


def bars(
    title: str, series: Sequence[str], rows: Sequence[tuple[str, Sequence[float | None]]]
) -> Drawing:
    """Draw shares as horizontal bars, one group a row; the scale ends at the largest.

    Parameters
    ----------
    title : str
    series : sequence of str
    rows : sequence of (name, shares, one a series)
    """
    step, group = 15.0, 24.0
    top = 19.0 * len(series) + 14
    height = top + sum(group + step * len(values) for _, values in rows) + 8
    drawing = Drawing(WIDTH, height, title)
    drawing.legend(list(series), 16)
    largest = max((v for _, values in rows for v in values if v is not None), default=0.0) or 1.0
    y = top
    for name, values in rows:
        drawing.text(4, y + 14, name)
        y += group - 4
        for index, value in enumerate(values):
            if value is None:
                drawing.text(8, y + 11, "not measured", kind="soft")
            else:
                length = (RIGHT - 70) * value / largest
                drawing.bar(4, y, max(length, 1.0), step - 3, index, f"{name}, {series[index]}")
                drawing.text(10 + max(length, 1.0), y + 11, percent(value))
            y += step
        y += 4
    return drawing


def intervals(title: str, rows: Sequence[Span]) -> Drawing:
    """Draw shares as dots with whiskers; the scale begins a little below the lowest end."""
    drawing = Drawing(WIDTH, 44.0 * len(rows) + 34, title)
    ends = [end for row in rows for end in (row.low, row.value) if end is not None]
    start = math.floor(max(0.0, min(ends, default=0.0) - 0.01) * 50) / 50
    start = min(start, 0.98)

    def place(value: float) -> float:
        return 10 + (RIGHT - 70) * (value - start) / (1.0 - start)

    for tick in (start, (start + 1) / 2, 1.0):
        drawing.line(place(tick), 8, place(tick), 44.0 * len(rows) + 10, "rule")
        anchor = "start" if tick == start else "middle"
        drawing.text(place(tick), 44.0 * len(rows) + 26, percent(tick), anchor, "soft")
    for index, row in enumerate(rows):
        y = 44.0 * index + 20
        drawing.text(4, y, row.name)
        if row.low is not None and row.high is not None:
            drawing.line(place(row.low), y + 14, place(row.high), y + 14, "l1")
        drawing.mark(place(row.value), y + 14, 1, f"{row.name}: {percent(row.value)}")
        drawing.text(RIGHT + 16, y, percent(row.value), "end")
    return drawing


def curves(
    title: str,
    lines: Sequence[Line],
    x_name: str,
    y_name: str,
    log_y: bool = False,
) -> Drawing:
    """Draw curves and points over a logarithmic x axis; y is a share, or logarithmic, too."""
    bottom, left = 250.0, 56.0
    legend = bottom + 54
    drawing = Drawing(WIDTH, legend + 19.0 * len(lines), title)
    xs = [math.log10(max(x, LOWEST)) for line in lines for x, _ in line.points]
    x_low, x_high = math.floor(min(xs, default=0.0)), math.ceil(max(xs, default=1.0))
    x_high = max(x_high, x_low + 1)
    if log_y:
        ys = [math.log10(max(y, LOWEST)) for line in lines for _, y in line.points]
        y_low, y_high = math.floor(min(ys, default=0.0)), math.ceil(max(ys, default=1.0))
        y_high = max(y_high, y_low + 1)
    else:
        y_low, y_high = 0, 1

    def place(x: float, y: float) -> tuple[float, float]:
        across = (math.log10(max(x, LOWEST)) - x_low) / (x_high - x_low)
        value = math.log10(max(y, LOWEST)) if log_y else y
        up = (value - y_low) / (y_high - y_low)
        return left + (RIGHT - left) * across, bottom - (bottom - 30) * up

    drawing.text(4, 14, y_name, kind="soft")
    for tick in decades(x_low, x_high):
        x, _ = place(10.0**tick, 1.0)
        drawing.line(x, 30, x, bottom, "rule")
        drawing.text(x, bottom + 17, power(tick), "middle", "soft")
    y_ticks = (
        [(10.0**tick, power(tick)) for tick in decades(y_low, y_high)]
        if log_y
        else [(quarter / 4, f"{25 * quarter}%") for quarter in range(5)]
    )
    for value, name in y_ticks:
        _, y = place(10.0**x_low, value)
        drawing.line(left, y, RIGHT, y, "rule")
        drawing.text(left - 9, y + 4, name, "end", "soft")
    drawing.text(RIGHT, bottom + 34, x_name, "end", "soft")
    for index, line in enumerate(lines):
        points = [place(x, y) for x, y in line.points]
        if line.joined and len(points) > 1:
            drawing.polyline(points, index, "dash" if line.dashed else "")
        if not line.dashed:
            for (x, y), (at, value) in zip(points, line.points, strict=True):
                drawing.mark(x, y, index, f"{line.name}: {value:.3g} at {at:g}", index)
    for index, line in enumerate(lines):
        y = legend + 19.0 * index
        if line.dashed:
            drawing.polyline([(2, y - 4.5), (18, y - 4.5)], index, "dash")
        else:
            drawing.mark(10, y - 4.5, index, line.name, index)
        drawing.text(24, y, line.name)
    return drawing


def strips(
    title: str, rows: Sequence[tuple[str, Sequence[tuple[str, float]]]], x_name: str
) -> Drawing:
    """Draw named values of each row as marks over a logarithmic axis.

    Zeros stand at its beginning, infinite values at its end.
    """
    step = 34.0
    bottom = step * len(rows) + 12
    drawing = Drawing(WIDTH, bottom + 44, title)
    finite = [v for _, marks in rows for _, v in marks if math.isfinite(v) and v > 0]
    low = math.floor(math.log10(min(finite, default=1e-6)))
    high = max(math.ceil(math.log10(max(finite, default=1.0))), low + 1)

    def place(value: float) -> float:
        if not math.isfinite(value):
            return RIGHT
        exponent = math.log10(max(value, 10.0**low))
        return 10 + (RIGHT - 40) * (exponent - low) / (high - low)

    for tick in decades(low, high):
        x = place(10.0**tick)
        drawing.line(x, 6, x, bottom, "rule")
        anchor = "start" if tick == low else "middle"
        drawing.text(x, bottom + 17, power(tick), anchor, "soft")
    for index, (name, marks) in enumerate(rows):
        y = step * index + 16
        drawing.text(4, y, name)
        for what, value in marks:
            drawing.mark(place(value), y + 11, 1, f"{what}: {value:.2g}", 2)
    drawing.text(RIGHT, bottom + 34, x_name, "end", "soft")
    return drawing
