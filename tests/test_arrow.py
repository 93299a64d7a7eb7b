"""The one arrow between the packages: suiteopt needs neither gpu_eval nor torch nor a compiler."""

import ast
import subprocess
import sys
from pathlib import Path

import pytest

from tests.suiteopt.builders import tiny_matrix

ROOT = Path(__file__).resolve().parents[1]
FORBIDDEN = {"gpu_eval", "torch", "pycuda", "tree_sitter", "elftools"}
SHARED = (
    "suiteopt.errors",
    "suiteopt.console",
    "suiteopt.matrix",
    "suiteopt.suite",
    "suiteopt.suite_json",
    "suiteopt.inputs",
    # What a suite promised, and whether another matrix shows it, is suiteopt's to say.
    "suiteopt.export.confirm",
    "suiteopt.export.raised",
)

BLOCKED_RUN = """
import sys

class Block:
    def find_spec(self, name, path=None, target=None):
        if name.split(".")[0] in {forbidden}:
            raise ImportError("blocked: " + name)
        return None

sys.meta_path.insert(0, Block())
sys.argv = ["suiteopt", *{arguments}]
from suiteopt.cli.main import run
run()
"""


def imports(path: Path, top_level_only: bool) -> set[str]:
    tree = ast.parse(path.read_text())
    nodes = tree.body if top_level_only else list(ast.walk(tree))
    found: set[str] = set()
    for node in nodes:
        if isinstance(node, ast.Import):
            found |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and node.module:
            found.add(node.module)
    return found


@pytest.mark.parametrize(
    "path", sorted((ROOT / "suiteopt").rglob("*.py")), ids=lambda p: str(p.relative_to(ROOT))
)
def test_suiteopt_imports_nothing_of_the_other_side(path: Path) -> None:
    # What makes tensors or judges candidates asks for torch when it is called, never before.
    makes_tensors = {"inputs", "templates", "export", "check"} & set(path.parts)
    lazily_allowed = {"torch"} if makes_tensors else set()
    anywhere = {name.split(".")[0] for name in imports(path, top_level_only=False)}
    assert not anywhere & (FORBIDDEN - lazily_allowed)
    if "templates" not in path.parts:  # templates run inside the benchmark, where torch is
        at_import = {name.split(".")[0] for name in imports(path, top_level_only=True)}
        assert "torch" not in at_import


@pytest.mark.parametrize(
    "path", sorted((ROOT / "gpu_eval").rglob("*.py")), ids=lambda p: str(p.relative_to(ROOT))
)
def test_gpu_eval_takes_only_the_shared_parts(path: Path) -> None:
    for name in imports(path, top_level_only=False):
        if name.split(".")[0] == "suiteopt":
            assert name.startswith(SHARED), name


@pytest.mark.parametrize(
    "arguments",
    [["info"], ["select", "--budget", "2"], ["crossval", "--budget", "1"], ["targets"]],
    ids=lambda arguments: arguments[0],
)
def test_commands_run_without_torch_and_gpu_eval(tmp_path: Path, arguments: list[str]) -> None:
    tiny_matrix(tmp_path / "m", own=True)
    if arguments[0] != "targets":
        arguments = [*arguments, "--matrix", str(tmp_path / "m")]
    script = BLOCKED_RUN.format(forbidden=FORBIDDEN, arguments=[*arguments, "--json"])
    done = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, text=True, check=False, cwd=ROOT
    )
    assert done.returncode == 0, done.stderr
    assert done.stdout.startswith("{")
