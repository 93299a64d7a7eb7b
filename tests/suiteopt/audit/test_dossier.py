import math
from pathlib import Path
from typing import Any

import pytest

from suiteopt.audit.diff import mutant_diff, text_diff
from suiteopt.audit.dossier import dossier
from suiteopt.audit.reasons import Reason
from suiteopt.errors import UserError
from suiteopt.matrix.schema import Status
from suiteopt.matrix.store import Matrix, resolve_matrix
from suiteopt.protocols import load_oracle, load_protocol
from tests.suiteopt.audit.made import P, made_matrix

SOURCE = "// µ\nint f(int a) {\n    return a < 3;\n}\n"
START = len("// µ\nint f(int a) {\n    return ".encode())
SITE = {
    "file": "kernel.cu",
    "start": START,
    "end": START + 5,
    "line": 3,
    "column": 12,
    "end_line": 3,
    "end_column": 17,
}
DRAWS = tuple(f"own-{j}" for j in range(5))


def sample(path: Path, **mutant: Any) -> Matrix:
    cells: dict[str, Any] = {
        "m": {**dict.fromkeys(DRAWS, 5e-5), "own-4": Status.DECIDED, "hot": 0.5},
        "c": {**dict.fromkeys(DRAWS, 1e-7), "hot": 1e-7},
    }
    cells["m"]["own-4"] = 6e-5
    change = {"sites": [SITE], "before": "a < 3", "after": "a <= 3", **mutant}
    return made_matrix(path, cells, implementations={"m": change}, source=SOURCE)


DIFF = """\
--- a/kernel.cu
+++ b/kernel.cu
@@ -1,4 +1,4 @@
 // µ
 int f(int a) {
-    return a < 3;
+    return a <= 3;
 }
"""


def test_the_edit_in_context(tmp_path: Path) -> None:
    """Spans count bytes: a letter of two bytes stands before the edit."""
    matrix = sample(tmp_path / "m")
    assert mutant_diff(matrix, f"{P}:m") == DIFF
    assert mutant_diff(matrix, f"{P}:c") == ""


def test_a_source_that_was_not_the_edited_one_has_no_diff(tmp_path: Path) -> None:
    assert mutant_diff(sample(tmp_path / "m", before="a > 3"), f"{P}:m") is None
    elsewhere = sample(tmp_path / "e", sites=[{**SITE, "file": "gone.cu"}])
    assert mutant_diff(elsewhere, f"{P}:m") is None


def test_a_file_without_a_last_line_end() -> None:
    diff = text_diff("a\nb", "a\nc", "x")
    assert diff.endswith("-b\n\\ No newline at end of file\n+c\n\\ No newline at end of file\n")


def test_who_kills_it_and_why_the_own_check_does_not(tmp_path: Path) -> None:
    matrix = sample(tmp_path / "m")
    found = dossier(matrix, f"{P}:m", load_oracle("fixed:1e-2"), load_protocol("kernelbench"))
    assert [cell.input for cell in found.killers] == [f"{P}:hot"]
    assert found.killers[0].critical == pytest.approx(0.5, rel=1e-3)
    assert found.site == "kernel.cu:3:12"
    own = found.own
    assert own is not None
    assert (own.detected, own.reason) == (False, Reason.MASKED)
    assert own.sentence == (
        "kernelbench accepts it: its error is below the tolerance "
        f"(6e-05 on {P}:own-4, 0.0001 allowed)"
    )
    answer = found.as_dict()
    assert answer["killed_by"] == [f"{P}:hot"]
    assert answer["diff"] == DIFF
    assert len(answer["own_check"]["inputs"]) == 5
    tight = dossier(matrix, f"{P}:m", load_oracle("fixed:1e-2"), load_protocol("robust-kbench"))
    assert tight.own is not None
    assert tight.own.detected


def test_of_a_mutant_that_was_closed_it_is_not_known(tmp_path: Path) -> None:
    closed = dict.fromkeys(DRAWS, Status.CLOSED)
    cells: dict[str, Any] = {
        "m": {**closed, "far": Status.LAUNCH_ERROR},
        "c": {**dict.fromkeys(closed, 1e-6), "far": 1e-6},
    }
    matrix = made_matrix(tmp_path / "m", cells, inputs={"far": {"shape": {"N": 128}}})
    own = dossier(matrix, f"{P}:m", load_oracle("fixed:1e-2"), load_protocol("kernelbench")).own
    assert own is not None
    assert (own.detected, own.reason) == (False, Reason.NOT_RUN)
    assert own.sentence.startswith("whether kernelbench detects it is not known: ")


def test_a_control_and_a_check_that_the_matrix_cannot_answer(tmp_path: Path) -> None:
    matrix = sample(tmp_path / "m")
    oracle = load_oracle("calibrated")
    control = dossier(matrix, f"{P}:c", oracle, load_protocol("kernelbench"))
    assert control.own is not None
    assert (control.own.reason, control.own.sentence) == (None, "kernelbench accepts it")
    assert dossier(matrix, f"{P}:m", oracle, load_protocol("kernelbench-verified")).own is None
    with pytest.raises(UserError, match="no problem and no implementation 'nobody'"):
        dossier(matrix, "nobody", oracle, None)


def test_exceptions_and_bounds_are_said_as_such(tmp_path: Path) -> None:
    cells = {
        "m": {"own-0": 1.0, "own-1": Status.DECIDED, "hot": Status.CRASH},
        "c": {"own-0": 0.0, "own-1": 0.0, "hot": 0.0},
    }
    matrix = made_matrix(tmp_path / "m", cells, inputs={"own-1": {"role": "own"}})
    found = dossier(matrix, f"{P}:m", load_oracle("fixed:1e-2"), None)
    by_input = {cell.input.rpartition(":")[2]: cell for cell in found.cells}
    assert by_input["hot"].critical == math.inf
    assert by_input["hot"].as_dict()["never_accepted"] is True
    assert by_input["own-1"].at_least
    assert by_input["own-1"].critical == pytest.approx(0.1)
    assert len(found.killers) == 3
    assert found.killers[0].input == f"{P}:hot"


def test_every_shipped_mutant_has_a_diff_that_takes_out_what_stood_there() -> None:
    matrix = Matrix.open(resolve_matrix(None))
    mutants = matrix.implementations[matrix.implementations["kind"] == "mutant"]
    for _, row in mutants.iloc[:: max(1, len(mutants) // 60)].iterrows():
        diff = mutant_diff(matrix, str(row["implementation"]))
        assert diff is not None
        if row["before"] != row["after"]:
            assert diff.startswith(f"--- a/{row['sites'][0]['file']}\n"), row["implementation"]
