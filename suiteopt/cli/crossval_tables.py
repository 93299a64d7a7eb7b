"""Tables of `suiteopt crossval`, for people."""

from typing import Any

from rich.table import Table

from suiteopt.cli.format import interval, points, share
from suiteopt.console import stdout


def tell(answer: dict[str, Any], chosen_by: str) -> None:
    """Print what was found, the headline first."""
    console = stdout()
    console.print(
        f"budget {answer['budget']} under {answer['oracle']}: fitted "
        f"{share(answer['fitted_share'])} of {answer['mutants']} faults, {chosen_by}; "
        f"{answer['repeats']} repeats  ({answer['label']})",
        soft_wrap=True,
    )
    splits = Table(box=None, pad_edge=False)
    for heading in ("split", "held out", "gap", "interval", "p", "oracle", "random-k", "own draws"):
        splits.add_column(heading, justify="left" if heading == "split" else "right")
    for name, row in answer["splits"].items():
        p = row["sign_flip_p"]
        splits.add_row(
            name,
            share(row["held_out_share"]),
            points(row["gap_share"]),
            interval(row["interval"]),
            "-" if p is None else f"{p:.3f}",
            share(row["oracle_share"]),
            share(row["random_share"]),
            share(row["own_share"]),
        )
    console.print(splits)
    problems = Table(box=None, pad_edge=False)
    for heading in (
        "problem",
        "faults",
        "fitted",
        "random split",
        "site split",
        "rule split",
        "own",
    ):
        problems.add_column(heading, justify="left" if heading == "problem" else "right")
    for row in answer["rows"]:
        held_out = [row["splits"][name]["held_out_share"] for name in ("random", "site", "rule")]
        problems.add_row(
            row["problem"],
            str(row["mutants"]),
            share(row["fitted_share"]),
            *(share(value) for value in held_out),
            share(row["own_share"]),
        )
    console.print(problems)
    console.print(_denominators(answer))
    _tell_published(answer["published"])
    _tell_nested(answer["nested"])
    _tell_sensitivity(answer["sensitivity"])
    _tell_locked(answer["locked_rules"])
    _tell_objectives(answer["objectives"])
    controls = answer["controls"]
    console.print(
        f"controls never calibrated on: {controls['rejected']} of {controls['held_out']} rejected "
        f"(95% bound {share(controls['bound_share'])}); choice stable over folds: "
        f"{share(answer['stability_share'])}; {answer['seconds']:.1f} s",
        soft_wrap=True,
    )


def _denominators(answer: dict[str, Any]) -> Table:
    table = Table(box=None, pad_edge=False)
    for heading in ("denominator", "mutants", "fitted", "held out by site", "own", "first own"):
        table.add_column(heading, justify="left" if heading == "denominator" else "right")
    shares = ("fitted_share", "held_out_share", "own_share", "first_own_share")
    for name, row in answer["denominators"].items():
        table.add_row(
            name.replace("_", " "), str(row["mutants"]), *(share(row.get(key)) for key in shares)
        )
    minimal = answer["dominators"]
    table.add_row(
        "dominators",
        str(minimal["minimal"]),
        share(minimal["fitted_share"]),
        "-",
        share(minimal["own_share"]),
        "-",
    )
    return table


def _tell_published(row: dict[str, Any] | None) -> None:
    if row is None:
        return
    stdout().print(
        f"published conditions (fixed {row['tolerance']:g}, k = {row['budget']}, random folds, "
        "chosen by coverage): "
        f"fitted {share(row['fitted_share'])}, held out {share(row['held_out_share'])}; families "
        f"weighted as published rules: {share(row['mix_fitted_share'])}, "
        f"{share(row['mix_held_out_share'])}; published on their own faults: "
        f"{share(row['published_fitted_share'])}, {share(row['published_held_out_share'])}",
        soft_wrap=True,
    )


def _tell_nested(row: dict[str, Any] | None) -> None:
    if row is None:
        return
    safeties = sorted(set(row["safeties"].values()))
    controls = row["controls"]
    held_out = ", ".join(
        f"{name} {share(figures['held_out_share'])}" for name, figures in row["splits"].items()
    )
    stdout().print(
        f"safety chosen on control kinds held out in the other problems ({safeties[0]:g} to "
        f"{safeties[-1]:g}; {row['chosen_safety']:g} over all): fitted "
        f"{share(row['fitted_share'])}, held out {held_out}; controls "
        f"{controls['rejected']} of {controls['held_out']} rejected",
        soft_wrap=True,
    )


def _tell_sensitivity(rows: list[dict[str, Any]]) -> None:
    parts = ", ".join(
        f"x{row['factor']:.2g}: {share(row['fitted_share'])} ({row['rejected']} rejected)"
        for row in rows
    )
    stdout().print(f"the same suite at scaled tolerances: {parts}", soft_wrap=True)


def _tell_locked(row: dict[str, Any] | None) -> None:
    if row is None:
        return
    stdout().print(
        f"locked rules: {share(row['detected_share'])} of {row['mutants']} faults of "
        f"{row['rules']} rules by a suite that was chosen without them "
        f"({share(row['open_share'])} on the others); the opening is in the ledger",
        soft_wrap=True,
    )


def _tell_objectives(duels: dict[str, Any] | None) -> None:
    if duels is None:
        return
    table = Table(box=None, pad_edge=False)
    for heading in ("held out by", "coverage", "held-out objective", "difference", "p", "verdict"):
        table.add_column(heading, justify="left" if heading in {"held out by", "verdict"}
                         else "right")  # fmt: skip
    for name, row in duels.items():
        p = row["sign_flip_p"]
        table.add_row(
            name,
            share(row["plain_share"]),
            share(row["held_out_objective_share"]),
            f"{100 * (row['difference_share'] or 0.0):+.2f}",
            interval(row["interval"]) if p is None else f"{p:.3f}",
            row["verdict"],
        )
    stdout().print(table)


def _tell_curve(points: list[dict[str, Any]]) -> None:
    families = sorted({family for point in points for family in point["by_family"]})
    table = Table(box=None, pad_edge=False)
    for heading in ("oracle", "detected", *families, "rejected", "bound", "of the pool"):
        table.add_column(heading, justify="left" if heading == "oracle" else "right")
    for point in points:
        table.add_row(
            point["oracle"],
            share(point["detected_share"]),
            *(share(point["by_family"].get(family)) for family in families),
            f"{point['rejected']} of {point['held_out']}",
            share(point["cell_bound_share"]),
            f"{point['pool_rejected']} of {point['pool_held_out']}",
        )
    stdout().print(table)
    stdout().print(
        "chosen by coverage; rejected: cells of control kinds that neither calibrated nor decided "
        "which inputs can be chosen, on members and on the pool; bound: exact, one-sided 95%, of "
        "independent cells",
        soft_wrap=True,
    )
