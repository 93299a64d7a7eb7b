"""What can be asked beyond a budget a problem, and which solver answers it."""

import time
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np

from suiteopt.errors import UserError
from suiteopt.matrix.store import Matrix
from suiteopt.selection.cases import Case
from suiteopt.selection.comparators import input_rows
from suiteopt.selection.constraints import Constraints
from suiteopt.selection.joint import CP_SAT, Ask, Part, solve_joint
from suiteopt.selection.limits import Limits
from suiteopt.selection.minimum import minimum_each, minimum_overall, required_weight
from suiteopt.selection.objective import score, strongest_first
from suiteopt.selection.result import Secondary, Selection
from suiteopt.selection.total import spend

Scope = Literal["problem", "family", "overall"]
BYTES = "bytes"
MICROSECONDS = "microseconds"


@dataclass(frozen=True)
class Wishes:
    """What is asked of all problems together, or beyond one kill a mutant.

    Attributes
    ----------
    detect : float or None
        Share to be detected with the fewest inputs, of each problem, of each family over all
        problems, or of all mutants together.
    scope : {"problem", "family", "overall"}
    total : int or None
        The most inputs of all problems together.
    max_bytes : int or None
        The most bytes of all inputs of the suite, as the matrix was measured.
    max_ms : float or None
        The most milliseconds that the substrates take on them.
    times : int
        How many members, or inputs run anyway, have to kill a mutant for it to count.
    """

    detect: float | None = None
    scope: Scope = "problem"
    total: int | None = None
    max_bytes: int | None = None
    max_ms: float | None = None
    times: int = 1

    def __post_init__(self) -> None:
        if self.times < 1:
            raise UserError(f"{self.times} kills a mutant are no detection; give --kills 1 or more")
        for value, name in ((self.max_bytes, "bytes"), (self.max_ms, "milliseconds")):
            if value is not None and not 0 < value < np.inf:
                raise UserError(
                    f"a limit of {value} {name} buys nothing or is none; give a number above 0"
                )
        if self.detect is None and self.scope != "problem":
            raise UserError("--per and --overall say of what --detect asks a share; add --detect")
        if self.detect is not None and (self.total or self.max_bytes or self.max_ms):
            raise UserError(
                "--detect asks for the fewest inputs; leave --total-budget, --max-bytes and "
                "--max-ms out, or leave --detect out"
            )
        if self.detect is not None and self.times > 1 and self.scope != "family":
            raise UserError("--kills with --detect is answered by family alone; add --per family")

    @property
    def plain(self) -> bool:
        """Whether a budget a problem is all that is asked."""
        return self == Wishes()

    @property
    def bounded(self) -> bool:
        """Whether the suite has an end without a budget a problem."""
        return any(limit is not None for limit in (self.total, self.max_bytes, self.max_ms))

    @property
    def joint(self) -> bool:
        """Whether only the joint model answers."""
        costs = self.max_bytes is not None or self.max_ms is not None
        return costs or self.times > 1 or (self.detect is not None and self.scope == "family")


@dataclass(frozen=True)
class Granted:
    """Suites, and what was proved about all of them together.

    Attributes
    ----------
    selections : tuple of Selection
    bound : int or None
        No suites within the limits detect more; None where each problem has a bound of its own.
    at_least : int or None
        No suites with fewer inputs detect what is required.
    """

    selections: tuple[Selection, ...]
    bound: int | None
    at_least: int | None


def grant(
    matrix: Matrix,
    found: Sequence[Case],
    rules: Sequence[Constraints],
    wishes: Wishes,
    budget: int | None,
    solver: str,
    limits: Limits | None,
) -> Granted:
    """Answer by the method that proves most: enumeration and curves, or the joint model.

    Raises
    ------
    UserError
        If what is asked cannot be had.
    """
    instances = [case.instance for case in found]
    if wishes.joint:
        return _jointly(matrix, found, rules, wishes, budget, limits)
    if wishes.total is not None:
        spending = spend(instances, wishes.total, budget, solver, constraints=rules, limits=limits)
        return Granted(spending.selections, spending.bound, None)
    if wishes.detect is None or budget is None:
        raise ValueError("a plain question needs no grant")
    if wishes.scope == "overall":
        required = required_weight(wishes.detect, sum(i.total for i in instances))
        whole = minimum_overall(
            instances, required, budget, solver, constraints=rules, limits=limits
        )
        return Granted(whole.selections, None, whole.at_least)
    each = [
        minimum_each(
            instance,
            required_weight(wishes.detect, instance.total),
            budget,
            solver,
            constraints=rule,
            limits=limits,
        )
        for instance, rule in zip(instances, rules, strict=True)
    ]
    return Granted(
        tuple(part.selections[0] for part in each), None, sum(part.at_least for part in each)
    )


def _jointly(
    matrix: Matrix,
    found: Sequence[Case],
    rules: Sequence[Constraints],
    wishes: Wishes,
    budget: int | None,
    limits: Limits | None,
) -> Granted:
    started = time.perf_counter()
    if wishes.times > 2 and any(case.given for case in found):
        raise UserError(
            "kills by inputs that the harness runs anyway are counted up to 2; give --kills 2 or "
            "less, or leave the target out"
        )
    parts = [_part(matrix, case, rule) for case, rule in zip(found, rules, strict=True)]
    caps = {}
    if wishes.max_bytes is not None:
        caps[BYTES] = wishes.max_bytes
    if wishes.max_ms is not None:
        caps[MICROSECONDS] = int(wishes.max_ms * 1000)
    required: dict[str, int] = {}
    if wishes.detect is not None:
        families = [family for case in found for family in case.families]
        required = {
            name: required_weight(wishes.detect, families.count(name))
            for name in sorted(set(families))
        }
    question = Ask(budget, wishes.total, caps, wishes.times, required)
    answer = solve_joint(parts, question, limits)
    seconds = time.perf_counter() - started
    selections = tuple(
        _selection(case, columns, wishes.times, answer.version, seconds)
        for case, columns in zip(found, answer.columns, strict=True)
    )
    if required:
        return Granted(selections, None, answer.bound)
    return Granted(selections, answer.bound, None)


def _part(matrix: Matrix, case: Case, rule: Constraints) -> Part:
    rows = input_rows(matrix, case.problem, case.instance.inputs)
    seconds = rows["seconds"].to_numpy(dtype=np.float64)
    prices = {
        BYTES: rows["bytes"].to_numpy(dtype=np.int64),
        MICROSECONDS: np.ceil(seconds * 1e6).astype(np.int64),
    }
    return Part(case.instance, prices, case.families, rule)


def _selection(
    case: Case, columns: Sequence[int], times: int, version: str, seconds: float
) -> Selection:
    instance = case.instance
    value = score(instance, columns)
    weights = instance.weights
    alone = instance.kills[:, list(columns)].sum(axis=1) >= times
    everything = instance.counts_in_all(range(len(instance.inputs))) >= times
    return Selection(
        problem=case.problem,
        members=tuple(instance.inputs[c] for c in strongest_first(instance, columns)),
        total=instance.total,
        detected=int(weights[instance.counts_in_all(columns) >= times].sum()),
        alone=int(weights[alone].sum()),
        bound=int(weights[everything].sum()),
        twice=value.twice,
        slack=value.slack,
        cost=-value.thrift,
        secondary=Secondary.SEARCHED,
        optima=None,
        solver=CP_SAT,
        version=version,
        seconds=seconds,
    )
