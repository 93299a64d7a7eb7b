"""One way into every solver: `solve` for one problem's instance."""

import time
from collections.abc import Callable, Sequence
from functools import partial

import numpy as np

from suiteopt.errors import UserError
from suiteopt.selection.comparators import input_of
from suiteopt.selection.constraints import Constraints, check_budget
from suiteopt.selection.cpsat import certify_cpsat
from suiteopt.selection.enumerate import enumerate_best, enumeration_work
from suiteopt.selection.greedy import improve, lazy_greedy, submodular_bound
from suiteopt.selection.instance import Instance
from suiteopt.selection.large import LargeInstance
from suiteopt.selection.limits import Limits
from suiteopt.selection.mathopt import certify_mathopt
from suiteopt.selection.objective import Score, better, score, strongest_first
from suiteopt.selection.parts import columns_of, credit, keep_columns, taken
from suiteopt.selection.pulp_model import certify_pulp
from suiteopt.selection.reduce import drop_dominated, merge_rows
from suiteopt.selection.result import Certificate, Secondary, Selection

SOLVERS = ("auto", "enumerate", "greedy", "cp-sat", "mathopt", "pulp")
BACKENDS = {"mathopt": ("highs", "scip"), "pulp": ("highs", "cbc")}

AUTO_WORK = 2e9
"""Multiply-adds up to which `auto` enumerates: about a second on one core."""

AUTO_PAIRS_WORK = 1e11
"""The same for pairs, which are one large matrix product: some five seconds on one core, where a
linear relaxation of such an instance takes minutes and proves nothing."""

LARGE_PAIRS_WORK = 1e13
"""The same for instances in compressed rows, which nothing else can bound: some minutes."""

LARGE_SOLVERS = ("auto", "enumerate", "greedy")
"""What works without a table of mutants x inputs."""

AUTO_NONZEROS = 100_000
"""Kills up to which `auto` asks HiGHS for an optimum; above, for the linear relaxation alone.

Relaxations of covers are tight: HiGHS settles kill maps in 0.05 s on which CP-SAT's bound is still
a quarter above the optimum after 10 s.
"""

Certifier = Callable[[Instance, int, tuple[int, ...], Limits], Certificate]


def parse_solver(text: str) -> tuple[str, str | None]:
    """Split ``name`` or ``name:backend``.

    Raises
    ------
    UserError
        If the name or the back-end is unknown.
    """
    name, _, backend = text.partition(":")
    if name not in SOLVERS or (backend and backend not in BACKENDS.get(name, ())):
        known = [
            *SOLVERS,
            *(f"{solver}:{end}" for solver, ends in BACKENDS.items() for end in ends),
        ]
        raise UserError(f"unknown solver '{text}'; choose one of {', '.join(known)}")
    return name, backend or None


def solve(
    instance: Instance,
    budget: int,
    solver: str = "auto",
    *,
    constraints: Constraints | None = None,
    limits: Limits | None = None,
) -> Selection:
    """Choose at most ``budget`` inputs of one problem.

    The objective is lexicographic: weight detected, weight killed twice, slack, cost, input id.
    Enumeration settles all of it. The other solvers bound and maximise detection; what stands
    behind it is then improved by exchanges that never give detection up (`Secondary.SEARCHED`).
    The own incumbent (lazy greedy with exchanges) is never given up for a worse solution.

    Parameters
    ----------
    instance : Instance
    budget : int
        At least 1; more than there are inputs means all of them.
    solver : str
        One of `SOLVERS`, or ``name:backend``. ``auto`` enumerates where that is cheap; otherwise
        greedy with exchanges, certified by its own bound, by HiGHS, or on very large instances
        bounded by a linear relaxation.
    constraints : Constraints, optional
        Ids must be choosable inputs of this instance where they are to be included.
    limits : Limits, optional

    Raises
    ------
    UserError
        For a budget below 1 or one that the included inputs exceed, an included input that is
        not there, an unknown solver.
    """
    started = time.perf_counter()
    check_budget(budget)
    name, backend = parse_solver(solver)
    rules = constraints or Constraints()
    fixed = columns_of(instance, sorted(rules.include), "include")
    if len(fixed) > budget:
        raise UserError(
            f"{len(fixed)} inputs of {instance.problem} must be included, but the budget is "
            f"{budget}; raise the budget or include fewer"
        )
    barred = {
        column for column, key in enumerate(instance.inputs) if input_of(key) in rules.exclude
    }
    out = taken(instance, fixed)
    free = [j for j in range(len(instance.inputs)) if j not in barred and not out[j]]
    open_instance = keep_columns(credit(instance, fixed), _positions(instance, fixed, free))
    columns, bound, optima, made = _choose(
        open_instance, budget - len(fixed), name, backend, limits or Limits()
    )
    members = sorted([*fixed, *(free[column] for column in columns)])
    value = score(instance, members)
    secondary = Secondary.EXACT if optima is not None else Secondary.SEARCHED
    return _result(instance, members, value, bound, optima, made, secondary, started)


