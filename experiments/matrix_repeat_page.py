"""The page of `experiments.matrix_repeat`: its record as tables."""

from typing import Any

from experiments.two_matrices import markdown, suites_table

CAUSES = {
    "exception": "an exception in one run alone: an access far outside meets other memory of the "
    "process, or none, by where allocations lie",
    "race": "a rule of the synchronization family: a race that no repeat caught",
    "wild": "a wild kernel, whose fault has no rule: its name says what it is",
    "outside": "writes outside the buffers in a run: what is written beyond one row's end meets "
    "what another thread writes there, and the last one wins",
    "nonfinite": "NaN or infinity in one run, or at other elements: the kernel reads memory that "
    "nobody wrote",
    "index": "finite values differ, by a rule of bounds or indices: an element that nobody wrote "
    "is read, or several threads write to one",
    "other": "none of these",
}
"""Why implementations that no repeat flagged may differ, the first that holds; as far as a matrix
tells."""


def report(document: dict[str, Any]) -> str:
    """Return the tables as Markdown."""
    cells, flagged, quiet = document["cells"], document["flagged"], document["unflagged"]
    lines = [
        "# A matrix and its repeat",
        "",
        "Made by `python -m experiments.matrix_repeat`. "
        + "; ".join(f"{side}: {_about(document[side])}" for side in "AB")
        + ".",
        "",
        f"{cells['in_both']:,} cells in both, {cells['in_one_alone']:,} in one alone; "
        f"{cells['equal']:,} equal in every column, {cells['differ']:,} not: "
        + ", ".join(f"{n:,} in {group}" for group, n in cells["differ_by_columns"].items())
        + ".",
        "",
        *markdown(
            [
                ["kind", "implementations", "differ", "cells that differ"],
                *(
                    [kind, row["implementations"], row["differ"], row["cells"]]
                    for kind, row in document["implementations_that_differ"].items()
                ),
            ]
        ),
        "",
        f"Repeats within a run flagged {flagged['in_A']} implementations in A and "
        f"{flagged['in_B']} in B, {flagged['in_both']} of them in both; {flagged['differ']} of the "
        f"{flagged['in_either']} differ between the runs, in {flagged['cells']:,} cells. "
        f"{quiet['implementations']} others differ, in {quiet['cells']:,} cells, "
        f"{quiet['ran_once_in_both']:,} of which ran once in both runs, so that no repeat could "
        "have shown it:",
        "",
        *markdown(
            [
                ["as far as the matrix tells", "implementations", "cells", "what it is"],
                *(
                    [cause, n["implementations"], n["cells"], CAUSES[cause]]
                    for cause, n in quiet["causes"].items()
                ),
            ]
        ),
        "",
        "Verdicts on mutants (killed or not):",
        "",
        *markdown(
            [
                ["oracle", "known in both", "differ", "mutants", "of unflagged mutants"],
                *(
                    [v["oracle"], v["cells"], v["differ"], v["mutants"], _of_unflagged(v)]
                    for v in document["verdicts"]
                ),
            ]
        ),
        "",
        "Two inputs a problem, chosen on one and measured on both (of witnessed mutants):",
        "",
        *suites_table(document["suites"]),
        "",
        _of_witnesses(document["witnesses"]),
        "",
        "Without a flag and not the same: "
        + ", ".join(f"{e['implementation']} ({e['cells']})" for e in quiet["list"])
        + ".",
    ]
    return "\n".join(lines) + "\n"


def _about(side: dict[str, Any]) -> str:
    model = side["device"].get("model", "a device")
    return f"{side['matrix_id'][:12]}, {model}, {side['seconds']:.0f} s"


def _of_unflagged(found: dict[str, Any]) -> str:
    """Return the differing verdicts of mutants without a flag, and how many mutants those are."""
    return f"{found['differ'] - found['of_flagged_mutants']} ({len(found['unflagged'])})"


def _of_witnesses(differ: list[dict[str, str]]) -> str:
    """Say which mutants are witnessed in one run alone, and how many by other evidence."""
    scope = [w for w in differ if w["A"].split(" ")[0] != w["B"].split(" ")[0]]
    names = "; ".join(f"{w['mutant']} ({w['A']} in A, {w['B']} in B)" for w in scope) or "none"
    return (
        f"Witnessed at another scope: {names}. At the same scope by other evidence (such as an "
        f"exception instead of a wrong value): {len(differ) - len(scope)} mutants."
    )
