"""How many wrong kernels KernelBench's published check accepts, by family."""

from experiments.findings.common import Finding, left_out, report, scope, slim, table
from suiteopt.audit import audit
from suiteopt.cli.format import interval, points, share
from suiteopt.console import run_script
from suiteopt.matrix.denominator import Denominator
from suiteopt.matrix.store import Matrix
from suiteopt.matrix.summary import summarise
from suiteopt.protocols import load_protocol

PUBLISHED = {
    "missed_share": 0.169,
    "by_family": {"arithmetic": 0.087, "precision": 0.786},
    "mutants": 7384,
    "compiled": 10303,
    "problems": 188,
    "substrates": 208,
}


def find(matrix: Matrix) -> Finding:
    protocol = load_protocol("kernelbench-v0.1")
    everything = audit(matrix, protocol)
    visible = audit(matrix, protocol, Denominator.OUTPUT)
    now = load_protocol("kernelbench")
    today, today_visible = audit(matrix, now), audit(matrix, now, Denominator.OUTPUT)
    rows = [
        (
            "all",
            str(everything.tally.mutants),
            share(PUBLISHED["missed_share"]),
            share(everything.tally.missed_share),
            share(visible.tally.missed_share),
            share(today.tally.missed_share),
        )
    ]
    published = PUBLISHED["by_family"]
    assert isinstance(published, dict)
    for family, tally in everything.by_family.items():
        seen = visible.by_family.get(family)
        rows.append(
            (
                f"  {family}",
                str(tally.mutants),
                share(published.get(family)),
                share(tally.missed_share),
                share(None if seen is None else seen.missed_share),
                share(None if (late := today.by_family.get(family)) is None else late.missed_share),
            )
        )
    bounds = everything.interval
    apart = (visible.tally.missed_share or 0.0) - float(str(PUBLISHED["missed_share"]))
    hidden = everything.tally.mutants - visible.tally.mutants
    return Finding(
        title="Wrong kernels that five own draws at 1e-2 accept",
        published=PUBLISHED,
        ours={
            "witnessed": slim(everything.as_dict()),
            "in_output": slim(visible.as_dict()),
            "today": slim(today.as_dict()),
            "today_in_output": slim(today_visible.as_dict()),
            "counts": counts(matrix),
        },
        tables=[
            table(("missed", "faults", "published", "ours", "in an output", "today's 1e-4"), rows)
        ],
        words=[
            f"Detected: {share(everything.tally.share)}, 95% interval "
            f"{interval(None if bounds is None else bounds.as_list())}, problems being the units.",
            f"{hidden} of our faults never show in an output (unwritten over a stale result, "
            "stray writes, races): poison, guard zones and schedules witness them, outputs do not. "
            f"Without them the difference from the published share is {points(apart)} points.",
            *left_out(everything, today),
            scope(matrix),
        ],
    )


def counts(matrix: Matrix) -> dict[str, int]:
    """Return what the shares rest on; of the faults only those of rules that are not set aside."""
    held = summarise(matrix)
    made = held.mutants
    return {
        "problems": held.problems,
        "substrates": held.substrates,
        "compiled": made.generated - made.stillborn - made.locked,
        "valid": made.valid,
        "witnessed": made.witnessed,
    }


def main() -> None:
    report("miss_rate", find)


if __name__ == "__main__":
    run_script(main)
