"""The comparison that the demo prints and the figure draws: own check against chosen inputs."""

from collections.abc import Mapping
from dataclasses import dataclass, replace

from suiteopt.audit import audit
from suiteopt.export.registry import get_target
from suiteopt.matrix.oracle import fixed
from suiteopt.matrix.store import Matrix
from suiteopt.protocols import load_protocol
from suiteopt.selection.select import select
from suiteopt.validation.crossval import cross_validate
from suiteopt.validation.splits import Split

OWN_TOLERANCES = (1e-2, 1e-3, 1e-4)


@dataclass(frozen=True)
class CheckRow:
    """One check on one matrix.

    Attributes
    ----------
    name : str
    detected : float
        Share of the faults that count; of a chosen suite the fitted one.
    by_family : mapping of str to float
        The same by family.
    held_out : mapping of str to float
        Share on faults that the suite was not chosen on, by split; empty where nothing is chosen.
    rejected, controls : int
        Cells of correct kernels that the check rejects, and all of them.
    """

    name: str
    detected: float
    by_family: Mapping[str, float]
    held_out: Mapping[str, float]
    rejected: int
    controls: int


def own_checks(matrix: Matrix) -> list[CheckRow]:
    """The benchmark's five own draws under `torch.allclose` at three tolerances."""
    protocol = load_protocol("kernelbench")
    rows = []
    for tolerance in OWN_TOLERANCES:
        found = audit(matrix, replace(protocol, oracle=fixed(tolerance)))
        rows.append(
            CheckRow(
                name=f"5 own draws, allclose {tolerance:g}",
                detected=found.tally.share or 0.0,
                by_family={name: tally.share or 0.0 for name, tally in found.by_family.items()},
                held_out={},
                rejected=found.false_rejections,
                controls=found.control_cells,
            )
        )
    return rows


def chosen_check(matrix: Matrix, budget: int, oracle: str | None, target: str | None) -> CheckRow:
    """The best inputs a problem, fitted and cross-validated."""
    capabilities = None if target is None else get_target(target).capabilities
    chosen = select(matrix, budget, oracle, capabilities=capabilities, target=target)
    validated = cross_validate(matrix, budget, oracle, capabilities=capabilities, target=target)
    held_out = {
        str(split): validated.splits[split].held_out_share or 0.0
        for split in (Split.RANDOM, Split.SITE, Split.RULE)
    }
    name = f"best {budget}, {chosen.oracle}"
    return CheckRow(
        name=name if target is None else f"own draws + best {budget}, {chosen.oracle}",
        detected=chosen.fitted_share or 0.0,
        by_family={family: tally.share or 0.0 for family, tally in chosen.by_family.items()},
        held_out=held_out,
        rejected=chosen.false_rejections,
        controls=sum(part.control_cells for part in chosen.problems),
    )


def all_checks(matrix: Matrix, budget: int = 2) -> list[CheckRow]:
    """Own checks, then the chosen suites: for KernelBench-Verified, and with own tolerances."""
    return [
        *own_checks(matrix),
        chosen_check(matrix, budget, None, "kernelbench-verified"),
        chosen_check(matrix, budget, "fixed:1e-4", None),
        chosen_check(matrix, budget, "calibrated", None),
    ]
