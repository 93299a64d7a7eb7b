"""A joint question as a CP-SAT model."""

import math
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from suiteopt.selection.comparators import input_of
from suiteopt.selection.joint_search import Ask, Chosen, Part
from suiteopt.selection.limits import Limits
from suiteopt.selection.parts import clashes


class JointModel:
    """The CP-SAT model of a question."""

    def __init__(self, parts: Sequence[Part], ask: Ask, fixed: Chosen) -> None:
        from ortools.sat.python import cp_model

        self.cp_model = cp_model
        self.parts, self.ask = parts, ask
        self.model = cp_model.CpModel()
        self.picks: list[list[Any]] = []
        self.covers: list[tuple[Any, int, NDArray[np.intp], int]] = []  # variable, need, killers
        self.constant = 0
        groups: dict[str, list[tuple[Any, int]]] = {name: [] for name in ask.required}
        known = dict.fromkeys(ask.required, 0)
        self.terms: list[tuple[Any, int]] = []
        for place, part in enumerate(parts):
            own = [self.model.new_bool_var(f"x{place}.{j}") for j in range(_width(part))]
            self.picks.append(own)
            for column in fixed[place]:
                self.model.add(own[column] == 1)
            for column, name in enumerate(part.instance.inputs):
                if input_of(name) in part.rules.exclude:
                    self.model.add(own[column] == 0)
            for clash in clashes(part.instance):
                self.model.add_at_most_one([own[column] for column in clash])
            if ask.per_problem is not None:
                self.model.add(sum(own) <= ask.per_problem)
            for weight, killers, given, group in _classes(part):
                need = ask.times - given
                if need <= 0:
                    self.constant += weight
                    if group in known:
                        known[group] += weight
                    continue
                if len(killers) < need:
                    continue
                cover = self.model.new_bool_var(f"y{place}.{len(self.covers)}")
                self.model.add(sum(own[column] for column in killers) >= need * cover)
                self.covers.append((cover, need, killers, place))
                self.terms.append((cover, weight))
                if group in groups:
                    groups[group].append((cover, weight))
        everything = [pick for own in self.picks for pick in own]
        if ask.in_all is not None:
            self.model.add(sum(everything) <= ask.in_all)
        for name, cap in ask.caps.items():
            prices = [int(price) for part in parts for price in part.prices[name]]
            self.model.add(cp_model.LinearExpr.weighted_sum(everything, prices) <= cap)
        for name, weight in ask.required.items():
            covers, weights = _unzip(groups[name])
            total = cp_model.LinearExpr.weighted_sum(covers, weights)
            self.model.add(total >= weight - known[name])
        if ask.required:
            self.model.minimize(sum(everything))
        else:
            covers, weights = _unzip(self.terms)
            self.model.maximize(cp_model.LinearExpr.weighted_sum(covers, weights))

    def solve(self, incumbent: Chosen, limits: Limits) -> tuple[Chosen | None, int]:
        """Columns of the solution, if there is one, and the bound."""
        cp_model = self.cp_model
        for own, chosen in zip(self.picks, incumbent, strict=True):
            for column, pick in enumerate(own):
                self.model.add_hint(pick, column in chosen)
        for cover, need, killers, place in self.covers:
            hits = len(set(incumbent[place]).intersection(killers.tolist()))
            self.model.add_hint(cover, hits >= need)
        solver = cp_model.CpSolver()
        solver.parameters.num_workers = 1
        solver.parameters.random_seed = 0
        solver.parameters.max_deterministic_time = limits.deterministic
        status = solver.solve(self.model)
        columns = None
        if status in (cp_model.OPTIMAL, cp_model.FEASIBLE):
            columns = [
                [column for column, pick in enumerate(own) if solver.value(pick)]
                for own in self.picks
            ]
        known = status != cp_model.UNKNOWN and math.isfinite(solver.best_objective_bound)
        proved = status == cp_model.OPTIMAL
        bound = solver.objective_value if proved else solver.best_objective_bound
        if self.ask.required:
            return columns, math.ceil(bound - 1e-6) if known else 0
        most = sum(weight for _, weight in self.terms)
        return columns, self.constant + (min(most, math.floor(bound + 1e-6)) if known else most)


def _width(part: Part) -> int:
    return len(part.instance.inputs)


def _unzip(pairs: Sequence[tuple[Any, int]]) -> tuple[list[Any], list[int]]:
    return [pair[0] for pair in pairs], [pair[1] for pair in pairs]


def _classes(part: Part) -> list[tuple[int, NDArray[np.intp], int, str]]:
    """Weight, killers, given kills and group of mutants that no question can tell apart."""
    groups = part.groups or ("",) * len(part.instance.mutants)
    merged: dict[tuple[bytes, int, str], tuple[int, int]] = {}
    for row, group in enumerate(groups):
        key = (part.instance.kills[row].tobytes(), int(part.instance.given[row]), group)
        weight, first = merged.get(key, (0, row))
        merged[key] = (weight + int(part.instance.weights[row]), first)
    return [
        (weight, np.flatnonzero(part.instance.kills[first]), key[1], key[2])
        for key, (weight, first) in merged.items()
    ]
