"""Score a check on a matrix: what it detects, of what kind, and whom it wrongs."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import pandas as pd

from suiteopt.audit.intervals import Interval, cluster_interval
from suiteopt.audit.left_out import LeftOut, left_out_json, of_problems
from suiteopt.matrix.denominator import Denominator
from suiteopt.selection.problem_report import Tally


@dataclass(frozen=True, eq=False)
class Audit:
    """What a check does to the faults and controls of a matrix.

    Attributes
    ----------
    protocol : str
    label : str
        The matrix's, to be printed above every figure.
    denominator : Denominator
    outcomes : DataFrame
        One row a mutant that counts: ``problem``, ``implementation``, ``family``, ``rules``
        (tuple), ``operation``, ``detected``, ``shows`` (in an output), ``unknown`` (cells that
        were not run and count as no kill).
    controls : DataFrame
        One row a control: ``problem``, ``control``, ``control_kind``, ``cells``, ``rejected``
        (cells).
    absent : mapping of str to tuple of str
        By value recipe of the protocol: the problems whose pool has no such input.
    judged : tuple of str
        The problems that the check is judged on.
    left_out : mapping of str to LeftOut
        The measured problems that it is not judged on.
    """

    protocol: str
    label: str
    denominator: Denominator
    outcomes: pd.DataFrame
    controls: pd.DataFrame
    absent: Mapping[str, tuple[str, ...]]
    judged: tuple[str, ...] = ()
    left_out: Mapping[str, LeftOut] = field(default_factory=dict)

    @property
    def rests_on(self) -> str:
        """On how many problems the shares rest, in words; empty where it is all of them."""
        return of_problems(len(self.judged), self.left_out)

    @property
    def tally(self) -> Tally:
        """Mutants that count, and those detected."""
        return _tally(self.outcomes)

    @property
    def interval(self) -> Interval | None:
        """95% interval of the detected share, problems being the units."""
        return _interval(self.outcomes)

    @property
    def in_output(self) -> Tally:
        """Mutants that an exception or a wrong output witnesses."""
        return _tally(self.outcomes[self.outcomes["shows"]])

    @property
    def by_family(self) -> dict[str, Tally]:
        """By family, in alphabetical order."""
        return _by(self.outcomes, "family")

    @property
    def by_operation(self) -> dict[str, Tally]:
        """By operation class of the problem, in alphabetical order."""
        return _by(self.outcomes, "operation")

    @property
    def by_problem(self) -> dict[str, Tally]:
        """By problem, in the order of the matrix."""
        return _by(self.outcomes, "problem", sort=False)

    @property
    def by_rule(self) -> dict[str, Tally]:
        """By rule, in alphabetical order; a merged duplicate counts under each of its rules."""
        return _by(self.outcomes.explode("rules"), "rules")

    @property
    def false_rejections(self) -> int:
        """Control cells on the check's inputs that it rejects."""
        return int(self.controls["rejected"].sum())

    @property
    def control_cells(self) -> int:
        """Control cells on the check's inputs that were run."""
        return int(self.controls["cells"].sum())

    @property
    def rejected_controls(self) -> tuple[str, ...]:
        """Controls that the check as a whole calls wrong: rejected on one input or more."""
        return tuple(self.controls.loc[self.controls["rejected"] > 0, "control"])

    def as_dict(self) -> dict[str, Any]:
        """JSON form."""
        interval = self.interval
        ran = self.controls[self.controls["cells"] > 0]
        return {
            "protocol": self.protocol,
            "label": self.label,
            "denominator": str(self.denominator),
            "problems": self.outcomes["problem"].nunique(),
            "mutants": self.tally.mutants,
            "detected_share": self.tally.share,
            "missed_share": self.tally.missed_share,
            "interval": None if interval is None else interval.as_list(),
            "interval_method": None if interval is None else str(interval.method),
            "in_output": {"mutants": self.in_output.mutants, "detected": self.in_output.detected},
            "by_family": self._groups("family", self.by_family),
            "by_operation": self._groups("operation", self.by_operation),
            "by_problem": {name: row(tally) for name, tally in self.by_problem.items()},
            "by_rule": {name: row(tally) for name, tally in self.by_rule.items()},
            "unknown_cells": int(self.outcomes["unknown"].sum()),
            "left_out": left_out_json(self.left_out),
            "absent_inputs": {name: list(where) for name, where in self.absent.items()},
            "false_rejections": {
                "controls": len(ran),
                "rejected": len(self.rejected_controls),
                "cells": self.control_cells,
                "rejected_cells": self.false_rejections,
                "by_control": {
                    str(name): {"cells": int(cells), "rejected": int(rejected)}
                    for name, cells, rejected in zip(
                        ran["control"], ran["cells"], ran["rejected"], strict=True
                    )
                },
            },
        }

    def _groups(self, column: str, tallies: Mapping[str, Tally]) -> dict[str, Any]:
        groups = {}
        for name, tally in tallies.items():
            interval = _interval(self.outcomes[self.outcomes[column] == name])
            groups[name] = {
                **row(tally),
                "interval": None if interval is None else interval.as_list(),
            }
        return groups


def row(tally: Tally) -> dict[str, Any]:
    """JSON form of a tally."""
    return {
        "mutants": tally.mutants,
        "detected": tally.detected,
        "missed_share": tally.missed_share,
    }


def _tally(outcomes: pd.DataFrame) -> Tally:
    return Tally(len(outcomes), int(outcomes["detected"].sum()))


def _by(outcomes: pd.DataFrame, column: str, sort: bool = True) -> dict[str, Tally]:
    groups = outcomes.groupby(column, sort=sort)["detected"]
    return {str(name): Tally(len(part), int(part.sum())) for name, part in groups}


def _interval(outcomes: pd.DataFrame) -> Interval | None:
    groups = outcomes.groupby("problem", sort=False)["detected"]
    return cluster_interval(groups.sum().to_numpy(), groups.size().to_numpy())
