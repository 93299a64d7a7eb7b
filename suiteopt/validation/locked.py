"""The locked rules: what a suite that never saw them does to their faults."""

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from hashlib import sha256
from typing import Any

import numpy as np
from numpy.typing import NDArray

from suiteopt.matrix.store import Matrix
from suiteopt.selection.cases import Case, cases, counted
from suiteopt.selection.comparators import judged_table
from suiteopt.selection.question import Question
from suiteopt.selection.result import Selection
from suiteopt.validation.figures import share_of


@dataclass(frozen=True)
class LockedRules:
    """Faults of the rules that were set aside, under a suite chosen on all others.

    Attributes
    ----------
    rules, mutants, detected : int
    open_mutants, open_detected : int
        The same suite on the faults that it was chosen on.
    own : int or None
        Faults of locked rules that the own draws detect.
    by_family : mapping of str to tuple of int
        Mutants and detected ones.
    members : mapping of str to tuple of str
        The suite.
    """

    rules: int
    mutants: int
    detected: int
    open_mutants: int
    open_detected: int
    own: int | None
    by_family: Mapping[str, tuple[int, int]]
    members: Mapping[str, tuple[str, ...]]

    def as_dict(self) -> dict[str, Any]:
        """JSON form: what goes into the ledger, too."""
        return {
            "rules": self.rules,
            "mutants": self.mutants,
            "detected_share": share_of(self.detected, self.mutants),
            "open_share": share_of(self.open_detected, self.open_mutants),
            "own_share": None if self.own is None else share_of(self.own, self.mutants),
            "by_family": {
                name: {"mutants": pair[0], "detected": pair[1]}
                for name, pair in sorted(self.by_family.items())
            },
        }


def locked_rules(
    matrix: Matrix, question: Question, choose_all: Callable[[Sequence[Case]], Sequence[Selection]]
) -> LockedRules:
    """Choose without the locked rules and score on them; the caller writes the ledger.

    Parameters
    ----------
    matrix : Matrix
    question : Question
        Whether it counts locked mutants makes no difference.
    choose_all : callable
        Chooses the suites of all cases.
    """
    blind = replace(question, locked=False)
    found = list(cases(matrix, blind))
    open_mutants = open_detected = detected = mutants = 0
    own: int | None = 0
    rules: set[str] = set()
    families: dict[str, tuple[int, int]] = {}
    members: dict[str, tuple[str, ...]] = {}
    for case, chosen in zip(found, choose_all(found), strict=True):
        members[case.problem] = chosen.members
        open_mutants += chosen.total
        open_detected += chosen.detected
        table = judged_table(
            matrix, case.problem, question.oracle, include_locked=True, block=case.block
        )
        known = set(case.table.implementations)
        mask = counted(matrix, table, question.denominator)
        rows = [row for row in np.flatnonzero(mask) if table.implementations[row] not in known]
        details = matrix.implementations_of(case.problem).set_index("implementation")
        details = details.loc[[table.implementations[row] for row in rows]]
        killed = _killed(table.kills[rows].toarray(), table.inputs, [*chosen.members, *case.given])
        mutants += len(rows)
        detected += int(killed.sum())
        rules |= {str(rule) for own_rules in details["rules"] for rule in own_rules}
        for family, dies in zip(details["family"], killed, strict=True):
            before = families.get(str(family), (0, 0))
            families[str(family)] = (before[0] + 1, before[1] + int(dies))
        own = _own(case, table.kills[rows].toarray(), table.inputs, own)
    return LockedRules(
        len(rules), mutants, detected, open_mutants, open_detected, own, families, members
    )


def _killed(
    kills: NDArray[np.bool_], inputs: Sequence[str], chosen: Sequence[str]
) -> NDArray[np.bool_]:
    return np.asarray(kills[:, [inputs.index(name) for name in chosen]].any(axis=1))


def _own(
    case: Case, kills: NDArray[np.bool_], inputs: Sequence[str], before: int | None
) -> int | None:
    if before is None or case.own_inputs is None:
        return None
    return before + int(_killed(kills, inputs, case.own_inputs).sum())


def members_hash(members: Mapping[str, Sequence[str]]) -> str:
    """SHA-256 that tells a suite by its members, for the ledger."""
    text = json.dumps({problem: list(names) for problem, names in sorted(members.items())})
    return sha256(text.encode()).hexdigest()
