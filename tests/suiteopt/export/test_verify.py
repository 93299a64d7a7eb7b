import json
import os
import subprocess
import sys
import time
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from suiteopt.cli import verify_progress
from suiteopt.cli.verify import grouped
from suiteopt.errors import MissingExtraError, UserError
from suiteopt.export import file_record, loading
from suiteopt.export.exporter import export
from suiteopt.export.finding import Finding
from suiteopt.export.kernelbench_verified import KernelBenchVerified
from suiteopt.export.templates import kernelbench_verified_loader as loader
from suiteopt.export.verify import VerifyReport, verify
from tests.suiteopt.builders import tiny_matrix
from tests.suiteopt.export.samples import (
    copy_sample,
    lattice_and_own,
    member,
    problem,
    recipe,
    suite,
    tree,
)

pytest.importorskip("torch")

TARGET = "kernelbench-verified"


def failures(report: VerifyReport, number: int) -> set[tuple[str, str]]:
    return {(f.check, f.where) for f in report.failed if f.problem == f"level1/{number:03d}"}


def test_a_sound_export_holds_and_its_own_script_accepts_it(tmp_path: Path) -> None:
    repo = copy_sample(tmp_path)
    values = {name: recipe("lattice", width=3) for name in ("a", "b")}
    matrix = tiny_matrix(tmp_path / "matrix")
    replay = tiny_matrix(tmp_path / "replay")
    chosen = suite(
        problem(1, member("level1/001:i0", values), member("level1/001:i1", values, 8)),
        lattice_and_own(50),
        matrix_id=matrix.id,
    )
    export(chosen, TARGET, repo)
    before = tree(repo)
    report = verify(repo, suite=chosen, matrix=matrix, replay=replay)
    assert tree(repo) == before
    assert report.failed == ()
    assert (report.members, report.originals, report.files) == (4, 8, 7)
    files = 7
    each_file = 2  # count and generator
    each_configuration = 3  # repeat, layout and reference
    assert report.reproduced == files + 2 * each_file + 12 * each_configuration + 2
    assert [f.what for f in report.unproved] == ["the replay does not hold the problem"] * 2
    document = report.to_json()
    assert json.loads(json.dumps(document)) == document
    assert (document["failed"], document["unproved"]) == (0, 2)
    assert [item["where"] for item in document["unproved_items"]] == [
        "level1/050:lattice",
        "level1/050:own-x3",
    ]
    script = subprocess.run(
        [sys.executable, "-B", "scripts/generate_hidden_inputs.py", "--validate", "--pid", "1"],
        cwd=repo,
        capture_output=True,
        text=True,
        check=False,
    )
    assert script.returncode == 0, script.stdout + script.stderr
    assert "1_hidden.py: 6 of 6 valid" in script.stdout


def test_every_kind_of_failure_says_what_and_where(tmp_path: Path) -> None:
    repo = copy_sample(tmp_path)
    huge = {"x": recipe("beyond-half", exponent=120)}
    export(
        suite(
            *(lattice_and_own(number) for number in (1, 19, 23, 42, 50)),
            replace(problem(40), members=(member("level1/040:huge", huge),)),
        ),
        KernelBenchVerified(keep_original=False),
        repo,
    )
    hidden = repo / "hidden_tests/level1"
    (hidden / "1_hidden.py").open("a").write("raise ValueError('broken')\n")
    (hidden / "19_hidden.py").write_text(
        "import torch\ndef get_hidden_inputs():\n    return [[torch.rand(16, 1000)]]\n"
    )
    (hidden / "23_hidden.py").write_text(
        "import torch\ndef get_hidden_inputs():\n    return [[torch.rand(16, 1000)], "
        "[torch.ones(3, 3).double()]]\n"
    )
    (repo / "KernelBench/level1/42_Max_Pooling_2D.py").open("a").write("import os\nos.abort()\n")
    report = verify(repo)
    assert failures(report, 1) == {
        ("load", "hidden_tests/level1/1_hidden.py"),
        ("delivery", "level1/001:lattice"),
        ("delivery", "level1/001:own-x3"),
    }
    assert any("ValueError: broken" in finding.what for finding in report.failed)
    assert {check for check, _ in failures(report, 19)} == {"count", "generator", "delivery",
                                                            "repeat"}  # fmt: skip
    assert {
        ("repeat", "level1/023:lattice"),
        ("layout", "level1/023:own-x3"),
        ("generator", "hidden_tests/level1/23_hidden.py"),
    } <= failures(report, 23)
    assert failures(report, 40) == {("reference", "level1/040:huge")}
    assert any("non-finite elements" in finding.what for finding in report.failed)
    assert ("load", "hidden_tests/level1/42_hidden.py") in failures(report, 42)
    assert any("died: signal 6" in finding.what for finding in report.failed)
    assert failures(report, 50) == set()
    changed = {f.where for f in report.failed if f.check == "file"}
    assert changed == {f"hidden_tests/level1/{number}_hidden.py" for number in (1, 19, 23)}
    assert not report.ok
    assert all("\n" not in str(finding) for finding in (*report.failed, *report.unproved))


