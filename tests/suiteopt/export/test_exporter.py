import json
import os
import subprocess
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from suiteopt.errors import UserError
from suiteopt.export import transaction
from suiteopt.export.exporter import export, remove
from suiteopt.export.kernelbench_verified import KernelBenchVerified
from suiteopt.export.target import RenderedFile, Target
from suiteopt.suite import Suite
from tests.suiteopt.export import checkouts
from tests.suiteopt.export.samples import (
    commit_all,
    copy_sample,
    git,
    lattice_and_own,
    member,
    problem,
    recipe,
    suite,
    tree,
)

TARGET = "kernelbench-verified"
MANIFEST = "hidden_tests/suiteopt-manifest.json"


@pytest.fixture
def repo(tmp_path: Path) -> Path:
    return copy_sample(tmp_path)


@pytest.fixture
def checkout(repo: Path) -> Path:
    commit_all(repo)
    return repo


def member_with(**changes: Any) -> Suite:
    whole = lattice_and_own(1)
    return suite(replace(whole, members=(replace(whole.members[0], **changes),)))


def test_an_export_touches_hidden_tests_only(repo: Path) -> None:
    before = tree(repo)
    report = export(suite(), TARGET, repo)
    after = tree(repo)
    outside = {name for name in before if not name.startswith("hidden_tests")}
    assert {name: after[name] for name in outside} == {name: before[name] for name in outside}
    assert {name for name in after if not name.startswith("hidden_tests")} == outside
    assert {name for name in before if before[name] != after[name]} == set(report.changed)
    assert set(report.created) == {n for n in set(after) - set(before) if after[n] != "dir"}
    assert report.members == 12
    assert report.files == 6 + 6 + 2 + 1
    assert report.removed == ()


def test_the_header_says_where_a_file_comes_from(repo: Path) -> None:
    report = export(suite(), TARGET, repo)
    text = (repo / "hidden_tests/level1/50_hidden.py").read_text()
    for line in (
        "# Problem   level1/050 (50_conv_standard_2D__square_input__square_kernel)",
        f"# Matrix    {suite().matrix_id} (cpu)",
        f"# Suite     {report.suite_hash}",
        f"# Chosen by {suite().command}",
        "# Oracle    fixed:0.001",
        "# Detected  38 of 40 injected faults",
    ):
        assert line in text.splitlines()
    assert report.suite_hash == suite().hash


def test_text_of_a_suite_cannot_become_code(repo: Path) -> None:
    command = 'x"""\nraise SystemExit(1)\n<<MEMBERS>> \u2028raise SystemExit(2)'
    shape = {"N\nraise SystemExit(3)": 4}
    values = {t: recipe("lattice", width=3) for t in ("a", "b")}
    chosen = problem(1, replace(member('"]\u2028raise SystemExit(4)', values), shape=shape))
    export(suite(chosen, command=command), TARGET, repo)
    names: dict[str, Any] = {"__file__": str(repo / "hidden_tests/level1/1_hidden.py")}
    exec((repo / "hidden_tests/level1/1_hidden.py").read_text(), names)
    assert names["MEMBERS"][0]["input"] == '"]\u2028raise SystemExit(4)'
    broken = problem(1, member('"]\nraise SystemExit(5)', values))
    with pytest.raises(UserError, match="holds a control character"):
        export(suite(broken), TARGET, repo)


def test_a_dry_run_changes_nothing_and_its_diff_is_the_export(
    checkout: Path, tmp_path: Path
) -> None:
    other = tmp_path / "other"
    git(checkout, "clone", "-q", str(checkout), str(other))
    before = tree(checkout)
    dry = export(suite(), TARGET, checkout, dry_run=True)
    assert tree(checkout) == before
    assert git(checkout, "status", "--porcelain") == ""
    subprocess.run(["git", "-C", str(other), "apply", "-"], input=dry.diff.encode(), check=True)
    real = export(suite(), TARGET, checkout)
    assert tree(other) == tree(checkout)
    assert (dry.members, dry.files, dry.changed, dry.created, dry.notes) == (
        real.members,
        real.files,
        real.changed,
        real.created,
        real.notes,
    )
    assert real.diff == ""


