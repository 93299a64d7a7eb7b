"""What inputs that are there already are good for: which could go, and which must not."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from suiteopt.errors import UserError
from suiteopt.matrix.store import Matrix
from suiteopt.protocols import judged_problems, known_protocols, load_protocol
from suiteopt.selection.cases import Case, cases
from suiteopt.selection.comparators import input_rows
from suiteopt.selection.question import Question
from suiteopt.suite import Suite


@dataclass(frozen=True)
class PresentInput:
    """One present input of a problem, judged beside the other present ones.

    Attributes
    ----------
    input : str
    kills : int
        Mutants that count and that it kills.
    sole : tuple of str
        Those that no other present input kills.
    redundant : bool
        Whether the others kill whatever it kills. Two redundant inputs may need each other: see
        `Review.removable`.
    dominated_by : str or None
        A present input that kills at least the same at no higher cost; of equals the one with
        the larger id is dominated.
    """

    input: str
    kills: int
    sole: tuple[str, ...]
    redundant: bool
    dominated_by: str | None

    def as_dict(self) -> dict[str, Any]:
        """JSON form."""
        return {
            "input": self.input,
            "kills": self.kills,
            "sole_killer_of": list(self.sole),
            "redundant": self.redundant,
            "dominated_by": self.dominated_by,
        }


@dataclass(frozen=True)
class Review:
    """All present inputs of one problem.

    Attributes
    ----------
    problem : str
    mutants, detected : int
        That count, and that the present inputs detect together.
    inputs : tuple of PresentInput
    removable : tuple of str
        Inputs that can go together without losing a mutant: taken one after the other, the one
        with the fewest kills first.
    """

    problem: str
    mutants: int
    detected: int
    inputs: tuple[PresentInput, ...]
    removable: tuple[str, ...]

    def as_dict(self) -> dict[str, Any]:
        """JSON form."""
        return {
            "problem": self.problem,
            "mutants": self.mutants,
            "detected": self.detected,
            "inputs": [row.as_dict() for row in self.inputs],
            "removable": list(self.removable),
        }


def review(matrix: Matrix, case: Case, present: Sequence[str]) -> Review:
    """Judge present inputs by what they kill of the mutants that count.

    Parameters
    ----------
    matrix : Matrix
    case : Case
    present : sequence of str
        Ids of inputs of the problem; choosable or not.

    Raises
    ------
    UserError
        If the problem has no such input.
    """
    names = sorted(dict.fromkeys(present))
    places = {name: column for column, name in enumerate(case.table.inputs)}
    unknown = [name for name in names if name not in places]
    if unknown:
        raise UserError(f"{case.problem} has no input '{unknown[0]}'; `suiteopt show` lists them")
    columns = [places[name] for name in names]
    rows = case.rows_of(case.table)
    kills = case.table.kills[rows].toarray()[:, columns]
    costs = input_rows(matrix, case.problem, names)["bytes"].to_numpy(dtype=np.int64)
    counts = kills.sum(axis=1)
    found = []
    for place, name in enumerate(names):
        own = kills[:, place]
        sole = np.flatnonzero(own & (counts == 1))
        over = [
            other
            for other in range(len(names))
            if other != place
            and not np.any(own & ~kills[:, other])
            and costs[other] <= costs[place]
            and (
                other < place
                or costs[other] < costs[place]
                or int(kills[:, other].sum()) > int(own.sum())
            )
        ]
        best = max(over, key=lambda other: (int(kills[:, other].sum()), -other), default=None)
        found.append(
            PresentInput(
                input=name,
                kills=int(own.sum()),
                sole=tuple(case.instance.mutants[row] for row in sole),
                redundant=not len(sole),
                dominated_by=None if best is None else names[best],
            )
        )
    return Review(
        problem=case.problem,
        mutants=len(rows),
        detected=int((counts > 0).sum()),
        inputs=tuple(found),
        removable=_removable(kills, names),
    )


def _removable(kills: NDArray[np.bool_], names: Sequence[str]) -> tuple[str, ...]:
    counts = kills.sum(axis=1)
    sizes = kills.sum(axis=0)
    gone = []
    for place in sorted(range(len(names)), key=lambda column: (sizes[column], -column)):
        if np.all(counts[kills[:, place]] >= 2):
            counts = counts - kills[:, place]
            gone.append(names[place])
    return tuple(sorted(gone))


POOL = "pool"


def review_matrix(matrix: Matrix, question: Question, present: str) -> tuple[Review, ...]:
    """Review the present inputs of every problem; see `reviewed_without` for a protocol's.

    Parameters
    ----------
    matrix : Matrix
    question : Question
    present : str
        ``pool`` for all choosable inputs, the name of a protocol, or the path of a suite.

    Raises
    ------
    UserError
        If it is none of these, or every problem lacks an input of the protocol.
    """
    suite = None
    judged: Mapping[str, tuple[str, ...]] | None = None
    if _is_protocol(present):
        judged = judged_problems(matrix, load_protocol(present)).inputs
    elif present != POOL:
        suite = Suite.open(Path(present))
    rows = []
    for case in cases(matrix, question):
        if present == POOL:
            names: Sequence[str] = case.instance.inputs
        elif judged is not None:
            if case.problem not in judged:
                continue
            names = judged[case.problem]
        else:
            assert suite is not None
            names = [
                member.input
                for part in suite.problems
                if part.problem == case.problem
                for member in part.members
            ]
        rows.append(review(matrix, case, names))
    return tuple(rows)


def reviewed_without(matrix: Matrix, present: str) -> Mapping[str, str]:
    """Return the problems that lack an input of a reviewed protocol, and which."""
    return judged_problems(matrix, load_protocol(present)).left_out if _is_protocol(present) else {}


def _is_protocol(present: str) -> bool:
    return present in known_protocols() or present.endswith(".toml")
