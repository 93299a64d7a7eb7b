"""A report on disk: the page, its figures as SVG, its tables as CSV, the suite."""

from pathlib import Path

from suiteopt.errors import UserError
from suiteopt.matrix.files import write_atomic
from suiteopt.report.content import Content
from suiteopt.report.figures import figures
from suiteopt.report.layout import tables
from suiteopt.report.page import render
from suiteopt.suite_json import dump

PAGE = "index.html"


def write_report(content: Content, directory: Path) -> tuple[Path, ...]:
    """Write a report; the page comes last, so that it never stands without its files.

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
    if directory.exists() and not directory.is_dir():
        raise UserError(f"{directory} is no directory; give one, or a name that is free")
    drawn, laid = figures(content), tables(content)
    page = render(content, laid, drawn)
    files: dict[str, bytes] = {
        **{f"figures/{name}.svg": drawing.standalone() for name, drawing in drawn.items()},
        **{f"tables/{name}.csv": table.csv() for name, table in laid.items()},
    }
    if content.suite is not None:
        files["suite.json"] = dump(content.suite).encode()
    for name, data in files.items():
        write_atomic(directory / name, data)
    write_atomic(directory / PAGE, page.encode())
    return (directory / PAGE, *(directory / name for name in files))