def test_equal_suites_give_equal_bytes_wherever_they_are_exported(tmp_path: Path) -> None:
    first, second = copy_sample(tmp_path / "1"), copy_sample(tmp_path / "2")
    export(suite(), TARGET, first)
    export(Suite.from_json(suite().to_json()), TARGET, second)
    assert tree(first) == tree(second)
    text = (first / MANIFEST).read_text()
    assert str(tmp_path) not in text
    assert json.loads(text)["suite_hash"] == suite().hash


def test_exporting_again_changes_nothing(checkout: Path) -> None:
    export(suite(), TARGET, checkout)
    once = tree(checkout)
    stamps = {path: path.stat().st_mtime_ns for path in checkout.rglob("*.py")}
    report = export(suite(), TARGET, checkout)
    assert tree(checkout) == once
    assert (report.changed, report.created, report.removed) == ((), (), ())
    assert {path: path.stat().st_mtime_ns for path in checkout.rglob("*.py")} == stamps


@pytest.mark.parametrize("with_git", [True, False])
def test_removal_gives_back_the_tree_to_the_byte(repo: Path, with_git: bool) -> None:
    script = repo / "hidden_tests/level1/19_hidden.py"
    script.write_bytes(b"# caf\xe9, no newline\r\n" + script.read_bytes().rstrip(b"\n"))
    script.chmod(0o755)
    if with_git:
        commit_all(repo)
    before = tree(repo)
    export(suite(), TARGET, repo)
    report = remove(repo)
    assert tree(repo) == before
    assert script.stat().st_mode & 0o777 == 0o755
    assert len(report.restored) == 6
    assert MANIFEST in report.deleted
    if with_git:
        assert git(repo, "status", "--porcelain") == ""


def test_another_suite_replaces_the_first_cleanly(repo: Path) -> None:
    before = tree(repo)
    export(suite(), TARGET, repo)
    smaller = suite(lattice_and_own(19), lattice_and_own(50))
    report = export(smaller, TARGET, repo)
    assert "hidden_tests/suiteopt/originals/level1/1_hidden.py" in report.removed
    twice = tree(repo)
    remove(repo)
    assert tree(repo) == before
    export(smaller, TARGET, repo)
    assert tree(repo) == twice


def test_a_committed_export_can_be_replaced_and_removed(checkout: Path) -> None:
    before = tree(checkout)
    export(suite(), TARGET, checkout)
    git(checkout, "add", "-A", "--force")
    git(checkout, "commit", "-q", "-m", "export")
    export(suite(lattice_and_own(42)), TARGET, checkout)
    remove(checkout)
    assert tree(checkout) == before


def test_a_problem_without_a_hidden_file_gets_one_and_loses_it_again(repo: Path) -> None:
    (repo / "hidden_tests/level1/23_hidden.py").unlink()
    before = tree(repo)
    export(suite(), TARGET, repo)
    assert "ORIGINAL = None" in (repo / "hidden_tests/level1/23_hidden.py").read_text()
    remove(repo)
    assert tree(repo) == before


def test_git_ignoring_the_manifest_is_said(checkout: Path) -> None:
    report = export(suite(), TARGET, checkout)
    assert any("add --force hidden_tests/suiteopt-manifest.json" in note for note in report.notes)


def test_another_tolerance_is_said(repo: Path) -> None:
    chosen = replace(member_with(tolerance=1e-4), oracle="fixed:0.0001")
    with pytest.raises(UserError, match=r"allclose_candidate at 0.0001, and .* at 0.001"):
        export(chosen, TARGET, repo)
    report = export(chosen, KernelBenchVerified(tolerance=1e-4), repo)
    assert any("KB_FP32_TOL=0.0001" in note for note in report.notes)


# What is refused, in one sentence, with the tree untouched.

