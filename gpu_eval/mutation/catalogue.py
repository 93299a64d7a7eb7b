"""All rules in order, which of them are locked, and the faults they make of a substrate."""

import hashlib
from collections.abc import Iterator, Mapping, Sequence
from functools import lru_cache
from importlib.metadata import entry_points

from gpu_eval.mutation.fault import Fault
from gpu_eval.mutation.launch import PlanContext
from gpu_eval.mutation.parser import make_span, parse_all
from gpu_eval.mutation.reach import reachable
from gpu_eval.mutation.rule import LaunchRule, Rule
from gpu_eval.mutation.rules import (
    arithmetic,
    boundary,
    boundary_loops,
    indexing,
    indexing_memory,
    launch,
    precision,
    precision_numerics,
    semantic,
    semantic_stages,
    synchronization,
)
from gpu_eval.mutation.sites import Edit, build_contexts
from gpu_eval.problems.definition import Problem, Substrate
from gpu_eval.problems.plan import LaunchPlan, render
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
    semantic,
    semantic_stages,
    synchronization,
    boundary,
    boundary_loops,
    indexing,
    indexing_memory,
    arithmetic,
    launch,
)


def _rules_of(module: object) -> Iterator[AnyRule]:
    """Yield an instance of every rule class of a module, in the order of the text."""
    for name, value in vars(module).items():
        if isinstance(value, type) and issubclass(value, Rule | LaunchRule) and "name" in vars(value):
            if not name.startswith("_") and value.__module__ == module.__name__:  # type: ignore[attr-defined]
                yield value()


RULES: tuple[AnyRule, ...] = tuple(rule for module in _MODULES for rule in _rules_of(module))
"""Every rule of this package, in the order in which they are applied."""


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
    names = [rule.name for rule in found]
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
    return rule_name in _locked_names() or (
        rule_name not in {r.name for r in RULES} and _fraction(rule_name) < LOCKED_SHARE
    )


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
        alone. Ordinals count the sites of a rule in a file before either is applied, so that
        they are equal wherever a header is used.

    Raises
    ------
    UserError
        If a file cannot be parsed.
    """
    chosen = all_rules() if rules is None else rules
    found = list(_source_faults(problem, substrate, files, plan, chosen))
    found.extend(_launch_faults(problem, substrate, plan, chosen))
    return tuple(found)


def _source_faults(
    problem: Problem,
    substrate: Substrate,
    files: Mapping[str, str],
    plan: LaunchPlan,
    rules: Sequence[AnyRule],
) -> Iterator[Fault]:
    parsed = parse_all(files)
    contexts = build_contexts(parsed)
    kernels = {site.launch.kernel for site in PlanContext.of(plan).launches()}
    for name, context in contexts.items():
        data = context.file.data
        live = reachable(parsed, kernels, name)
        prefix = f"{problem.id}:{_file_id(problem, substrate, name)}"
        seen = {data}
        for one in rules:
            if not isinstance(one, Rule):
                continue
            for ordinal, edit in enumerate(sorted(set(one.sites(context))), start=1):
                result = data[: edit.start] + edit.after.encode() + data[edit.end :]
                if result in seen or not live(edit.start):
                    continue
                seen.add(result)
                yield Fault(
                    id=f"{prefix}:{one.name}:{ordinal}",
                    problem=problem.id,
                    substrate=substrate.name,
                    rule=one.name,
                    family=one.family,
                    span=context.file.span(edit.start, edit.end),
                    before=context.file.text(edit.start, edit.end),
                    after=edit.after,
                )


def _file_id(problem: Problem, substrate: Substrate, name: str) -> str:
    """Return how ids name a file: with its substrate where several substrates share it."""
    users = [s for s in problem.substrates if name == s.source or name in s.headers]
    return f"{substrate.name}/{name}" if len(users) > 1 else name


def _launch_faults(
    problem: Problem, substrate: Substrate, plan: LaunchPlan, rules: Sequence[AnyRule]
) -> Iterator[Fault]:
    shapes = {t.name: t.shape for t in (*problem.inputs, *problem.parameters)}
    dimensions = tuple(d.name for d in problem.dimensions)
    context = PlanContext.of(plan, shapes, dimensions)
    data, file = context.text.encode(), f"{substrate.name}.plan"
    seen = {plan}
    for one in rules:
        if not isinstance(one, LaunchRule):
            continue
        for ordinal, edit in enumerate(one.sites(context), start=1):
            if edit.plan in seen:
                continue
            seen.add(edit.plan)
            yield Fault(
                id=f"{problem.id}:{file}:{one.name}:{ordinal}",
                problem=problem.id,
                substrate=substrate.name,
                rule=one.name,
                family=one.family,
                span=make_span(file, data, edit.start, edit.end),
                before=data[edit.start : edit.end].decode(),
                after=edit.after,
                plan=edit.plan,
            )


def documentation() -> str:
    """Return the table of rules that ``docs/rules.md`` holds."""
    lines = [
        "# Rules",
        "",
        f"The {len(RULES)} rules that faults are made by, in the order in which they are applied: "
        "where two rules make the same text of a file, the first one counts. "
        "Rules marked as locked are set aside until a choice is final.",
        "",
        "| rule | family | what it does | locked |",
        "|---|---|---|---|",
    ]
    for one in RULES:
        line = one.documentation.replace("|", "\\|")
        locked = "yes" if is_locked(one.name) else ""
        lines.append(f"| {one.name} | {one.family.value} | {line} | {locked} |")
    return "\n".join(lines) + "\n"


__all__ = [
    "ENTRY_POINT_GROUP",
    "RULES",
    "AnyRule",
    "Edit",
    "all_rules",
    "documentation",
    "faults",
    "is_locked",
    "render",
    "rule",
]
