"""The same on real checkouts, where ``SUITEOPT_CHECKOUT_<TARGET>`` names one; else skipped.

The benchmark's own checking functions run, from a copy of the checkout. On the CPU its problems are
shortened in that copy (stated in `SHORTENED`), and what the harness asks of a CUDA device (to wait,
to clear its cache) does nothing. A GPU is tested by the marked test, at the published shapes.
"""

import importlib
import os
import re
import shutil
import sys
import types
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any
from unittest import mock

import pytest

from suiteopt.export.exporter import export, remove
from suiteopt.suite import Suite
from tests.suiteopt.export.checkouts import BAD, GOOD, HEAD, calibrated, fixed, own_member
from tests.suiteopt.export.checkouts import standard_problems as problems
from tests.suiteopt.export.samples import problem, recipe, tree

torch = pytest.importorskip("torch")

ZEROS = (23, HEAD + "    def forward(self, x):\n        return torch.zeros_like(x)\n")
CANDIDATES = {**BAD, "zeros": ZEROS}
SOFTMAX = HEAD + "    def forward(self, x):\n        e = torch.exp(x - x.amax(1, keepdim=True))\n" \
    "        return e / e.sum(1, keepdim=True)\n"  # fmt: skip
RIGHT = {**GOOD, 23: SOFTMAX}

SHORTENED = {
    1: {"N": "64"},
    19: {"batch_size": "8", "dim": "1000"},
    23: {"batch_size": "4", "dim": "20000"},
    40: {"batch_size": "4", "features": "8", "dim1": "16", "dim2": "16"},
}


def real(target: str, tmp_path: Path, *parts: str) -> Path:
    """Return a copy of the parts of a real checkout that are needed."""
    variable = "SUITEOPT_CHECKOUT_" + target.upper().replace("-", "_")
    if variable not in os.environ:
        pytest.skip(f"{variable} names no checkout")
    repo = tmp_path / target
    for part in parts:
        place = Path(os.environ[variable]) / part
        if place.is_dir():
            shutil.copytree(place, repo / part)
        else:
            (repo / part).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(place, repo / part)
    return repo


def shorten(path: Path, constants: dict[str, str]) -> None:
    text = path.read_text()
    for name, value in constants.items():
        text, found = re.subn(rf"(?m)^{name} = .*$", f"{name} = {value}", text)
        assert found == 1, (path, name)
    path.write_text(text)


def definition(repo: Path, number: int) -> Path:
    (path,) = (repo / "KernelBench/level1").glob(f"{number}_*.py")
    return path


def suite(target: str, tolerance: float | None, parameters: bool) -> Suite:
    hot = own_member("level1/023:hot", {"x": recipe("hot", heat=32, place="last")}, tolerance=1e-4)
    parts = (*problems(parameters), problem(23, hot))
    if tolerance is None:
        # At the published shapes a reduction of millions rounds more than the sample's.
        return calibrated(target, *parts)
    return fixed(target, tolerance, *parts)


class Stub:
    """torch, with a CUDA device that is the CPU."""

    def __init__(self) -> None:
        self.cuda = mock.MagicMock()
        self.cuda.is_available.return_value = True

    def __getattr__(self, name: str) -> Any:
        return getattr(torch, name)


