"""One mutant for each reason, made so that no other rule holds before it."""

from pathlib import Path
from typing import Any

import pytest

from suiteopt.audit import protocol_check, suite_check
from suiteopt.audit.checks import Check
from suiteopt.audit.evidence import output_rms
from suiteopt.audit.reasons import EXPLANATIONS, RECIPE_WOULD_HELP, Reason
from suiteopt.audit.score import audit_check
from suiteopt.audit.survivors import MissingRecipe, Source, survey
from suiteopt.errors import UserError
from suiteopt.matrix.denominator import Denominator
from suiteopt.matrix.oracle import calibrated, fixed
from suiteopt.matrix.schema import Statistic, Status
from suiteopt.matrix.store import Matrix, resolve_matrix
from suiteopt.protocols import load_protocol
from suiteopt.selection.export import to_suite
from suiteopt.selection.select import select
from tests.suiteopt.audit.made import P, made_matrix
from tests.suiteopt.builders import tiny_matrix

S = Statistic
MINE = "own-0"
ZERO = 0.0


def small(relative: float) -> dict[str, float]:
    """A cell on an output whose RMS is 1e-3: allclose sees a thousandth of what RMS sees."""
    return {S.ALLCLOSE_CANDIDATE: relative * 1e-3, S.MAX_ABS: relative * 1e-3, S.RMS: relative}


# On own-0 the check runs; the others are the pool's, the last a witness.
COLUMNS = (MINE, "normal", "own-0:affine", "normal@prime", "few", "own-x30", "witness-3-hot")


def row(*entries: Any) -> dict[str, Any]:
    return dict(zip(COLUMNS, entries, strict=True))


CASES: dict[str, tuple[Reason, dict[str, Any]]] = {
    "m-below": (Reason.BELOW_ATOL, row(small(0.5), ZERO, ZERO, ZERO, ZERO, ZERO, 1.0)),
    "m-masked": (Reason.MASKED, row(5e-3, 1.0, ZERO, ZERO, ZERO, ZERO, 1.0)),
    "m-shape": (Reason.SHAPE, row(ZERO, ZERO, ZERO, 1.0, ZERO, ZERO, 1.0)),
    "m-identity": (Reason.IDENTITY, row(ZERO, ZERO, 1.0, ZERO, ZERO, ZERO, ZERO)),
    "m-tie": (Reason.TIE, row(ZERO, ZERO, ZERO, ZERO, 1.0, ZERO, ZERO)),
    "m-saturated": (Reason.SATURATION, row(ZERO, ZERO, ZERO, ZERO, ZERO, 1.0, ZERO)),
    "m-unreached": (Reason.NOT_REACHED, row(ZERO, 1.0, ZERO, ZERO, ZERO, ZERO, ZERO)),
    "m-witness": (Reason.NOT_REACHED, row(ZERO, ZERO, ZERO, ZERO, ZERO, ZERO, 1.0)),
    "m-everywhere": (Reason.MASKED_EVERYWHERE, row(ZERO, 5e-3, ZERO, ZERO, ZERO, ZERO, ZERO)),
    "m-equivalent": (Reason.EQUIVALENT, row(ZERO, 1e-7, ZERO, ZERO, ZERO, ZERO, ZERO)),
    "m-unwritten": (Reason.UNWRITTEN, row(ZERO, ZERO, ZERO, ZERO, ZERO, ZERO, ZERO)),
    "m-beside": (Reason.OUT_OF_BOUNDS, row(ZERO, ZERO, ZERO, ZERO, ZERO, ZERO, ZERO)),
    "m-race": (Reason.RACE, row(ZERO, ZERO, ZERO, ZERO, ZERO, ZERO, ZERO)),
    "m-unstable": (
        Reason.RACE,
        row({"allclose_candidate": 0.0, "allclose_candidate_max": 1.0}, *[ZERO] * 6),
    ),
    "m-unrun": (Reason.NOT_RUN, row(None, ZERO, ZERO, ZERO, ZERO, ZERO, ZERO)),
}
HOW = {"m-unwritten": "unwritten", "m-beside": "out_of_bounds", "m-race": "race"}


def values(name: str, **arguments: Any) -> dict[str, Any]:
    return {"values": {"A": {"name": name, "version": 1, "arguments": arguments}}}


