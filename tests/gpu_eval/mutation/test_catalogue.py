from collections.abc import Iterator
from pathlib import Path

import pytest

from gpu_eval.mutation import catalogue
from gpu_eval.mutation.catalogue import RULES, all_rules, documentation, is_locked, rule
from gpu_eval.mutation.published import PUBLISHED, How
from gpu_eval.mutation.rule import LaunchRule, Rule
from gpu_eval.mutation.sites import Edit, SourceContext
from suiteopt.errors import UserError
from suiteopt.matrix.schema import Family

DOCUMENT = Path(__file__).parents[3] / "docs" / "rules.md"


def test_names_are_unique_and_fit_into_ids() -> None:
    names = [one.name for one in RULES]
    assert len(set(names)) == len(names) >= 60
    assert all(set(name) <= set("abcdefghijklmnopqrstuvwxyz0123456789-") for name in names)


def test_all_families_and_launch_plans_have_rules() -> None:
    assert {one.family for one in RULES if isinstance(one, Rule)} == set(Family)
    assert sum(isinstance(one, LaunchRule) for one in RULES) >= 12


def test_every_rule_says_in_one_line_what_it_does() -> None:
    for one in RULES:
        assert one.documentation.endswith((".", ";", ":")), one.name
        assert len(one.documentation) > 20


@pytest.mark.parametrize("family", list(Family))
def test_a_fifth_of_each_family_is_locked(family: Family) -> None:
    names = [one.name for one in RULES if one.family is family]
    locked = sum(map(is_locked, names))
    assert locked == max(1, round(0.2 * len(names)))


def test_what_is_locked_stays_locked() -> None:
    locked = {one.name for one in RULES if is_locked(one.name)}
    assert {"epsilon-removed", "barrier-removed", "max-to-min", "times-to-divide"} <= locked
    assert not is_locked("lt-to-le")


def test_locks_of_foreign_rules_depend_on_their_name_alone() -> None:
    names = [f"foreign-{number}" for number in range(2000)]
    assert 0.15 < sum(map(is_locked, names)) / len(names) < 0.25


def test_documentation_is_in_step() -> None:
    assert DOCUMENT.read_text().startswith(documentation() + "\n## ")


def test_unknown_rule() -> None:
    with pytest.raises(UserError, match="unknown rule 'no-such'; known: accumulate-bf16, "):
        rule("no-such")


# The published names, by family in the order boundary, synchronization, precision, indexing,
# arithmetic, semantic.
PUBLISHED_TEXT = """
ceil2floor ceil2floor-lit lt2le le2lt ge2gt lt2gt gt2ge guard-drop-if guard-drop-ternary
return-guard-drop loop-bound-minus1 loop-start-1 reduce-shift2 argmax-seed-from-second
reduce-seed-first-element reduce-seed-first-element-min elementwise-guard-minus1
elementwise-guard-plus1 grid-stride-step-double output-elements-one-extra-lane
line-count-one-extra-lane flat-n-one-extra-lane matmul-a-last-k-drop
matmul-a-transposed-last-k-drop matmul-b-last-k-drop arg-reduction-last-row-drop
min-reduction-last-row-drop cumsum-last-output-drop pool2d-last-tap-drop
groupnorm-sum-tail-scalar-drop groupnorm-sqdev-tail-scalar-drop last-row-reduction-skip
last-row-reduction-skip-start1 strided-tail-drop tile-last-iteration-skip
literal-loop-last-skip tail-guard-tighten matrix-row-bound-use-n matrix-col-bound-use-m
height-bound-use-width width-bound-use-height
sync-remove sync2syncwarp matmul-after-load-warp-barrier matmul-after-compute-warp-barrier
groupnorm-sum-store-warp-barrier groupnorm-sqdev-store-warp-barrier
groupnorm-final-output-warp-barrier batchnorm-local-stats-warp-barrier
batchnorm-merge-warp-barrier batchnorm-output-warp-barrier shared-denom-use-local
shared-sqrt-use-local reduction-barrier-move-before-store welford-count-merge-early
acc-fp16 store-fp16 expf-fast fdividef-fast gelu-tanh-const-perturb gelu-sqrt2pi-perturb
invsqrt2-perturb selu-alpha-perturb selu-scale-perturb erf-to-tanh-approx
softplus-cutoff-shift hardsigmoid-slope-perturb clamp-bound-perturb
avgpool121-denom-perturb hardsigmoid-six-denom-perturb hardsigmoid-half-ulpish-perturb
softplus-cutoff-tiny-shift selu-scale-small-perturb selu-alpha-small-perturb
groupnorm-epsilon-halved batchnorm-epsilon-small-bias matmul-acc-store-fma-nudge
rsqrt-epsilon-remove sqrt-epsilon-remove literal-epsilon-remove
softmax-max-subtraction-remove softmax-max-subtraction-fast-remove
welford-second-delta-reuse variance-unbiased-count kahan-compensation-drop
tidx2tidy bidx2bidy bdim2gdim smem-index-off1 warpsize-16 argmax-final-row-alias
argmax-final-row-value-alias reduction-partner-half-offset row-store-stride-k
a-row-stride-n b-row-stride-k flatten-height-use-width output-position-height-first
grid-x-use-block-y
plus2minus mul2div mul2plus minus2plus negate-store
acc-overwrite acc-minus fmax2fmin fmin2fmax sentinel-zero const0to1 argmax-tie-last
argmin-tie-last argmax-tie-nan-form argmax-nan-policy-drop reduce-fmax-tie-order
reduce-fmin-tie-order relu-threshold-shift selu-positive-cutoff-nudge
elu-positive-cutoff-nudge softsign-positive-fabs-elide relu-fmax-zero-remove
relu-fmax-zero-first-remove upper-unit-clamp-remove upper-unit-clamp-first-remove
lower-negunit-clamp-remove nested-unit-clamp-drop-upper fabs-simple-remove
"""
PUBLISHED_NAMES = PUBLISHED_TEXT.split()