@pytest.fixture
def fresh_modules(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    monkeypatch.setattr(sys, "dont_write_bytecode", True)
    for name in ("requests", "openai"):
        if importlib.util.find_spec(name) is None:
            module: Any = types.ModuleType(name)
            module.OpenAI = None
            monkeypatch.setitem(sys.modules, name, module)
    kept = dict(sys.modules)
    yield
    for name in set(sys.modules) - set(kept):
        del sys.modules[name]


def forget(*roots: str) -> None:
    for name in [name for name in sys.modules if name.split(".")[0] in roots]:
        del sys.modules[name]
    importlib.invalidate_caches()


def kernelbench_eval() -> Any:
    """Import the harness; its utilities need packages of clients, and it asks them for one name."""
    utilities: Any = types.ModuleType("kernelbench.utils")
    utilities.get_gpu_vendor = lambda device: "nvidia"
    sys.modules["kernelbench.utils"] = utilities
    return importlib.import_module("kernelbench.eval")


def run_kernelbench(repo: Path, number: int, candidate: str, text: str) -> Any:
    forget("kernelbench")
    harness = kernelbench_eval()
    with (
        mock.patch.object(harness, "torch", Stub()),
        mock.patch.object(harness, "graceful_eval_cleanup"),
    ):
        return harness.eval_kernel_against_ref(
            text, candidate, num_correct_trials=5, device=torch.device("cpu")
        )


def before_and_after(
    accepted: Callable[[int, str], bool], change: Callable[[], None]
) -> tuple[dict[str, bool], dict[str, bool]]:
    """Judge all candidates before and after an export."""
    judged = {f"right {number}": (number, text) for number, text in RIGHT.items()} | CANDIDATES
    before = {name: accepted(*one) for name, one in judged.items()}
    change()
    return before, {name: accepted(*one) for name, one in judged.items()}


def say(target: str, before: dict[str, bool], after: dict[str, bool]) -> None:
    for name in before:
        words = ["accepted" if verdict[name] else "rejected" for verdict in (before, after)]
        print(f"{target}: {name}: {words[0]} before, {words[1]} after")


@pytest.mark.usefixtures("fresh_modules")
@pytest.mark.parametrize("target", ["kernelbench-sidecar", "kernelbench"])
def test_kernelbench(target: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    repo = real(target, tmp_path, "KernelBench/level1", "src/kernelbench")
    for number, constants in SHORTENED.items():
        shorten(definition(repo, number), constants)
    monkeypatch.syspath_prepend(str(repo / "src"))
    sidecar = target == "kernelbench-sidecar"
    chosen = suite(target, None if sidecar else 1e-4, parameters=sidecar)
    whole = tree(repo)
    exported: list[bool] = []

    def accepted(number: int, candidate: str) -> bool:
        path = definition(repo, number)
        if exported and not sidecar:
            path = repo / "suiteopt_overlay" / path.relative_to(repo)
        result = run_kernelbench(repo, number, candidate, path.read_text())
        assert "runtime_error" not in result.metadata, result.metadata
        return bool(result.correctness)

    def change() -> None:
        export(chosen, target, repo)
        exported.append(True)

    before, after = before_and_after(accepted, change)
    say(target, before, after)
    assert all(before.values())
    survivors = set() if sidecar else {"scale deleted"}  # the overlay carries no parameters
    assert {name for name, good in after.items() if good} == {
        *(f"right {number}" for number in RIGHT),
        *survivors,
    }
    remove(repo, target)
    assert tree(repo) == whole


@pytest.mark.usefixtures("fresh_modules")
def test_kernelbench_verified(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Its hidden check before (the published configurations) and after (they and the members)."""
    target = "kernelbench-verified"
    repo = real(target, tmp_path, "KernelBench/level1", "hidden_tests/level1", "src/eval.py")
    (repo / "src/__init__.py").touch()
    for number, constants in SHORTENED.items():
        shorten(definition(repo, number), constants)
    monkeypatch.syspath_prepend(str(repo))
    forget("src")
    utilities: Any = types.ModuleType("src.utils")
    package: Any = importlib.import_module("src")
    package.utils = sys.modules["src.utils"] = utilities
    for name in ("read_file", "set_gpu_arch"):
        setattr(utilities, name, None)
    harness = importlib.import_module("src.eval")

    def accepted(number: int, candidate: str) -> bool:
        problem_file: dict[str, Any] = {}
        exec(definition(repo, number).read_text(), problem_file)
        new: dict[str, Any] = {}
        exec(candidate, new)
        arguments = problem_file["get_init_inputs"]()
        models = problem_file["Model"](*arguments), new["ModelNew"](*arguments)
        hidden = str(repo / f"hidden_tests/level1/{number}_hidden.py")
        metadata: dict[str, Any] = {}
        with mock.patch.object(harness, "torch", Stub()), torch.no_grad():
            good = harness.run_hidden_correctness_check(
                *models, hidden, metadata, device=torch.device("cpu")
            )
        assert "hidden_runtime_error" not in metadata, metadata
        return bool(good)

    # At 1e-3 a one-pass variance needs a larger offset to show than at 1e-4.
    text = suite(target, 1e-3, parameters=False).to_json()
    chosen = Suite.from_json(text.replace('"offset": 64', '"offset": 1000'))
    before, after = before_and_after(accepted, lambda: export(chosen, target, repo) and None)
    say(target, before, after)
    # The published scaling by -1 already shows a missing sign.
    assert {name for name, good in before.items() if not good} == {"identity relu"}
    assert {name for name, good in after.items() if good} == {
        *(f"right {number}" for number in RIGHT),
        "scale deleted",
    }


@pytest.mark.usefixtures("fresh_modules")
def test_multikernelbench(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    target = "multikernelbench"
    repo = real(target, tmp_path, "reference", "utils", "config.py", "dataset.py")
    places = {1: "matmul/square_matrix_multiplication", 19: "activation/relu",
              23: "activation/softmax", 40: "normalization/layer_norm"}  # fmt: skip
    for number, place in places.items():
        shorten(repo / f"reference/{place}.py", SHORTENED[number])
    monkeypatch.chdir(repo)
    monkeypatch.syspath_prepend(str(repo))

    def accepted(number: int, candidate: str) -> bool:
        forget("utils", "config", "dataset")
        path = importlib.import_module("utils.utils").get_ref_src_path(Path(places[number]).name)
        check = importlib.import_module("utils.correctness")
        context: dict[str, Any] = {}
        exec(candidate, context)
        exec(f"__file__ = {path!r}\n" + Path(path).read_text(), context)
        good, why = check.execute_template(lambda **_: None, torch.device("cpu"), context)
        assert "suiteopt" not in why, why
        return bool(good)

    before, after = before_and_after(
        accepted, lambda: export(suite(target, 1e-4, parameters=False), target, repo) and None
    )
    say(target, before, after)
    assert all(before.values())
    assert {name for name, good in after.items() if good} == {
        *(f"right {number}" for number in RIGHT),
        "scale deleted",
    }


def functions() -> dict[str, tuple[int, Callable[..., Any]]]:
    """Return the candidates as the functions that robust-kbench compares."""
    norm = torch.nn.functional.layer_norm

    def one_pass(x: Any, weight: Any, bias: Any) -> Any:
        m = x.mean((1, 2, 3), keepdim=True)
        v = x.square().mean((1, 2, 3), keepdim=True) - m * m
        return (x - m) * torch.rsqrt(v + 1e-5) * weight + bias

    return {
        "right 1": (1, torch.matmul),
        "right 19": (19, lambda x: torch.where(x > 0, x, 0.0)),
        "right 40": (40, lambda x, weight, bias: norm(x, weight.shape, weight, bias)),
        "scale deleted": (40, lambda x, weight, bias: norm(x, weight.shape)),
        "one-pass variance": (40, one_pass),
    }


@pytest.mark.usefixtures("fresh_modules")
def test_robust_kbench(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    target = "robust-kbench"
    parts = [f"tasks/kernelbench/level_1/task_{number}" for number in (1, 19, 40)]
    repo = real(target, tmp_path, "robust_kbench", *parts)
    monkeypatch.syspath_prepend(str(repo))
    small = {"N": 48, "batch_size": 4, "dim": 500, "num_features": 4, "dim1": 16, "dim2": 16}
    for part in parts:
        path = repo / part / "config_forward.json"
        text = path.read_text()
        for name, size in small.items():
            text = re.sub(rf'("{name}": )\d+', rf"\g<1>{size}", text)
        path.write_text(text)

    def accepted(number: int, function: Any) -> bool:
        forget("robust_kbench")
        config = "config_hardened.json" if exported else "config_forward.json"
        kernels = importlib.import_module("robust_kbench.kernel_task")
        check = importlib.import_module("robust_kbench.sandbox.correct_forward_fn")
        place = repo / f"tasks/kernelbench/level_1/task_{number}"
        task = kernels.KernelTask(str(place), config_fname=config)
        with (
            mock.patch.object(check, "graceful_eval_cleanup"),
            mock.patch.object(check, "easy_to_device", lambda values, _: values),
            mock.patch.object(torch.nn.Module, "to", lambda model, _: model),
        ):
            return all(
                check.check_forward_correctness(
                    task.model, task.forward_fn, function, task.get_inputs, inputs, init, 1
                ).correct
                for init, inputs in zip(task.init_configs, task.input_configs, strict=True)
            )

    exported: list[bool] = []
    parts_of_suite = problems(parameters=True)[:3]
    before = {name: accepted(*one) for name, one in functions().items()}
    export(fixed(target, 1e-5, *parts_of_suite), target, repo)
    exported.append(True)
    after = {name: accepted(*one) for name, one in functions().items()}
    say(target, before, after)
    assert all(before.values())
    assert {name for name, good in after.items() if not good} == {
        "scale deleted",
        "one-pass variance",
    }


def test_gpumode(tmp_path: Path) -> None:
    from suiteopt.export.verify import verify
    from tests.suiteopt.export.test_gpumode import made, scan

    repo = real("gpumode", tmp_path, "problems/pmpp_v2")
    before = tree(repo)
    name = "pmpp_v2/prefixsum_py"
    members = [replace(scan(kind), values={"data": recipe(kind)}) for kind in ("ramp", "pairs")]
    report = export(made(*members, name=name), "gpumode", repo)
    assert any("is code of its own" in note for note in report.notes)
    found = verify(repo)
    assert found.failed == ()
    assert found.members == 2
    remove(repo)
    assert tree(repo) == before


@pytest.mark.gpu
@pytest.mark.usefixtures("fresh_modules")
def test_kernelbench_at_its_own_shapes(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Through ``eval_kernel_against_ref`` as it stands, on a GPU."""
    if not torch.cuda.is_available():
        pytest.skip("no CUDA device")
    target = "kernelbench-sidecar"
    repo = real(target, tmp_path, "KernelBench/level1", "src/kernelbench")
    monkeypatch.syspath_prepend(str(repo / "src"))

    def accepted(number: int, candidate: str) -> bool:
        forget("kernelbench")
        harness = kernelbench_eval()
        text = definition(repo, number).read_text()
        device = torch.device("cuda:0")
        result = harness.eval_kernel_against_ref(
            text, candidate, num_correct_trials=5, device=device
        )
        assert "runtime_error" not in result.metadata, result.metadata
        return bool(result.correctness)

    before, after = before_and_after(
        accepted, lambda: export(suite(target, None, parameters=True), target, repo) and None
    )
    say(target, before, after)
    assert all(before.values())
    assert {name for name, good in after.items() if good} == {f"right {n}" for n in RIGHT}
