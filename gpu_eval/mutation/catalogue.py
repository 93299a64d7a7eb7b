"""All rules in order, which of them are locked, and the faults they make of a substrate."""

import hashlib
from collections.abc import Iterator, Mapping, Sequence
from functools import lru_cache
from importlib.metadata import entry_points
from types import ModuleType

from gpu_eval.mutation.fault import Fault
from gpu_eval.mutation.generation import launch_faults, source_faults
from gpu_eval.mutation.rule import LaunchRule, Rule
from gpu_eval.mutation.rules import (
    arithmetic,
    boundary,
    boundary_loops,
    exchange,
    indexing,
    indexing_memory,
    indexing_values,
    indexing_warps,
    launch,
    launch_arguments,
    launch_stages,
    precision,
    precision_functions,
    precision_numerics,
    semantic,
    semantic_choices,
    semantic_seeds,
    semantic_stages,
    stage_operands,
    stage_rounding,
    stage_updates,
    stages,
    synchronization,
)
from gpu_eval.problems.definition import Problem, Substrate
from gpu_eval.problems.plan import LaunchPlan
from suiteopt.errors import UserError
from suiteopt.matrix.schema import Family

AnyRule = Rule | LaunchRule
ENTRY_POINT_GROUP = "gpu_eval.rules"
LOCKED_SHARE = 0.2
_SMALLEST_LOCKED_FAMILY = 4

# Specific rules come before general ones: where two make the same text, the first one counts.
_MODULES = (
    precision_numerics,
    precision,
    precision_functions,
    semantic,
    semantic_seeds,
    semantic_choices,
    semantic_stages,
    synchronization,
    exchange,
    boundary,
    boundary_loops,
    indexing,
    indexing_warps,
    indexing_memory,
    indexing_values,
    arithmetic,
    launch,
    launch_arguments,
    # Those that came later stay last, so that what came before keeps its faults and their ids.
    stages,
    stage_updates,
    stage_operands,
    stage_rounding,
    launch_stages,
)


def _rules_of(module: ModuleType) -> Iterator[AnyRule]:
    """Yield an instance of every rule class of a module that has a name, in textual order."""
    for value in vars(module).values():
        if not isinstance(value, type) or value.__module__ != module.__name__:
            continue
        if issubclass(value, Rule | LaunchRule) and "name" in vars(value):
            yield value()


RULES: tuple[AnyRule, ...] = tuple(rule for module in _MODULES for rule in _rules_of(module))
"""Every rule of this package, in the order in which they are applied."""

_NAMES = frozenset(one.name for one in RULES)


@lru_cache(maxsize=1)
def all_rules() -> tuple[AnyRule, ...]:
    """Return the rules of this package, then those of installed others (loaded on first use).

    An entry point of the group ``gpu_eval.rules`` names a rule class, an instance, or a sequence
    of such.

    Raises
    ------
    UserError
        If an entry point gives something else, or two rules have one name.
    """
    found = list(RULES)
    for point in sorted(entry_points(group=ENTRY_POINT_GROUP), key=lambda p: p.name):
        loaded = point.load()
        for one in loaded if isinstance(loaded, Sequence) else [loaded]:
            made = one() if isinstance(one, type) else one
            if not isinstance(made, Rule | LaunchRule):
                raise UserError(
                    f"entry point '{point.name}' of group '{ENTRY_POINT_GROUP}' is no rule; "
                    "it must name a subclass of gpu_eval.mutation.rule.Rule or LaunchRule"
                )
            found.append(made)
    names = [one.name for one in found]
    twice = sorted({name for name in names if names.count(name) > 1})
    if twice:
        raise UserError(
            f"more than one rule is named '{twice[0]}'; rename or uninstall one of the packages "
            f"that register rules under '{ENTRY_POINT_GROUP}'"
        )
    return tuple(found)


def rule(name: str) -> AnyRule:
    """Return a rule by its name.

    Raises
    ------
    UserError
        If there is none.
    """
    for one in all_rules():
        if one.name == name:
            return one
    known = ", ".join(sorted(r.name for r in all_rules()))
    raise UserError(f"unknown rule '{name}'; known: {known}")


def is_locked(rule_name: str) -> bool:
    """Return whether a rule is set aside: chosen by the hash of its name, a fifth of each family.

    Of a family of this package's rules the fifth with the smallest hashes is locked, at least one
    where it has four rules or more. Rules of other packages are locked by their hash alone, so
    that installing one never changes what is locked here.
    """
    if rule_name in _NAMES:
        return rule_name in _locked_names()
    return _fraction(rule_name) < LOCKED_SHARE


@lru_cache(maxsize=1)
def _locked_names() -> frozenset[str]:
    locked: set[str] = set()
    for family in Family:
        names = sorted((r.name for r in RULES if r.family is family), key=_fraction)
        count = round(LOCKED_SHARE * len(names))
        if len(names) >= _SMALLEST_LOCKED_FAMILY:
            count = max(count, 1)
        locked.update(names[:count])
    return frozenset(locked)


def _fraction(name: str) -> float:
    """Return a number in [0, 1) that depends on a name alone."""
    digest = hashlib.sha256(f"locked rule {name}".encode()).digest()
    return int.from_bytes(digest[:8], "big") / 2**64


def faults(
    problem: Problem,
    substrate: Substrate,
    files: Mapping[str, str],
    plan: LaunchPlan,
    *,
    rules: Sequence[AnyRule] | None = None,
) -> tuple[Fault, ...]:
    """Return every fault of a substrate: edits of its files, then edits of its plan.

    Parameters
    ----------
    problem, substrate : Problem, Substrate
    files : mapping of str to str
        File name to text, the main file first, headers included.
    plan : LaunchPlan
    rules : sequence of rules, optional
        Which rules; all by default.

    Returns
    -------
    tuple of Fault
        By file, then by rule in the order of the catalogue, then by place. Edits that give the
        same text count once, for the first rule. Code that no launched kernel reaches is left
        alone. Ordinals count a rule's sites in a file before either is taken away.

    Raises
    ------
    UserError
        If a file cannot be parsed.
    """
    chosen = all_rules() if rules is None else rules
    return (
        *source_faults(problem, substrate, files, plan, chosen),
        *launch_faults(problem, substrate, files, plan, chosen),
    )


def documentation() -> str:
    """Return the table of rules that ``docs/rules.md`` holds."""
    lines = [
        "# Rules",
        "",
        f"The {len(RULES)} rules that faults are made by, in the order in which they are applied: "
        "where two rules make the same text of a file, the first one counts. "
        "Locked rules are set aside until a choice is final.",
        "",
        "| rule | family | what it does | locked |",
        "|---|---|---|---|",
    ]
    for one in RULES:
        line = one.documentation.replace("|", "\\|")
        locked = "yes" if is_locked(one.name) else ""
        lines.append(f"| {one.name} | {one.family.value} | {line} | {locked} |")
    return "\n".join(lines) + "\n"
