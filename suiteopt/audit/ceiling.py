"""How far inputs may go: where correct kernels begin to be rejected, at each tolerance."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from suiteopt.audit.critical import critical_table
from suiteopt.audit.settings import Setting, setting_of
from suiteopt.errors import UserError
from suiteopt.matrix.schema import Kind, Role, Statistic
from suiteopt.matrix.store import Matrix
from suiteopt.suite import CONTRACT_SHAPE

TOLERANCES = (1e-2, 1e-3, 1e-4, 1e-5, 1e-6)
"""From the loosest that a benchmark was published with to below the tightest in use."""


@dataclass(frozen=True)
class Ceiling:
    """One recipe at one scale, and what it does to correct kernels.

    Attributes
    ----------
    setting : Setting
    controls : mapping of str to tuple of float
        By problem: the critical tolerance of every control that ran, the worst over its inputs
        and repeats; infinite where no tolerance forgives it. A control is rejected below it.
    worst_control : str
        The id of the control with the largest of them.
    """

    setting: Setting
    controls: Mapping[str, tuple[float, ...]]
    worst_control: str

    @property
    def critical(self) -> float:
        """The tolerance below which some control is rejected."""
        return max(value for values in self.controls.values() for value in values)

    def rejected(self, tolerance: float) -> int:
        """Return how many controls are rejected at a tolerance."""
        return sum(value > tolerance for values in self.controls.values() for value in values)

    @property
    def count(self) -> int:
        """Controls that ran, over all problems."""
        return sum(len(values) for values in self.controls.values())

    def as_dict(self, tolerances: Sequence[float]) -> dict[str, Any]:
        """JSON form."""
        return {
            "setting": self.setting.name,
            "scale": self.setting.scale,
            "problems": len(self.controls),
            "controls": self.count,
            "critical_tol": self.critical,
            "worst_control": self.worst_control,
            "rejected": {f"{t:g}": self.rejected(t) for t in tolerances},
            "by_problem": {name: max(values) for name, values in self.controls.items()},
        }


@dataclass(frozen=True)
class Ceilings:
    """All recipe families of a matrix.

    Attributes
    ----------
    label, comparator : str
    tolerances : tuple of float
    families : mapping of (family, parameter recipe) to tuple of Ceiling
        Scales ascending; what has no scale comes first.
    """

    label: str
    comparator: str
    tolerances: tuple[float, ...]
    families: Mapping[tuple[str, str], tuple[Ceiling, ...]]

    def safe(self, family: tuple[str, str], tolerance: float) -> Ceiling | None:
        """Return the most aggressive safe setting of a family.

        The largest scale at which, and below which, no control is rejected. In a family without a
        scale the last setting, provided that none of them rejects.
        """
        last: Ceiling | None = None
        for ceiling in self.families[family]:
            if ceiling.rejected(tolerance):
                return last if ceiling.setting.scale is not None else None
            last = ceiling
        return last

    def as_dict(self) -> dict[str, Any]:
        """JSON form."""
        rows = []
        for (family, parameters), ceilings in self.families.items():
            safe: dict[str, Any] = {}
            for tolerance in self.tolerances:
                found = self.safe((family, parameters), tolerance)
                safe[f"{tolerance:g}"] = (
                    None
                    if found is None
                    else {"setting": found.setting.name, "scale": found.setting.scale}
                )
            rows.append(
                {
                    "family": family,
                    "parameters": parameters,
                    "settings": [ceiling.as_dict(self.tolerances) for ceiling in ceilings],
                    "safe": safe,
                }
            )
        return {
            "label": self.label,
            "comparator": self.comparator,
            "tolerances": list(self.tolerances),
            "families": rows,
        }


def ceilings(
    matrix: Matrix,
    comparator: str = Statistic.ALLCLOSE_CANDIDATE,
    tolerances: Sequence[float] = TOLERANCES,
) -> Ceilings:
    """Measure how far every recipe family may go before correct kernels are rejected.

    Every control counts, blind ones and those that equal the reference too; inputs are those of
    the candidate and own pools at the contract's shape (shrunk as the matrix was measured). An
    input on which a reference or substrate fails says nothing here.

    Parameters
    ----------
    matrix : Matrix
    comparator : str
        In whose units tolerances are.
    tolerances : sequence of float

    Raises
    ------
    UserError
        If the matrix does not keep that comparator, or has no control cells.
    """
    found: dict[Setting, dict[str, dict[str, float]]] = {}
    for problem in matrix.measured_problems:
        table = critical_table(matrix, problem, str(comparator))
        controls = table.rows(Kind.CONTROL)
        rows = matrix.inputs_of(problem)
        for column, (_, row) in enumerate(rows.iterrows()):
            if row["role"] == str(Role.WITNESS) or row["shape_recipe"] != CONTRACT_SHAPE:
                continue
            seen = found.setdefault(setting_of(row), {}).setdefault(problem, {})
            for index in controls:
                value = float(table.high[index, column])
                if not np.isnan(value):
                    name = table.implementations[index]
                    seen[name] = max(value, seen.get(name, 0.0))
    made = [made for setting, by in found.items() if (made := _ceiling(setting, by)) is not None]
    if not made:
        raise UserError(
            f"the matrix at {matrix.path} has no cells of controls under {comparator}, so nothing "
            "tells where correct kernels fail; give a matrix with controls"
        )
    families: dict[tuple[str, str], list[Ceiling]] = {}
    for ceiling in sorted(made, key=_order):
        key = (ceiling.setting.family, ceiling.setting.parameters)
        families.setdefault(key, []).append(ceiling)
    return Ceilings(
        label=matrix.meta.label,
        comparator=str(comparator),
        tolerances=tuple(sorted(tolerances, reverse=True)),
        families={key: tuple(value) for key, value in families.items()},
    )


def _ceiling(setting: Setting, by_problem: Mapping[str, Mapping[str, float]]) -> Ceiling | None:
    kept = {problem: values for problem, values in by_problem.items() if values}
    if not kept:
        return None
    everything = {name: value for values in kept.values() for name, value in values.items()}
    return Ceiling(
        setting=setting,
        controls={problem: tuple(values.values()) for problem, values in kept.items()},
        worst_control=max(everything, key=lambda name: everything[name]),
    )


def _order(ceiling: Ceiling) -> tuple[str, bool, str, float, str]:
    setting = ceiling.setting
    scale = -1.0 if setting.scale is None else setting.scale
    plain = setting.parameters != "benchmark"
    return (setting.family, plain, setting.parameters, scale, setting.name)
