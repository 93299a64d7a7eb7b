from pathlib import Path

import pytest

from suiteopt.audit import audit, compare
from suiteopt.errors import UserError
from suiteopt.matrix.denominator import Denominator
from suiteopt.protocols import load_protocol
from suiteopt.selection.problem_report import Tally
from tests.suiteopt.builders import tiny_matrix

P, Q = "level1/001", "level1/019"
ERRORS = [0.5, 5e-3, 5e-4, 5e-5, 1e-6]


def sample(path: Path):  # type: ignore[no-untyped-def]
    """Five mutants of P, one error each on all own draws; two of Q, one of them dead."""
    return tiny_matrix(
        path,
        {P: [[1]] * 5, Q: [[1]] * 2},
        own=True,
        own_kills={P: ERRORS, Q: [0.5, 1e-6]},
        problems={Q: {"operation_class": "elementwise"}},
        mutants={
            f"{P}:m1": {"rules": ["rule-0", "rule-1"]},
            f"{P}:m4": {"witness_how": "race"},
        },
    )


def test_what_a_protocol_detects_by_every_grouping(tmp_path: Path) -> None:
    found = audit(sample(tmp_path / "m"), load_protocol("kernelbench"))
    assert found.tally == Tally(7, 4)
    assert found.by_problem == {P: Tally(5, 3), Q: Tally(2, 1)}
    assert found.by_operation == {"elementwise": Tally(2, 1), "matmul": Tally(5, 3)}
    # m0 and m6 are arithmetic, m1 and m7 boundary: the families go round in each problem.
    assert found.by_family["arithmetic"] == Tally(2, 2)
    assert found.by_family["boundary"] == Tally(2, 1)
    # m1 has two rules and counts under both; Q's mutants are rule-0 and rule-1, too.
    assert found.by_rule["rule-0"] == Tally(3, 3)
    assert found.by_rule["rule-1"] == Tally(2, 1)
    assert found.in_output == Tally(6, 4)
    answer = found.as_dict()
    assert answer["mutants"] == 7
    assert answer["detected_share"] == pytest.approx(4 / 7)
    assert answer["missed_share"] == pytest.approx(3 / 7)
    low, high = answer["interval"]
    assert low <= 4 / 7 <= high
    assert answer["by_family"]["boundary"]["missed_share"] == pytest.approx(0.5)
    assert set(answer) >= {"protocol", "by_operation", "false_rejections"}


def test_a_control_is_rejected_once_however_many_of_its_cells_are(tmp_path: Path) -> None:
    errors = {(f"{P}:serial", f"{P}:own-{j}"): 5e-4 for j in (1, 3)}
    errors[f"{P}:pairwise", f"{P}:i0"] = 0.5  # no input of the protocol
    matrix = tiny_matrix(tmp_path / "m", {P: [[1]]}, own=True, control_error=errors)
    found = audit(matrix, load_protocol("kernelbench"))
    assert found.rejected_controls == (f"{P}:serial",)
    assert (found.false_rejections, found.control_cells) == (2, 15)
    answer = found.as_dict()["false_rejections"]
    assert (answer["controls"], answer["rejected"]) == (3, 1)
    assert answer["by_control"][f"{P}:serial"] == {"cells": 5, "rejected": 2}
    assert audit(matrix, load_protocol("kernelbench-v0.1")).rejected_controls == ()


def test_a_matrix_that_has_nothing_to_detect_is_refused(tmp_path: Path) -> None:
    matrix = tiny_matrix(tmp_path / "m", {P: [[1]]}, own=True, witness="none")
    with pytest.raises(UserError, match=r"no mutants that count as witnessed.*--denominator valid"):
        audit(matrix, load_protocol("kernelbench"))
    assert audit(matrix, load_protocol("kernelbench"), Denominator.VALID).tally == Tally(1, 0)


def test_cells_that_were_never_run_are_no_survival(tmp_path: Path) -> None:
    nothing = tiny_matrix(tmp_path / "m", {P: [[1]] * 2}, own=True, own_kills={P: [None, None]})
    with pytest.raises(UserError, match="keeps no allclose_candidate of its inputs for any mutant"):
        audit(nothing, load_protocol("kernelbench"))
    half = tiny_matrix(tmp_path / "h", {P: [[1]] * 2}, own=True, own_kills={P: [None, 1]})
    found = audit(half, load_protocol("kernelbench"))
    assert found.tally == Tally(2, 1)
    assert found.as_dict()["unknown_cells"] == 5


def test_value_fuzz_runs_what_the_pool_has_and_names_what_it_has_not(tmp_path: Path) -> None:
    changes = {f"{P}:i0": {"value_recipe": "heavy-tail"}, f"{P}:i1": {"value_recipe": "nonfinite"}}
    matrix = tiny_matrix(tmp_path / "m", {P: [[1, 0], [0, 0]]}, inputs=changes)
    found = audit(matrix, load_protocol("value-fuzz"))
    assert found.tally == Tally(2, 1)
    assert "octaves" in found.absent
    assert "heavy-tail*" not in found.absent
    assert "nonfinite" not in found.absent
    plain = tiny_matrix(tmp_path / "p", {P: [[1]]})
    with pytest.raises(UserError, match="has none of its inputs"):
        audit(plain, load_protocol("value-fuzz"))


def test_only_one_and_none_of_them(tmp_path: Path) -> None:
    names = ("kernelbench-v0.1", "kernelbench", "robust-kbench", "value-fuzz")
    matrix = sample(tmp_path / "m")
    compared = compare(matrix, [load_protocol(name) for name in names])
    assert compared.names == names[:3]
    assert "has none of its inputs" in compared.refused["value-fuzz"]
    assert compared.only("robust-kbench") == (f"{P}:m3",)
    assert compared.only("kernelbench") == ()
    assert compared.missed_by_all == (f"{P}:m4", f"{Q}:m1")


def test_faults_that_count_under_one_oracle_alone(tmp_path: Path) -> None:
    """Without witnesses a fault counts where its oracle kills it; elsewhere it is not detected."""
    matrix = tiny_matrix(
        tmp_path / "m",
        {P: [[0]] * 5},
        own=True,
        own_kills={P: ERRORS},
        witness="none",
    )
    names = ("kernelbench-v0.1", "robust-kbench", "kernelbench")
    protocols = [load_protocol(name) for name in names]
    compared = compare(matrix, protocols, Denominator.WITNESSED_OR_KILLED)
    assert [found.tally for found in compared.audits] == [Tally(1, 1), Tally(4, 4), Tally(3, 3)]
    assert compared.mutants == (1, 4)
    assert list(compared.detected.index) == [f"{P}:m{i}" for i in range(4)]
    assert compared.only("robust-kbench") == (f"{P}:m3",)
    assert compared.only("kernelbench-v0.1") == compared.missed_by_all == ()


def test_comparing_nothing_that_can_be_answered(tmp_path: Path) -> None:
    matrix = tiny_matrix(tmp_path / "m", {P: [[1]]})
    with pytest.raises(UserError, match="protocol kernelbench cannot be judged"):
        compare(matrix, [load_protocol("kernelbench")])
