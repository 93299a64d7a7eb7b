"""What checks make of the wild kernels of a matrix, and of the mutants of the same problems."""

import json
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
from scipy.stats import binomtest

from suiteopt.matrix.denominator import (
    Denominator,
    denominator_mask,
    headline_scopes,
    shows_in_output,
)
from suiteopt.matrix.kill import KillTable, kill_table
from suiteopt.matrix.schema import Kind
from suiteopt.matrix.store import Matrix
from suiteopt.protocols import (
    lacking_any,
    load_oracle,
    load_protocol,
    protocol_inputs,
    protocol_table,
)
from suiteopt.selection.select import select

INDEX = "wild/wild.json"
PUBLISHED = "kernelbench-v0.1"
PROTOCOLS = (PUBLISHED, "kernelbench", "kernelbench-verified")
CHOSEN, POOL = "chosen two, calibrated", "all safe inputs, calibrated"
BUDGET = 2
SEEN = ("all", "at_scope", "in_output")


@dataclass(frozen=True)
class Check:
    """A way to judge a kernel: a name, and its verdicts on all rows of a problem.

    ``judge`` takes a problem and returns the kill table and the positions of the inputs in use.
    """

    name: str
    judge: Callable[[str], tuple[KillTable, list[int]]]


def has_wild(matrix: Matrix) -> bool:
    """Tell whether a matrix holds wild kernels."""
    return bool((matrix.implementations["kind"] == str(Kind.WILD)).any())


def described(matrix: Matrix) -> pd.DataFrame:
    """Return one row a wild kernel: what its author says of it, and what the witness pool says."""
    rows = matrix.implementations
    wild = rows[rows["kind"] == str(Kind.WILD)].set_index("implementation", drop=False)
    known: list[Mapping[str, Any]] = []
    for problem in wild["problem"].astype(str).unique():
        known += json.loads(matrix.source(problem, INDEX))
    about = pd.DataFrame(known).drop(columns="source")
    about["url"] = [(entry["source"] or {}).get("url", "") for entry in known]
    found = wild.loc[about["implementation"]]
    about.insert(0, "problem", found["problem"].astype(str).to_numpy())
    about["witness"] = found["witness"].astype(str).to_numpy()
    about["witness_how"] = found["witness_how"].astype(str).to_numpy()
    scopes = [str(name) for name in headline_scopes(matrix.meta)]
    about["at_scope"] = about["witness"].isin(scopes)
    about["in_output"] = about["at_scope"] & shows_in_output(about)
    about["all"] = True
    return about


def all_checks(matrix: Matrix) -> list[Check]:
    """Return the benchmarks' own checks, the two chosen inputs, and the whole safe pool."""
    chosen = select(matrix, BUDGET, "calibrated")
    members = {part.problem: part.selection.members for part in chosen.problems}
    oracle = load_oracle("calibrated")

    def by_protocol(name: str) -> Check:
        protocol = load_protocol(name)
        return Check(
            name,
            lambda problem: positions(
                protocol_table(matrix, problem, protocol),
                protocol_inputs(matrix, problem, protocol),
            ),
        )

    def by_members(problem: str) -> tuple[KillTable, list[int]]:
        return positions(kill_table(matrix, problem, oracle), members.get(problem, ()))

    def by_pool(problem: str) -> tuple[KillTable, list[int]]:
        judging = kill_table(matrix, problem, oracle)
        return judging, np.flatnonzero(judging.choosable).tolist()

    return [*map(by_protocol, PROTOCOLS), Check(CHOSEN, by_members), Check(POOL, by_pool)]


def left_out(matrix: Matrix) -> dict[str, str]:
    """Return the problems on which some protocol cannot be judged, and why.

    Checks stand side by side here, so no kernel of such a problem counts for any of them.
    """
    return lacking_any(matrix, [load_protocol(name) for name in PROTOCOLS])


def positions(judging: KillTable, inputs: Sequence[str]) -> tuple[KillTable, list[int]]:
    """Return a table with the positions of some of its inputs."""
    return judging, [judging.inputs.index(name) for name in inputs]


def judged(
    matrix: Matrix, check: Check, problems: Iterable[str]
) -> tuple[dict[str, bool], pd.DataFrame]:
    """Return which wild kernels a check rejects, and one row a mutant with what it detects."""
    rejected: dict[str, bool] = {}
    parts = []
    for problem in problems:
        judging, columns = check.judge(problem)
        killed = np.asarray(judging.kills.toarray()[:, columns].any(axis=1), dtype=np.bool_)
        wild = judging.rows(Kind.WILD)
        rejected |= {judging.implementations[row]: bool(killed[row]) for row in wild}
        rows = pd.DataFrame({"problem": problem, check.name: killed})
        rows["at_scope"] = denominator_mask(matrix, judging, Denominator.WITNESSED)
        rows["in_output"] = denominator_mask(matrix, judging, Denominator.OUTPUT)
        parts.append(rows[rows["at_scope"]])
    return rejected, pd.concat(parts, ignore_index=True)


def answer(kernels: pd.DataFrame, mutants: pd.DataFrame, check: str) -> dict[str, Any]:
    """Return a check's counts with exact intervals (Clopper and Pearson, 1934)."""
    wrong = kernels[kernels["expected"] == "wrong"]
    right = kernels[kernels["expected"] == "right"]
    accepted, passing = wrong[~wrong[PUBLISHED].astype(bool)], mutants[~mutants[PUBLISHED]]
    found: dict[str, Any] = {
        "wrong": {seen: exact(wrong.loc[wrong[seen], check], "detected") for seen in SEEN},
        "right": exact(right[check], "rejected"),
        "injected": {
            seen: injected(wrong[wrong[seen]], mutants[mutants[seen]], check) for seen in SEEN[1:]
        },
        "accepted_by_published": {
            "wrong": exact(accepted.loc[accepted["in_output"], check], "detected"),
            "injected": injected(
                accepted[accepted["in_output"]], passing[passing["in_output"]], check
            ),
        },
    }
    for group, wild in (
        *((found["injected"][seen], found["wrong"][seen]) for seen in SEEN[1:]),
        (found["accepted_by_published"]["injected"], found["accepted_by_published"]["wrong"]),
    ):
        bounds, like = wild["interval"], group["share_by_wild_problems"]
        known = bounds is not None and like is not None
        group["inside_interval"] = bool(bounds[0] <= like <= bounds[1]) if known else None
    return found


def injected(wrong: pd.DataFrame, mutants: pd.DataFrame, check: str) -> dict[str, Any]:
    """Return what a check detects of mutants: all, and with the wild kernels' problems' weights.

    A problem weighs as much as it has wild kernels; one without such mutants is left out.
    """
    shares = mutants.groupby("problem")[check].mean()
    weights = wrong["problem"].value_counts()
    weights = weights[weights.index.isin(shares.index)]
    weight = float(weights.sum())
    return {
        "mutants": len(mutants),
        "detected": int(mutants[check].sum()),
        "share": float(mutants[check].mean()) if len(mutants) else None,
        "share_by_wild_problems": float((weights * shares.reindex(weights.index)).sum() / weight)
        if weight
        else None,
    }


def exact(hits: "pd.Series[Any]", word: str) -> dict[str, Any]:
    """Return a count of kernels with its exact 95% interval."""
    size, count = len(hits), int(hits.astype(bool).sum())
    if not size:
        return {"kernels": 0, word: 0, "share": None, "interval": None}
    bounds = binomtest(count, size).proportion_ci(0.95, method="exact")
    return {
        "kernels": size,
        word: count,
        "share": count / size,
        "interval": [float(bounds.low), float(bounds.high)],
    }
