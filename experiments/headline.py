"""Published against ours: one table in the README and on the default matrix's card.

``python -m experiments.headline`` makes it of the findings' results and rewrites what stands
between the marks; a test compares. The card has all rows, and every denominator by split; the
README has the main rows.
"""

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from suiteopt.cli.format import points, share
from suiteopt.console import run_script
from suiteopt.errors import UserError
from suiteopt.matrix.files import write_atomic
from suiteopt.matrix.store import Matrix, resolve_matrix

ROOT = Path(__file__).parents[1]
RESULTS = ROOT / "experiments" / "results"
README = ROOT / "README.md"
BEGIN = "<!-- headline: python -m experiments.headline -->"
END = "<!-- /headline -->"
EMPTY = f"{BEGIN}\n{END}"

NAMES = (
    "miss-rate",
    "decomposition",
    "budgets",
    "two-inputs",
    "value-fuzz",
    "ceilings",
    "refereeability",
    "wild-kernels",
)
LOOSE, STRICT = "0.01", "0.0001"
"""The tolerance of KernelBench v0.1, under which all published figures are, and today's."""
SPLITS = ("random", "site", "rule")
ALL_SPLITS = (*SPLITS, "family", "substrate")
DENOMINATORS = (
    "witnessed",
    "output",
    "distinct",
    "macro_problems",
    "macro_families",
    "witnessed_or_killed",
    "valid",
)
SOURCE = "KernelBench-M, [arXiv 2609.22220](https://arxiv.org/abs/2609.22220)"

Found = Mapping[str, Any]
"""The findings by name."""


@dataclass(frozen=True)
class Row:
    """One line: what was asked, the published answer, the one here.

    Attributes
    ----------
    what, published, here : str
    main : bool
        Whether the README has it too.
    """

    what: str
    published: str
    here: str
    main: bool = False


def load(matrix_id: str, results: Path = RESULTS) -> dict[str, Any]:
    """Read the findings of a matrix.

    Parameters
    ----------
    matrix_id : str
    results : Path
        Directory of the results.

    Raises
    ------
    UserError
        If one is absent, or of another matrix.
    """
    found = {}
    for name in NAMES:
        path = results / f"finding-{name}.json"
        if not path.exists():
            raise UserError(f"there is no {path.name}; run `make findings`")
        found[name] = json.loads(path.read_text("utf-8"))
        if found[name]["matrix_id"] != matrix_id:
            raise UserError(
                f"{path.name} is of the matrix {found[name]['matrix']}, not of the default one; "
                "run `make findings`"
            )
    return found


def rows(found: Found) -> list[Row]:
    """Return all rows."""
    return [
        *_faults(found["miss-rate"]),
        *_missed(found["miss-rate"]),
        _gain(found["decomposition"]),
        *_suites(found["budgets"]),
        *_as_published(found["two-inputs"]),
        *_value_fuzz(found["value-fuzz"]),
        _ceilings(found["ceilings"]),
        *_referees(found["refereeability"]),
        *_wild(found["wild-kernels"]),
    ]


def _faults(finding: Found) -> list[Row]:
    published, ours = finding["published"], finding["ours"]
    counts, seen = ours["counts"], ours["in_output"]["mutants"]
    return [
        Row(
            "problems; kernels that faults were made in",
            f"{published['problems']}; {published['substrates']}",
            f"{counts['problems']}; {counts['substrates']}",
            main=True,
        ),
        Row(
            "faults that compile",
            f"{published['compiled']:,}",
            f"{counts['compiled']:,}, by rules that are not set aside",
        ),
        Row(
            "faults witnessed wrong",
            f"{published['mutants']:,}",
            f"{ours['witnessed']['mutants']:,} ({seen:,})",
            main=True,
        ),
    ]


def _missed(finding: Found) -> list[Row]:
    published, ours = finding["published"], finding["ours"]
    parts = [ours[key] for key in ("witnessed", "in_output", "today", "today_in_output")]

    def row(name: str, known: float | None, shares: Sequence[float | None], main: bool) -> Row:
        loose, loose_seen, strict, strict_seen = shares
        return Row(
            f"missed by five own draws at 1e-2; at 1e-4: {name}",
            f"{share(known)}; -",
            f"{both(loose, loose_seen)}; {both(strict, strict_seen)}",
            main,
        )

    made = [
        row("all faults", published["missed_share"], [part["missed_share"] for part in parts], True)
    ]
    for family in ours["witnessed"]["by_family"]:
        known = published["by_family"].get(family)
        shares = [part["by_family"].get(family, {}).get("missed_share") for part in parts]
        made.append(row(family, known, shares, known is not None))
    return made


def _gain(finding: Found) -> Row:
    published, ours = finding["published"], finding["ours"]
    keys = ("gain_share", "inputs_share", "tolerance_share")
    whole, seen = ours["witnessed"], ours["output"]
    rest = f", on {whole['problems']} problems" if whole["left_out"] else ""
    return Row(
        "points that KernelBench-Verified gains over v0.1; by its inputs; by its tolerance",
        "; ".join(points(published[key]) for key in keys),
        "; ".join(f"{points(whole[key])} ({points(seen[key])})" for key in keys) + rest,
        main=True,
    )


