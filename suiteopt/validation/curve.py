"""Detection against false rejection: what a looser or tighter tolerance buys, and at whose cost.

For every safety of the calibrated oracle, and every fixed tolerance, suites are chosen anew, by
plain coverage, which tells what a tolerance is worth at most; detection is given by family, and
false rejections on control kinds that neither calibrated nor had a say in which inputs can be
chosen.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from suiteopt.errors import UserError
from suiteopt.matrix.kill import load_block
from suiteopt.matrix.oracle import Oracle, calibrated, fixed
from suiteopt.matrix.store import Matrix
from suiteopt.selection.cases import Case, make_case
from suiteopt.selection.question import Question
from suiteopt.selection.safety import SAFETIES
from suiteopt.threads import one_thread
from suiteopt.validation.controls import HeldOutControls, hold_out_controls
from suiteopt.validation.figures import share_of
from suiteopt.validation.refit import kills_of
from suiteopt.validation.suites import Coverage

TOLERANCES = (1e-2, 1e-3, 1e-4, 1e-5, 1e-6)


@dataclass(frozen=True)
class Point:
    """One oracle on the curve.

    Attributes
    ----------
    oracle : str
    by_family : mapping of str to tuple of int
        Mutants, and those that the suites detect.
    controls : HeldOutControls
    """

    oracle: str
    by_family: Mapping[str, tuple[int, int]]
    controls: HeldOutControls

    @property
    def mutants(self) -> int:
        """That count."""
        return sum(pair[0] for pair in self.by_family.values())

    @property
    def detected_share(self) -> float | None:
        """Mean over mutants."""
        return share_of(sum(pair[1] for pair in self.by_family.values()), self.mutants)

    def as_dict(self) -> dict[str, Any]:
        """JSON form."""
        controls = self.controls.as_dict()
        return {
            "oracle": self.oracle,
            "mutants": self.mutants,
            "detected_share": self.detected_share,
            "by_family": {
                name: share_of(pair[1], pair[0]) for name, pair in sorted(self.by_family.items())
            },
            "held_out": controls["held_out"],
            "rejected": controls["rejected"],
            "cell_bound_share": controls["cell_bound_share"],
            "problems_rejected": controls["problems_rejected"],
            "bound_share": controls["bound_share"],
            "pool_held_out": controls["pool_held_out"],
            "pool_rejected": controls["pool_rejected"],
        }


def oracles() -> tuple[Oracle, ...]:
    """Return the grid: every safety, every fixed tolerance."""
    return (*(calibrated(safety) for safety in SAFETIES), *(fixed(t) for t in TOLERANCES))


@one_thread
def curve(
    matrix: Matrix,
    question: Question,
    budget: int,
    solver: str = "auto",
    grid: Sequence[Oracle] | None = None,
) -> tuple[Point, ...]:
    """Measure every oracle of a grid.

    An oracle that the stored cells do not answer is left out.

    Parameters
    ----------
    matrix : Matrix
    question : Question
        Its oracle does not count.
    budget, solver : int, str
    grid : sequence of Oracle, optional
    """
    points = []
    likes: dict[str, Case] = {}
    for oracle in oracles() if grid is None else grid:
        asked = replace(question, oracle=oracle)
        try:
            found = [_case(matrix, problem, asked, likes) for problem in matrix.measured_problems]
        except UserError:
            continue
        suites = Coverage(found, budget, solver)
        controls = hold_out_controls(matrix, asked, found, suites.choose)
        points.append(Point(oracle.name, _families(suites), controls))
    return tuple(points)


def _case(matrix: Matrix, problem: str, asked: Question, likes: dict[str, Case]) -> Case:
    known = likes.get(problem) if asked.counts_alike else None
    same = known is not None and known.table.oracle.comparator == asked.oracle.comparator
    block = known.block if known is not None and same else load_block(matrix, problem, asked.oracle)
    likes[problem] = make_case(matrix, problem, asked, block, known)
    return likes[problem]


def _families(suites: Coverage) -> dict[str, tuple[int, int]]:
    totals: dict[str, tuple[int, int]] = {}
    for case, chosen in zip(suites.found, suites.selections, strict=True):
        columns = [case.instance.inputs.index(name) for name in chosen.members]
        killed = kills_of(case.instance, columns)
        families = np.array(case.families)
        for family in np.unique(families):
            rows = families == family
            before = totals.get(str(family), (0, 0))
            totals[str(family)] = (
                before[0] + int(rows.sum()),
                before[1] + int(killed[rows].sum()),
            )
    return totals
