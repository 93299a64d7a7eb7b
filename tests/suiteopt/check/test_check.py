"""The command as users run it, on candidates that are wrong in many ways."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from suiteopt.cli.main import app
from suiteopt.errors import UserError
from tests.suiteopt.check.candidates import (
    FOR_A_GPU,
    HANGING,
    NEVER_LOADED,
    sample_suite,
    write_run,
)
from tests.suiteopt.export.checkouts import GOOD
from tests.suiteopt.export.samples import SAMPLE

DEFINITION = SAMPLE / "KernelBench" / "level1" / "19_ReLU.py"


def check(*arguments: object) -> Any:
    words = [str(word) for word in arguments]
    return CliRunner().invoke(app, ["check", "--device", "cpu", *words])


def refusal(*arguments: object) -> str:
    found = check(*arguments)
    assert isinstance(found.exception, UserError), found.output
    return str(found.exception)


@pytest.fixture(scope="module", autouse=True)
def one_thread() -> Iterator[None]:
    """Keep the many processes from waiting for each other's threads."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("OMP_NUM_THREADS", "1")
        yield


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("check")
    sample_suite().save(path / "suite.json")
    write_run(path / "runs" / "first")
    return path


@pytest.fixture(scope="module")
def run(place: Path) -> Any:
    found = check(place / "suite.json", place / "runs", "--reference", SAMPLE, "--json")
    assert found.exit_code == 1, found.output
    return json.loads(found.stdout)


def candidate(run: Any, problem: int, sample: int) -> Any:
    name = f"level_1_problem_{problem}_sample_{sample}_kernel.py"
    return next(one for one in run["candidates"] if one["candidate"].endswith(name))


def statuses(outcomes: Any) -> list[str]:
    return [outcome["status"] for outcome in outcomes]


def test_a_run_is_judged_in_order_and_counted(run: Any) -> None:
    samples = [Path(one["candidate"]).name.split("_")[3:6:2] for one in run["candidates"]]
    assert samples == [["19", s] for s in ("0", "1", "2", "10")] + [["40", "0"], ["40", "1"]]
    assert run["counts"] == {
        "candidates": 6,
        "accepted": 0,
        "rejected": 5,
        "unjudged": 1,
        "accepted_by_own_check": 5,
    }
    assert run["suite"]["hash"] == sample_suite().hash
    assert (run["protocol"], run["device"]) == ("kernelbench", "cpu")
    assert [Path(path).name for path in run["skipped"]] == ["level_1_problem_23_sample_0_kernel.py"]


def test_neither_tampering_nor_a_fake_verdict_helps_an_identity(run: Any) -> None:
    found = candidate(run, 19, 0)
    assert found["verdict"] == "rejected"
    assert statuses(found["own"]["draws"]) == ["accepted"] * 5
    seeds = [int(draw["input"].split()[-1]) for draw in found["own"]["draws"]]
    assert seeds == [734796314, 576165995, 2197670066, 839703249, 2584932063]
    normal, prime = found["suite"]["members"]
    # The largest negative value over the RMS of the positive ones: a few standard deviations.
    assert normal["status"] == "rejected"
    assert 4 < normal["critical"] < 8
    assert normal["tolerance"] == 0
    assert (prime["status"], prime["critical"]) == ("cannot", None)
    assert "measured at other shapes" in prime["why"]


def test_an_early_exit_passes_the_own_check_only(run: Any) -> None:
    found = candidate(run, 19, 1)
    assert (found["own"]["verdict"], found["suite"]["verdict"]) == ("accepted", "rejected")


def test_what_goes_wrong_is_told_apart(run: Any) -> None:
    draws = candidate(run, 19, 2)["own"]["draws"]
    assert statuses(draws) == ["raised", "rejected", "rejected", "rejected", "raised"]
    whys = [draw["why"] for draw in draws]
    # The terminal's orders in an error do not get through.
    assert whys[0] == "RuntimeError: accepted [2Jall is well"
    assert whys[1] == "shape [16, 999] and not [16, 1000]"
    assert whys[2] == "dtype float64 and not float32"
    assert whys[3] == "1 of 16000 elements are not finite, or unlike"
    assert whys[4] == "SystemExit: 0"
    zeros = candidate(run, 19, 2)["suite"]["members"][0]
    assert (zeros["status"], zeros["why"].split()[0]) == ("rejected", "rms")


def test_an_exit_is_no_acceptance(run: Any) -> None:
    found = candidate(run, 19, 10)
    member = found["suite"]["members"][0]
    assert (member["status"], found["verdict"]) == ("died", "rejected")
    assert member["why"] == "its process ended with exit code 0"


def test_a_deleted_scale_is_seen_with_parameters_that_were_set(run: Any) -> None:
    found = candidate(run, 40, 0)
    assert found["own"]["verdict"] == "accepted"
    assert statuses(found["suite"]["members"]) == ["accepted", "rejected"]
    assert found["suite"]["members"][1]["why"].endswith(
        "it has no parameters, and the member sets some"
    )


