"""The benchmark of the GPU stage: what can be known of it without a GPU."""

import json
import subprocess
import sys
from pathlib import Path

from experiments.gpu_stage import fatal, today
from experiments.gpu_stage.rows import Row
from gpu_eval.problems.loader import load_corpus
from tests.gpu_eval.devices.conftest import integer, number, plan, tensor


def test_targets_are_bounds() -> None:
    assert Row(1, "rate", 400.0, target=400.0).met is True
    assert Row(1, "rate", 399.0, target=400.0).met is False
    assert Row(4, "loss", 0.3, target=0.2, at_least=False).met is False
    assert Row(4, "loss", 0.1, target=0.2, at_least=False).met is True
    assert Row(4, "loss", None, target=0.2).met is None
    assert Row(2, "time", 3.0).met is None


def test_an_extension_launches_the_plan_on_tensors_in_the_order_of_their_use() -> None:
    arguments = [tensor("x"), tensor("y"), tensor("x"), integer(-7), number(0.1)]
    launched = plan("scale", arguments, grid=(3, 2, 1), block=(32, 4, 1), shared=64)
    text = today.extension_source({"a.cu": "// the kernel"}, "a.cu", launched)
    assert "// the kernel" in text
    assert (
        "scale<<<dim3(3, 2, 1), dim3(32, 4, 1), 64>>>(Pointer{t[0].data_ptr()}, "
        "Pointer{t[1].data_ptr()}, Pointer{t[0].data_ptr()}, -7, (float)0.1);"
    ) in text
    assert text.endswith("// x y\n")


def test_the_problems_with_fatal_mutants_are_problems(tmp_path: Path) -> None:
    names = fatal.write_corpus(tmp_path / "corpus", "(1LL << 38)")
    corpus = load_corpus([tmp_path / "corpus"])
    assert set(names) <= set(corpus.problems)
    assert len(names) == len(fatal.COLUMNS)


def test_a_part_that_fails_loses_no_other(tmp_path: Path) -> None:
    command = [sys.executable, "-m", "experiments.bench_gpu_stage", "--directory", str(tmp_path)]
    # Without --dry-run both ask for a GPU; a limit of seconds lets neither come far with one.
    done = subprocess.run(
        [*command, "--parts", "comparing", "today", "--seconds", "5.5"],
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode in (0, 1), done.stderr
    found = json.loads((tmp_path / "bench_gpu_stage.json").read_text())["parts"]
    assert [part["rows"][-1]["measured"] for part in found.values()] == [None, None]
    assert all("ended" in part["failure"] for part in found.values())
    assert "today, the rest" in (tmp_path / "bench_gpu_stage.md").read_text()
