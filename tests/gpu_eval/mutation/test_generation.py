from dataclasses import replace

import pytest

from gpu_eval.mutation.catalogue import faults, rule
from gpu_eval.mutation.fault import Fault
from gpu_eval.mutation.parser import parse
from suiteopt.errors import UserError
from suiteopt.matrix.schema import Family
from tests.gpu_eval.mutation.made import FIRST, HEADER, files, problem


def made(position: int = 0, **changed: str) -> tuple[Fault, ...]:
    whole = problem()
    substrate = whole.substrates[position]
    return faults(whole, substrate, {**files(substrate.source), **changed}, substrate.plan)


def test_same_source_same_faults() -> None:
    assert made() == made()


def test_ids_are_unique_and_say_file_rule_and_ordinal() -> None:
    found = made()
    ids = [fault.id for fault in found]
    assert len(set(ids)) == len(ids)
    assert "made/001:first.cu:lt-to-le:1" in ids
    for fault in found:
        head, file, name, ordinal = fault.id.split(":")
        assert head == "made/001"
        assert name == fault.rule
        assert fault.family is rule(name).family
        assert int(ordinal) >= 1
        assert file.endswith(fault.span.file)


def test_a_shared_header_gives_distinct_ids_at_equal_spans() -> None:
    one, two = made(0), made(1)
    headers = [[f for f in side if f.span.file == "ops.cuh"] for side in (one, two)]
    assert headers[0]
    assert [f.span for f in headers[0]] == [f.span for f in headers[1]]
    assert [f.after for f in headers[0]] == [f.after for f in headers[1]]
    assert {f.id for f in one}.isdisjoint({f.id for f in two})
    assert headers[0][0].id.startswith("made/001:one/ops.cuh:")
    assert headers[1][0].id.startswith("made/001:two/ops.cuh:")


def test_a_header_of_one_substrate_keeps_its_plain_name() -> None:
    whole = problem()
    alone = replace(whole, substrates=whole.substrates[:1])
    substrate = alone.substrates[0]
    found = faults(alone, substrate, files("first.cu"), substrate.plan)
    assert any(f.id.startswith("made/001:ops.cuh:") for f in found)


def test_code_that_no_kernel_reaches_is_left_alone() -> None:
    reached = HEADER.index("unused")
    header = [f for f in made() if f.span.file == "ops.cuh"]
    assert all(fault.span.end < reached for fault in header)
    assert {fault.before for fault in header} >= {"v + 1.0f", "1.0f"}


def test_everything_counts_if_the_kernel_is_not_in_sight() -> None:
    found = made(**{"first.cu": FIRST.replace("void first", "void renamed")})
    assert any(fault.before == "v - 2.0f" for fault in found)


def test_ordinals_do_not_depend_on_what_is_reached_or_merged() -> None:
    minus = made(**{"ops.cuh": HEADER.replace("v + 1.0f", "v - 1.0f")})
    swapped = HEADER.replace("v + 1.0f", "v - 1.0f").replace("used", "u").replace("unu", "used")
    assert [f.id.rpartition(":")[2] for f in minus if f.rule == "minus-to-plus"] == ["1"]
    late = made(**{"ops.cuh": swapped.replace(" u(", " other(")})
    assert [f.id.rpartition(":")[2] for f in late if f.rule == "minus-to-plus"] == ["2"]


@pytest.mark.parametrize("position", [0, 1])
def test_no_text_and_no_edit_twice(position: int) -> None:
    found = [fault for fault in made(position) if fault.plan is None]
    source = files("first.cu" if position == 0 else "second.cu")
    edits = {(f.span, f.after) for f in found}
    texts = {tuple(sorted(f.apply(source).items())) for f in found}
    assert len(edits) == len(texts) == len(found)
    assert tuple(sorted(source.items())) not in texts


def test_the_specific_rule_wins_over_the_general_one() -> None:
    text = FIRST.replace("used(x[i])", "expf(x[i] - 3.0f * x[0])")
    winners = {f.rule for f in made(**{"first.cu": text}) if f.after == "expf(x[i])"}
    assert winners == {"max-subtraction-removed"}
    assert not any(f.rule == "term-dropped" for f in made(**{"first.cu": text}))


def test_every_mutant_parses_and_differs_in_its_span_only() -> None:
    source = files("first.cu")
    for fault in made():
        if fault.plan is not None:
            continue
        edited = fault.apply(source)
        name = fault.span.file
        before, after = source[name].encode(), edited[name].encode()
        assert before[fault.span.start : fault.span.end].decode() == fault.before
        assert after.startswith(before[: fault.span.start])
        assert after.endswith(before[fault.span.end :])
        assert [n for n in source if source[n] != edited[n]] == [name]
        parse(name, edited[name])


def test_families_that_the_source_allows() -> None:
    families = {fault.family for fault in made()}
    assert families == set(Family) - {Family.SYNCHRONIZATION}


def test_a_file_that_cannot_be_read_is_refused() -> None:
    with pytest.raises(UserError, match=r"first\.cu:3"):
        made(**{"first.cu": FIRST.replace("int n)", "int n")})
