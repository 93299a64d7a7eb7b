"""``gpu-eval corpus check`` of several problems at once: their order, and whose sentence it is."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from gpu_eval.cli.main import app
from gpu_eval.problems.check import CheckReport
from suiteopt.errors import UserError


@pytest.fixture(scope="module")
def corpus(tmp_path_factory: pytest.TempPathFactory) -> Path:
    directory = tmp_path_factory.mktemp("corpus")
    for name in ("alpha", "beta"):
        made = CliRunner().invoke(app, ["new", name, "--directory", str(directory)])
        assert made.exit_code == 0, made.output
    return directory


def check(corpus: Path, jobs: int) -> str:
    command = ["corpus", "check", "user/beta", "user/alpha", "--corpus", str(corpus)]
    command += ["--device", "cpu", "--jobs", str(jobs), "--json"]
    result = CliRunner().invoke(app, command, catch_exceptions=False)
    assert result.exit_code == 0
    return result.stdout


def test_processes_change_nothing(corpus: Path) -> None:
    alone, together = (json.loads(check(corpus, jobs)) for jobs in (1, 2))
    assert [p["problem"] for p in together["problems"]] == ["user/beta", "user/alpha"]
    assert together == alone


def test_a_wrong_kernel_in_another_process_is_one_sentence(corpus: Path) -> None:
    kernel = next((corpus / "beta").glob("*.cu"))
    text = kernel.read_text()
    try:
        kernel.write_text(text.replace("__global__ void", "__global__ void @", 1))
        with pytest.raises(UserError, match=r"beta/.*\.cu:\d+"):
            check(corpus, 2)
    finally:
        kernel.write_text(text)


@pytest.mark.parametrize("as_json", [False, True])
@pytest.mark.parametrize("unjudged", [False, True])
def test_what_is_not_proven_is_said(
    corpus: Path, monkeypatch: pytest.MonkeyPatch, unjudged: bool, as_json: bool
) -> None:
    there = {"user/alpha:a": "PyTorch's own fp32 result is off"} if unjudged else {}
    report = CheckReport("user/alpha", (), 1, {}, there, zero=0 if unjudged else 1)
    monkeypatch.setattr("gpu_eval.cli.corpus._checked", lambda *_: iter([report]))
    command = ["corpus", "check", "user/alpha", "--corpus", str(corpus), "--device", "cpu"]
    result = CliRunner().invoke(app, command + ["--json"] * as_json, catch_exceptions=False)
    assert result.exit_code == int(unjudged)
    doubt = (
        "no input can be judged: PyTorch's own fp32 result is off"
        if unjudged
        else "the right output is zero on every input, so that nothing is proven"
    )
    said = f"error: not within the allowance: user/alpha ({doubt})"
    assert result.stderr == (said if unjudged else f"user/alpha: {doubt}") + "\n"
    if as_json:
        found = json.loads(result.stdout)
        assert found["unproven"] == {"user/alpha": doubt}
        (row,) = found["problems"]
        assert row["unjudged"] == there
        assert (row["passed"], row["proven"]) == (not unjudged, False)
    else:
        assert f"1 inputs, 0 of them invalid, {len(there)} unjudged" in " ".join(
            result.stdout.split()
        )


@pytest.mark.parametrize(
    ("further", "everything"), [([], False), (["--all"], True), (["level1/019"], True)]
)
def test_without_names_a_corpus_is_checked_alone(
    corpus: Path, monkeypatch: pytest.MonkeyPatch, further: list[str], everything: bool
) -> None:
    def seen(work: list[Any], cache: Path, jobs: int) -> Iterator[Any]:
        names.extend(one.problem for one in work)
        return iter(())

    names: list[str] = []
    monkeypatch.setattr("gpu_eval.cli.corpus._checked", seen)
    command = ["corpus", "check", *further, "--corpus", str(corpus), "--device", "cpu"]
    assert CliRunner().invoke(app, command, catch_exceptions=False).exit_code == 0
    assert ("level1/019" in names) == everything
    if not further:
        assert sorted(names) == ["user/alpha", "user/beta"]


@pytest.mark.parametrize("device", ["cpu", "cuda"])
def test_a_cost_says_for_what_it_is(corpus: Path, tmp_path: Path, device: str) -> None:
    command = ["run", "--dry-run", "--corpus", str(corpus), "--output", str(tmp_path / "out")]
    text = CliRunner().invoke(app, [*command, "--device", device]).stdout
    found = json.loads(CliRunner().invoke(app, [*command, "--device", device, "--json"]).stdout)
    assert found["cells"] == sum(row["cells"] for row in found["problems"]) > 0
    if device == "cpu":
        assert "how long a CPU takes is not estimated" in text
        assert "H200" not in text
        assert (found["estimated_for"], found["seconds"]) == (None, None)
        assert {row["seconds"] for row in found["problems"]} == {None}
    else:
        assert "s of cells on an NVIDIA H200" in text
        assert found["estimated_for"] == "an NVIDIA H200"
        assert found["seconds"] == sum(row["seconds"] for row in found["problems"]) > 0
