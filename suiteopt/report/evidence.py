"""Tables of a report that show the evidence: audits of single questions, survivors, the suite."""

from suiteopt.audit.reasons import EXPLANATIONS
from suiteopt.audit.survivors import Survey
from suiteopt.report.content import Content
from suiteopt.report.tables import Cell, Table, table


def band_table(content: Content) -> Table:
    """Blind band by problem."""
    found = content.band
    assert found is not None
    rows = [
        (row.problem, row.operation, row.length, row.tolerance, row.band, row.worst_accepted,
         row.control, row.floor)
        for row in found.rows
    ]  # fmt: skip
    return table(
        "blind-band",
        f"Relative error on every output that {found.protocol} accepts",
        ["problem", "operation", "terms#", "tolerance~", "accepted~", "worst fault passed~",
         "correct kernels~", "rounding model~"],
        rows,
    )  # fmt: skip


def ceilings_table(content: Content) -> Table:
    """Recipe families and settings against tolerances."""
    found = content.ceilings
    assert found is not None
    rows: list[tuple[Cell, ...]] = []
    for (family, parameters), group in found.families.items():
        for ceiling in group:
            rows.append(
                (family, parameters, ceiling.setting.name, ceiling.setting.scale, ceiling.count,
                 ceiling.critical, *(ceiling.rejected(t) for t in found.tolerances))
            )  # fmt: skip
    return table(
        "ceilings",
        f"Correct kernels rejected, of those run, under {found.comparator}",
        ["family", "parameters", "setting", "scale~", "controls#", "needs~",
         *(f"rejected at {t:g}#" for t in found.tolerances)],
        rows,
    )  # fmt: skip


def referees_table(content: Content) -> Table:
    """Reasons against problems, with their cures."""
    rows = [
        (row.problem, row.name, row.dtype, reason.detail, reason.lowest, reason.highest, reason.fix)
        for row in content.referees
        for reason in row.reasons
    ]
    return table(
        "refereeability",
        f"What stands against the inputs of {content.protocol}",
        ["problem", "name", "dtype", "reason", "from tolerance~", "below tolerance~", "fix"],
        rows,
    )


def reasons_table(name: str, found: Survey, what: str) -> Table:
    """Reasons by family."""
    families = list(found.by_family)
    rows: list[tuple[Cell, ...]] = [
        (str(reason), count, *(found.by_family[f].get(reason, 0) for f in families),
         EXPLANATIONS[reason])
        for reason, count in found.by_reason.items()
    ]  # fmt: skip
    headings = ["reason", "all#", *(f"{family}#" for family in families), "what it means"]
    return table(name, f"Why faults survive {what}", headings, rows)


def survivors_table(name: str, found: Survey, what: str) -> Table:
    """One row a survivor."""
    rows = [
        (row.implementation, row.problem, row.family, " ".join(row.rules), str(row.reason),
         row.error, row.tolerance)
        for row in found.survivors
    ]  # fmt: skip
    return table(
        name,
        f"Faults that survive {what}",
        ["mutant", "problem", "family", "rules", "reason", "critical tolerance~", "in force~"],
        rows,
    )


def suite_table(content: Content) -> Table:
    """One row a member."""
    assert content.suite is not None
    rows = [
        (
            part.problem,
            member.input.removeprefix(f"{part.problem}:"),
            ", ".join(sorted({str(r.get("name")) for r in member.values.values()})),
            ", ".join(sorted({str(r.get("name")) for r in member.parameters.values()})),
            member.shape_recipe,
            str(member.seed),
            member.tolerance,
            member.comparator,
        )
        for part in content.suite.problems
        for member in part.members
    ]
    return table(
        "suite",
        "The chosen inputs",
        ["problem", "input", "values", "parameters", "shape", "seed", "tolerance~", "comparator"],
        rows,
    )