def test_what_needs_too_many_bytes_is_unproved_with_the_reason(tmp_path: Path) -> None:
    repo = copy_sample(tmp_path)
    export(suite(lattice_and_own(1), lattice_and_own(19)), TARGET, repo)
    operand, relu = 96 * 96 * 4, 2 * 16 * 1000 * 4
    report = verify(repo, max_bytes=120_000)
    assert report.failed == ()
    assert (report.members, report.originals) == (2, 0)
    skipped = {(f.problem, f.where, f.what) for f in report.unproved if f.check == "repeat"}
    allowed = "bytes, and 120000 are allowed (--max-bytes)"
    originals = [f"original configuration {n}" for n in range(-4, 0)]
    assert skipped == {
        # four pairs of operands are drawn at once, as published, and there is one output
        *(("level1/001", name, f"needs {9 * operand} {allowed}") for name in originals),
        *(("level1/019", name, f"needs {relu} {allowed}") for name in originals),
        *(("level1/019", f"level1/019:{name}", f"needs {relu} {allowed}")
          for name in ("lattice", "own-x3")),
    }  # fmt: skip
    assert len(report.unproved) == 3 * len(skipped) + 4  # repeat, layout, reference; and kills


def test_what_does_not_belong_together_is_refused(tmp_path: Path) -> None:
    repo = copy_sample(tmp_path)
    with pytest.raises(UserError, match="holds no export"):
        verify(repo)
    export(suite(), TARGET, repo)
    with pytest.raises(UserError, match=r"holds the suite .*, and .* was given"):
        verify(repo, suite=suite(lattice_and_own(1)))
    with pytest.raises(UserError, match=r"chosen on the matrix abababababab, and .* was given"):
        verify(repo, matrix=tiny_matrix(tmp_path / "matrix"))