WRONG_SUITES: dict[str, tuple[Callable[[], Suite], str]] = {
    "another matrix format": (lambda: suite(matrix_format=(2, 0)), "a matrix of format 2"),
    "another target": (lambda: suite(target="flashinfer"), "chosen for the target 'flashinfer'"),
    "no members": (lambda: suite(problem(1)), "no members, so there is nothing to export"),
    "dtype": (
        lambda: suite(replace(lattice_and_own(1), dtype="bfloat16")),
        "measured in bfloat16, and kernelbench-verified carries float32 only",
    ),
    "benchmark": (
        lambda: suite(replace(lattice_and_own(1), benchmark="mybench")),
        "a problem of 'mybench'",
    ),
    "another problem": (
        lambda: suite(replace(lattice_and_own(1), name="1_Something_else")),
        "1_Something_else was measured",
    ),
    "no such problem": (
        lambda: suite(replace(lattice_and_own(1), name="77_Conv")),
        "has no files for problem 77",
    ),
    "a name without number": (
        lambda: suite(replace(lattice_and_own(1), name="../1_x")),
        "does not start with the number",
    ),
    "oracle": (lambda: member_with(comparator="rms", tolerance=3e-7), "chosen for rms at 3e-07"),
    "parameters": (
        lambda: member_with(parameters={"w": recipe("lattice", width=3)}),
        "needs a target that carries parameters",
    ),
    "shapes": (lambda: member_with(shape_recipe="prime"), "needs a target that carries shapes"),
    "stated need": (lambda: member_with(needs=("nonfinite",)), "carries nonfinite"),
    "nonfinite values": (
        lambda: member_with(values={t: recipe("nonfinite") for t in ("a", "b")}),
        "carries nonfinite",
    ),
    "unknown recipe": (
        lambda: member_with(values={t: recipe("magic") for t in ("a", "b")}),
        "knows no recipe 'magic'",
    ),
    "unknown argument": (
        lambda: member_with(values={t: recipe("lattice", size=3) for t in ("a", "b")}),
        "has no argument 'size'",
    ),
    "another version": (
        lambda: member_with(
            values={t: {"name": "lattice", "version": 9, "arguments": {}} for t in ("a", "b")}
        ),
        "measured in version 9",
    ),
    "no factor": (
        lambda: member_with(values={t: recipe("scaled") for t in ("a", "b")}),
        "no factor that is a number",
    ),
    "tensor names": (
        lambda: member_with(values={t: recipe("own") for t in ("p", "q")}),
        "which is which cannot be told",
    ),
}


@pytest.mark.parametrize("case", WRONG_SUITES)
def test_a_suite_that_does_not_fit_is_refused(case: str, repo: Path) -> None:
    make, what = WRONG_SUITES[case]
    before = tree(repo)
    with pytest.raises(UserError, match=what) as caught:
        export(make(), TARGET, repo)
    assert "\n" not in str(caught.value)
    assert tree(repo) == before


@pytest.mark.parametrize("missing", ["KernelBench", "hidden_tests", "src/eval.py"])
def test_a_directory_that_is_not_the_target_is_refused(repo: Path, missing: str) -> None:
    (repo / missing).rename(repo / "elsewhere")
    before = tree(repo)
    with pytest.raises(UserError, match=f"no checkout of .*it has no {missing}"):
        export(suite(), TARGET, repo)
    assert tree(repo) == before


def test_plain_kernelbench_is_not_the_target(repo: Path) -> None:
    (repo / "src/eval.py").write_text("def run(): pass\n")
    with pytest.raises(UserError, match="loads no hidden inputs"):
        export(suite(), TARGET, repo)


def test_no_directory_is_refused(tmp_path: Path) -> None:
    with pytest.raises(UserError, match="there is no directory"):
        export(suite(), TARGET, tmp_path / "none")


@pytest.mark.parametrize("change", ["modified", "staged", "untracked"])
def test_what_is_not_committed_is_not_overwritten(checkout: Path, change: str) -> None:
    path = checkout / "hidden_tests/level1/19_hidden.py"
    if change == "untracked":
        git(checkout, "rm", "-q", "--cached", "hidden_tests/level1/19_hidden.py")
        git(checkout, "commit", "-q", "-m", "untracked")
    else:
        path.write_text("mine = 1\n")
    if change == "staged":
        git(checkout, "add", str(path))
    before = tree(checkout)
    with pytest.raises(UserError, match=r"19_hidden.py in .* has changes that are not committed"):
        export(suite(), TARGET, checkout)
    assert tree(checkout) == before


