import pytest

from gpu_eval.mutation.catalogue import RULES, faults, rule
from gpu_eval.mutation.launch import PlanContext
from gpu_eval.mutation.rule import LaunchRule
from gpu_eval.problems.plan import LaunchPlan
from gpu_eval.problems.plan_text import render
from suiteopt.errors import UserError
from tests.gpu_eval.mutation.made import PLAN, files, problem

TEXT = """workspace partial[n * m] zeroed
workspace other[m]
first<<<(ceil_div(n, 128), m, 1), (16, 8, 1), 4 * m>>>(pointer x, pointer w, pointer y, \
int32 n, int32 m)
for step in 0 .. m:
    when n % 4 == 0:
        first<<<(n, 1, 1), (32, 1, 1), 0>>>(pointer v, float 1 / n, float 0.25, int32 4)
    otherwise:
        first<<<(n, 1, 1), (32, 1, 1), 0>>>(pointer v, float 1 / n, float 0.25, int32 4)
        first<<<(n, 1, 1), (32, 1, 1), 0>>>(pointer v, float 1 / n, float 0.25, int32 4)
"""
# rule -> (line, text in the line before, after) of the first edits; the line is counted from 1
FIRST_EDITS: dict[str, list[tuple[int, str, str]]] = {
    "launch-ceil-to-floor": [(3, "ceil_div(n, 128)", "((n) // (128))")],
    "launch-grid-minus-one": [
        (3, "(ceil_div(n, 128), m", "(ceil_div(n, 128) - 1, m"),
        (3, ", m, 1), (16", ", m - 1, 1), (16"),
        (6, "<<<(n,", "<<<(n - 1,"),
    ],
    "launch-grid-plus-one": [(3, "(ceil_div(n, 128), m", "(ceil_div(n, 128) + 1, m")],
    "launch-block-halved": [(3, "(16, 8", "(8, 8"), (3, "(16, 8", "(16, 4"), (6, "(32,", "(16,")],
    "launch-block-doubled": [(3, "(16, 8", "(32, 8"), (3, "(16, 8", "(16, 16")],
    "launch-shared-short": [(3, "4 * m>>>", "(4 * m) // 2>>>")],
    "launch-argument-minus-one": [
        (3, "int32 n", "int32 n - 1"),
        (3, "int32 m", "int32 m - 1"),
    ],
    "launch-argument-plus-one": [(3, "int32 n", "int32 n + 1")],
    "launch-zeroing-dropped": [(1, " zeroed", "")],
    "launch-left-out": [(3, TEXT.splitlines()[2] + "\n", "")],
    "launch-repeat-short": [(4, "0 .. m:", "0 .. (m) - 1:")],
    "launch-condition-forced": [(5, "n % 4 == 0", "1"), (5, "n % 4 == 0", "0")],
    "launch-block-swapped": [(3, "(16, 8", "(8, 16")],
    "launch-grid-swapped": [(3, "ceil_div(n, 128), m, 1", "m, ceil_div(n, 128), 1")],
    "launch-integers-swapped": [(3, "int32 n, int32 m", "int32 m, int32 n")],
    "launch-pointer-aliased": [(3, "pointer x", "pointer w"), (3, "pointer w", "pointer x")],
    "launch-pointers-swapped": [(3, "pointer x, pointer w", "pointer w, pointer x")],
    "launch-divisor-wrong": [(6, "1 / n", "1 / m")],
    "launch-constant-off-1e-2": [(6, "float 0.25", "float 0.25 / 0.99")],
    "launch-constant-off-1e-5": [(6, "float 0.25", "float 0.25 / 0.99999")],
}
SHAPES = {"x": ("n",), "w": ("n",), "v": ("m",)}
CONTEXT = PlanContext.of(PLAN, SHAPES, ("n", "m"))
LAUNCH_RULES = [one for one in RULES if isinstance(one, LaunchRule)]
BETWEEN_STAGES = {"launch-bypassed", "launch-order-swapped", "launch-tensor-of-equal-size"}
"""Rules that look at several launches, on chains of them in `test_launch_stages`."""


def test_rendered_plan() -> None:
    assert render(PLAN) == TEXT


def test_every_launch_rule_has_a_row() -> None:
    assert set(FIRST_EDITS) | BETWEEN_STAGES == {one.name for one in LAUNCH_RULES}


@pytest.mark.parametrize(("name", "wanted"), FIRST_EDITS.items())
def test_edits(name: str, wanted: list[tuple[int, str, str]]) -> None:
    one = rule(name)
    assert isinstance(one, LaunchRule)
    found = list(one.sites(CONTEXT))[: len(wanted)]
    for edit, (line, before, after) in zip(found, wanted, strict=True):
        lines = TEXT.splitlines(keepends=True)
        assert lines[line - 1].count(before) == 1
        lines[line - 1] = lines[line - 1].replace(before, after)
        assert render(edit.plan) == "".join(lines)


@pytest.mark.parametrize("one", LAUNCH_RULES, ids=lambda one: one.name)
def test_span_and_text_say_what_the_plan_is(one: LaunchRule) -> None:
    data = TEXT.encode()
    for edit in one.sites(CONTEXT):
        spliced = data[: edit.start] + edit.after.encode() + data[edit.end :]
        assert spliced.decode() == render(edit.plan)


def test_every_launch_fault_resolves_or_is_refused_in_one_sentence() -> None:
    edited = [edit.plan for one in LAUNCH_RULES for edit in one.sites(CONTEXT)]
    refused = 0
    for plan in edited:
        resolved = plan.resolve({"n": 1000, "m": 6}, {"n": 1000.0, "m": 6.0})
        assert all(isinstance(size, int) for one in resolved.launches for size in one.grid)
        with pytest.raises(UserError, match=r"^[^\n]+$"):
            plan.resolve({"n": 1000}, {})
        refused += 1
    assert refused == len(edited) > 40


def test_floor_for_ceil_launches_fewer_blocks() -> None:
    (fault,) = (f for f in faults_of("launch-ceil-to-floor"))
    assert fault.plan is not None
    before = problem().substrates[0].plan.resolve({"n": 1000, "m": 6}, {}).launches[0].grid
    after = fault.plan.resolve({"n": 1000, "m": 6}, {}).launches[0].grid
    assert (before, after) == ((8, 1, 1), (7, 1, 1))
    assert fault.id == "made/001:one.plan:launch-ceil-to-floor:1"
    assert fault.apply(files("first.cu")) == dict(files("first.cu"))


def faults_of(name: str):  # type: ignore[no-untyped-def]
    made = problem()
    substrate = made.substrates[0]
    return faults(made, substrate, files("first.cu"), substrate.plan, rules=[rule(name)])


def test_a_single_launch_is_not_left_out() -> None:
    assert faults_of("launch-left-out") == ()


def test_dimensions_of_one_block_are_not_swapped() -> None:
    assert faults_of("launch-block-swapped") == ()
    assert faults_of("launch-grid-swapped") == ()


def test_a_plan_without_anything_to_edit_has_no_faults() -> None:
    context = PlanContext.of(LaunchPlan(steps=()))
    assert [edit for one in LAUNCH_RULES for edit in one.sites(context)] == []
