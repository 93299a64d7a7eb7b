"""Fitted, held-out and gap over a whole matrix: what ``suiteopt crossval`` answers."""

import time
from collections.abc import Mapping, Sequence

import numpy as np

from suiteopt.errors import UserError
from suiteopt.matrix.denominator import Denominator
from suiteopt.matrix.oracle import Oracle
from suiteopt.matrix.store import Matrix
from suiteopt.selection.cases import Case, cases
from suiteopt.selection.constraints import Capabilities, check_budget
from suiteopt.selection.default_objective import (
    more_is_asked,
    refuse_best_fixed,
    settle_objective,
)
from suiteopt.selection.fixed import BEST_FIXED
from suiteopt.selection.instance import Instance
from suiteopt.selection.question import Objective
from suiteopt.selection.result import Selection
from suiteopt.selection.select import nothing_choosable
from suiteopt.selection.settle import settle
from suiteopt.selection.solve import parse_solver
from suiteopt.selection.wishes import Wishes
from suiteopt.threads import one_thread
from suiteopt.validation.across import (
    ChooseSplits,
    across_tolerances,
    fixed_grid,
    tolerance_without,
)
from suiteopt.validation.baselines import random_detection
from suiteopt.validation.controls import OracleFor, hold_out_controls
from suiteopt.validation.denominators import wide_denominators, wide_folds
from suiteopt.validation.dominators import dominators
from suiteopt.validation.figures import SplitFigures
from suiteopt.validation.locked import locked_rules
from suiteopt.validation.nested import nested
from suiteopt.validation.objectives import Duel, compare_objectives
from suiteopt.validation.published import published_conditions
from suiteopt.validation.refit import Refitter, kills_of
from suiteopt.validation.result import CrossValidation, ProblemFigures
from suiteopt.validation.scores import split_figures, to_choose
from suiteopt.validation.sensitivity import sensitivity
from suiteopt.validation.splits import (
    Folds,
    Split,
    label_folds,
    random_folds,
    site_folds,
    site_groups,
)
from suiteopt.validation.suites import Coverage, HeldOut, InFolds

FOLDS = 5
REPEATS = 20
NESTED = (Split.RANDOM, Split.SITE, Split.RULE)


@one_thread
def cross_validate(
    matrix: Matrix,
    budget: int,
    oracle: Oracle | str | None = None,
    *,
    capabilities: Capabilities | None = None,
    target: str | None = None,
    solver: str = "auto",
    folds: int | None = None,
    repeats: int = REPEATS,
    seed: int = 0,
    denominator: Denominator = Denominator.WITNESSED,
    locked: bool = False,
    allow_incomplete: bool = False,
    objective: Objective | None = None,
    brief: bool = False,
) -> CrossValidation:
    """Measure how well suites do on faults that they were not chosen on.

    The suites are those that `suiteopt.selection.select.select` gives, by the same objective. In
    every fold the whole procedure is run again on the mutants outside it. Random and site folds
    are repeated with other seeds; rules, families and substrates are left out one at a time.

    Parameters
    ----------
    matrix : Matrix
    budget : int
    oracle, capabilities, target, solver, denominator, locked, allow_incomplete
        As `suiteopt.selection.select.select` takes them.
    folds : int, optional
        Folds a repeat of the random and the site split; by default `FOLDS`, or as many as there
        are groups where these are fewer.
    repeats : int
        Of the same.
    seed : int
    objective : Objective, optional
        By default as `suiteopt.selection.select.select` settles it. With the held-out one, both
        are compared on the same folds.
    brief : bool
        Leave out what only ``suiteopt crossval`` prints beside the shares: the safety chosen where
        it is not judged, scaled tolerances, the published conditions, the other objective.

    Raises
    ------
    UserError
        For a budget, oracle or matrix that makes no answer possible, or fewer than two mutants.
    """
    started = time.perf_counter()
    check_budget(budget, capabilities)
    parse_solver(solver)
    if (folds is not None and folds < 2) or repeats < 1:
        raise UserError("cross-validation needs at least 2 folds and 1 repeat")
    refuse_best_fixed(objective, oracle)
    question = settle(
        matrix, oracle, budget, capabilities, denominator, locked, allow_incomplete, solver
    )
    reason: str | None = None
    known: list[Case] | None = None
    if objective is None:
        more = more_is_asked(Wishes(), (), solver, oracle)
        objective, reason, known = settle_objective(matrix, question, budget, more)
    found = [case for case in known or cases(matrix, question) if case.instance.total]
    mutants = sum(len(case.instance.mutants) for case in found)
    if mutants < 2:
        raise UserError(
            f"the matrix at {matrix.path} has {mutants} mutants that count, and cross-validation "
            "needs at least 2; measure more or choose another denominator"
        )
    if not any(case.instance.inputs for case in found):
        raise UserError(nothing_choosable(question))
    folds = _fitting(folds, found)
    plans = _plans(found, folds, repeats, seed)
    tolerances: tuple[float, ...] = ()
    choose_splits: ChooseSplits = split_figures
    oracle_for: OracleFor | None = None
    if oracle == BEST_FIXED:
        if not question.counts_alike:
            raise UserError(
                f"which mutants are {denominator} depends on the tolerance, so {BEST_FIXED} cannot "
                "be cross-validated over them; choose another denominator"
            )
        oracle_for = tolerance_without(matrix, question, budget, solver)
        tolerances = fixed_grid(matrix, question.oracle)
        choose_splits = across_tolerances(matrix, question, found, tolerances, budget, solver)

    def suites_of(some: Sequence[Case]) -> Coverage:
        if objective == Objective.HELD_OUT:
            return HeldOut(matrix, some, budget, solver)
        return Coverage(some, budget, solver)

    suites = suites_of(found)
    refitters = suites.refitters
    problems = tuple(
        _figures(case, chosen, budget)
        for case, chosen in zip(found, suites.selections, strict=True)
    )
    members = {row.problem: row.members for row in problems}
    wide = wide_folds(matrix, found, folds, repeats, seed)
    wanted = [to_choose(plan, found) for plan in plans.values()]
    *in_folds, in_wide = suites.in_folds([*wanted, wide.to_choose])
    chosen = dict(zip(plans, in_folds, strict=True))
    splits = {
        split: choose_splits(split, plan, found, refitters, chosen[split])
        for split, plan in plans.items()
    }

    def nested_splits(cases: Sequence[Case]) -> tuple[int, dict[Split, SplitFigures]]:
        others = suites_of(cases)
        inside = others.in_folds([to_choose(plans[split], cases) for split in NESTED])
        figures = {
            split: split_figures(split, plans[split], cases, others.refitters, own)
            for split, own in zip(NESTED, inside, strict=True)
        }
        return sum(chosen.detected for chosen in others.selections), figures

    def at_budget(plan: Folds, cases: Sequence[Case], size: int) -> SplitFigures:
        tables = [Refitter(case.instance, size, "auto") for case in cases]
        return split_figures(Split.RANDOM, plan, cases, tables)

    controls = hold_out_controls(matrix, question, found, suites.choose, oracle_for)
    # Where the oracle itself is chosen anew for each problem, these are not the question's.
    by_question = controls if oracle_for is None else None
    return CrossValidation(
        matrix_id=matrix.id,
        label=matrix.meta.label,
        budget=budget,
        oracle=question.oracle.name,
        target=target,
        denominator=denominator,
        locked=locked,
        solver=solver,
        repeats=repeats,
        problems=problems,
        splits=splits,
        controls=controls,
        nested=(
            None
            if brief
            else nested(matrix, question, found, suites.choose, nested_splits, by_question)
        ),
        denominators=wide_denominators(found, refitters, members, wide, in_wide),
        sensitivity=() if brief else sensitivity(matrix, question, found, members),
        published=(
            None
            if brief
            else published_conditions(
                matrix, found, denominator, locked, folds, repeats, seed, at_budget
            )
        ),
        tolerances=tolerances,
        objective=objective,
        objective_reason=reason,
        strength=suites.strength,
        objectives=None if brief else _duels(plans, found, refitters, splits, chosen),
        locked_rules=(
            locked_rules(matrix, question, lambda some: suites_of(some).selections)
            if locked
            else None
        ),
        seconds=time.perf_counter() - started,
    )