def _suites(finding: Found) -> list[Row]:
    published, ours = finding["published"], finding["ours"]
    made = []
    for budget, answer in ours.items():
        known = published.get(budget, {})
        held = [share(known.get("held_out_share")), *("-" for _ in SPLITS[1:])]
        whole, seen = (answer["by_denominator"][name] for name in ("witnessed", "output"))
        tolerance = f", at {_power(known['tolerance'])} on all" if known else ""
        made.append(
            Row(
                f"{budget} chosen {'input' if budget == '1' else 'inputs'} a problem, "
                f"{answer['oracle']}: fitted; held out by {' / '.join(SPLITS)}",
                f"{share(known['fitted_share'])}; {' / '.join(held)}{tolerance}" if known else "-",
                f"{both(whole['fitted_share'], seen['fitted_share'])}; "
                + " / ".join(
                    both(whole["held_out_share"][split], seen["held_out_share"][split])
                    for split in SPLITS
                ),
                main=True,
            )
        )
    return made


def _as_published(finding: Found) -> list[Row]:
    published, ours = finding["published"], finding["ours"]
    whole, seen = (ours[f"{name}, fixed:1e-2"]["published"] for name in ("witnessed", "output"))
    known = f"{share(published['fitted_share'])}; {share(published['held_out_share'])}"

    def here(kind: str) -> str:
        keys = (f"{kind}fitted_share", f"{kind}held_out_share")
        return "; ".join(both(whole[key], seen[key]) for key in keys)

    return [
        Row(
            f"{published['budget']} inputs a problem under the published conditions: "
            f"{_power(published['tolerance'])} on all, random folds, chosen by coverage (in "
            "brackets on what shows): fitted; held out",
            known,
            here(""),
            main=True,
        ),
        Row(
            "the same, families weighted by the published numbers of rules",
            known,
            here("mix_"),
        ),
    ]


def _value_fuzz(finding: Found) -> list[Row]:
    published, answers = finding["published"], [finding["ours"][t] for t in (LOOSE, STRICT)]
    study = published["adversarial_sampling"]
    rejected = [answer["false_rejections"] for answer in answers]
    shown = [answer["in_output"] for answer in answers]
    return [
        Row(
            "correct kernels that value fuzzing rejects at 1e-2; at 1e-4",
            f"{published['rejections_of_correct_kernels']} rejections, by a recipe of its own; -",
            "; ".join(f"{part['rejected']:,} of {part['controls']:,}" for part in rejected),
            main=True,
        ),
        Row(
            "value fuzzing at 1e-2; at 1e-4: faults detected, correct kernels rejected",
            f"{share(study['recall'])}, {share(study['rejected_share'])}: adversarial sampling in "
            f"{study['source']}",
            "; ".join(
                f"{both(answer['detected_share'], seen['detected'] / seen['mutants'])}, "
                f"{share(part['rejected'] / part['controls'])}"
                for answer, part, seen in zip(answers, rejected, shown, strict=True)
            ),
        ),
    ]


def _ceilings(finding: Found) -> Row:
    published, ours = finding["published"], finding["ours"]["categories"]
    return Row(
        f"correct kernels rejected at 1e-2, by values: {'; '.join(published)}",
        "; ".join(share(value) for value in published.values())
        + " of the runs of another data set",
        "; ".join(
            share(part["rejected"][LOOSE] / part["controls"]) if part["controls"] else "-"
            for part in (ours[name] for name in published)
        )
        + " of control and kind of input",
    )


def _referees(finding: Found) -> list[Row]:
    published, ours = finding["published"], finding["ours"]
    problems = ours["problems"]
    refused, zeros = published["not_refereeable"], published["zeros_pass"]
    level = [row["problem"] for row in problems if row["problem"].startswith("level1/")]
    unfit = [len(ours["not_refereeable"][t]) for t in (LOOSE, STRICT)]
    otherwise = [sum(map(_without_controls(float(t)), problems)) for t in (LOOSE, STRICT)]
    passing = [
        len(set(level).intersection(ours["zeros_pass"][tolerance])) for tolerance in (LOOSE, STRICT)
    ]
    return [
        Row(
            "problems that the benchmark's own inputs cannot referee at 1e-2; at 1e-4",
            f"{refused['problems']} of {refused['of']}; -",
            f"{unfit[0]}; {unfit[1]} of {len(problems)} where correct kernels rejected count "
            f"too, {otherwise[0]}; {otherwise[1]} without that reason",
            main=True,
        ),
        Row(
            "level-1 problems on which zeros pass at 1e-2; at 1e-4",
            f"{zeros['problems']} of {zeros['of']} ({zeros['source']})",
            f"{passing[0]}; {passing[1]} of {len(level)}",
        ),
    ]


