"""What became of a suite at the benchmark's own shapes, as a page and a table.

From the answer of ``gpu-eval confirm`` to the suite of two inputs a problem::

    suiteopt select -k 2 -o suite.json
    gpu-eval confirm suite.json --output confirmed --skip-fatal --raised confirmed-2.json \
        --json > confirm.json
    python -m experiments.confirmed confirm.json suite.json

Writes ``experiments/results/confirmed.json`` and ``confirmed.md``; of a suite that was chosen for
a target ``confirmed-TARGET.json`` and ``.md``. The second file may also be the suite that the same
``select`` gives later: problems of which it has other members are named.
"""

import argparse
import json
import sys
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from experiments.records import write_record
from suiteopt.console import run_script
from suiteopt.errors import UserError
from suiteopt.export.replay import verdicts
from suiteopt.matrix.closed import closed_cells
from suiteopt.matrix.files import write_atomic
from suiteopt.matrix.kill import kill_table
from suiteopt.matrix.layout import layout_of
from suiteopt.matrix.schema import Status
from suiteopt.matrix.store import Matrix, resolve_matrix
from suiteopt.protocols import load_oracle
from suiteopt.suite import Suite

RESULTS = Path(__file__).parent / "results"
NAME = "confirmed"
"""Of the record of the default suite; with a target's name, of that target's."""
WAYS = ("never run", "no number", "no difference", "below a tenth", "within the tolerance")
"""How a promised kill was lost: the matrix had not run the cell either, but taken it for fatal;
the run gave nothing to measure; its output is the reference's to the bit; its error is below a
tenth of the tolerance; or below the tolerance."""
CLOSED_BY = (
    "own shape, a crash or timeout",
    "other shape, a crash or timeout there",
    "a launch refused at the same shape",
)
"""Why a closed cell is a kill; the last also where the mutant crashed elsewhere."""
CLOSED = "closed"
"""Name of the record of what closed cells were when refused launches closed mutants, too."""
_KEPT = ("input", "shape", "full", "scope", "reduction_ratio", "tolerance", "needed", "promised",
         "confirmed", "not_run", "gained", "controls_accepted")  # fmt: skip
_TOTALS = ("target", "members", "full", "promised", "confirmed", "not_confirmed", "never_run",
           "not_run", "confirmed_at_needed", "gained", "controls_accepted", "controls_rejected",
           "nulls_promised", "nulls_confirmed", "detected_promised", "detected_confirmed",
           "detected_not_run", "seconds", "matrix_id", "measured_id")  # fmt: skip


def way(lost: Mapping[str, Any], tolerance: float) -> str:
    """Return how a promised kill was lost, one of `WAYS`."""
    if lost["assumed"]:
        return WAYS[0]
    critical = lost["critical"]
    if critical is None:
        return WAYS[1]
    if critical == 0:
        return WAYS[2]
    return WAYS[3] if critical < 0.1 * tolerance else WAYS[4]


def taken_for_granted(answer: Mapping[str, Any], matrix: Matrix) -> dict[str, dict[str, int]]:
    """Count promised kills that the matrix did not run, its mutant being closed, by the reason.

    Returns
    -------
    dict of dict of int
        By `CLOSED_BY`: ``promised``, and of these ``ran`` here and were ``confirmed``.
    """
    found = {by: dict.fromkeys(("promised", "ran", "confirmed"), 0) for by in CLOSED_BY}
    oracle = load_oracle("calibrated")
    for problem in answer["problems"]:
        name = problem["problem"]
        layout = layout_of(matrix, name)
        cells = matrix.cells(name, ["implementation", "input", "status"])
        refused = cells[cells["status"] == str(Status.LAUNCH_ERROR)]
        pairs = zip(
            refused["implementation"].astype(str), refused["input"].astype(str), strict=True
        )
        refused_at = {(mutant, layout.shapes[layout.columns[each]]) for mutant, each in pairs}
        closed = closed_cells(matrix, name)
        table = kill_table(matrix, name, oracle)
        for member in problem["members"]:
            column = layout.columns[member["input"]]
            lost = {each["mutant"] for each in member["not_confirmed_items"]}
            for mutant, kill in verdicts(table, member["input"]).items():
                if not kill or (mutant, member["input"]) not in closed:
                    continue
                by = CLOSED_BY[int(layout.varied[column])]
                if (mutant, layout.shapes[column]) in refused_at:
                    by = CLOSED_BY[2]
                ran = mutant not in member["not_run_items"]
                found[by]["promised"] += 1
                found[by]["ran"] += ran
                found[by]["confirmed"] += ran and mutant not in lost
    return found


def other_members(answer: Mapping[str, Any], suite: Suite) -> list[str]:
    """Return the problems of which a suite has other members than those that were confirmed."""
    now = {part.problem: {member.input for member in part.members} for part in suite.problems}
    return [
        problem["problem"]
        for problem in answer["problems"]
        if now.get(problem["problem"]) != {member["input"] for member in problem["members"]}
    ]


