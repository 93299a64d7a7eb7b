"""The target ``json``: the README's ten lines, run as they stand."""

import re
import subprocess
import sys
from pathlib import Path

import pytest

from suiteopt.export.exporter import export, remove
from suiteopt.export.templates import hardened_inputs
from suiteopt.export.verify import verify
from tests.suiteopt.export.checkouts import BAD, GOOD, calibrated, own_member, standard_problems
from tests.suiteopt.export.samples import SAMPLE, problem, recipe, tree

pytest.importorskip("torch")

HARNESS = """
import sys
sys.path.insert(0, "hardened")
definition, new = {}, {}
exec(open(sys.argv[1]).read(), definition)
exec(open(sys.argv[2]).read(), new)
get_inputs, arguments = definition["get_inputs"], definition["get_init_inputs"]()
reference, candidate = definition["Model"](*arguments), new["ModelNew"](*arguments)
"""


def judge(place: Path, candidate: str, number: int = 40) -> str:
    """Run the lines of the README as a harness of one's own."""
    (readme,) = re.findall(r"```python\n(.*?)```", (place / "hardened/README.md").read_text(), re.S)
    assert len([line for line in readme.splitlines() if line]) <= 10
    (place / "harness.py").write_text(HARNESS + readme)
    (place / "candidate.py").write_text(candidate)
    (definition,) = (SAMPLE / "KernelBench/level1").glob(f"{number}_*.py")
    done = subprocess.run(
        [sys.executable, "-I", "-B", "harness.py", str(definition), "candidate.py"],
        cwd=place,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_ten_lines_judge_a_candidate(tmp_path: Path) -> None:
    before = tree(tmp_path)
    export(calibrated("json", *standard_problems(parameters=True)), "json", tmp_path)
    report = verify(tmp_path)
    assert report.failed == ()
    assert report.members == 4
    assert {finding.check for finding in report.unproved} == {"layout", "reference", "kills"}
    assert judge(tmp_path, GOOD[40]).splitlines() == [
        "level1/040:offset pass",
        "level1/040:affine pass",
    ]
    lines = judge(tmp_path, BAD["scale deleted"][1]).splitlines()
    assert lines[0] == "level1/040:offset pass"
    assert lines[1].startswith("level1/040:affine fail: rms is")
    for name in ("harness.py", "candidate.py"):
        (tmp_path / name).unlink()
    remove(tmp_path, "json")
    assert tree(tmp_path) == before


@pytest.mark.parametrize(
    "structure",
    ["signs", "mask", "class_ids", "probability_rows", "symmetric", "diagonal", "lower_triangular"],
)
def test_every_structure_of_a_tensor_can_be_verified(structure: str, tmp_path: Path) -> None:
    values = {"x": {**recipe("normal"), "structure": structure, "classes": 4}}
    part = problem(19, own_member("level1/019:structured", values))
    export(calibrated("json", part), "json", tmp_path)
    report = verify(tmp_path)
    assert report.failed == ()
    assert report.members == 1


def test_an_edited_file_is_refused_when_it_is_loaded(tmp_path: Path) -> None:
    export(calibrated("json", *standard_problems(parameters=True)), "json", tmp_path)
    with (tmp_path / "hardened/recipes.py").open("a") as handle:
        handle.write("# edited\n")
    with pytest.raises(RuntimeError, match=r"recipes.py is not the file that was exported"):
        hardened_inputs.load(str(tmp_path / "hardened"))