def _without_controls(tolerance: float) -> Any:
    """Return whether a problem has another reason against it than controls, as a function."""

    def found(row: Mapping[str, Any]) -> bool:
        return any(
            reason["reason"] != "control_rejected"
            and reason["from_tolerance"] <= tolerance < _number(reason["below_tolerance"])
            for reason in row["reasons"]
        )

    return found


def _number(value: float | None) -> float:
    return float("inf") if value is None else float(value)


def _wild(finding: Found) -> list[Row]:
    ours = finding["ours"]
    checks = {
        "v0.1": "kernelbench-v0.1",
        "KernelBench today": "kernelbench",
        "KernelBench-Verified": "kernelbench-verified",
        "two chosen inputs": "chosen two, calibrated",
    }
    answers = [ours[name] for name in checks.values()]
    wrong = [(answer["wrong"]["at_scope"], answer["wrong"]["in_output"]) for answer in answers]
    whole, seen = (part["kernels"] for part in wrong[-1])
    right = answers[-1]["right"]["kernels"]
    return [
        Row(
            f"kernels after public reports, seen to be wrong and rejected by {'; '.join(checks)}",
            "-",
            "; ".join(f"{part['detected']} ({shown['detected']})" for part, shown in wrong)
            + f" of {whole} ({seen})",
            main=True,
        ),
        Row(
            "right ones rejected, by the same",
            "-",
            "; ".join(str(answer["right"]["rejected"]) for answer in answers) + f" of {right}",
        ),
    ]


def _power(tolerance: float) -> str:
    """Write a tolerance as the pages do: 1e-2."""
    return f"{tolerance:.0e}".replace("e-0", "e-")


def both(whole: float | None, seen: float | None) -> str:
    """Write a share of the witnessed faults, and in brackets that of those an output shows."""
    return f"{share(whole)} ({share(seen)})"


def table(headings: Iterable[str], lines: Iterable[Iterable[str]]) -> str:
    """Return a Markdown table."""
    heads = list(headings)
    written = [f"| {' | '.join(cells)} |" for cells in (heads, *lines)]
    return "\n".join([written[0], "|---" * len(heads) + "|", *written[1:]])


def against(found: Found, *, whole: bool) -> str:
    """Return the table of the card, or the README's main rows."""
    kept = [row for row in rows(found) if whole or row.main]
    return table(
        ("what", "published", "here"), ((row.what, row.published, row.here) for row in kept)
    )


def by_denominator(finding: Found) -> str:
    """Return the table of suites: every denominator by split."""
    lines = [
        (
            f"{budget}, {name.replace('_', ' ')}",
            f"{row['mutants']:,}",
            share(row["fitted_share"]),
            *(share(row["held_out_share"].get(split)) for split in ALL_SPLITS),
        )
        for budget, answer in finding["ours"].items()
        for name in DENOMINATORS
        for row in (answer["by_denominator"][name],)
    ]
    return table(("k, denominator", "faults", "fitted", *ALL_SPLITS), lines)


def caption(found: Found) -> str:
    """Say whose figures these are."""
    return (
        f"**Published against ours.** Published, where no other source is named: {SOURCE}, on its "
        f"own faults in its own kernels. Here: {found['miss-rate']['label']}; of the witnessed "
        "faults, in brackets of those that show in an output."
    )


def on_card(found: Found) -> str:
    """Return what stands between the marks of the card."""
    budgets = found["budgets"]["ours"].values()
    problems = {answer["problems"] for answer in budgets}
    words = (
        "The same suites over every denominator, k inputs a problem with a tolerance of their "
        f"own, chosen on the witnessed faults of {' or '.join(map(str, sorted(problems)))} "
        "problems (the others have none that counts). Where more than these are counted, folds are "
        "by site alone."
    )
    parts = (caption(found), against(found, whole=True), words, by_denominator(found["budgets"]))
    return "\n\n".join(parts)


def in_readme(found: Found, card: Path) -> str:
    """Return what stands between the marks of the README."""
    link = card.relative_to(ROOT).as_posix()
    words = f"{caption(found)} All rows, every split and denominator: [the card]({link})."
    return f"{words}\n\n{against(found, whole=False)}"


def renewed(page: str, block: str) -> str:
    """Return a page with another text between the marks.

    Raises
    ------
    UserError
        If it has no marks.
    """
    before, begin, rest = page.partition(BEGIN)
    _, end, after = rest.partition(END)
    if not begin or not end:
        raise UserError(f"the page needs the marks {BEGIN} and {END}, one behind the other")
    return f"{before}{BEGIN}\n\n{block}\n\n{END}{after}"


def pages() -> dict[Path, str]:
    """Return what stands on README and card between the marks, from the results.

    Raises
    ------
    UserError
        As `load`.
    """
    default = resolve_matrix(None)
    card = default / "README.md"
    found = load(Matrix.open(default).id)
    return {README: in_readme(found, card), card: on_card(found)}


def main() -> None:
    """Rewrite both pages."""
    for page, block in pages().items():
        write_atomic(page, renewed(page.read_text("utf-8"), block).encode())
        print(page.relative_to(ROOT))


if __name__ == "__main__":
    run_script(main)
