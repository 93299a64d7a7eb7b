"""Known kernels through a harness: names, what a death leaves, and what the results say."""

import ast
import json
from pathlib import Path

import pytest

from experiments import kernelbench_before_after as experiment
from experiments import kernelbench_copies, kernelbench_table
from suiteopt.errors import UserError
from tests.suiteopt.export import checkouts

HARNESS = """
class Result:
    def __init__(self, accepted):
        self.compiled, self.correctness, self.metadata = True, accepted, {"trials": 5}


def graceful_eval_cleanup(*_):
    pass


def eval_kernel_against_ref(source, candidate, num_correct_trials, device, backend):
    assert "dim = 1000" in source and num_correct_trials == 2 and backend == "cuda"
    namespace = {}
    exec(candidate, namespace)
    return Result(namespace["ACCEPTED"])
"""


@pytest.fixture
def checkout(tmp_path: Path) -> Path:
    root = tmp_path / "KernelBench-checkout"
    (root / "src/kernelbench").mkdir(parents=True)
    (root / "src/kernelbench/__init__.py").touch()
    (root / "src/kernelbench/eval.py").write_text(HARNESS)
    level = root / "KernelBench/level1"
    level.mkdir(parents=True)
    for number, constants in kernelbench_copies.SHORTENED.items():
        text = "".join(f"{name} = 123456\n" for name in constants)
        (level / f"{number}_Problem.py").write_text(text)
    (root / "REVISION").write_text("abc\n")
    return root


def test_a_kernel_that_kills_its_process_costs_no_other_its_verdict(
    checkout: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:  # fmt: skip
    pytest.importorskip("torch")
    kernels = tmp_path / "kernels"
    kernels.mkdir()
    (kernels / "019_right_one_torch.py").write_text("ACCEPTED = True\n")
    (kernels / "019_wrong_deadly_torch.py").write_text("import os\nos._exit(7)\n")
    (kernels / "019_wrong_two_torch.py").write_text("ACCEPTED = False\n")
    (kernels / "019_wrong_raises_torch.py").write_text("raise ValueError('no')\n")
    monkeypatch.setattr(kernelbench_copies, "KERNELS", kernels)
    output = tmp_path / "result.json"
    words = [str(checkout), "-o", str(output), "--device", "cpu", "--large-trials", "2"]
    assert experiment.main(words) == 1
    found = json.loads(output.read_text())
    assert found["revision"] == "abc"
    verdicts = {row["kernel"]: kernelbench_table.verdict(row) for row in found["results"]}
    assert verdicts == {
        "019_right_one_torch": "accepted",
        "019_wrong_deadly_torch": "the process died with exit code 7",
        "019_wrong_raises_torch": "ValueError",
        "019_wrong_two_torch": "rejected",
    }
    assert "wrong_two_torch" in capsys.readouterr().out


def test_the_known_kernels_have_right_and_wrong_ones_for_every_problem() -> None:
    kernels = kernelbench_copies.known()
    for problem in kernelbench_copies.SHORTENED:
        assert {kernel.right for kernel in kernels if kernel.problem == problem} == {True, False}
    for kernel in kernels:
        tree = ast.parse(kernel.path.read_text())
        assert ast.get_docstring(tree)
        assert "ModelNew" in {node.name for node in tree.body if isinstance(node, ast.ClassDef)}
        assert ("import triton" in kernel.path.read_text()) is (kernel.language == "triton")


def test_every_member_of_an_overlay_gets_a_trial(tmp_path: Path) -> None:
    parts = checkouts.standard_problems(parameters=False)
    overlay = kernelbench_copies.Copy("o", tmp_path, checkouts.fixed("kernelbench", 1e-4, *parts))
    sidecar = kernelbench_copies.Copy(
        "s", tmp_path, checkouts.calibrated("kernelbench-sidecar", *parts)
    )
    assert (overlay.trials(19, 5, 1), sidecar.trials(19, 5, 1), sidecar.trials(40, 5, 1)) == (
        2,
        1,
        5,
    )
    assert sidecar.covers(19)
    assert not sidecar.covers(23)


def test_a_directory_that_is_no_checkout_is_refused(tmp_path: Path) -> None:
    with pytest.raises(UserError, match="is no checkout of KernelBench"):
        experiment.main([str(tmp_path), "-o", str(tmp_path / "x.json"), "--device", "cpu"])
