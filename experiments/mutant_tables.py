"""Counts of compiled faults in Markdown: the tables, and the page of the rules."""

from collections.abc import Mapping
from types import MappingProxyType
from typing import Any

from gpu_eval.mutation.between_stages import between_stages
from gpu_eval.mutation.catalogue import RULES, documentation, is_locked
from suiteopt.matrix.schema import Family

EMPTY: Mapping[tuple[str, str], str] = MappingProxyType(
    {
        ("elementwise", "synchronization"): "their threads exchange nothing, so that there is no "
        "barrier, shuffle or atomic to break",
    }
)
"""Why an operation class has no valid fault of a family."""
CLASSES = ("stillborn", "equivalent", "duplicate", "valid")

Counts = dict[str, int]


def render(found: Mapping[str, Mapping[str, Any]]) -> str:
    """Return the tables in Markdown."""
    lines = [
        "# Faults of the corpus, compiled",
        "",
        "Made by `python -m experiments.mutant_counts`; nothing was run. A fault is *equivalent* "
        "whose machine code and launches are its substrate's, a *duplicate* whose are another "
        "fault's of the same substrate; *valid* is the rest of what compiles.",
    ]
    for name, half in found.items():
        lines += [
            "",
            f"## {name}",
            "",
            f"{half['compiler']}, launches on the shapes of the profile `{half['profile']}`; "
            f"{half['problems']} problems, {half['substrates']} substrates, {half['rules']} rules.",
            "",
            *_table("family", {**half["by_family"], "all": half}),
            "",
            "Valid faults by operation class and family (generated in brackets):",
            "",
            *_crossed(half["by_operation"]),
            "",
            *_sentences(half),
        ]
    return "\n".join(lines) + "\n"


def page(found: Mapping[str, Mapping[str, Any]]) -> str:
    """Return ``docs/rules.md``: the rules, and how many faults they make."""
    lines = [documentation(), between_stages(), "## How many faults that is", ""]
    for half in found.values():
        locked = sum(n["valid"] for rule, n in half["by_rule"].items() if is_locked(rule))
        lines += [
            f"The corpus ({half['problems']} problems, {half['substrates']} kernels) has "
            f"{half['generated']:,} faults by {half['rules']} rules. Compiled with "
            f"{half['compiler']}, with launches on the shapes of the profile `{half['profile']}`, "
            f"{half['stillborn']} do not compile, {half['equivalent']} are equal to their kernel "
            f"and {half['duplicate']} to another fault of it; {half['valid']:,} are valid, "
            f"{locked:,} of them by locked rules. Valid faults by operation class and family, all "
            "that were made in brackets:",
            "",
            *_crossed(half["by_operation"]),
            "",
            *(f"Empty, {place}: {why}." for place, why in empty(half).items()),
            *(f"Not counted yet: {', '.join(late)}." for late in [uncounted(half)] if late),
            "",
        ]
    lines += [
        "`experiments/results/mutant-counts.json` has them by rule and by problem; "
        "`python -m experiments.mutant_counts` makes it and this page.",
    ]
    return "\n".join(lines) + "\n"


def uncounted(half: Mapping[str, Any]) -> list[str]:
    """Return the rules that have come since the faults were counted."""
    return [rule.name for rule in RULES if rule.name not in half["by_rule"]]


def empty(half: Mapping[str, Any]) -> dict[str, str]:
    """Return why there is no valid fault, for each operation class and family without one."""
    return {
        f"{operation} x {family}": EMPTY[operation, family]
        for operation, row in half["by_operation"].items()
        for family, counts in row.items()
        if not counts["valid"]
    }


def _table(title: str, rows: Mapping[str, Mapping[str, Any]]) -> list[str]:
    columns = ("generated", *CLASSES)
    return [
        f"| {' | '.join((title, *columns))} |",
        f"|---{'|---:' * len(columns)}|",
        *(
            f"| {name} | {' | '.join(f'{row[c]:,}' for c in columns)} |"
            for name, row in rows.items()
        ),
    ]


def _crossed(operations: Mapping[str, Mapping[str, Counts]]) -> list[str]:
    return [
        f"| operation | {' | '.join(Family)} | all |",
        f"|---{'|---:' * (len(Family) + 1)}|",
        *(
            f"| {name} | {' | '.join(_cell(row[f]) for f in Family)} | "
            f"{sum(row[f]['valid'] for f in Family):,} |"
            for name, row in operations.items()
        ),
    ]


def _cell(counts: Counts) -> str:
    return f"{counts['valid']:,} ({counts['generated']:,})"


def _sentences(half: Mapping[str, Any]) -> list[str]:
    reasons = [f"Empty, {place}: {why}." for place, why in empty(half).items()]
    barren = [name for name, counts in half["by_rule"].items() if not counts["valid"]]
    fewest = min(half["by_problem"].items(), key=lambda item: item[1]["valid"])
    most = max(half["by_problem"].items(), key=lambda item: item[1]["valid"])
    return [
        *reasons,
        f"Fewest valid faults of a problem: {fewest[1]['valid']} ({fewest[0]}); "
        f"most: {most[1]['valid']} ({most[0]}).",
        f"Rules with faults but none valid: {', '.join(barren) or 'none'}.",
    ]
