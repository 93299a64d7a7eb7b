"""Figures: well-formed, in proportion, legible in both themes; tables: CSV that reads back."""

import csv
import io
import re
from xml.etree import ElementTree

import pytest
from hypothesis import given
from hypothesis import strategies as st

from suiteopt.report.charts import Line, Span, bars, curves, decades, intervals, power, strips
from suiteopt.report.svg import THEME, Drawing
from suiteopt.report.tables import Column, table

SVG = "{http://www.w3.org/2000/svg}"


def parsed(drawing: Drawing) -> ElementTree.Element:
    return ElementTree.fromstring(drawing.standalone())


def inside(drawing: Drawing) -> bool:
    """Whether no mark, bar or text begins outside the canvas."""
    root = parsed(drawing)
    places = [(float(e.get("x", 0)), float(e.get("y", 0))) for e in root.iter() if e.get("x")]
    return all(0 <= x <= drawing.width and 0 <= y <= drawing.height for x, y in places)


def test_bars_are_as_long_as_their_shares() -> None:
    drawing = bars("Missed <&> found", ["a", "b"], [("all", [0.4, 0.1]), ("one", [None, 0.2])])
    root = parsed(drawing)
    widths = [float(str(rect.get("width"))) for rect in root.iter(f"{SVG}rect")]
    assert widths[0] == pytest.approx(4 * widths[1], abs=0.2)
    assert widths[0] == pytest.approx(2 * widths[2], abs=0.2)
    texts = [text.text for text in root.iter(f"{SVG}text")]
    assert "not measured" in texts
    assert "40.0%" in texts
    assert root.get("aria-label") == "Missed <&> found"
    assert inside(drawing)


def test_an_interval_reaches_from_end_to_end() -> None:
    drawing = intervals("x", [Span("held out", 0.9, 0.8, 1.0), Span("fitted", 1.0, None, None)])
    whiskers = [e for e in parsed(drawing).iter(f"{SVG}line") if e.get("class") == "l1"]
    ticks = [e for e in parsed(drawing).iter(f"{SVG}line") if e.get("class") == "rule"]
    assert len(whiskers) == 1
    assert whiskers[0].get("x2") == ticks[-1].get("x1")  # 1.0 is 100%
    assert inside(drawing)


def test_a_curve_passes_through_its_points() -> None:
    line = Line("detected", ((1e-4, 0.0), (1e-2, 1.0)))
    drawing = curves("x", [line], "tolerance", "share")
    (path,) = parsed(drawing).iter(f"{SVG}polyline")
    start, end = [tuple(map(float, p.split(","))) for p in str(path.get("points")).split()]
    assert (start[0], end[0]) == (56.0, 400.0)
    assert (start[1], end[1]) == (250.0, 30.0)
    assert inside(drawing)


def test_zero_and_infinity_have_a_place() -> None:
    drawing = strips("x", [("a", [("none", float("inf")), ("zero", 0.0), ("some", 1e-3)])], "t")
    assert inside(drawing)
    assert len(list(parsed(drawing).iter(f"{SVG}path"))) == 3
    log = curves("x", [Line("a", ((1.0, 0.0), (10.0, 1e-3)))], "n", "error", log_y=True)
    assert inside(log)


def test_empty_figures_are_drawn() -> None:
    assert inside(bars("x", ["a"], []))
    assert inside(intervals("x", []))
    assert inside(curves("x", [], "n", "y"))
    assert inside(strips("x", [], "t"))


@given(st.integers(-45, 38), st.integers(1, 80))
def test_a_logarithmic_axis_has_few_labels_that_name_their_powers(low: int, width: int) -> None:
    ticks = list(decades(low, low + width))
    assert ticks[0] == low
    assert 2 <= len(ticks) <= 6
    assert all(float(power(tick)) == pytest.approx(10.0**tick) for tick in ticks)
    assert [power(tick) for tick in (-9, -3, 0, 4)] == ["1e-9", "0.001", "1", "1e4"]


def colours(theme: str) -> dict[str, str]:
    return dict(re.findall(r"--(\w+):(#[0-9a-f]{6})", theme))


def luminance(colour: str) -> float:
    parts = [int(colour[i : i + 2], 16) / 255 for i in (1, 3, 5)]
    linear = [p / 12.92 if p <= 0.04045 else ((p + 0.055) / 1.055) ** 2.4 for p in parts]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]


@pytest.mark.parametrize("scheme", [0, 1])
def test_every_ink_has_contrast_on_its_paper(scheme: int) -> None:
    theme = colours(THEME.split("@media")[scheme])
    paper = luminance(theme["paper"])
    for name in ("ink", "soft", "s0", "s1", "s2", "s3", "s4", "s5"):
        pair = sorted([luminance(theme[name]), paper])
        assert (pair[1] + 0.05) / (pair[0] + 0.05) >= 4.5, name


def test_csv_keeps_what_the_page_rounds() -> None:
    found = table("t", "c", ["name", "share%", "count#", "size~"], [("a,b", 1 / 3, 2, None)])
    rows = list(csv.reader(io.StringIO(found.csv().decode())))
    assert rows == [["name", "share", "count", "size"], ["a,b", repr(1 / 3), "2", ""]]
    shown = [c.show(v) for c, v in zip(found.columns, found.rows[0], strict=True)]
    assert shown == ["a,b", "33.3%", "2", "–"]


def test_no_spreadsheet_takes_a_name_for_a_formula() -> None:
    found = table("t", "c", ["name"], [("=1+1",), ("@x",), ("-y",)])
    assert found.csv().decode().splitlines()[1:] == ["'=1+1", "'@x", "'-y"]


def test_infinity_sorts_as_a_number_and_gaps_are_empty() -> None:
    column = Column("n", "number")
    assert [column.order(v) for v in (float("inf"), None, 0.5)] == ["inf", "", "0.5"]