def test_other_files_may_be_dirty(checkout: Path) -> None:
    (checkout / "KernelBench/level1/19_ReLU.py").open("a").write("# mine\n")
    (checkout / "notes.txt").write_text("mine")
    export(suite(), TARGET, checkout)
    remove(checkout)
    assert (checkout / "notes.txt").read_text() == "mine"


@pytest.mark.parametrize(
    "path",
    [
        "hidden_tests/level1/1_hidden.py",
        "hidden_tests/suiteopt/recipes.py",
        "hidden_tests/suiteopt/originals/level1/1_hidden.py",
    ],
)
def test_edits_since_the_export_are_not_lost(repo: Path, path: str) -> None:
    export(suite(), TARGET, repo)
    (repo / path).open("a").write("# mine\n")
    before = tree(repo)
    for change in (lambda: remove(repo), lambda: export(suite(), TARGET, repo)):
        with pytest.raises(UserError, match=f"{path} in .* was changed since the export"):
            change()
        assert tree(repo) == before


def test_a_lost_original_is_said(repo: Path) -> None:
    export(suite(), TARGET, repo)
    (repo / "hidden_tests/suiteopt/originals/level1/1_hidden.py").unlink()
    before = tree(repo)
    with pytest.raises(UserError, match=r"kept original of hidden_tests/level1/1_hidden\.py"):
        remove(repo)
    assert tree(repo) == before


def test_files_restored_by_hand_do_not_stop_a_removal(checkout: Path) -> None:
    before = tree(checkout)
    export(suite(), TARGET, checkout)
    git(checkout, "checkout", "-q", "--", "hidden_tests/level1/1_hidden.py")
    remove(checkout)
    assert tree(checkout) == before


def test_nothing_to_remove_is_said(repo: Path) -> None:
    with pytest.raises(UserError, match="holds no export; make one"):
        remove(repo)


@pytest.mark.parametrize(
    ("text", "what"),
    [
        ("not json", "no manifest of an export"),
        ("[]", "no manifest of an export"),
        ('{"format": {"name": "x"}}', "no manifest of an export"),
        ('{"format": {"name": "suiteopt-export", "major": 3}}', "manifest format 3"),
    ],
)
def test_a_foreign_manifest_is_refused(repo: Path, text: str, what: str) -> None:
    (repo / MANIFEST).write_text(text)
    before = tree(repo)
    for change in (lambda: remove(repo), lambda: export(suite(), TARGET, repo)):
        with pytest.raises(UserError, match=what):
            change()
    assert tree(repo) == before


@pytest.mark.parametrize("path", ["KernelBench/level1/19_ReLU.py", "hidden_tests/../prompts/a"])
def test_a_manifest_cannot_lead_out_of_hidden_tests(repo: Path, path: str) -> None:
    export(suite(), TARGET, repo)
    document = json.loads((repo / MANIFEST).read_text())
    document["files"].append({"path": path, "before": None, "after": None, "preserved": None})
    (repo / MANIFEST).write_text(json.dumps(document))
    before = tree(repo)
    with pytest.raises(UserError, match="lies outside hidden_tests"):
        remove(repo)
    assert tree(repo) == before


class Leaking(KernelBenchVerified):
    def render(self, *arguments: Any, **options: Any) -> tuple[RenderedFile, ...]:
        return (RenderedFile("prompts/example.txt", b"the suite"),)


def test_a_target_cannot_leak_a_suite_into_a_prompt(repo: Path) -> None:
    before = tree(repo)
    with pytest.raises(UserError, match="lies outside hidden_tests"):
        export(suite(), Leaking(), repo)
    assert tree(repo) == before