def name_of(target: str | None) -> str:
    """Return the name of the record of a target's suite; None for the default one."""
    return NAME if target is None else f"{NAME}-{target}"


def condensed(answer: Mapping[str, Any], matrix: Matrix, suite: Suite) -> dict[str, Any]:
    """Return what is kept of an answer: totals, what was raised, and a row a member."""
    raised = answer["raised"]
    return {
        **{key: answer[key] for key in _TOTALS},
        "other_members": other_members(answer, suite),
        "taken_for_granted": taken_for_granted(answer, matrix),
        "raised": {key: value for key, value in raised.items() if key not in ("members", "suite")},
        "members_of_problems": {
            problem["problem"]: [
                {key: member[key] for key in _KEPT}
                | {"rejected": member["controls_rejected_items"]}
                | {
                    "lost": {
                        lost["mutant"]: way(lost, member["tolerance"])
                        for lost in member["not_confirmed_items"]
                    }
                }
                for member in problem["members"]
            ]
            for problem in answer["problems"]
        },
    }


def members(found: Mapping[str, Any]) -> Iterator[Mapping[str, Any]]:
    """Yield the members of all problems."""
    for rows in found["members_of_problems"].values():
        yield from rows


@dataclass(frozen=True)
class Controls:
    """Controls of some members: all of them, those rejected, and all of the members that stay."""

    all: int
    rejected: int
    kept: int


def controls(found: Mapping[str, Any], varied: bool) -> Controls:
    """Count the controls of members varied in shape, or of the others."""
    rows = [row for row in members(found) if (row["scope"] == "other") == varied]
    count = {row["input"]: row["controls_accepted"] + len(row["rejected"]) for row in rows}
    return Controls(
        all=sum(count.values()),
        rejected=sum(len(row["rejected"]) for row in rows),
        kept=sum(n for name, n in count.items() if name not in found["raised"]["left_out"]),
    )


def growth(found: Mapping[str, Any]) -> list[float]:
    """Return the ratio of the tolerance that each member needs there over the suite's, sorted."""
    both = [(m["needed"], m["tolerance"]) for m in members(found)]
    return sorted(needed / tolerance for needed, tolerance in both if tolerance > 0)


def page(found: Mapping[str, Any], matrix: Matrix) -> str:
    """Return the page."""
    raised = found["raised"]
    ran = found["detected_promised"] - found["detected_not_run"]
    own, varied = controls(found, varied=False), controls(found, varied=True)
    share = found["detected_confirmed"] / ran
    target = found["target"]
    odd = (
        f"; of members varied in shape {varied.rejected} of {varied.all:,}, where the variation is "
        "made from the benchmark's shape. (A harness runs these at the shape that they have in the "
        "suite.)"
    )
    lines = [
        f"# The {f'suite for {target}' if target else 'default suite'} at the benchmark's own "
        "shapes",
        "",
        "Made by `python -m experiments.confirmed` from the answer of `gpu-eval confirm` to the "
        "suite of two inputs a problem of the default matrix"
        f"{f', chosen for `{target}`' if target else ''}, on NVIDIA H200s.",
        "",
        f"- {found['members']} members of {len(found['members_of_problems'])} problems, "
        f"{found['full']} at the benchmark's full dimensions, the others at the largest that "
        f"the limits of `gpu-eval confirm` allow{', or varied on purpose' if varied.all else ''}.",
        f"- Kills: {found['promised']:,} promised, {found['confirmed']:,} confirmed, "
        f"{found['not_confirmed']} not ({found['never_run']} of them never run in the matrix), "
        f"{found['not_run']:,} not run: they end in an exception in the matrix, or did on another "
        "member.",
        f"- Faults: of {found['detected_promised']:,} that the suite detects {ran:,} ran, and "
        f"{found['detected_confirmed']:,} of these are detected ({100 * share:.1f}%).",
        f"- Nulls: {found['nulls_confirmed']:,} of {found['nulls_promised']:,} killed.",
        f"- Controls: of members of the benchmark's own shape {own.rejected} of {own.all:,} are "
        f"rejected at the suite's tolerances{odd if varied.all else '.'}",
        f"- Of the {raised['confirmed']} of the benchmark's own shape {raised['raised']} "
        f"tolerances were raised to what is needed there, and {len(raised['left_out'])} members "
        f"left out: {', '.join(raised['left_out'])}. Then none of {own.kept:,} controls is "
        f"rejected, and at the shapes of the matrix the suite detects {raised['detected']:,} of "
        f"{raised['mutants']:,} faults, {raised['detected_before']:,} before.",
        *_others(found),
        "",
        "Tolerance needed over the suite's: "
        + ", ".join(
            f"{100 * q:g}% of members x {np.quantile(growth(found), q):.3g} or less"
            for q in (0.5, 0.9, 0.95, 0.99)
        )
        + ".",
        "",
        "## Members that reject a control",
        "",
        "| member | measured at | tolerance | needed | controls rejected |",
        "|---|---|---|---|---|",
    ]
    for member in members(found):
        if member["rejected"]:
            where = " ".join(f"{name}={size}" for name, size in member["shape"].items())
            kinds = ", ".join(name.rpartition(":")[2] for name in member["rejected"])
            lines.append(
                f"| {member['input']} | {where} | {member['tolerance']:.2e} | "
                f"{member['needed']:.2e} | {kinds} |"
            )
    return "\n".join([*lines, "", *_granted(found), *_lost(found, matrix), ""])


