"""Every published rule name that is covered has a site of its kind in the problems that ship."""

import re
from collections import defaultdict
from functools import lru_cache

import pytest

from gpu_eval.mutation.catalogue import RULES, rule
from gpu_eval.mutation.fault import Fault
from gpu_eval.mutation.published import PUBLISHED, How
from gpu_eval.mutation.rule import Rule
from tests.gpu_eval.mutation.corpus import ALL_PAIRS, FUSED, made
from tests.gpu_eval.mutation.published_sites import SITES, WITHOUT_SITE, Where
from tests.gpu_eval.mutation.snippets import results

COVERED = [name for name, coverage in PUBLISHED.items() if coverage.how is not How.NOT_APPLICABLE]


@lru_cache(maxsize=1)
def by_rule() -> dict[str, list[tuple[int, Fault, str]]]:
    """Return the faults of each rule with their problem's number and the line up to the edit."""
    found: dict[str, list[tuple[int, Fault, str]]] = defaultdict(list)
    for problem, substrate in ALL_PAIRS:
        number = 0 if problem is FUSED else int(problem.id.partition("/")[2])
        files, faults = made(problem, substrate)
        for fault in faults:
            prefix = ""
            if fault.plan is None:
                data = files[fault.span.file].encode()[: fault.span.start]
                prefix = data[data.rfind(b"\n") + 1 :].decode()
            found[fault.rule].append((number, fault, prefix))
    return found


def places(name: str, where: Where) -> dict[tuple[int, str, str], set[int]]:
    """Return the places of the covering rules that fit, by problem, substrate and file."""
    found = defaultdict(set)
    for covering in PUBLISHED[name].rules:
        for number, fault, prefix in by_rule()[covering]:
            if (
                number in where.problems
                and re.search(where.before, fault.before)
                and re.search(where.after, fault.after)
                and re.search(where.prefix, prefix)
            ):
                found[number, fault.substrate, fault.span.file].add(fault.span.start)
    return found


def test_each_covered_name_is_looked_for() -> None:
    assert set(SITES) | set(WITHOUT_SITE) == set(COVERED)
    assert not set(SITES) & set(WITHOUT_SITE)


@pytest.mark.parametrize("name", SITES)
def test_a_covered_name_has_a_site_in_the_corpus(name: str) -> None:
    where = SITES[name]
    found = places(name, where)
    assert max(map(len, found.values()), default=0) >= where.sites


@pytest.mark.parametrize("name", WITHOUT_SITE)
def test_a_name_without_a_site_is_covered_all_the_same(name: str) -> None:
    statements, reason = WITHOUT_SITE[name]
    assert reason
    covering = [rule(one) for one in PUBLISHED[name].rules]
    assert any(isinstance(one, Rule) and results(one, statements) for one in covering)


def test_every_rule_has_a_site_in_the_corpus() -> None:
    assert {one.name for one in RULES} - set(by_rule()) == set()
