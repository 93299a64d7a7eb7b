"""What a campaign is going to do, decided before anything runs."""

from collections import Counter
from pathlib import Path

import pytest

from gpu_eval.campaign.implementations import Implementation, implementations
from gpu_eval.campaign.plan import build_plan, cost, find_profile, repeated_inputs
from gpu_eval.problems.loader import load_corpus
from suiteopt.errors import UserError
from suiteopt.matrix.schema import Kind, Role, ShapeScope
from tests.gpu_eval.campaign import tiny
from tests.gpu_eval.campaign.conftest import Baseline


def test_repeated_inputs_come_first_then_the_cheapest_later_own_draws_last(
    baseline: Baseline,
) -> None:
    plan = build_plan(tiny.settings(baseline.corpus)).problems[0]
    assert {i.id for i in plan.order[:4]} == plan.repeated
    for part in (plan.order[:4], plan.order[4:]):
        costs = [cost(plan.problem, i) for i in part if i.role != Role.OWN]
        assert costs == sorted(costs)
    assert [i.role for i in plan.order[-4:]] == [Role.OWN] * 4
    assert sorted(i.id for i in plan.order) == sorted(i.id for i in plan.inputs)
    assert plan.own == "test/one:own-0"


def test_four_kinds_run_twice_at_the_shape_that_counts(baseline: Baseline) -> None:
    plan = build_plan(tiny.settings(baseline.corpus)).problems[0]
    chosen = [i for i in plan.candidates if i.id in plan.repeated]
    assert len({i.kind for i in chosen}) == 4
    assert all(i.scope != ShapeScope.OTHER for i in chosen)
    odd = [i for i in plan.order if i.scope == ShapeScope.OTHER and i.role == Role.CANDIDATE]
    assert len(repeated_inputs(odd)) == len({i.kind for i in odd})


def test_hashes_are_those_of_the_pools(baseline: Baseline) -> None:
    one = build_plan(tiny.settings(baseline.corpus, problems=("test/one",)))
    both = build_plan(tiny.settings(baseline.corpus))
    again = build_plan(tiny.settings(baseline.corpus))
    assert both.frozen() == again.frozen()
    for key in ("corpus_hash", "pool_hash", "witness_hash"):
        assert one.frozen()[key] != both.frozen()[key]


def test_a_corpus_alone_is_measured_alone(baseline: Baseline) -> None:
    plan = build_plan(tiny.settings(baseline.corpus))
    assert [p.id for p in plan.problems] == ["test/one", "test/two"]


def test_implementations_have_ids_that_say_what_they_are(baseline: Baseline) -> None:
    listed = implementations(load_corpus([baseline.corpus]).problem("test/one"))
    by_kind = {kind: [i.id for i in listed if i.kind == kind] for kind in Kind}
    assert by_kind[Kind.SUBSTRATE] == ["test/one:substrate:plain"]
    assert "test/one:control:serial" in by_kind[Kind.CONTROL]
    assert "test/one:null:stale" in by_kind[Kind.NULL]
    assert all(name.startswith("test/one:") for name in by_kind[Kind.MUTANT])
    launch = [i for i in listed if i.is_launch_fault]
    assert launch
    assert all(i.source is listed[0].source and i.plan != listed[0].plan for i in launch)


def test_unknown_names_are_refused(baseline: Baseline, tmp_path: Path) -> None:
    with pytest.raises(UserError, match="no profile 'huge'; choose one of demo, quick, full"):
        find_profile("huge")
    with pytest.raises(UserError, match="no problem 'test/three'"):
        build_plan(tiny.settings(baseline.corpus, problems=("test/three",)))


@pytest.mark.parametrize("sites", [1, 2, 5])
def test_thinning_keeps_so_many_sites_of_each_rule_in_each_substrate(sites: int) -> None:
    problem = load_corpus([]).problem("level1/040")

    def mutants(sites: int | None) -> list[Implementation]:
        return [i for i in implementations(problem, sites=sites) if i.kind is Kind.MUTANT]

    everything, kept, more = mutants(None), mutants(sites), mutants(sites + 1)
    before = Counter((i.substrate, i.name) for i in everything)
    after = Counter((i.substrate, i.name) for i in kept)
    assert after == {group: min(count, sites) for group, count in before.items()}
    ids = {i.id for i in kept}
    assert [i.id for i in kept] == [i.id for i in everything if i.id in ids]
    assert ids < {i.id for i in more}
