"""A report on disk: the page, its figures as SVG, its tables as CSV, the suite."""

from pathlib import Path

from suiteopt.export.tree import write_tree
from suiteopt.report.content import Content
from suiteopt.report.figures import figures
from suiteopt.report.layout import tables
from suiteopt.report.page import render
from suiteopt.suite_json import dump

PAGE = "index.html"


def write_report(content: Content, directory: Path) -> tuple[Path, ...]:
    """Write a report, whole or not at all; the page comes last.

    Returns
    -------
    tuple of Path
        What was written, the page first.

    Raises
    ------
    UserError
        If the directory is a file or cannot be written.
    MissingExtraError
        Without Jinja2.
    """
    drawn, laid = figures(content), tables(content)
    page = render(content, laid, drawn)
    files: dict[str, bytes] = {
        **{f"figures/{name}.svg": drawing.standalone() for name, drawing in drawn.items()},
        **{f"tables/{name}.csv": table.csv() for name, table in laid.items()},
    }
    if content.suite is not None:
        files["suite.json"] = dump(content.suite).encode()
    write_tree(directory, {**files, PAGE: page.encode()})
    return (directory / PAGE, *(directory / name for name in files))
