"""A suite written by hand for the sample checkout, and helpers around it."""

import hashlib
import shutil
import subprocess
from dataclasses import replace
from pathlib import Path
from typing import Any

from suiteopt.suite import Member, ProblemSuite, Suite

SAMPLE = Path(__file__).parents[2] / "data" / "kernelbench_verified_sample"
MATRIX_ID = "ab" * 32

NAMES = {
    1: ("1_Square_matrix_multiplication_", ("a", "b")),
    19: ("19_ReLU", ("x",)),
    23: ("23_Softmax", ("x",)),
    40: ("40_LayerNorm", ("x",)),
    42: ("42_Max_Pooling_2D", ("x",)),
    50: ("50_conv_standard_2D__square_input__square_kernel", ("x",)),
}


def recipe(name: str, **arguments: Any) -> dict[str, Any]:
    return {"name": name, "version": 1, "arguments": arguments}


def member(input_id: str, values: dict[str, dict[str, Any]], seed: int = 7) -> Member:
    return Member(
        input=input_id,
        values=values,
        parameters={},
        shape={"N": 64},
        shape_recipe="contract",
        seed=seed,
        tolerance=1e-3,
        comparator="allclose_candidate",
        needs=("values",),
    )


def problem(number: int, *members: Member) -> ProblemSuite:
    name, _ = NAMES[number]
    return ProblemSuite(
        problem=f"level1/{number:03d}",
        benchmark="kernelbench",
        level=1,
        name=name,
        dtype="float32",
        members=members,
        mutants=40,
        detected=38,
    )


def lattice_and_own(number: int) -> ProblemSuite:
    tensors = NAMES[number][1]
    prefix = f"level1/{number:03d}"
    return problem(
        number,
        member(f"{prefix}:lattice", {t: recipe("lattice", width=3) for t in tensors}),
        member(f"{prefix}:own-x3", {t: recipe("scaled", factor=3.0) for t in tensors}, 734796314),
    )


def suite(*problems: ProblemSuite, **changes: Any) -> Suite:
    made = Suite(
        matrix_id=MATRIX_ID,
        matrix_device="cpu",
        oracle="fixed:0.001",
        target="kernelbench-verified",
        budget=2,
        command="suiteopt select --budget 2 --target kernelbench-verified -o suite.json",
        problems=problems or tuple(lattice_and_own(number) for number in NAMES),
    )
    return replace(made, **changes)


def copy_sample(tmp_path: Path) -> Path:
    repo = tmp_path / "benchmark"
    shutil.copytree(SAMPLE, repo, ignore=shutil.ignore_patterns("__pycache__"))
    return repo


def git(repo: Path, *arguments: str, check: bool = True) -> str:
    identity = ("-c", "user.name=t", "-c", "user.email=t@example.org", "-c", "commit.gpgsign=false")
    result = subprocess.run(
        ["git", "-C", str(repo), *identity, *arguments],
        capture_output=True,
        text=True,
        check=check,
    )
    return result.stdout


def commit_all(repo: Path) -> None:
    git(repo, "init", "-q")
    git(repo, "add", "-A")
    git(repo, "commit", "-q", "-m", "sample")


def tree(repo: Path) -> dict[str, str]:
    """Hash of every file and a mark for every directory, git's own apart."""
    found = {}
    for path in sorted(repo.rglob("*")):
        name = path.relative_to(repo).as_posix()
        if name.split("/")[0] == ".git":
            continue
        found[name] = hashlib.sha256(path.read_bytes()).hexdigest() if path.is_file() else "dir"
    return found
