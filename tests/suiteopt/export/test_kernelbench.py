"""Both KernelBench targets through the sample's own harness: before, after, prompts, removal."""

import importlib
import subprocess
import sys
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from suiteopt.errors import UserError
from suiteopt.export.exporter import export, remove
from suiteopt.export.verify import verify
from suiteopt.suite import Suite
from tests.suiteopt.export.checkouts import (
    BAD,
    GOOD,
    calibrated,
    checkout,
    fixed,
    own_member,
    standard_problems,
)
from tests.suiteopt.export.samples import NAMES, problem, recipe, tree

torch = pytest.importorskip("torch")

Evaluate = Callable[..., Any]


def sidecar_suite() -> Suite:
    return calibrated("kernelbench-sidecar", *standard_problems(parameters=True))


def overlay_suite() -> Suite:
    return fixed("kernelbench", 1e-4, *standard_problems(parameters=False))


@pytest.fixture
def repo(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    monkeypatch.setattr(sys, "dont_write_bytecode", True)
    made = checkout("kernelbench", tmp_path)
    monkeypatch.syspath_prepend(str(made / "src"))
    yield made
    _forget()


def _forget() -> None:
    for name in [name for name in sys.modules if name.split(".")[0] == "kernelbench"]:
        del sys.modules[name]
    importlib.invalidate_caches()


def evaluate(repo: Path, number: int, candidate: str, overlay: bool = False, **named: Any) -> Any:
    """Run the sample's harness as it stands, on a definition of the data set or the overlay."""
    _forget()
    harness = importlib.import_module("kernelbench.eval")
    place = repo / "suiteopt_overlay" if overlay else repo
    text = (place / f"KernelBench/level1/{NAMES[number][0]}.py").read_text()
    return harness.eval_kernel_against_ref(text, candidate, num_correct_trials=5, **named)


def test_sidecar_rejects_what_the_harness_accepted_and_accepts_what_is_right(repo: Path) -> None:
    for name, (number, candidate) in BAD.items():
        assert evaluate(repo, number, candidate).correctness, name
    export(sidecar_suite(), "kernelbench-sidecar", repo)
    for name, (number, candidate) in BAD.items():
        result = evaluate(repo, number, candidate)
        assert not result.correctness, name
        assert result.metadata["hardened_failed"], name
    for number, candidate in GOOD.items():
        result = evaluate(repo, number, candidate)
        assert result.correctness, result.metadata
        total = 2 if number == 40 else 1
        assert result.metadata["hardened_members"] == f"({total} / {total})"


def test_sidecar_says_which_member_and_why(repo: Path) -> None:
    export(sidecar_suite(), "kernelbench-sidecar", repo)
    failed = evaluate(repo, *BAD["scale deleted"]).metadata["hardened_failed"]
    assert list(failed) == ["level1/040:affine"]
    assert "rms is" in failed["level1/040:affine"]
    failed = evaluate(repo, *BAD["one-pass variance"]).metadata["hardened_failed"]
    assert list(failed) == ["level1/040:offset"]
    renamed = GOOD[40].replace("self.ln = nn.LayerNorm(shape)", "l = nn.LayerNorm(shape); "
                               "self.gamma, self.beta = l.weight, l.bias")  # fmt: skip
    renamed = renamed.replace("self.ln.weight", "self.gamma").replace("self.ln.bias", "self.beta")
    failed = evaluate(repo, 40, renamed).metadata["hardened_failed"]
    assert "keep the reference's names and shapes" in failed["level1/040:affine"]


def test_sidecar_leaves_other_problems_and_refuses_another_precision(repo: Path) -> None:
    export(sidecar_suite(), "kernelbench-sidecar", repo)
    softmax = GOOD[19].replace("torch.where(x > 0, x, 0.0)", "x.softmax(1)")
    result = evaluate(repo, 23, softmax)
    assert result.correctness
    assert result.metadata["hardened_members"] == "none for this problem"
    result = evaluate(repo, 19, GOOD[19], precision=torch.bfloat16)
    assert not result.correctness
    assert "run with precision=fp32" in str(result.metadata["runtime_error"])


def test_overlay_serves_member_i_on_trial_i_and_times_the_published_input(repo: Path) -> None:
    for name in ("identity relu", "early exit on zeros", "one-pass variance"):
        assert evaluate(repo, *BAD[name]).correctness, name
    export(overlay_suite(), "kernelbench", repo)
    for name in ("identity relu", "early exit on zeros", "one-pass variance"):
        result = evaluate(repo, *BAD[name], overlay=True)
        assert not result.correctness, name
        assert "runtime_error" not in result.metadata
    for number, candidate in GOOD.items():
        result = evaluate(repo, number, candidate, overlay=True)
        assert result.correctness, result.metadata
        published = evaluate(repo, number, candidate)
        for one, other in zip(result.timed, published.timed, strict=True):
            assert torch.equal(one, other)


def test_overlay_keeps_prompts_to_the_byte(repo: Path) -> None:
    def prompt(number: int) -> bytes:
        script = [sys.executable, "-B", "scripts/generate_samples.py", str(number)]
        environment = {"PYTHONPATH": str(repo / "src"), "PATH": "/usr/bin:/bin"}
        return subprocess.run(
            script, cwd=repo, env=environment, capture_output=True, check=True
        ).stdout

    before = {number: prompt(number) for number in (1, 19, 40)}
    export(overlay_suite(), "kernelbench", repo)
    assert {number: prompt(number) for number in before} == before
    export(sidecar_suite(), "kernelbench-sidecar", repo)
    assert {number: prompt(number) for number in before} == before


def run_evaluate(repo: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-B", "suiteopt_overlay/evaluate.py", *arguments]
    return subprocess.run(command, cwd=repo, capture_output=True, text=True, check=False)


def test_overlay_runs_the_harnesses_script_and_refuses_what_would_leak(
    repo: Path, tmp_path: Path
) -> None:
    export(overlay_suite(), "kernelbench", repo)
    script = "scripts/eval_from_generations.py"
    candidate = tmp_path / "candidate.py"
    candidate.write_text(BAD["identity relu"][1])
    done = run_evaluate(repo, script, "local", "19", str(candidate))
    assert "3 of 6 problems are hardened" in done.stdout, done.stderr
    assert "wrong {'correctness_trials': '(4 / 5)'}" in done.stdout
    done = run_evaluate(repo, script, "huggingface", "19", str(candidate))
    assert "run with dataset_src=local" in done.stderr
    done = run_evaluate(repo, "scripts/generate_samples.py", "19")
    assert done.returncode == 1
    assert "makes prompts" in done.stderr


def test_overlay_sees_a_wrong_seed_precision_and_number_of_trials(repo: Path) -> None:
    export(overlay_suite(), "kernelbench", repo)
    result = evaluate(repo, 19, GOOD[19], overlay=True, precision=torch.bfloat16)
    assert "run with precision=fp32" in str(result.metadata["runtime_error"])
    harness = importlib.import_module("kernelbench.eval")
    text = (repo / f"suiteopt_overlay/KernelBench/level1/{NAMES[40][0]}.py").read_text()
    with pytest.raises(RuntimeError, match="neither a trial's seed nor the timing one"):
        harness.eval_kernel_against_ref(text, GOOD[40], seed_num=1)
    with pytest.warns(UserWarning, match="1 of 2 members are served"):
        harness.eval_kernel_against_ref(text, GOOD[40], num_correct_trials=1)


def test_overlay_holds_against_a_candidate_that_changes_its_namespace(repo: Path) -> None:
    export(overlay_suite(), "kernelbench", repo)
    number, candidate = BAD["identity relu"]
    sly = candidate + "\nROWS, COLUMNS = 1, 1\ndef get_inputs():\n    return [torch.zeros(1, 1)]\n"
    assert not evaluate(repo, number, sly, overlay=True).correctness


@pytest.mark.parametrize("made", [sidecar_suite, overlay_suite])
def test_exports_verify_repeat_and_go_without_a_trace(
    repo: Path, made: Callable[[], Suite]
) -> None:
    before = tree(repo)
    suite = made()
    target = str(suite.target)
    export(suite, target, repo)
    exported = tree(repo)
    again = export(suite, target, repo)
    assert (again.changed, again.created, again.removed) == ((), (), ())
    report = verify(repo, target=target)
    assert report.failed == ()
    assert report.members == 4
    assert {finding.check for finding in report.unproved} == {"kills"}
    assert tree(repo) == exported
    fewer = replace(suite, problems=suite.problems[:2])
    assert export(fewer, target, repo, dry_run=True).diff
    remove(repo, target)
    assert tree(repo) == before


def test_what_a_target_does_not_carry_is_refused(repo: Path) -> None:
    affine = fixed("kernelbench", 1e-4, *standard_problems(parameters=True))
    with pytest.raises(UserError, match="carries parameters, and kernelbench does"):
        export(affine, "kernelbench", repo)
    many = [own_member(f"m{i}", {"x": recipe("normal")}) for i in range(6)]
    with pytest.raises(UserError, match="holds at most 5"):
        export(fixed("kernelbench", 1e-4, problem(19, *many)), "kernelbench", repo)
    truth = own_member("m", {"x": recipe("normal")}, comparator="truth_rms")
    with pytest.raises(UserError, match="needs a reference in fp64"):
        export(calibrated(None, problem(19, truth)), "kernelbench-sidecar", repo)
    harness = repo / "src/kernelbench/eval.py"
    harness.write_text(harness.read_text().replace("run_and_check_correctness", "check_it"))
    with pytest.raises(UserError, match="no places that check a kernel's outputs"):
        export(sidecar_suite(), "kernelbench-sidecar", repo)
