"""A joint question, what a choice is worth under it, and a greedy answer."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from suiteopt.selection.comparators import input_of
from suiteopt.selection.constraints import Constraints
from suiteopt.selection.instance import Instance


@dataclass(frozen=True, eq=False)
class Part:
    """One problem of a joint question.

    Attributes
    ----------
    instance : Instance
    prices : mapping of str to ndarray of int64, shape (n,)
        What each column costs, by currency.
    groups : tuple of str
        Group of each mutant, for required detections: its family, or the same word for all.
    rules : Constraints
    """

    instance: Instance
    prices: Mapping[str, NDArray[np.int64]] = field(default_factory=dict)
    groups: tuple[str, ...] = ()
    rules: Constraints = field(default_factory=Constraints)


@dataclass(frozen=True)
class Ask:
    """What a joint answer must keep.

    Attributes
    ----------
    per_problem, in_all : int or None
        The most inputs of one problem, and together.
    caps : mapping of str to int
        The most that the suite may cost, by currency.
    times : int
        How many members, or inputs run anyway, have to kill a mutant for it to count.
    required : mapping of str to int
        Weight to be detected of each group. Where it is given, the number of inputs is
        minimised; otherwise detection is maximised.
    """

    per_problem: int | None = None
    in_all: int | None = None
    caps: Mapping[str, int] = field(default_factory=dict)
    times: int = 1
    required: Mapping[str, int] = field(default_factory=dict)


Chosen = list[list[int]]


def inputs_in(columns: Chosen) -> int:
    """Return how many inputs a choice has."""
    return sum(map(len, columns))


def detected(parts: Sequence[Part], ask: Ask, columns: Chosen) -> int:
    """Return the weight that counts as detected."""
    return sum(
        int(part.instance.weights[part.instance.counts_in_all(own) >= ask.times].sum())
        for part, own in zip(parts, columns, strict=True)
    )


def by_group(parts: Sequence[Part], ask: Ask, columns: Chosen) -> dict[str, int]:
    """Return the detected weight of each group that something is required of."""
    totals: dict[str, int] = dict.fromkeys(ask.required, 0)
    for part, own in zip(parts, columns, strict=True):
        killed = part.instance.counts_in_all(own) >= ask.times
        for row in np.flatnonzero(killed):
            if part.groups[row] in totals:
                totals[part.groups[row]] += int(part.instance.weights[row])
    return totals


def meets(parts: Sequence[Part], ask: Ask, columns: Chosen) -> bool:
    """Tell whether a choice keeps every limit and reaches what is required."""
    if not within(parts, ask, columns):
        return False
    reached = by_group(parts, ask, columns)
    return all(reached[group] >= weight for group, weight in ask.required.items())


def within(parts: Sequence[Part], ask: Ask, columns: Chosen) -> bool:
    """Tell whether a choice keeps every limit."""
    if ask.per_problem is not None and any(len(own) > ask.per_problem for own in columns):
        return False
    if ask.in_all is not None and inputs_in(columns) > ask.in_all:
        return False
    return all(
        sum(int(p.prices[name][own].sum()) for p, own in zip(parts, columns, strict=True)) <= cap
        for name, cap in ask.caps.items()
    )


def _open(part: Part, chosen: Sequence[int]) -> list[int]:
    """Columns that may join: not barred, not chosen, not excluded by a group."""
    groups = part.instance.groups
    used = set() if groups is None else {int(groups[column]) for column in chosen}
    return [
        column
        for column, name in enumerate(part.instance.inputs)
        if input_of(name) not in part.rules.exclude
        and column not in chosen
        and (groups is None or int(groups[column]) not in used)
    ]


def greedy(parts: Sequence[Part], ask: Ask, fixed: Chosen) -> Chosen:
    """Add what gains most for the dearest currency, as long as it fits.

    With repeated kills the gain is the weight times the kills still missing that a column brings,
    which is the gain itself where one kill is enough.
    """
    chosen = [list(own) for own in fixed]
    while True:
        best: tuple[float, int, int] | None = None
        if ask.required and meets(parts, ask, chosen):
            return chosen
        reached = by_group(parts, ask, chosen)
        for place, part in enumerate(parts):
            missing = np.clip(ask.times - part.instance.counts_in_all(chosen[place]), 0, 1)
            weights = part.instance.weights * missing
            if ask.required:
                still = [reached.get(g, 0) < ask.required.get(g, 0) for g in part.groups]
                weights = weights * np.array(still, dtype=np.int64)
            gains = weights @ part.instance.kills
            for column in _open(part, chosen[place]):
                gain = float(gains[column]) / _price(part, ask, column)
                if gain <= 0 or (best is not None and gain <= best[0]):
                    continue
                trial = [own if at != place else [*own, column] for at, own in enumerate(chosen)]
                if within(parts, ask, trial):
                    best = (gain, place, column)
        if best is None:
            return chosen
        chosen[best[1]].append(best[2])


def _price(part: Part, ask: Ask, column: int) -> float:
    """Largest share of a cap that a column takes; 1 where only heads count."""
    shares = [int(part.prices[name][column]) / max(cap, 1) for name, cap in ask.caps.items()]
    return max(*shares, 1e-9) if shares else 1.0


def without_idle(parts: Sequence[Part], ask: Ask, columns: Chosen, fixed: Chosen) -> Chosen:
    """Drop columns without which nothing is lost, the last first."""
    kept = [list(own) for own in columns]
    for place, part in enumerate(parts):
        for column in sorted(set(kept[place]) - set(fixed[place]), reverse=True):
            trial = [own if at != place else [c for c in own if c != column]
                     for at, own in enumerate(kept)]  # fmt: skip
            before = part.instance.counts_in_all(kept[place]) >= ask.times
            after = part.instance.counts_in_all(trial[place]) >= ask.times
            if np.array_equal(before, after) or (ask.required and meets(parts, ask, trial)):
                kept = trial
    return kept