def _fitting(folds: int | None, found: Sequence[Case]) -> int:
    """Return how many folds are made; refuse more than asked for can be."""
    if folds is None:
        return FOLDS
    groups = len(np.unique(site_groups([sites for case in found for sites in case.sites])))
    if folds > groups > 1:
        raise UserError(
            f"{folds} folds are more than the {groups} groups of mutants that share an edited "
            f"expression; give --folds {groups} or fewer"
        )
    return folds


def _plans(found: Sequence[Case], folds: int, repeats: int, seed: int) -> dict[Split, Folds]:
    """Folds over the mutants of all problems, one behind the other."""
    families = [family for case in found for family in case.families]
    homes = [case.problem for case in found for _ in case.families]
    strata = list(zip(homes, families, strict=True))
    groups = site_groups([sites for case in found for sites in case.sites])
    return {
        Split.RANDOM: random_folds(strata, folds, repeats, seed),
        Split.SITE: site_folds(groups, folds, repeats, seed),
        Split.RULE: label_folds([rules for case in found for rules in case.rules]),
        Split.FAMILY: label_folds([(family,) for family in families]),
        Split.SUBSTRATE: label_folds(
            [(f"{case.problem} {substrate}",) for case in found for substrate in case.substrates]
        ),
    }


def _duels(
    plans: Mapping[Split, Folds],
    found: Sequence[Case],
    refitters: Sequence[Refitter],
    splits: Mapping[Split, SplitFigures],
    chosen: Mapping[Split, InFolds | None],
) -> dict[Split, Duel] | None:
    robust = {split: own for split, own in chosen.items() if own is not None}
    if not robust:
        return None
    return compare_objectives(plans, found, refitters, splits, robust)


def _figures(case: Case, selection: Selection, budget: int) -> ProblemFigures:
    """Figures of one problem that need no folds."""
    instance: Instance = case.instance
    killed = kills_of(instance, [instance.inputs.index(name) for name in selection.members])
    minimal = dominators(instance)
    return ProblemFigures(
        problem=case.problem,
        mutants=instance.total,
        fitted=selection.detected,
        members=selection.members,
        pool=instance.ceiling,
        random=float(random_detection(instance, budget).sum()),
        own=None if case.own is None else int(case.own.sum()),
        first_own=None if case.first_own is None else int(case.first_own.sum()),
        optima=selection.optima,
        minimal=len(minimal.rows),
        minimal_fitted=int(killed[minimal.rows].sum()),
        minimal_own=None if case.own is None else int(case.own[minimal.rows].sum()),
        behaviours=len(np.unique(case.behaviours)),
        behaviours_fitted=len(np.unique(case.behaviours[killed])),
        flaky_cells=case.flaky_cells,
        by_family={
            name: (case.families.count(name), int(killed[np.array(case.families) == name].sum()))
            for name in sorted(set(case.families))
        },
    )
