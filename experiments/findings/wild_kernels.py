"""Whether injected faults stand for real ones: wrong and right kernels after public reports.

Needs a matrix that was measured with ``gpu-eval run --wild``.
"""

import argparse
import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import pandas as pd

from experiments.findings.common import Finding, report, scope, table
from experiments.wild_counts import (
    BUDGET,
    CHOSEN,
    PROTOCOLS,
    PUBLISHED,
    all_checks,
    answer,
    described,
    has_wild,
    judged,
    left_out,
)
from suiteopt.cli.format import interval, share
from suiteopt.console import run_script, stdout
from suiteopt.matrix.denominator import Denominator
from suiteopt.matrix.store import Matrix, resolve_matrix
from suiteopt.validation.crossval import cross_validate

COMMAND = (
    "gpu-eval run --wild --profile {profile} --device {device} --output matrices/local/wild "
    "{problems}"
)
LOCAL = Path("matrices/local/wild")
"""Where a matrix with wild kernels is looked for if the default one has none."""


def find(matrix: Matrix) -> Finding:
    without = left_out(matrix)
    problems = [name for name in matrix.measured_problems if name not in without]
    known = described(matrix)
    kernels = known[known["problem"].isin(problems)].copy()
    unknown = known.loc[~known["problem"].isin(problems), "problem"].value_counts()
    checks = all_checks(matrix)
    names = [check.name for check in checks]
    mutants = pd.DataFrame()
    for check in checks:
        rejected, found = judged(matrix, check, problems)
        kernels[check.name] = kernels["implementation"].map(rejected)
        mutants = found if mutants.empty else mutants.assign(**{check.name: found[check.name]})
    ours: dict[str, Any] = {name: answer(kernels, mutants, name) for name in names}
    ours["held_out_share"] = held_out(matrix)
    ours["kernels"] = json.loads(kernels.to_json(orient="records"))
    ours["command"] = command(matrix)
    return Finding(
        title="Wrong kernels after public reports: do injected faults stand for them?",
        published={},
        ours=ours,
        tables=[summary(ours, names), one_by_one(kernels, names)],
        words=[
            *words(matrix, ours, kernels),
            *(
                f"Left out {name} ({unknown.get(name, 0)} wild kernels): {reason}."
                for name, reason in without.items()
            ),
        ],
    )


def held_out(matrix: Matrix) -> float | None:
    """Return the share of injected faults that two inputs detect which were not chosen on them."""
    found = cross_validate(matrix, BUDGET, "calibrated", denominator=Denominator.OUTPUT).as_dict()
    known: float | None = found["splits"]["random"]["held_out_share"]
    return known


def summary(ours: Mapping[str, Any], checks: Sequence[str]) -> Any:
    """Return the table of counts."""
    rows = []
    for name in checks:
        found = ours[name]
        wrong, right, injected = found["wrong"], found["right"], found["injected"]
        rows.append(
            (
                name,
                _of(wrong["all"], "detected"),
                _of(wrong["in_output"], "detected"),
                interval(wrong["in_output"]["interval"]),
                share(injected["in_output"]["share"]),
                share(injected["in_output"]["share_by_wild_problems"]),
                _of(right, "rejected"),
            )
        )
    headings = (
        "check",
        "wild wrong, all",
        "that show",
        "exact 95%",
        "injected that show",
        "same weights",
        "wild right rejected",
    )
    return table(headings, rows)


def one_by_one(kernels: pd.DataFrame, checks: Sequence[str]) -> Any:
    """Return the table of kernels: x where a check rejects one."""
    rows = [
        (
            f"{row['implementation']} ({row['expected']})",
            f"{row['witness']} {row['witness_how']}".strip(),
            *("x" if row[name] else "" for name in checks),
        )
        for row in kernels.to_dict("records")
    ]
    return table(("kernel", "witness", "v0.1", "today", "verified", "two", "pool"), rows)