def empty_selection(instance: Instance) -> Selection:
    """Choose nothing: what the given inputs do alone."""
    nothing = score(instance, ())
    made = ("enumerate", np.__version__)
    return _result(
        instance, (), nothing, nothing.detected, 1, made, Secondary.EXACT, time.perf_counter()
    )


def _positions(instance: Instance, fixed: Sequence[int], free: Sequence[int]) -> list[int]:
    """Positions of the free columns after the fixed ones were taken out."""
    rest = np.flatnonzero(~taken(instance, fixed))
    return [int(position) for position in np.flatnonzero(np.isin(rest, free))]


def _choose(
    instance: Instance, budget: int, name: str, backend: str | None, limits: Limits
) -> tuple[tuple[int, ...], int, int | None, tuple[str, str]]:
    """Columns, bound, number of optima, and what the bound came from."""
    large = isinstance(instance, LargeInstance)
    pairs = LARGE_PAIRS_WORK if large else AUTO_PAIRS_WORK
    limit = pairs if budget <= 2 else AUTO_WORK
    if name == "enumerate" or (name == "auto" and enumeration_work(instance, budget) <= limit):
        columns, value, optima = enumerate_best(instance, budget)
        return columns, value.detected, optima, ("enumerate", np.__version__)
    if large and name not in LARGE_SOLVERS:
        raise UserError(
            f"{instance.problem} is too large for {name}; choose one of {', '.join(LARGE_SOLVERS)}"
        )
    small, kept = instance, np.arange(len(instance.inputs))
    if not large:
        small, kept = drop_dominated(instance, max(budget, 1))
    incumbent = improve(small, lazy_greedy(small, budget), budget)
    best = (score(small, incumbent), incumbent)
    bound = submodular_bound(small, incumbent, budget)
    made = ("greedy", np.__version__)
    if best[0].detected < bound and name != "greedy" and not large:
        certificate = _certifier(small, name, backend)(merge_rows(small), budget, incumbent, limits)
        # Merging drops what no column kills and what is killed anyway stays a constant in both.
        bound = min(bound, certificate.bound + _unmodelled(small))
        made = (certificate.solver, certificate.version)
        if certificate.columns is not None:
            found = improve(small, certificate.columns, budget)
            best = better(best, (score(small, found), found))
    columns = tuple(int(kept[column]) for column in best[1])
    return columns, max(bound, best[0].detected), None, made


def _unmodelled(instance: Instance) -> int:
    """Weight of mutants that are killed anyway and by no column: merging leaves them out."""
    idle = (instance.given > 0) & ~instance.kills.any(axis=1)
    return int(instance.weights[idle].sum())


def _certifier(instance: Instance, name: str, backend: str | None) -> Certifier:
    if name == "cp-sat":
        return certify_cpsat
    if name == "pulp":
        return partial(certify_pulp, backend=backend or "highs")
    if name == "auto" and int(instance.kills.sum()) > AUTO_NONZEROS:
        return partial(certify_mathopt, relaxed=True)
    return partial(certify_mathopt, backend=backend or "highs")


def _result(
    instance: Instance,
    members: Sequence[int],
    value: Score,
    bound: int,
    optima: int | None,
    made: tuple[str, str],
    secondary: Secondary,
    started: float,
) -> Selection:
    ordered = strongest_first(instance, members)
    killed = instance.counts(members) > 0
    return Selection(
        problem=instance.problem,
        members=tuple(instance.inputs[column] for column in ordered),
        total=instance.total,
        detected=value.detected,
        alone=int(instance.weights[killed].sum()),
        bound=bound,
        twice=value.twice,
        slack=value.slack,
        cost=-value.thrift,
        secondary=secondary,
        optima=optima,
        solver=made[0],
        version=made[1],
        seconds=time.perf_counter() - started,
    )
