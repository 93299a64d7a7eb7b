"""`suiteopt targets`: which benchmarks a suite can be exported to."""

from typing import Any

from rich.table import Table

from suiteopt.cli.options import JsonOption
from suiteopt.console import print_json, stdout
from suiteopt.export.registry import describe_targets


def targets(json: JsonOption = False) -> None:
    """List the targets and what each can carry."""
    described = describe_targets()
    if json:
        print_json({"targets": described})
        return
    table = Table(box=None, pad_edge=False)
    for heading in ("target", "carries", "oracle", "members", "own draws", "how it gets there"):
        table.add_column(heading)
    for row in described:
        limit = row["member_limit"]
        table.add_row(
            row["name"],
            ", ".join(row["needs"]),
            row["oracle"] or "the suite's",
            "any" if limit is None else f"at most {limit}",
            _draws(row),
            row["trials"],
        )
    stdout().print(table)


def _draws(row: dict[str, Any]) -> str:
    """Say whether the benchmark's own draws can be members, and whether they run first."""
    if not row["own_draws"]:
        return "not carried"
    return "carried, and first" if row["own_first"] else "carried"