@pytest.fixture
def matrix(tmp_path: Path) -> Matrix:
    cells: dict[str, Any] = {name: cells for name, (_, cells) in CASES.items()}
    cells["m-dead"] = row(1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0)
    cells["c-serial"] = row(*[1e-6] * 7)
    cells["c-serial"][MINE] = {**small(1e-6)}
    return made_matrix(
        tmp_path / "m",
        cells,
        implementations={name: {"witness_how": how} for name, how in HOW.items()},
        inputs={
            MINE: values("own"),
            "own-0:affine": values("own"),
            "own-x30": values("scaled", factor=30.0),
        },
        floor=1e-6,
    )


CHECK = Check("mine", fixed(1e-2), {P: (f"{P}:{MINE}",)})


def test_every_reason_by_its_rule(matrix: Matrix) -> None:
    found = survey(matrix, CHECK)
    reasons = {s.implementation.removeprefix(f"{P}:"): s.reason for s in found.survivors}
    assert reasons == {name: reason for name, (reason, _) in CASES.items()}
    assert {reason for reason, _ in CASES.values()} == set(Reason)
    assert (found.mutants, len(found.survivors)) == (len(CASES) + 1, len(CASES))
    assert set(EXPLANATIONS) == set(Reason) > RECIPE_WOULD_HELP
    answer = found.as_dict()
    assert sum(answer["by_reason"].values()) == len(CASES)
    assert answer["by_family"] == {"arithmetic": answer["by_reason"]}
    masked = next(s for s in found.survivors if s.reason == Reason.MASKED)
    assert masked.error == pytest.approx(5e-3, rel=1e-3)
    assert (masked.tolerance, masked.nearest) == (1e-2, f"{P}:{MINE}")
    assert masked.killers == (f"{P}:normal", f"{P}:witness-3-hot")


def test_what_some_input_of_the_check_was_not_run_on_need_not_survive(tmp_path: Path) -> None:
    """Unless it shows where it ran: that holds whatever the rest would show."""
    closed = Status.CLOSED
    cells: dict[str, Any] = {
        "m-part": {"own-0": ZERO, "own-1": None, "normal": 1.0},
        "m-closed": {"own-0": closed, "own-1": ZERO, "normal": Status.LAUNCH_ERROR},
        "m-refused": {"own-0": closed, "own-1": closed, "normal": Status.LAUNCH_ERROR},
        "m-seen": {"own-0": 5e-3, "own-1": None, "normal": 1.0},
        "m-whole": {"own-0": ZERO, "own-1": ZERO, "normal": 1.0},
        "c-serial": {"own-0": 1e-6, "own-1": 1e-6, "normal": 1e-6},
    }
    shapes = {"normal": {"shape": {"N": 128}}}
    check = Check("mine", fixed(1e-2), {P: (f"{P}:own-0", f"{P}:own-1")})
    found = survey(made_matrix(tmp_path / "m", cells, inputs=shapes, floor=1e-6), check)
    assert {s.implementation.removeprefix(f"{P}:"): s.reason for s in found.survivors} == {
        "m-part": Reason.NOT_RUN,
        "m-closed": Reason.NOT_RUN,
        "m-refused": Reason.NOT_RUN,
        "m-seen": Reason.MASKED,
        "m-whole": Reason.NOT_REACHED,
    }
    # An input that is not valid is one that nobody can be judged by.
    shapes["own-1"] = {"valid": False, "invalid_reason": "the reference overflows"}
    found = survey(made_matrix(tmp_path / "n", cells, inputs=shapes, floor=1e-6), check)
    reasons = {s.implementation.removeprefix(f"{P}:"): s.reason for s in found.survivors}
    assert reasons["m-part"] == Reason.NOT_REACHED
    assert reasons["m-refused"] == Reason.NOT_RUN


def test_a_problem_all_of_whose_mutants_were_closed_has_an_answer(tmp_path: Path) -> None:
    cells: dict[str, Any] = {
        "m-refused": {"own-0": Status.CLOSED, "own-1": Status.CLOSED, "far": Status.LAUNCH_ERROR},
        "c-serial": {"own-0": 1e-6, "own-1": 1e-6, "far": 1e-6},
    }
    inputs: dict[str, Any] = {
        "far": {"shape": {"N": 128}},
        "own-1": {"valid": False, "invalid_reason": "the reference overflows"},
    }
    check = Check("mine", fixed(1e-2), {P: (f"{P}:own-0", f"{P}:own-1")})
    matrix = made_matrix(tmp_path / "m", cells, inputs=inputs)
    assert survey(matrix, check).by_reason == {Reason.NOT_RUN: 1}
    audit = audit_check(matrix, check)
    assert (audit.tally.detected, audit.tally.mutants) == (0, 1)
    # One that ran, and of which the statistic is not there, is another matter.
    cells["m-ran"] = {"own-0": {"max_abs": None, "rms": None, "allclose_candidate": None}}
    lacking = made_matrix(tmp_path / "n", cells, inputs=inputs)
    with pytest.raises(UserError, match="keeps no allclose_candidate of its inputs"):
        survey(lacking, check)


