"""Launches bypassed and exchanged, on chains of launches."""

import pytest

from gpu_eval.mutation.catalogue import rule
from gpu_eval.mutation.generation import constant_pointers
from gpu_eval.mutation.launch import PlanContext
from gpu_eval.mutation.rule import LaunchRule
from gpu_eval.problems.plan import Launch, LaunchPlan, Step, When, Workspace, pointer
from gpu_eval.problems.plan_text import render

CONSTANT = {
    "copy": frozenset({0}),
    "fill": frozenset({0}),
    "scale": frozenset(),
    "sum": frozenset({0}),
}
SHAPES = {"x": ("n", "m"), "z": ("m", "n")}
OUTPUTS = {"y": ("n", "m")}
SPACES = (Workspace("a", "n * m"), Workspace("b", "m * n"), Workspace("few", "n"))


def launch(kernel: str, *names: str) -> Launch:
    return Launch(kernel, ("n", "1", "1"), ("32", "1", "1"), tuple(map(pointer, names)))


def context(*steps: Step) -> PlanContext:
    return PlanContext.of(LaunchPlan(steps, SPACES), SHAPES, ("n", "m"), OUTPUTS, CONSTANT)


def made(name: str, *steps: Step) -> list[list[str]]:
    """Return the launches of each edited plan: kernel and tensors."""
    one = rule(name)
    assert isinstance(one, LaunchRule)
    found = []
    for edit in one.sites(context(*steps)):
        before = context(*steps).text.encode()
        spliced = before[: edit.start] + edit.after.encode() + before[edit.end :]
        assert spliced.decode() == render(edit.plan)
        launches = [step for step in edit.plan.steps if isinstance(step, Launch)]
        found.append([" ".join([s.kernel, *(a.value for a in s.arguments)]) for s in launches])
    return found


def test_a_stage_that_makes_the_output_is_bypassed_by_what_it_reads() -> None:
    assert made("launch-bypassed", launch("copy", "x", "a"), launch("copy", "a", "y")) == [
        ["copy x y"],
        ["copy x y"],
    ]


def test_a_stage_in_between_is_bypassed_for_all_that_read_it() -> None:
    chain = (launch("copy", "x", "a"), launch("sum", "a", "few"), launch("fill", "few", "b"))
    assert made("launch-bypassed", *chain) == [["sum x few", "fill few b"]]


def test_readers_inside_a_condition_are_passed_the_input_too() -> None:
    inner = When("n % 2 == 0", (launch("copy", "a", "y"),), (launch("copy", "a", "y"),))
    (edit,) = rule("launch-bypassed").sites(context(launch("copy", "x", "a"), inner))  # type: ignore[arg-type]
    (step,) = edit.plan.steps
    assert isinstance(step, When)
    assert [one.arguments[0].value for one in (*step.steps, *step.otherwise)] == ["x", "x"]  # type: ignore[union-attr]


def test_sizes_are_compared_as_products() -> None:
    assert context().size("x") == context().size("z") == context().size("b")
    assert context().size("few") != context().size("x")
    assert context().size("unknown") is None


def test_what_aliasing_does_already_is_not_made_again() -> None:
    chain = (launch("copy", "x", "a"), launch("copy", "a", "b"), launch("sum", "b", "few"))
    spaces = (Workspace("a", "n * m"), Workspace("b", "n * m"), Workspace("few", "n"))
    plan = LaunchPlan(chain, spaces)
    alike = PlanContext.of(plan, SHAPES, ("n", "m"), OUTPUTS, CONSTANT)
    aliased = [e.plan for e in rule("launch-pointer-aliased").sites(alike)]  # type: ignore[arg-type]
    bypassed = [e.plan for e in rule("launch-bypassed").sites(alike)]  # type: ignore[arg-type]
    assert [len(one.steps) for one in bypassed] == [2]  # the first copy, not the second
    assert bypassed[0].steps == (launch("copy", "x", "b"), launch("sum", "b", "few"))
    passed = [[a.value for a in step.arguments] for one in aliased for step in one.steps[2:]]  # type: ignore[union-attr]
    assert ["a", "few"] in passed


def test_two_stages_of_a_chain_change_places_with_their_tensors() -> None:
    chain = (launch("copy", "x", "a"), launch("fill", "a", "b"), launch("sum", "b", "few"))
    assert made("launch-order-swapped", *chain) == [["fill x a", "copy a b", "sum b few"]]


def test_updates_in_place_change_places() -> None:
    steps = (launch("copy", "x", "y"), launch("scale", "y"), launch("scale", "y", "few"))
    assert made("launch-order-swapped", *steps) == [["copy x y", "scale y few", "scale y"]]


def test_a_tensor_of_as_many_elements_is_passed_for_another() -> None:
    steps = (launch("copy", "x", "a"), launch("copy", "a", "b"), launch("sum", "b", "few"))
    assert made("launch-tensor-of-equal-size", *steps) == [
        ["copy z a", "copy a b", "sum b few"],
        ["copy x a", "copy z b", "sum b few"],
        ["copy x a", "copy a b", "sum x few"],
    ]


def test_what_is_only_written_later_is_not_passed() -> None:
    assert made("launch-tensor-of-equal-size", launch("sum", "few", "a")) == []
    assert made("launch-tensor-of-equal-size", launch("unknown", "x", "a")) == []


@pytest.mark.parametrize(
    "steps",
    [
        (launch("copy", "x", "a"), launch("sum", "a", "few")),
        (launch("sum", "x", "few"), launch("copy", "few", "a")),
        (launch("copy", "x", "a"), launch("copy", "z", "b")),
        (launch("scale", "y"), launch("scale", "y")),
        (launch("unknown", "x", "a"), launch("unknown", "a", "b")),
        (launch("copy", "x", "a"), When("n > 1", (launch("copy", "a", "y"),))),
    ],
)
def test_nothing_to_exchange(steps: tuple[Step, ...]) -> None:
    assert made("launch-order-swapped", *steps) == []


@pytest.mark.parametrize(
    "steps",
    [
        (launch("copy", "x", "y"),),
        (launch("sum", "x", "few"), launch("sum", "few", "y")),
        (launch("unknown", "x", "a"), launch("unknown", "a", "y")),
        (launch("scale", "x", "a"), launch("sum", "a", "few")),
    ],
)
def test_nothing_to_bypass(steps: tuple[Step, ...]) -> None:
    assert made("launch-bypassed", *steps) == []


def test_pointers_to_what_a_kernel_only_reads() -> None:
    text = (
        "__global__ void k(const float* __restrict__ x, float* y, int n, float const* z,"
        " float* const w) {}\n"
    )
    assert constant_pointers({"k.cu": text}) == {"k": frozenset({0, 3})}
