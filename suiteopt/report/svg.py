"""A drawing in SVG: the same calls give the same bytes, and colours follow the reader's theme."""

from dataclasses import dataclass, field
from xml.sax.saxutils import escape, quoteattr

SERIES = 6
"""Colours that there are; a further series begins anew."""

THEME = (
    ":root{--ink:#1c2430;--soft:#5a6675;--rule:#d5dbe3;--paper:#ffffff;"
    "--s0:#b3362b;--s1:#1f5f99;--s2:#8a6100;--s3:#2c7a4b;--s4:#7a4fa3;--s5:#5a6675}"
    "@media (prefers-color-scheme:dark){:root{--ink:#e6eaf0;--soft:#a3afbf;--rule:#3a4452;"
    "--paper:#12161c;--s0:#ff8a7a;--s1:#7ab8f5;--s2:#e8c15a;--s3:#7fd1a0;--s4:#c9a4f0;"
    "--s5:#a3afbf}}"
)
"""Colours by name, light and dark; every pair of ink and paper has a contrast of 4.5 or more."""

STYLE = (
    "text{font:14px system-ui,sans-serif;fill:var(--ink)}.soft{fill:var(--soft)}"
    ".rule{stroke:var(--rule);stroke-width:1}.axis{stroke:var(--soft);stroke-width:1}"
    ".dash{stroke-dasharray:5 4}"
    + "".join(
        f".f{i}{{fill:var(--s{i})}}.l{i}{{stroke:var(--s{i});stroke-width:2;fill:none}}"
        for i in range(SERIES)
    )
)


@dataclass
class Drawing:
    """Shapes on a canvas of pixels; the y axis points down.

    Attributes
    ----------
    width, height : float
    title : str
        What a screen reader says of it.
    """

    width: float
    height: float
    title: str
    parts: list[str] = field(default_factory=list)

    def text(self, x: float, y: float, text: str, anchor: str = "start", kind: str = "") -> None:
        """Write; ``anchor`` is start, middle or end, ``kind`` a class such as soft."""
        look = f' class="{kind}"' if kind else ""
        self.parts.append(
            f'<text x="{x:.1f}" y="{y:.1f}" text-anchor="{anchor}"{look}>{escape(text)}</text>'
        )

    def line(self, x1: float, y1: float, x2: float, y2: float, kind: str) -> None:
        """Draw a straight line of a class."""
        self.parts.append(
            f'<line class="{kind}" x1="{x1:.1f}" y1="{y1:.1f}" x2="{x2:.1f}" y2="{y2:.1f}"/>'
        )

    def bar(self, x: float, y: float, width: float, height: float, series: int, say: str) -> None:
        """Draw a filled rectangle; ``say`` shows when it is pointed at."""
        self.parts.append(
            f'<rect class="f{series % SERIES}" x="{x:.1f}" y="{y:.1f}" width="{width:.1f}" '
            f'height="{height:.1f}"><title>{escape(say)}</title></rect>'
        )

    def mark(self, x: float, y: float, series: int, say: str, shape: int = 0) -> None:
        """Draw a marker: a disc, square, diamond or triangle, by the number of the shape."""
        paths = (
            f"M{x - 5:.1f} {y:.1f}a5 5 0 1 0 10 0a5 5 0 1 0 -10 0z",
            f"M{x - 4.5:.1f} {y - 4.5:.1f}h9v9h-9z",
            f"M{x:.1f} {y - 6:.1f}l6 6l-6 6l-6 -6z",
            f"M{x:.1f} {y - 6:.1f}l6 10h-12z",
        )
        self.parts.append(
            f'<path class="f{series % SERIES}" d="{paths[shape % len(paths)]}">'
            f"<title>{escape(say)}</title></path>"
        )

    def polyline(self, points: list[tuple[float, float]], series: int, kind: str = "") -> None:
        """Join points by a line in a series' colour."""
        path = " ".join(f"{x:.1f},{y:.1f}" for x, y in points)
        self.parts.append(
            f'<polyline class="l{series % SERIES}{f" {kind}" if kind else ""}" points="{path}"/>'
        )

    def legend(self, names: list[str], y: float) -> None:
        """List the series in a column from y on."""
        for index, name in enumerate(names):
            self.mark(10, y - 4.5, index, name, 1)
            self.text(22, y, name)
            y += 19

    def inline(self) -> str:
        """Return it for a page that has `THEME` and `STYLE`."""
        return self._render("")

    def standalone(self) -> bytes:
        """Return it as a file of its own."""
        style = f"<style>{THEME}{STYLE}svg{{background:var(--paper)}}</style>"
        return (self._render(style) + "\n").encode()

    def _render(self, style: str) -> str:
        return (
            f'<svg xmlns="http://www.w3.org/2000/svg" role="img" aria-label={quoteattr(self.title)}'
            f' viewBox="0 0 {self.width:.0f} {self.height:.0f}">'
            f"{style}{''.join(self.parts)}</svg>"
        )