def test_what_is_not_known_is_no_evidence(tmp_path: Path) -> None:
    """No control ran on own-0, so no tolerance is in force; own-1 is not valid, and unstable."""
    wild = {"allclose_candidate": 0.0, "allclose_candidate_max": 1.0}
    cells: dict[str, Any] = {
        "m-above-floor": {"own-0": 1e-3, "own-1": ZERO, "own-2": ZERO, "normal": 1.0},
        "m-unstable": {"own-0": ZERO, "own-1": wild, "own-2": ZERO, "normal": 1.0},
        "c-serial": {"own-1": 1e-6, "own-2": 1e-6, "normal": 1e-6},
    }
    inputs = {"own-1": {"valid": False, "invalid_reason": "the reference overflows"}}
    matrix = made_matrix(tmp_path / "m", cells, inputs=inputs, floor=1e-6)
    mine = {P: tuple(f"{P}:own-{j}" for j in range(3))}
    by_fixed = survey(matrix, Check("mine", fixed(1e-2), mine)).survivors
    assert [s.reason for s in by_fixed] == [Reason.MASKED, Reason.NOT_REACHED]
    by_controls = survey(matrix, Check("mine", calibrated(), mine)).survivors
    assert [s.reason for s in by_controls] == [Reason.NOT_RUN, Reason.NOT_RUN]


def test_what_is_missing_is_a_cover(matrix: Matrix) -> None:
    """`own-x30`, `few` and the others catch one each; what only witnesses show comes last."""
    missing = survey(matrix, CHECK).missing
    assert [m.source for m in missing] == [Source.POOL] * 5 + [Source.WITNESS]
    assert {m.recipe for m in missing[:5]} == {
        "normal", "own-0:affine", "normal@prime", "few", "own-x30"
    }  # fmt: skip
    assert missing[5] == MissingRecipe("hot", Source.WITNESS, 1, (P,))
    assert all(m.catches == 1 for m in missing)


def test_an_input_that_rejects_a_correct_kernel_is_named_so(tmp_path: Path) -> None:
    cells = {
        "m": {MINE: 0.0, "normal": 1.0},
        "c-serial": {MINE: 0.0, "normal": 0.5},
    }
    found = survey(made_matrix(tmp_path / "m", cells), CHECK)
    assert found.missing == (MissingRecipe("normal", Source.UNSAFE, 1, (P,)),)


def test_large_outputs_are_not_below_atol(tmp_path: Path) -> None:
    """On an output with RMS 16 the relative part of the tolerance is the larger one."""
    off = {S.ALLCLOSE_CANDIDATE: 9e-3, S.MAX_ABS: 0.2, S.RMS: 0.2 / 16}
    matrix = made_matrix(tmp_path / "m", {"m": {MINE: off}, "c": {MINE: 0.0}})
    assert output_rms(matrix, P)[0] == pytest.approx(16, rel=1e-3)
    (found,) = survey(matrix, CHECK).survivors
    assert found.reason == Reason.MASKED


def test_a_check_of_symmetric_inputs_alone(tmp_path: Path) -> None:
    cells = {"m": {"constant-one": 0.0, "normal": 1.0}, "c": {"constant-one": 0.0, "normal": 0.0}}
    inputs = {"constant-one": values("constant")}
    matrix = made_matrix(tmp_path / "m", cells, inputs=inputs)
    check = Check("mine", fixed(1e-2), {P: (f"{P}:constant-one",)})
    assert survey(matrix, check).survivors[0].reason == Reason.TIE


def test_the_survivors_of_a_suite_are_those_that_select_left(tmp_path: Path) -> None:
    matrix = tiny_matrix(tmp_path / "m", own=True)
    chosen = select(matrix, 2)
    suite = to_suite(chosen, matrix, "")
    found = survey(matrix, suite_check(matrix, suite, "suite"))
    left = {name for part in chosen.problems for name in part.survivors}
    assert {s.implementation for s in found.survivors} == left
    assert found.mutants == chosen.tally.mutants