def test_a_read_only_checkout_is_one_sentence(repo: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    before = tree(repo)

    def refuse(place: Path, _content: bytes, _label: str) -> Path:
        raise PermissionError(13, "Permission denied", str(place))

    monkeypatch.setattr(transaction, "_stage", refuse)
    with pytest.raises(UserError, match="cannot be written: permission was denied"):
        export(suite(), TARGET, repo)
    assert tree(repo) == before


class Killed(BaseException):
    """Stands for the end of the process: nothing is cleaned up after it."""


def die_at(monkeypatch: pytest.MonkeyPatch, step: int) -> None:
    """Let the process die right before a given renaming or removal."""
    steps = 0

    def counting(function: Callable[..., Any]) -> Callable[..., Any]:
        def wrapped(*arguments: Any, **options: Any) -> Any:
            nonlocal steps
            if steps == step:
                raise Killed
            steps += 1
            return function(*arguments, **options)

        return wrapped

    monkeypatch.setattr(os, "replace", counting(os.replace))
    monkeypatch.setattr(Path, "unlink", counting(Path.unlink))
    monkeypatch.setattr(transaction, "_undo", lambda *_: False)
    monkeypatch.setattr(transaction, "_clean", lambda *_: None)


def die_in(change: Callable[[], object], monkeypatch: pytest.MonkeyPatch, step: int) -> bool:
    with monkeypatch.context() as patch:
        die_at(patch, step)
        try:
            change()
        except Killed:
            return True
    return False


SMALL = (lattice_and_own(1),)


@pytest.mark.parametrize("first", ["fresh", "re-export", "removal"])
@pytest.mark.parametrize("then", ["remove", "export"])
def test_a_change_killed_anywhere_can_be_mended(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, first: str, then: str
) -> None:
    monkeypatch.setattr(os, "fsync", lambda _: None)  # the process dies here, not the machine
    repo = copy_sample(tmp_path)
    original = tree(repo)
    export(suite(*SMALL), TARGET, repo)
    exported = tree(repo)
    remove(repo)
    deaths = 0
    for step in range(40):
        if first != "fresh":
            export(suite(lattice_and_own(19)), TARGET, repo)

        def change() -> object:
            return remove(repo) if first == "removal" else export(suite(*SMALL), TARGET, repo)

        died = die_in(change, monkeypatch, step)
        deaths += died
        left = tree(repo) != original
        if then == "export":
            export(suite(*SMALL), TARGET, repo)
            assert tree(repo) == exported
        if then == "export" or left:
            remove(repo)
        assert tree(repo) == original
        if not died:
            break
    assert deaths >= 5
    assert not died


@pytest.mark.parametrize("target", ["kernelbench-sidecar", "kernelbench", "multikernelbench"])
def test_an_export_killed_anywhere_leaves_nothing_after_a_removal(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, target: str
) -> None:
    """Also where files outside the target's own directory were about to be changed."""
    monkeypatch.setattr(os, "fsync", lambda _: None)
    name = "multikernelbench" if target == "multikernelbench" else "kernelbench"
    repo = checkouts.checkout(name, tmp_path)
    parts = checkouts.standard_problems(parameters=False)
    sidecar = target == "kernelbench-sidecar"
    chosen = checkouts.calibrated(target, *parts) if sidecar else checkouts.fixed(
        target, 1e-4, *parts
    )  # fmt: skip
    before = sorted(repo.rglob("*")), tree(repo)
    for step in range(40):
        died = die_in(lambda: export(chosen, target, repo), monkeypatch, step)
        remove(repo, target)
        assert (sorted(repo.rglob("*")), tree(repo)) == before, step
        if not died:
            break
    assert step >= 5
    assert not died


def test_targets_check_before_they_look_at_the_directory(tmp_path: Path) -> None:
    assert issubclass(KernelBenchVerified, Target)
    with pytest.raises(UserError, match="format 2"):
        export(suite(matrix_format=(2, 0)), TARGET, tmp_path / "none")


def test_uncommitted_content_is_replaced_only_when_told_and_comes_back(repo: Path) -> None:
    commit_all(repo)
    hidden = repo / "hidden_tests/level1/1_hidden.py"
    hidden.write_text(hidden.read_text() + "# mine\n")
    before = tree(repo)
    with pytest.raises(UserError, match="changes that are not committed"):
        export(suite(), TARGET, repo)
    export(suite(), TARGET, repo, allow_dirty=True)
    remove(repo)
    assert tree(repo) == before
