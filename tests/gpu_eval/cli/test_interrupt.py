"""Ctrl-C before anything is measured: one sentence, exit code 2, no directory left."""

import signal
import subprocess
import sys
import time
from pathlib import Path

# Whoever runs the tests in the background of a script has Ctrl-C ignored.
RUN = (
    "import signal, sys; signal.signal(signal.SIGINT, signal.default_int_handler); "
    "sys.argv[0] = 'gpu-eval'; from gpu_eval.cli.main import run; run()"
)


def test_an_interrupt_while_planning_is_one_sentence(tmp_path: Path) -> None:
    output = tmp_path / "m"
    process = subprocess.Popen(
        [
            sys.executable,
            "-c",
            RUN,
            "run",
            "--profile",
            "full",
            "--device",
            "cpu",
            "-o",
            str(output),
        ],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
    )
    assert process.stderr is not None
    first = process.stderr.readline()
    assert "planning" in first
    time.sleep(0.3)
    process.send_signal(signal.SIGINT)
    out, err = process.communicate(timeout=60)
    assert process.returncode == 2
    assert out == ""
    assert err.strip().splitlines()[-1].startswith("error: interrupted; ")
    assert "Traceback" not in err
    assert not output.exists()


def test_no_compiler_leaves_no_directory(tmp_path: Path) -> None:
    output = tmp_path / "m"
    done = subprocess.run(
        [sys.executable, "-c", RUN, "run", "--device", "cpu", "-o", str(output)],
        capture_output=True,
        text=True,
        check=False,
        env={"PATH": str(tmp_path), "HOME": str(tmp_path)},
    )
    assert done.returncode == 2
    assert "compiler" in done.stderr
    assert not output.exists()


def test_a_missing_extra_is_one_sentence() -> None:
    script = (
        "import sys\nsys.modules['tree_sitter'] = None\n"
        "sys.argv = ['gpu-eval', 'mutants', 'list']\n"
        "from gpu_eval.cli.main import run\nrun()"
    )
    done = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, text=True, check=False
    )
    assert done.returncode == 2
    assert "kernel-suiteopt[eval]" in done.stderr
    assert "Traceback" not in done.stderr
