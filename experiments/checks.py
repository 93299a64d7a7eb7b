"""The comparison that the demo prints and the figure draws: own check against chosen inputs."""

from collections.abc import Mapping
from dataclasses import dataclass, replace

from suiteopt.audit import audit
from suiteopt.export.registry import get_target
from suiteopt.matrix.denominator import Denominator
from suiteopt.matrix.oracle import fixed
from suiteopt.matrix.store import Matrix
from suiteopt.protocols import load_protocol
from suiteopt.selection.problem_report import Tally
from suiteopt.selection.select import select
from suiteopt.validation.crossval import cross_validate
from suiteopt.validation.splits import Split

OWN_TOLERANCES = (1e-2, 1e-3, 1e-4)
SPLITS = (Split.RANDOM, Split.SITE, Split.RULE)
TARGET = "kernelbench-verified"


@dataclass(frozen=True)
class CheckRow:
    """One check on one matrix.

    Attributes
    ----------
    name : str
    all, in_output : Tally
        Witnessed mutants; those of them that an exception or a wrong output witnesses.
    by_family : mapping of str to Tally
        All of them, by family.
    held_out, held_out_in_output : mapping of str to float
        Share on faults that the suite was not chosen on, by split; empty where nothing is chosen.
    rejected, controls : int
        Cells of correct kernels that the check rejects, and all of them.
    """

    name: str
    all: Tally
    in_output: Tally
    by_family: Mapping[str, Tally]
    held_out: Mapping[str, float | None]
    held_out_in_output: Mapping[str, float | None]
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
                name=f"own, {_short(tolerance)}",
                all=found.tally,
                in_output=found.in_output,
                by_family=found.by_family,
                held_out={},
                held_out_in_output={},
                rejected=found.false_rejections,
                controls=found.control_cells,
            )
        )
    return rows


def _short(tolerance: float) -> str:
    return f"{tolerance:.0e}".replace("e-0", "e-")


def chosen_check(
    matrix: Matrix, budget: int, oracle: str | None, target: str | None, name: str
) -> CheckRow:
    """The best inputs a problem, fitted and cross-validated."""
    capabilities = None if target is None else get_target(target).capabilities
    chosen = select(matrix, budget, oracle, capabilities=capabilities, target=target)
    held_out = []
    for denominator in (Denominator.WITNESSED, Denominator.OUTPUT):
        validated = cross_validate(
            matrix,
            budget,
            oracle,
            capabilities=capabilities,
            target=target,
            denominator=denominator,
        )
        held_out.append({str(split): validated.splits[split].held_out_share for split in SPLITS})
    return CheckRow(
        name=name,
        all=chosen.tally,
        in_output=chosen.in_output,
        by_family=chosen.by_family,
        held_out=held_out[0],
        held_out_in_output=held_out[1],
        rejected=chosen.false_rejections,
        controls=sum(part.control_cells for part in chosen.problems),
    )


def all_checks(matrix: Matrix, budget: int = 2) -> list[CheckRow]:
    """Own checks, then the chosen suites: for KernelBench-Verified, and with own tolerances."""
    return [
        *own_checks(matrix),
        chosen_check(matrix, budget, None, TARGET, f"own + {budget}, 1e-3"),
        chosen_check(matrix, budget, "fixed:1e-4", None, f"best {budget}, 1e-4"),
        chosen_check(matrix, budget, "calibrated", None, f"best {budget}, calib."),
    ]
