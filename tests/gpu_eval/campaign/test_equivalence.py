"""Equivalents and duplicates by machine code and resolved plan, without a run."""

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

from gpu_eval.campaign.equivalence import Classified, classify
from gpu_eval.campaign.implementations import Implementation
from gpu_eval.devices.base import Binary, KernelSource
from gpu_eval.mutation.fault import Fault, Span
from gpu_eval.problems.plan import Launch, LaunchPlan, ResolvedPlan, int32, pointer
from suiteopt.matrix.schema import Family, ImplementationClass, Kind

GRID = "ceil_div(n, 4)"


def plan(grid: str) -> LaunchPlan:
    launch = Launch("k", (grid, "1", "1"), ("4", "1", "1"), (pointer("x"), int32("n")))
    return LaunchPlan((launch,))


def fault(name: str, edited: LaunchPlan | None = None) -> Fault:
    span = Span("k.cu", 0, 1, 1, 1, 1, 2)
    return Fault(name, "p", "s", f"rule-{name}", Family.BOUNDARY, span, "a", "b", edited)


def source(name: str) -> KernelSource:
    return KernelSource(name, {"k.cu": name}, "k.cu", ("k",))


SUBSTRATE = Implementation(
    "s", Kind.SUBSTRATE, "s", substrate="s", source=source("s"), plan=plan(GRID)
)


def mutant(name: str, edited: LaunchPlan | None = None) -> Implementation:
    return Implementation(
        name,
        Kind.MUTANT,
        f"rule-{name}",
        substrate="s",
        source=source(name) if edited is None else SUBSTRATE.source,
        plan=edited or SUBSTRATE.plan,
        fault=fault(name, edited),
    )


def binary(name: str, code: str) -> Binary:
    path = Path(f"{code}.so") if code else None
    return Binary(name, path, name, ("k",), code, "" if code else "error: no")


def resolve(launches: LaunchPlan, shape: Mapping[str, int]) -> ResolvedPlan:
    return launches.resolve(shape, {})


def classes(
    listed: list[Implementation], codes: Mapping[str, str], sizes: tuple[int, ...]
) -> dict[str, Classified]:
    binaries = {name: binary(name, code) for name, code in codes.items()}
    found = classify([SUBSTRATE, *listed], binaries, [{"n": n} for n in sizes], resolve)
    return {c.implementation.id: c for c in found}


def test_machine_code_decides() -> None:
    listed = [mutant(name) for name in ("same", "new", "twin", "broken")]
    codes = {"s": "S", "same": "S", "new": "N", "twin": "N", "broken": ""}
    found = classes(listed, codes, (9,))
    assert {name: str(c.cls) for name, c in found.items()} == {
        "s": "valid",
        "same": "equivalent",
        "new": "valid",
        "twin": "duplicate",
        "broken": "stillborn",
    }
    assert found["twin"].duplicate_of == "new"
    assert [m.id for m in found["new"].merged] == ["new", "twin"]


def test_a_launch_fault_counts_where_it_shows() -> None:
    floor = mutant("floor", plan("n // 4"))
    codes = {"s": "S"}
    assert classes([floor], codes, (8, 12))["floor"].cls == ImplementationClass.EQUIVALENT
    assert classes([floor], codes, (8, 9))["floor"].cls == ImplementationClass.VALID


def test_two_launch_faults_that_resolve_alike_are_one() -> None:
    listed = [mutant("floor", plan("n // 4")), mutant("less", plan("ceil_div(n, 4) - 1"))]
    found = classes(listed, {"s": "S"}, (9, 5))
    assert found["less"].cls == ImplementationClass.DUPLICATE
    assert classes(listed, {"s": "S"}, (9, 8))["less"].cls == ImplementationClass.VALID


def test_a_plan_that_cannot_be_resolved_is_no_equivalent() -> None:
    broken = mutant("broken", plan("n // (n - 9)"))
    assert classes([broken], {"s": "S"}, (9,))["broken"].cls == ImplementationClass.VALID


def test_other_substrates_are_not_compared() -> None:
    other = replace(mutant("other"), substrate="t")
    found = classes([other], {"s": "S", "other": "S"}, (9,))
    assert found["other"].cls == ImplementationClass.VALID