def test_a_target_runs_its_own_draws_first(tmp_path: Path) -> None:
    matrix = tiny_matrix(tmp_path / "m", own=True)
    from suiteopt.export.registry import get_target

    target = "kernelbench-verified"
    chosen = select(matrix, 1, capabilities=get_target(target).capabilities, target=target)
    check = suite_check(matrix, to_suite(chosen, matrix, ""), "suite")
    assert [name.rpartition(":")[2] for name in check.inputs[P]][:5] == [
        f"own-{j}" for j in range(5)
    ]
    left = {name for part in chosen.problems for name in part.survivors}
    assert {s.implementation for s in survey(matrix, check).survivors} == left


def test_a_suite_of_another_matrix_is_refused(tmp_path: Path) -> None:
    matrix = tiny_matrix(tmp_path / "m", {P: [[0, 1]]})
    other = tiny_matrix(tmp_path / "o", {"level1/019": [[1]]})
    small_one = tiny_matrix(tmp_path / "s", {P: [[1]]})
    suite = to_suite(select(matrix, 1), matrix, "")
    with pytest.raises(UserError, match=r"has the problem level1/001, of which the matrix"):
        suite_check(other, suite, "suite.json")
    with pytest.raises(UserError, match=r"has the input 'level1/001:i1', which the matrix"):
        suite_check(small_one, suite, "suite.json")
    wider = tiny_matrix(tmp_path / "w", {P: [[0, 1, 1]]})
    assert suite_check(wider, suite, "suite.json").name == "suite.json, chosen on another matrix"
    assert suite_check(matrix, suite, "suite.json").name == "suite.json"


def test_nothing_that_counts(tmp_path: Path) -> None:
    matrix = tiny_matrix(tmp_path / "m", {P: [[1]]}, own=True, witness="none")
    check = protocol_check(matrix, load_protocol("kernelbench"))
    with pytest.raises(UserError, match="no mutants that count as witnessed"):
        survey(matrix, check)
    assert survey(matrix, check, Denominator.VALID).mutants == 1


def test_on_the_shipped_matrix_every_survivor_has_one_reason() -> None:
    matrix = Matrix.open(resolve_matrix(None))
    check = protocol_check(matrix, load_protocol("kernelbench-v0.1"))
    found = survey(matrix, check)
    assert sum(found.by_reason.values()) == len(found.survivors) > 0
    assert sum(sum(r.values()) for r in found.by_family.values()) == len(found.survivors)
    # What is masked is seen and below the tolerance; what is not reached shows nothing.
    for survivor in found.survivors:
        if survivor.reason in (Reason.MASKED, Reason.BELOW_ATOL):
            assert survivor.error is not None
            assert survivor.tolerance is not None
            assert 0 < survivor.error <= survivor.tolerance * (1 + 2**-11)
        assert bool(survivor.killers) or survivor.reason not in RECIPE_WOULD_HELP


def test_the_documentation_names_every_reason() -> None:
    text = (Path(__file__).parents[3] / "docs" / "audit.md").read_text(encoding="utf-8")
    table = text.split("| reason | rule |")[1]
    assert [reason for reason in Reason if f"`{reason}`" not in table] == []


def test_without_controls_the_rounding_model_alone_tells_what_is_seen(tmp_path: Path) -> None:
    cells = {"m-seen": {MINE: 5e-3, "few": 0.0}, "m-rounding": {MINE: 5e-7, "few": 0.0}}
    found = survey(made_matrix(tmp_path / "m", cells, floor=1e-6), CHECK)
    assert [s.reason for s in found.survivors] == [Reason.MASKED, Reason.EQUIVALENT]


def test_a_problem_for_which_nothing_was_chosen_survives_whole(tmp_path: Path) -> None:
    matrix = tiny_matrix(tmp_path / "m", {P: [[1]], "level1/019": [[0], [0]]})
    chosen = select(matrix, 1)
    suite = to_suite(chosen, matrix, "")
    assert [part.problem for part in suite.problems] == [P]
    found = survey(matrix, suite_check(matrix, suite, "suite"))
    assert (found.mutants, found.by_reason) == (3, {Reason.NOT_RUN: 2})