def _others(found: Mapping[str, Any]) -> list[str]:
    if not found["other_members"]:
        return []
    return [
        f"- Of {len(found['other_members'])} problems `suiteopt select` gives other members now, "
        f"which were not measured again: {', '.join(found['other_members'])}.",
    ]


def _granted(found: Mapping[str, Any]) -> list[str]:
    lines = [
        "## Kills that the matrix takes for granted",
        "",
        "A mutant that crashes or times out on two inputs is closed on the others, which count as "
        "kills, at other shapes than the benchmark's own only where it did so at one of these; a "
        "launch that was refused is refused again at the same shape. `--skip-fatal` leaves the "
        "first two out:",
        "",
        "| member; why a kill | promised kills | ran | confirmed |",
        "|---|---|---|---|",
        *(
            f"| {by} | {row['promised']} | {row['ran']} | {row['confirmed']} |"
            for by, row in found["taken_for_granted"].items()
        ),
        "",
        "The last are known at the shape of the matrix. Where a member was measured at a larger "
        "one here, the launch need not be refused, and the fault need not show.",
        "",
    ]
    if found["target"]:
        return lines
    before = json.loads((RESULTS / f"{CLOSED}.json").read_text("utf-8"))["kills"]
    own, crashed, refused = before.values()
    return [
        *lines,
        "An earlier confirmation, of the suite chosen while refused launches closed mutants as "
        "crashes do, ran some of the costliest problems without `--skip-fatal` (`closed.json`): at "
        f"the benchmark's own shape {own['confirmed']} of {own['ran']} were kills, at others after "
        f"a crash or timeout {crashed['confirmed']} of {crashed['ran']}, after refused launches "
        f"alone {refused['confirmed']} of {refused['ran']}, which count no more.",
        "",
    ]


def _lost(found: Mapping[str, Any], matrix: Matrix) -> list[str]:
    counts: Counter[tuple[str, str]] = Counter()
    for problem, rows in found["members_of_problems"].items():
        table = matrix.implementations_of(problem)
        family = dict(zip(table["implementation"].astype(str), table["family"], strict=True))
        for member in rows:
            counts.update((str(family[name]), how) for name, how in member["lost"].items())
    families = sorted({family for family, _ in counts})
    return [
        "## Kills that were not confirmed",
        "",
        "*Never run*: the matrix had not run the cell either, since the mutant was closed. *No "
        "difference*: the output is the reference's to the bit.",
        "",
        f"| family | {' | '.join(WAYS)} | all |",
        "|---" * (len(WAYS) + 2) + "|",
        *(
            f"| {family} | "
            + " | ".join(str(counts[family, how]) for how in WAYS)
            + f" | {sum(counts[family, how] for how in WAYS)} |"
            for family in families
        ),
    ]


def main(arguments: list[str]) -> int:
    """Write both files."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n", 1)[0])
    parser.add_argument("answer", type=Path, help="what gpu-eval confirm --raised --json printed")
    parser.add_argument("suite", type=Path, help="the suite, or that which select gives now")
    given = parser.parse_args(arguments)
    matrix = Matrix.open(resolve_matrix(None))
    suite = Suite.open(given.suite)
    try:
        answer = json.loads(given.answer.read_text("utf-8"))
        if answer["matrix_id"] != matrix.id:
            raise UserError(f"{given.answer} confirms a suite of another matrix than {matrix.path}")
        if answer["target"] != suite.target:
            raise UserError(
                f"{given.answer} confirms a suite for {answer['target'] or 'no target'}, and "
                f"{given.suite} is for {suite.target or 'no target'}; give that suite"
            )
        found = condensed(answer, matrix, suite)
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise UserError(
            f"{given.answer} is no answer of 'gpu-eval confirm --raised FILE --json'; give one"
        ) from error
    name = name_of(suite.target)
    write_record(RESULTS / f"{name}.json", found)
    write_atomic(RESULTS / f"{name}.md", page(found, matrix).encode())
    return 0


if __name__ == "__main__":
    run_script(lambda: main(sys.argv[1:]))
