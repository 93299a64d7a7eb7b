"""The page itself: one HTML file that needs nothing else and reaches for nothing."""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from importlib.metadata import version
from importlib.resources import files
from typing import Any

from suiteopt.audit.intervals import Interval
from suiteopt.audit.left_out import left_out_sentences
from suiteopt.audit.survivors import Survey
from suiteopt.errors import MissingExtraError
from suiteopt.report.content import SHOWN, Content
from suiteopt.report.layout import held_out_interval
from suiteopt.report.svg import STYLE, THEME, Drawing
from suiteopt.report.tables import Table
from suiteopt.validation.splits import Split


@dataclass(frozen=True)
class Headline:
    """What is said first; shares are None where the matrix cannot say."""

    mutants: int
    before_mutants: int
    before_rests_on: str
    missed_before: float | None
    before_interval: Interval | None
    missed_after: float | None
    in_output_before: float | None
    in_output_after: float | None
    held_out: float | None
    held_out_interval: Interval | None
    rejected: int
    control_cells: int
    members: int
    problems: int


def headline(content: Content) -> Headline:
    """Draw the headline from the content."""
    known = content.after or content.before
    site = None if content.validation is None else content.validation.splits[Split.SITE]
    return Headline(
        mutants=0 if known is None else known.tally.mutants,
        before_mutants=0 if content.before is None else content.before.tally.mutants,
        before_rests_on="" if content.before is None else content.before.rests_on,
        missed_before=None if content.before is None else content.before.tally.missed_share,
        before_interval=None if content.before is None else content.before.interval,
        missed_after=None if content.after is None else content.after.tally.missed_share,
        in_output_before=None if content.before is None else content.before.in_output.missed_share,
        in_output_after=None if content.after is None else content.after.in_output.missed_share,
        held_out=None if site is None else site.held_out_share,
        held_out_interval=None if site is None else held_out_interval(site),
        rejected=0 if content.after is None else content.after.false_rejections,
        control_cells=0 if content.after is None else content.after.control_cells,
        members=0 if content.suite is None else content.suite.members,
        problems=0 if content.suite is None else len(content.suite.problems),
    )


def render(content: Content, tables: Mapping[str, Table], figures: Mapping[str, Drawing]) -> str:
    """Return the page.

    Raises
    ------
    MissingExtraError
        Without Jinja2.
    """
    try:
        from jinja2 import DictLoader, Environment, StrictUndefined
    except ModuleNotFoundError as error:
        raise MissingExtraError("jinja2", "report") from error
    folder = files("suiteopt.report") / "templates"
    names = ("page.html.j2", "macros.html.j2", "page.css", "page.js")
    texts = {name: (folder / name).read_text(encoding="utf-8") for name in names}
    environment = Environment(
        loader=DictLoader(texts),
        autoescape=True,
        trim_blocks=True,
        lstrip_blocks=True,
        undefined=StrictUndefined,
        keep_trailing_newline=True,
    )
    environment.filters["share"] = _share
    environment.filters["breakable"] = _breakable
    environment.filters["points"] = lambda value: f"{100 * value:.1f}"
    return environment.get_template("page.html.j2").render(
        content=content,
        head=headline(content),
        tables=tables,
        figures={name: drawing.inline() for name, drawing in figures.items()},
        left_out=_left_out(content),
        survivors=_listed(content, content.missed_after),
        survivors_before=_listed(content, content.missed_before),
        css=THEME + STYLE + texts["page.css"],
        js=texts["page.js"],
        version=version("kernel-suiteopt"),
        shown=SHOWN,
    )


def _left_out(content: Content) -> list[str]:
    """Say which problems the check before is not judged on, and so not compared on."""
    if content.before is None:
        return []
    return [
        f"{content.protocol} is judged on {content.before.rests_on}, the suite on all: {sentence}"
        for sentence in left_out_sentences(content.before.left_out)
    ]


def _listed(content: Content, found: Survey | None) -> list[dict[str, Any]]:
    """Survivors with what the page says of each, the first `SHOWN`."""
    if found is None:
        return []
    return [
        {
            "name": row.implementation,
            "family": row.family,
            "rules": ", ".join(row.rules),
            "reason": str(row.reason).replace("_", " "),
            "error": row.error,
            "tolerance": row.tolerance,
            "killers": [name.removeprefix(f"{row.problem}:") for name in row.killers[:6]],
            "more": max(0, len(row.killers) - 6),
            "diff": content.diffs.get(row.implementation, ""),
        }
        for row in found.survivors[:SHOWN]
    ]


def _breakable(text: str) -> str:
    """Let a name such as ``tile_edges:a/b`` break over lines behind its joints."""
    from markupsafe import Markup, escape

    return Markup(re.sub("([_:])(?=\\w)", r"\1<wbr>", str(escape(text))))


def _share(value: float | None) -> str:
    return "–" if value is None else f"{100 * value:.1f}%"
