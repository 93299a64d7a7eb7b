"""How far inputs may go: what share of correct kernels each kind of values has rejected."""

from collections.abc import Sequence

from experiments.findings.common import Finding, report, scope, table
from suiteopt.audit.ceiling import Ceiling, Ceilings, ceilings
from suiteopt.cli.format import share
from suiteopt.console import run_script
from suiteopt.matrix.store import Matrix

PUBLISHED = {
    "mixed extremes": 0.21,
    "large magnitudes": 0.21,
    "heavy tails": 0.20,
    "near zero": 0.016,
    "ramps": 0.0,
}
FAMILIES = {
    "mixed extremes": ("octaves",),
    "large magnitudes": ("beyond-half", "offset"),
    "heavy tails": ("heavy-tail",),
    "near zero": ("below-half", "zeros-denormals"),
    "ramps": ("ramp",),
}
TOLERANCES = (1e-2, 1e-4)


def find(matrix: Matrix) -> Finding:
    found = ceilings(matrix)
    rows, categories = [], {}
    for name, families in FAMILIES.items():
        members = _members(found, families)
        counts = {f"{t:g}": sum(c.rejected(t) for c in members) for t in TOLERANCES}
        controls = sum(c.count for c in members)
        categories[name] = {"controls": controls, "rejected": counts}
        rows.append(
            (
                name,
                share(PUBLISHED[name]),
                *(
                    f"{counts[f'{t:g}']} of {controls}" if controls else "not in the pool"
                    for t in TOLERANCES
                ),
                f"{max(c.critical for c in members):.2g}" if members else "-",
            )
        )
    safe = {
        f"{tolerance:g}": {
            f"{family}:{parameters}": setting.setting.name
            for family, parameters in found.families
            if (setting := found.safe((family, parameters), tolerance)) is not None
        }
        for tolerance in found.tolerances
    }
    limits = [
        (
            family if parameters == "benchmark" else f"{family} ({parameters})",
            *(safe[f"{t:g}"].get(f"{family}:{parameters}", "none") for t in found.tolerances),
        )
        for family, parameters in found.families
        if len({safe[f"{t:g}"].get(f"{family}:{parameters}") for t in found.tolerances}) > 1
    ]
    return Finding(
        title="Correct kernels rejected, by kind of values",
        published=PUBLISHED,
        ours={"categories": categories, **found.as_dict()},
        tables=[
            table(("values", "published, 1e-2", "ours, 1e-2", "1e-4", "needs"), rows),
            table(("safe up to", *(f"{t:g}" for t in found.tolerances)), limits),
        ],
        words=[
            "Published are shares of runs of unmutated kernels; ours are controls, rejected on "
            "some problem's input of that kind. The second table leaves out families that are safe "
            "at every tolerance.",
            "Our controls are written for accuracy (fp32 sums, no fast-math), which the kernels of "
            "a data set need not be; and rounding grows with the reduction, so that on shortened "
            "shapes a ceiling is an upper bound.",
            scope(matrix),
        ],
    )


def _members(found: Ceilings, families: Sequence[str]) -> list[Ceiling]:
    groups = (group for key, group in found.families.items() if key[0] in families)
    return [ceiling for group in groups for ceiling in group]


def main() -> None:
    report("ceilings", find)


if __name__ == "__main__":
    run_script(main)