def test_a_process_that_hangs_or_lacks_torch_is_told_apart(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    repo = copy_sample(tmp_path)
    export(suite(lattice_and_own(19)), TARGET, repo)
    target = KernelBenchVerified()
    jobs = target.jobs(suite(lattice_and_own(19)), repo)

    def loader(text: str) -> Path:
        path = tmp_path / "loader.py"
        path.write_text(text)
        return path

    begin = (
        "import json, sys, time\n"
        "report = open(sys.argv[2], 'a')\n"
        "report.write(json.dumps({'event': 'begin', 'problem': 'level1/019'}) + '\\n')\n"
        "report.flush()\n"
    )
    monkeypatch.setattr(target, "loader", lambda: loader(begin + "time.sleep(60)\n"))
    record = loading.load_files(target, repo, jobs, 0, None, timeout=1.0)["level1/019"]
    assert record.error == "the process that loaded it died: it did not end within 1 seconds"
    half = begin + 'report.write(\'{"event": "cou\')\n'
    monkeypatch.setattr(target, "loader", lambda: loader(half))
    record = loading.load_files(target, repo, jobs, 0, None, timeout=9.0)["level1/019"]
    assert record.error == "the process that loaded it died: exit code 0: no message"
    monkeypatch.setattr(target, "loader", lambda: loader("import sys\nsys.exit('no')\n"))
    record = loading.load_files(target, repo, jobs, 0, None, timeout=9.0)["level1/019"]
    assert record.error == "the loader could not start: exit code 1: no"
    missing = "raise ModuleNotFoundError(\"No module named 'torch'\")\n"
    monkeypatch.setattr(target, "loader", lambda: loader(missing))
    with pytest.raises(MissingExtraError, match="'torch', which is not installed"):
        loading.load_files(target, repo, jobs, 0, None, timeout=9.0)


def test_a_terminated_verification_leaves_neither_process_nor_directory(tmp_path: Path) -> None:
    repo = copy_sample(tmp_path)
    export(suite(lattice_and_own(19)), TARGET, repo)
    mark = tmp_path / "pid"
    problem_file = repo / "KernelBench/level1/19_ReLU.py"
    problem_file.write_text(
        f"import os, time\nopen({str(mark)!r}, 'w').write(str(os.getpid()))\ntime.sleep(600)\n"
    )
    scratch = tmp_path / "scratch"
    scratch.mkdir()
    program = "from suiteopt.cli.main import run; run()"
    process = subprocess.Popen(
        [sys.executable, "-B", "-c", program, "verify", str(repo)],
        env={**os.environ, "TMPDIR": str(scratch)},
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        text=True,
    )
    deadline = time.monotonic() + 120
    while not (mark.exists() and mark.read_text()) and time.monotonic() < deadline:
        time.sleep(0.1)
    loader = int(mark.read_text())
    process.terminate()
    _, said = process.communicate(timeout=60)
    assert process.returncode == 2
    # On a slow machine it has said before which file it loads.
    assert said.splitlines()[-1].startswith("error: interrupted")
    assert list(scratch.iterdir()) == []
    with pytest.raises(ProcessLookupError):
        os.kill(loader, 0)


def test_progress_names_the_files_in_turn(tmp_path: Path) -> None:
    repo = copy_sample(tmp_path)
    chosen = suite(lattice_and_own(1), lattice_and_own(19))
    export(chosen, TARGET, repo)
    target = KernelBenchVerified()
    told: list[file_record.Step] = []
    loading.load_files(target, repo, target.jobs(chosen, repo), 1, None, 99.0, told.append)
    assert all(step.problems == 2 and 1 <= step.number <= 2 and step.turn == 1 for step in told)
    assert {step.problem for step in told} <= {"level1/001", "level1/019"}
    assert all(0 <= step.done <= 6 and step.configurations in (0, 6) for step in told)


def event(kind: str, problem: str = "a", **more: int) -> dict[str, object]:
    return {"event": kind, "problem": problem, **more}


def test_a_step_is_what_the_report_says_so_far() -> None:
    events = [event("begin", "b"), event("count", "b", count=9), event("configuration", "b")]
    assert file_record.step_of(events, 2, 7, 0) == file_record.Step("b", 3, 7, 1, 9, 0)
    events += [event("end", "b"), event("begin"), event("skipped"), event("skipped")]
    assert file_record.step_of(events, 2, 7, 1) == file_record.Step("a", 4, 7, 2, 0, 1)


def test_what_is_shown_goes_to_standard_error_and_ends_at_the_whole(
    capsys: pytest.CaptureFixture[str],
) -> None:
    with verify_progress.shown() as progress:
        for turn in (0, 1):
            for done in (0, 3):
                progress(file_record.Step("level1/042", 5, 6, done, 6, turn))
    out, err = capsys.readouterr()
    assert out == ""
    assert err == (
        "loading level1/042 (5 of 6, first time)\nloading level1/042 (5 of 6, second time)\n"
    )
    steps = [
        file_record.Step("p", n, 3, d, 4, t) for t in (0, 1) for n in (1, 2, 3) for d in range(5)
    ]
    shares = [verify_progress.share(step) for step in steps]
    assert shares == sorted(shares)
    assert (shares[0], shares[-1]) == (0.0, 1.0)
    assert verify_progress.described(steps[4]) == "p (1 of 3, first time): configuration 4 of 4"


def test_memory_that_runs_out_is_no_failure(tmp_path: Path) -> None:
    repo = copy_sample(tmp_path)
    chosen = suite(lattice_and_own(19))
    export(chosen, TARGET, repo)
    path = repo / "KernelBench/level1/19_ReLU.py"
    text = path.read_text()
    path.write_text(text.replace("x.relu()", "x.expand(1 << 30, 16, 1000) + 1"))
    report = verify(repo)
    assert report.failed == ()
    short = [f for f in report.unproved if "the memory did not suffice" in f.what]
    assert {f.check for f in short} == {"repeat", "layout", "reference", "load"}
    assert report.members == 0


def test_unproved_promises_with_one_reason_are_one_sentence() -> None:
    found = [
        Finding.unproved(check, problem, where, "needs 9 bytes")
        for check in ("repeat", "layout")
        for problem, where in (("p", "a"), ("p", "b"), ("q", "a"))
    ]
    other = Finding.unproved("kills", "p", "a", "kernels must run")
    assert grouped([*found, other]) == [
        "repeat, layout of 3 inputs of p, q: needs 9 bytes",
        "kills: p, a: kernels must run",
    ]


def test_only_one_configuration_is_in_memory(tmp_path: Path) -> None:
    """While a configuration is made, the one before is gone: weak references say so."""
    import weakref

    import torch

    alive: list[weakref.ref[torch.Tensor]] = []

    class Served:
        def __len__(self) -> int:
            return 3

        def __iter__(self) -> Iterator[list[torch.Tensor]]:
            for _ in range(3):
                assert all(ref() is None for ref in alive)
                made = torch.zeros(4)
                alive.append(weakref.ref(made))
                yield [made]
                del made

    budget = loader.Budget(1, 1, 1 << 30)
    places = []
    for index, inputs in loader.taken(Served(), 3, budget, lambda **_: None, "p"):
        places.append((index, len(inputs)))
        del inputs
    assert places == [(0, 1), (1, 1), (2, 1)]