def test_parameters_that_do_not_match_are_an_error_and_no_verdict(run: Any) -> None:
    found = candidate(run, 40, 1)
    assert (found["own"]["verdict"], found["suite"]["verdict"]) == ("accepted", "unjudged")
    member = found["suite"]["members"][1]
    assert member["status"] == "parameters"
    assert "sets the parameter 'ln.bias' of shape (8, 16, 16)" in member["why"]
    assert "the candidate has norm.add (8, 16, 16), norm.scale (8, 16, 16)" in member["why"]


def test_a_right_kernel_is_accepted_with_exit_code_0(place: Path, tmp_path: Path) -> None:
    right = tmp_path / "right.py"
    right.write_text(GOOD[19], encoding="utf-8")
    found = check(place / "suite.json", "19_ReLU", right, "--reference", DEFINITION)
    assert found.exit_code == 0, found.output
    assert "1 candidate on cpu: 1 accepted, 0 rejected, 0 unjudged" in found.stdout
    row = next(line for line in found.stdout.splitlines() if "level1/019:normal " in line)
    assert row.split() == ["level1/019:normal", "rms", "0", "0", "accepted"]
    told = found.stderr.splitlines()
    assert told[0] == f"judging {right} (1 of 1)"
    inputs = [line.split()[1] for line in told if line.startswith("  input ")]
    listed = [line.split()[0] for line in found.stdout.splitlines()[1 : len(inputs) + 1]]
    assert inputs == listed
    assert told[1].endswith(f"(1 of {len(inputs)})")


def test_deadlines_hold_and_a_kernel_for_a_gpu_is_not_judged(place: Path, tmp_path: Path) -> None:
    for number, text in enumerate((HANGING, NEVER_LOADED, FOR_A_GPU)):
        (tmp_path / f"level_1_problem_19_sample_{number}_kernel.py").write_text(text)
    limits = ("--timeout", "2", "--load-timeout", "2")
    reference = ("--reference", DEFINITION, "--json")
    found = check(place / "suite.json", "level1/019", tmp_path, *reference, *limits)
    assert found.exit_code == 1
    hanging, never, gpu = json.loads(found.stdout)["candidates"]
    assert statuses(hanging["own"]["draws"]) == ["accepted"] * 5
    assert statuses(hanging["suite"]["members"]) == ["timeout", "cannot"]
    assert hanging["suite"]["members"][0]["why"] == "no answer within 2 seconds"
    assert set(statuses(never["own"]["draws"])) == {"timeout"}
    assert never["verdict"] == "rejected"
    assert set(statuses(gpu["own"]["draws"])) == {"needs_gpu"}
    assert gpu["verdict"] == "unjudged"


def test_what_a_user_gets_wrong_is_one_sentence(place: Path, tmp_path: Path) -> None:
    suite, right = place / "suite.json", tmp_path / "right.py"
    right.write_text(GOOD[19], encoding="utf-8")
    given = ("--reference", DEFINITION)
    assert "give --reference" in refusal(suite, "level1/019", right)
    assert "the suite has no problem 'level1/007'" in refusal(suite, "level1/007", right, *given)
    assert "there is no candidate" in refusal(suite, "level1/019", tmp_path / "no.py", *given)
    assert "holds no candidate" in refusal(suite, tmp_path, *given)
    assert "is no directory of candidates" in refusal(suite, "level1/019", *given)
    assert "for 2 problems" in refusal(suite, place / "runs", *given)
    assert "named as another problem" in refusal(suite, "level1/040", right, *given)
    elsewhere = ("--reference", tmp_path / "gone")
    assert "there is no reference" in refusal(suite, "level1/019", right, *elsewhere)
    protocol = (*given, "--protocol", "kernelbench-verified")
    assert "more than own draws" in refusal(suite, "level1/019", right, *protocol)
    assert "no device" in refusal(suite, "level1/019", right, *given, "--device", "tpu")


@pytest.mark.gpu
def test_a_gpu_judges_alike(place: Path) -> None:
    torch = pytest.importorskip("torch")
    if not torch.cuda.is_available():
        pytest.skip("torch sees no GPU")
    words = ["check", str(place / "suite.json"), str(place / "runs"), "--device", "cuda", "--json"]
    found = CliRunner().invoke(app, [*words, "--reference", str(SAMPLE)])
    assert found.exit_code == 1, found.output
    run = json.loads(found.stdout)
    assert run["device"] == "cuda"
    verdicts = [one["verdict"] for one in run["candidates"]]
    assert verdicts == ["rejected"] * 5 + ["unjudged"]
    # An exception ends the process there, so that the draws after two are not run.
    closed = statuses(candidate(run, 19, 2)["own"]["draws"])
    assert closed.count("raised") == 2