def words(matrix: Matrix, ours: Mapping[str, Any], kernels: pd.DataFrame) -> list[str]:
    """Say what the counts mean, and what they cannot say."""
    wrong = kernels[kernels["expected"] == "wrong"]
    right = kernels[kernels["expected"] == "right"]
    surprises = right.loc[right["witness"] != "none", "implementation"].tolist()
    unseen = wrong.loc[wrong["witness"] == "none", "name"].tolist()
    return [
        f"{len(wrong)} wrong kernels for {wrong['problem'].nunique()} problems, written anew after "
        f"public reports, and {len(right)} right ones; nothing was fitted on them. "
        f"{int(wrong['at_scope'].sum())} of the wrong ones were seen to be wrong at the measured "
        f"shape, {int(wrong['in_output'].sum())} of these in an output; the others need other "
        "shapes or inputs than the witness pool has there.",
        *verdict(ours),
        "Whoever reports a fault met it in a kernel that somebody's tests had let through, which "
        "by itself makes reported faults harder to find; injected ones are made blindly. "
        f"Among what {PUBLISHED} accepts the selection is the same on both sides: there the chosen "
        f"two detect {_both(ours[CHOSEN]['accepted_by_published'])}.",
        "The two inputs were chosen on the injected faults and on no wild kernel; of injected "
        f"faults that are held out they detect {share(ours['held_out_share'])}.",
        "An interval of a few dozen kernels is wide, several kernels share a problem, and their "
        "author knew of the checks: a share inside is no proof of equality.",
        "The witness pool agrees that the right ones are right."
        if not surprises
        else f"The witness pool contradicts the author on: {', '.join(surprises)}.",
        *([f"Wrong, and not seen so by the witness pool: {', '.join(unseen)}."] if unseen else []),
        scope(matrix),
    ]


def verdict(ours: Mapping[str, Any]) -> list[str]:
    """Answer the question, check by check, and for the order of the checks."""
    names = (*PROTOCOLS, CHOSEN)
    inside = [name for name in names if ours[name]["injected"]["in_output"]["inside_interval"]]
    outside = [name for name in names if name not in inside]
    by_wild = sorted(names, key=lambda name: ours[name]["wrong"]["in_output"]["share"] or 0.0)
    by_injected = sorted(
        names, key=lambda name: ours[name]["injected"]["in_output"]["share_by_wild_problems"] or 0.0
    )
    how_much = "; ".join(
        f"{name}: {_of(ours[name]['wrong']['in_output'], 'detected')} wild ones, "
        f"{share(ours[name]['injected']['in_output']['share_by_wild_problems'])} of the injected"
        for name in names
    )
    if not inside:
        answer_in_words = "Not in how much a check detects"
    elif not outside:
        answer_in_words = "In how much a check detects, within the exact intervals"
    else:
        answer_in_words = (
            f"In how much a check detects, within the exact interval for {', '.join(inside)}, "
            f"not for {', '.join(outside)}"
        )
    order = (
        "Both put the checks in the same order."
        if by_wild == by_injected
        else f"From weakest to strongest, wild ones say {', '.join(by_wild)}; "
        f"injected ones {', '.join(by_injected)}."
    )
    return [
        f"Do injected faults stand for real ones? {answer_in_words} ({how_much}, every problem "
        "weighing as much as it has wild kernels).",
        order,
    ]


def _both(found: Mapping[str, Any]) -> str:
    likewise = share(found["injected"]["share_by_wild_problems"])
    bounds = interval(found["wrong"]["interval"])
    return (
        f"{_of(found['wrong'], 'detected')} wild kernels ({bounds}) and {likewise} of the "
        "injected faults"
    )


def command(matrix: Matrix) -> str:
    """Return the command that measures such a matrix."""
    problems = " ".join(f"--problem {name}" for name in matrix.measured_problems)
    device = "cuda" if matrix.meta.device["name"] == "cuda" else "cpu"
    return COMMAND.format(profile=matrix.meta.profile, device=device, problems=problems)


def _of(found: Mapping[str, Any], word: str) -> str:
    return f"{found[word]} of {found['kernels']}"


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m experiments.findings.wild_kernels")
    parser.add_argument("--matrix", type=Path)
    asked = parser.parse_known_args()[0].matrix
    chosen = Matrix.open(resolve_matrix(asked))
    if asked is None and not has_wild(chosen) and LOCAL.is_dir():
        chosen = Matrix.open(LOCAL)
    if not has_wild(chosen):
        stdout().print(
            f"\nWild kernels: the matrix {chosen.path.name} has none; measure one with "
            "'gpu-eval run --wild' and give it as --matrix. The finding is left as it was.",
            soft_wrap=True,
        )
        return
    report("wild_kernels", find, default=chosen.path)


if __name__ == "__main__":
    run_script(main)
