"""What the benchmarks of selection have measured, in Markdown."""

from collections.abc import Sequence
from statistics import median
from typing import Any


def page(result: dict[str, Any]) -> str:
    """Write everything that `bench_selection` measured."""
    return _table(result) + rivals_table(result)


def _table(result: dict[str, Any]) -> str:
    lines = [
        "# Selection, measured",
        "",
        f"{result['machine']['cpus']} cores, load average {result['load_average']:.1f}: times are "
        "wall clock and as long as the machine was busy; processor times beside them are not. "
        "Every cover was checked against the rows of its instance, whoever found it.",
        "",
        "| exact enumeration | seconds | processor seconds | several optima |",
        "|---|---|---|---|",
    ]
    for row in result["enumeration"]:
        lines.append(
            f"| {row['problems']} problems, {row['inputs']} inputs, {row['mutants']} mutants, "
            f"budget {row['budget']} | {row['seconds']:.3f} | {row['processor_seconds']:.3f} | "
            f"{row['several_optima_share']:.0%} |"
        )
    lines += [
        "",
        "| solver | budget | median ms | proved | below optimum |",
        "|---|---|---|---|---|",
    ]
    for row in result["solvers"]:
        lines.append(
            f"| {row['solver']} | {row['budget']} | {row['median_problem_seconds'] * 1e3:.2f} | "
            f"{row['proved']} of {row['problems']} | {row['below_optimum']} |"
        )
    lines += ["", "| refits | seconds | processor seconds |", "|---|---|---|"]
    for row in result["refits"]:
        lines.append(
            f"| {row['refits']} of {row['mutants']} mutants, {row['inputs']} inputs, "
            f"budget {row['budget']} | {row['bank_seconds'] + row['seconds']:.2f} | "
            f"{row['processor_seconds']:.2f} |"
        )
    large = result["large"]
    lines += [
        "",
        f"{large['mutants']} mutants, {large['inputs']} inputs, budget {large['budget']}: greedy "
        f"{large['greedy']} in {large['greedy_seconds']:.2f} s, with exchanges "
        f"{large['exchanged']} in {large['exchange_seconds']:.2f} s, bound {large['auto_bound']} "
        f"({large['auto_solver']}), {large['auto_seconds']:.1f} s in all.",
        "",
    ]
    if isinstance(result["covers"], str):
        return "\n".join([*lines, f"Third-party instances {result['covers']}.", ""])
    lines += [
        "| full cover | searched | gap | seconds | finished by HiGHS | gap | bound | seconds "
        "| ortools.set_cover in the time of the search | published | core |",
        "|---|---|---|---|---|---|---|---|---|---|---|",
    ]
    for row in result["covers"]:
        known = row["published"]
        lines.append(
            f"| {row['instance']} | {row['searched']} | {row['searched'] / known - 1:.1%} | "
            f"{row['search_seconds']:.1f} | {row['cost']} | {row['cost'] / known - 1:.1%} | "
            f"{row['bound']} | {row['seconds']:.1f} | {row['set_cover']} | {known} | "
            f"{row['core'][0]} x {row['core'][1]} |"
        )
    lines += ["", "| kill map | cost | bound | known | seconds |", "|---|---|---|---|---|"]
    for row in result["killmaps"]:
        lines.append(
            f"| {row['instance']} | {row['cost']} | {row['bound']} | {row['known_optimum']} | "
            f"{row['seconds']:.2f} |"
        )
    lines += [
        "",
        "| tests chosen on body-parser-old | of its mutants | of body-parser-new's "
        "| best there | as many at random |",
        "|---|---|---|---|---|",
    ]
    for row in result["next_version"]:
        lines.append(
            f"| {row['budget']} | {row['old_share']:.1%} | {row['new_share']:.1%} | "
            f"{row['new_best_share']:.1%} | {row['new_random_share']:.1%} |"
        )
    return "\n".join([*lines, ""])


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
