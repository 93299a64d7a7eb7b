"""``gpu-eval corpus check`` of several problems at once: their order, and whose sentence it is."""

import json
from pathlib import Path

import pytest
from typer.testing import CliRunner

from gpu_eval.cli.main import app
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
