"""What each rule adds: the behaviours of its mutants, and those that no other rule's mutants have.

A behaviour is that of `suiteopt.matrix.behaviour` in one problem; two rules share it if a mutant of
each has it, whichever the substrates. Counted are the mutants of the headline denominator; one that
stands for duplicates is a mutant of all their rules.
"""

from collections import Counter
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any

from suiteopt.matrix.behaviour import behaviours
from suiteopt.matrix.denominator import is_valid_mutant, is_witnessed
from suiteopt.matrix.store import Matrix

Behaviour = tuple[str, int]
"""A problem, and a group number of its `behaviours`."""


@dataclass(frozen=True)
class RuleBehaviour:
    """One rule.

    Attributes
    ----------
    rule, family : str
    valid : int
        Its valid mutants.
    witnessed : int
        Those of them that count.
    behaviours : int
        How many different ones these have.
    own : int
        How many of these no other rule's mutants have.
    like : str
        The other rule that shares the most of them; empty where none shares any.
    """

    rule: str
    family: str
    valid: int
    witnessed: int
    behaviours: int
    own: int
    like: str


@dataclass(frozen=True)
class RuleBehaviours:
    """All rules of a matrix that are not set aside.

    Attributes
    ----------
    rules : tuple of RuleBehaviour
        By name.
    distinct : int
        Different behaviours of all mutants that count.
    copies : tuple of str
        Rules whose every mutant behaves like one of another rule.
    spare : tuple of str
        Those of them that can be left out together without losing a behaviour.
    unwitnessed : tuple of str
        Rules with valid mutants of which none counts.
    """

    rules: tuple[RuleBehaviour, ...]
    distinct: int
    copies: tuple[str, ...]
    spare: tuple[str, ...]
    unwitnessed: tuple[str, ...]

    def as_dict(self) -> dict[str, Any]:
        """Return it with JSON's own types."""
        return asdict(self)


def rule_behaviours(matrix: Matrix) -> RuleBehaviours:
    """Count the behaviours of each rule, and those that are its own.

    Of an incomplete matrix, those of the problems that are measured.

    Raises
    ------
    UserError
        If a file is missing or damaged.
    """
    table = matrix.implementations
    mutants = table[is_valid_mutant(table)]
    seen = mutants[is_witnessed(mutants, matrix.meta)]
    family: dict[str, str] = {}
    valid: Counter[str] = Counter()
    for names, kind in zip(mutants["rules"], mutants["family"].astype(str), strict=True):
        for name in names:
            valid[name] += 1
            family.setdefault(name, kind)
    witnessed = Counter(name for names in seen["rules"] for name in names)
    shown: dict[str, set[Behaviour]] = {name: set() for name in valid}
    for problem in matrix.measured_problems:
        here = seen[seen["problem"].astype(str) == problem]
        groups = behaviours(matrix, problem, here["implementation"].astype(str).tolist())
        for names, group in zip(here["rules"], groups.tolist(), strict=True):
            for name in names:
                shown[name].add((problem, group))
    makers = Counter(behaviour for found in shown.values() for behaviour in found)
    rules = tuple(
        RuleBehaviour(
            rule=name,
            family=family[name],
            valid=valid[name],
            witnessed=witnessed[name],
            behaviours=len(shown[name]),
            own=sum(makers[behaviour] == 1 for behaviour in shown[name]),
            like=_most_alike(name, shown),
        )
        for name in sorted(valid)
    )
    copies = tuple(rule.rule for rule in rules if rule.behaviours and not rule.own)
    return RuleBehaviours(
        rules=rules,
        distinct=len(makers),
        copies=copies,
        spare=_spare(copies, shown, makers),
        unwitnessed=tuple(rule.rule for rule in rules if not rule.witnessed),
    )


def _most_alike(name: str, shown: Mapping[str, set[Behaviour]]) -> str:
    shared = {other: len(shown[name] & found) for other, found in shown.items() if other != name}
    best = min(shared, key=lambda other: (-shared[other], other), default="")
    return best if shared.get(best) else ""


def _spare(
    copies: tuple[str, ...], shown: Mapping[str, set[Behaviour]], makers: Mapping[Behaviour, int]
) -> tuple[str, ...]:
    """Leave copies out one after the other, those with the fewest behaviours first."""
    left = Counter(makers)
    spare = []
    for name in sorted(copies, key=lambda copy: (len(shown[copy]), copy)):
        if all(left[behaviour] > 1 for behaviour in shown[name]):
            left.subtract(shown[name])
            spare.append(name)
    return tuple(sorted(spare))