def test_every_published_rule_is_covered() -> None:
    assert len(PUBLISHED_NAMES) == 127
    assert list(PUBLISHED) == PUBLISHED_NAMES
    known = {one.name for one in RULES}
    for name, coverage in PUBLISHED.items():
        assert set(coverage.rules) <= known, name
        argued = coverage.how is How.NOT_APPLICABLE
        assert bool(coverage.reason) == argued
        assert bool(coverage.rules) != argued


def test_dropped_and_listed_published_names() -> None:
    for name in ("argmin-tie-last", "argmax-seed-from-second", "elementwise-guard-plus1"):
        assert name in PUBLISHED
    for name in ("ceil2floor", "sync2syncwarp", "kahan-compensation-drop", "fabs-simple-remove"):
        assert PUBLISHED[name].how is How.SAME


class Foreign(Rule):
    """Turns one into two."""

    name = "foreign"
    family = Family.SEMANTIC

    def sites(self, source: SourceContext) -> Iterator[Edit]:
        for node in source.nodes("number_literal"):
            if source.text(node) == "1":
                yield source.edit(node, "2")


class Clashing(Foreign):
    """Has a name that is taken."""

    name = "lt-to-le"


class Point:
    def __init__(self, name: str, value: object) -> None:
        self.name, self.value = name, value

    def load(self) -> object:
        return self.value


@pytest.fixture
def registered(monkeypatch: pytest.MonkeyPatch) -> Iterator[list[Point]]:
    points: list[Point] = []

    def entry_points(group: str) -> list[Point]:
        assert group == "gpu_eval.rules"
        return points

    monkeypatch.setattr(catalogue, "entry_points", entry_points)
    all_rules.cache_clear()
    yield points
    all_rules.cache_clear()


@pytest.mark.parametrize("value", [Foreign, Foreign(), [Foreign], (Foreign(),)])
def test_rules_of_other_packages(registered: list[Point], value: object) -> None:
    registered.append(Point("theirs", value))
    assert all_rules()[: len(RULES)] == RULES
    assert [one.name for one in all_rules()[len(RULES) :]] == ["foreign"]
    assert rule("foreign").documentation == "Turns one into two."


def test_two_rules_of_one_name_are_refused(registered: list[Point]) -> None:
    registered.append(Point("theirs", Clashing))
    with pytest.raises(UserError, match="more than one rule is named 'lt-to-le'"):
        all_rules()


def test_an_entry_point_that_is_no_rule_is_refused(registered: list[Point]) -> None:
    registered.append(Point("theirs", "text"))
    with pytest.raises(UserError, match="entry point 'theirs'"):
        all_rules()
