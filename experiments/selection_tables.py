"""Tables of the benchmarks against other solvers, in Markdown."""

from collections.abc import Sequence
from statistics import median
from typing import Any


def rivals_table(result: dict[str, Any]) -> str:
    """Write what `bench_selection` measured side by side."""
    lines: list[str] = []
    for name, rows in result["rivals"].items():
        lines += [
            "",
            f"| {name} | median seconds | ratio | detected | worse than the best |",
            "|---|---|---|---|---|",
            *(_budget_row(row) for row in rows),
        ]
    for name, rows in result["large_covers"].items():
        lines += [
            "",
            f"| full cover, {name} | columns | bound | seconds | ratio | processor seconds "
            "| peak memory, MiB |",
            "|---|---|---|---|---|---|---|",
        ]
        solvers = list(dict.fromkeys(row["solver"] for row in rows))
        first = median(row["seconds"] for row in rows if row["solver"] == solvers[0])
        lines += [_cover_row([r for r in rows if r["solver"] == s], first) for s in solvers]
    lines += [
        "",
        "Ratios are wall-clock medians over that of the first row, in one run on a shared machine; "
        "building the model counts. Processor seconds leave out the process that PuLP starts. "
        "Peak memory is that of the whole process, the instance and the interpreter included. "
        "PuLP and CP-SAT were not given 10^7 kills: their models are one Python object a kill.",
    ]
    return "\n".join([*lines, ""])


def _budget_row(row: dict[str, Any]) -> str:
    if "absent" in row:
        return f"| {row['solver']} | {row['absent']} | | | |"
    return (
        f"| {row['solver']} | {row['median_seconds']:.4f} | {row['time_ratio']:.1f} | "
        f"{row['detected']} | {row['below_best']} |"
    )


def _cover_row(rows: Sequence[dict[str, Any]], first: float) -> str:
    def middle(key: str) -> float:
        return median(row[key] for row in rows)

    cost, bound = rows[0]["cost"], rows[0]["bound"]
    if rows[0]["peak_mib"] is None:
        return (
            f"| {rows[0]['solver']} | ended, its limit ignored | | {middle('seconds'):.0f} | | | |"
        )
    return (
        f"| {rows[0]['solver']} | {'none' if cost is None else cost} | "
        f"{'-' if bound is None else f'{bound:.1f}'} | {middle('seconds'):.2f} | "
        f"{middle('seconds') / first:.1f} | {middle('processor_seconds'):.2f} | "
        f"{max(row['peak_mib'] for row in rows):.0f} |"
    )
