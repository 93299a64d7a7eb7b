"""What the harness gets from exported files: values to the bit, one at a time, nothing touched."""

import gc
import sys
import warnings
import weakref
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from suiteopt.export.exporter import export
from suiteopt.export.kernelbench_verified import KernelBenchVerified
from suiteopt.inputs import recipes
from tests.suiteopt.export.samples import (
    NAMES,
    copy_sample,
    lattice_and_own,
    member,
    problem,
    recipe,
    suite,
    tree,
)

torch = pytest.importorskip("torch")

TARGET = "kernelbench-verified"
MEMBERS_ONLY = KernelBenchVerified(keep_original=False)


@pytest.fixture(scope="module")
def exported(tmp_path_factory: pytest.TempPathFactory) -> Path:
    repo = copy_sample(tmp_path_factory.mktemp("exported"))
    export(suite(), TARGET, repo)
    return repo


@pytest.fixture(autouse=True)
def no_bytecode(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "dont_write_bytecode", True)


def load(repo: Path, number: int) -> Any:
    """Do what the harness does: execute once with torch and the path, call, and no more."""
    path = str(repo / f"hidden_tests/level1/{number}_hidden.py")
    context: dict[str, Any] = {"torch": torch, "__file__": path, "__builtins__": __builtins__}
    with open(path) as handle:
        exec(compile(handle.read(), path, "exec"), context)
    return context["get_hidden_inputs"]()


def own_inputs(repo: Path, number: int, seed: int) -> list[Any]:
    path = repo / f"KernelBench/level1/{NAMES[number][0]}.py"
    context: dict[str, Any] = {}
    exec(path.read_text(), context)
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(seed)
        return list(context["get_inputs"]())


def same(found: list[Any], expected: list[Any]) -> bool:
    """Equal to the bit, which neither NaN nor the sign of a zero escapes."""
    return len(found) == len(expected) and all(
        one.dtype == other.dtype
        and one.shape == other.shape
        and torch.equal(one.view(torch.int32), other.view(torch.int32))
        for one, other in zip(found, expected, strict=True)
    )


@pytest.mark.parametrize("number", NAMES)
def test_members_are_the_recipes_at_the_problems_own_shapes(exported: Path, number: int) -> None:
    configurations = load(exported, number)
    assert len(configurations) == 6
    found = list(configurations)
    own = own_inputs(exported, number, 734796314)
    lattice = recipe("lattice", width=3)
    names = NAMES[number][1]
    assert same(
        found[4],
        [
            recipes.build(lattice, tuple(tensor.shape), 7, name)
            for name, tensor in zip(names, own, strict=True)
        ],
    )
    assert same(found[5], [tensor * 3.0 for tensor in own])
    assert [tensor.device.type for tensor in found[4]] == ["cpu"] * len(names)


def test_the_original_configurations_come_first_and_under_a_seed(exported: Path) -> None:
    first, second = list(load(exported, 1))[:4], list(load(exported, 1))[:4]
    for one, other in zip(first, second, strict=True):
        assert same(one, other)
    assert 0 <= float(first[0][0].min()) <= float(first[0][0].max()) < 1
    assert 2.9 < float(first[1][0].max()) < 3
    assert float(first[2][0].max()) < 0.01
    assert -1 < float(first[3][0].min()) <= float(first[3][0].max()) <= 0


def test_no_configuration_equals_an_input_that_the_harness_times(exported: Path) -> None:
    for number in NAMES:
        timed = own_inputs(exported, number, 42)
        assert not any(same(values, timed) for values in load(exported, number))


def test_members_alone_on_request(tmp_path: Path) -> None:
    repo = copy_sample(tmp_path)
    export(suite(lattice_and_own(19)), MEMBERS_ONLY, repo)
    found = list(load(repo, 19))
    assert len(found) == 2
    assert same(found[1], [tensor * 3.0 for tensor in own_inputs(repo, 19, 734796314)])


def test_contents_differ_between_members_and_not_between_loads(exported: Path) -> None:
    configurations = load(exported, 23)
    first = list(configurations)
    for again in (list(configurations), list(load(exported, 23))):
        assert all(same(one, other) for one, other in zip(first, again, strict=True))
    for index, one in enumerate(first):
        assert not any(same(one, other) for other in first[:index])


def test_loading_leaves_the_global_generator_and_the_checkout_alone(exported: Path) -> None:
    before = tree(exported)
    torch.manual_seed(5)
    state = torch.get_rng_state()
    modules = set(sys.modules)
    for number in NAMES:
        configurations = load(exported, number)
        assert torch.equal(torch.get_rng_state(), state)
        for _ in configurations:
            assert torch.equal(torch.get_rng_state(), state)
    assert tree(exported) == before
    assert not [name for name in set(sys.modules) - modules if name.startswith("suiteopt_")]


def test_what_the_generator_holds_does_not_change_a_member(exported: Path) -> None:
    torch.manual_seed(1)
    first = list(load(exported, 50))
    torch.rand(100)
    assert all(same(a, b) for a, b in zip(first, list(load(exported, 50)), strict=True))


def test_one_configuration_is_in_memory_at_a_time(exported: Path) -> None:
    seen: list[weakref.ref[Any]] = []
    configurations = load(exported, 1)
    iterator: Iterator[Any] = iter(configurations)
    for _ in range(4):
        next(iterator)
    for _ in range(2):
        values = next(iterator)
        gc.collect()
        assert all(reference() is None for reference in seen)
        seen.extend(weakref.ref(value) for value in values)
        del values


def test_shapes_cost_no_memory_before_a_member_is_asked_for(tmp_path: Path) -> None:
    repo = copy_sample(tmp_path)
    definition = repo / "KernelBench/level1/19_ReLU.py"
    definition.write_text(definition.read_text().replace("16, 1000", "2**20, 2**20"))
    export(suite(lattice_and_own(19)), TARGET, repo)
    assert len(load(repo, 19)) == 6  # 4 TiB a tensor


def test_problem_code_that_looks_at_values_is_run_for_its_shapes(tmp_path: Path) -> None:
    repo = copy_sample(tmp_path)
    definition = repo / "KernelBench/level1/19_ReLU.py"
    text = definition.read_text()
    text = text.replace(
        "return [torch.rand(ROWS, COLUMNS)]",
        "x = torch.rand(ROWS, COLUMNS)\n    assert x.max().item() < 1\n    return [x]",
    )
    definition.write_text(text)
    export(suite(lattice_and_own(19)), TARGET, repo)
    assert list(load(repo, 19))[4][0].shape == (16, 1000)


MIXED = """
import torch
class Model(torch.nn.Module):
    def forward(self, logits, scale, classes, mask, weights):
        return logits.sum() * scale
def get_inputs():
    return [
        torch.rand(6, 5), 2.5, torch.randint(0, 5, (6,)), torch.rand(6, 5) > 0.5,
        torch.rand(4, 4).tril(),
    ]
def get_init_inputs():
    return []
"""


def test_whole_numbers_scalars_and_structure_are_kept(tmp_path: Path) -> None:
    repo = copy_sample(tmp_path)
    path = repo / "KernelBench/level1/19_ReLU.py"
    path.write_text(MIXED)
    values = {
        "classes": {**recipe("uniform"), "structure": "class_ids", "classes": 5},
        "logits": recipe("normal"),
        "mask": {**recipe("signed-uniform"), "structure": "mask"},
        "weights": {**recipe("lattice", width=4), "structure": "lower_triangular"},
    }
    scaled = {
        **{name: recipe("scaled", factor=-1.0) for name in ("logits", "weights", "classes")},
        "mask": {**recipe("scaled", factor=-1.0), "structure": "mask"},
    }
    chosen = replace(problem(19), members=(member("recipes", values), member("own", scaled)))
    export(suite(chosen), MEMBERS_ONLY, repo)
    made, own = list(load(repo, 19))
    drawn = own_inputs(repo, 19, 7)
    assert [str(v.dtype) if hasattr(v, "dtype") else v for v in made] == [
        "torch.float32",
        2.5,
        "torch.int64",
        "torch.bool",
        "torch.float32",
    ]
    for place, name in ((0, "logits"), (2, "classes"), (3, "mask"), (4, "weights")):
        shape = tuple(drawn[place].shape)
        assert torch.equal(made[place], recipes.build(values[name], shape, 7, name))
    assert torch.equal(made[4], made[4].tril())
    assert bool((made[2] >= 0).all())
    assert bool((made[2] < 5).all())
    assert torch.equal(own[0], -drawn[0])
    assert torch.equal(own[2], drawn[2])
    assert torch.equal(own[3], drawn[3])
    assert own[1] == 2.5


def test_a_candidate_that_the_published_check_accepts_is_caught(tmp_path: Path) -> None:
    """Softmax without subtraction of the maximum: right on draws in [0, 3), wrong on hot logits."""
    repo = copy_sample(tmp_path)
    hot = member("hot", {"x": recipe("hot", heat=100, count=1)})
    export(suite(replace(problem(23), members=(hot,))), TARGET, repo)
    judge: dict[str, Any] = {"__file__": str(repo / "src/eval.py")}
    exec((repo / "src/eval.py").read_text(), judge)

    def naive(x: Any) -> Any:
        return x.exp() / x.exp().sum(dim=1, keepdim=True)

    configurations = judge["load_hidden_inputs"](judge["hidden_path"](1, 23))
    assert judge["judge"](lambda x: x.softmax(1), naive, configurations) == [5]
    assert judge["judge"](lambda x: x.softmax(1), lambda x: x.softmax(1), configurations) == []


# The harness counts any exception but RuntimeError against the kernel under test.


@pytest.mark.parametrize(
    ("file", "what"),
    [
        ("hidden_tests/suiteopt/recipes.py", "is not the file that was exported"),
        ("hidden_tests/suiteopt/members.py", "is not the file that was exported"),
    ],
)
def test_another_recipe_file_stops_the_evaluation(tmp_path: Path, file: str, what: str) -> None:
    repo = copy_sample(tmp_path)
    export(suite(), TARGET, repo)
    (repo / file).open("a").write("\n")
    with pytest.raises(RuntimeError, match=what):
        list(load(repo, 1))


@pytest.mark.parametrize(
    ("change", "what"),
    [
        (("for _ in range(2)", "for _ in range(3)"), "returns 3 tensors, .* chosen for 2"),
        (("torch.rand(N, N)", "torch.rand(N, N).half()"), "is torch.float16, .* in float32"),
        (("get_inputs", "got_inputs"), r"has no get_inputs\(\)"),
    ],
)
def test_another_version_of_a_problem_stops_the_evaluation(
    tmp_path: Path, change: tuple[str, str], what: str
) -> None:
    repo = copy_sample(tmp_path)
    export(suite(), MEMBERS_ONLY, repo)
    path = repo / "KernelBench/level1/1_Square_matrix_multiplication_.py"
    path.write_text(path.read_text().replace(*change))
    with pytest.raises(RuntimeError, match=what):
        list(load(repo, 1))


def test_a_failure_in_mid_iteration_is_a_runtime_error(tmp_path: Path) -> None:
    repo = copy_sample(tmp_path)
    export(suite(lattice_and_own(19)), MEMBERS_ONLY, repo)
    path = repo / "KernelBench/level1/19_ReLU.py"
    path.write_text(
        path.read_text().replace(
            "return [torch.rand(ROWS, COLUMNS)]",
            "x = torch.rand(ROWS, COLUMNS)\n    return [x] if x.is_meta else [{}['draw']]",
        )
    )
    iterator = iter(load(repo, 19))
    next(iterator)
    with pytest.raises(RuntimeError, match=r"member level1/019:own-x3 .* KeyError: 'draw'"):
        next(iterator)


def test_a_harness_at_another_tolerance_is_warned(
    exported: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        load(exported, 1)
        monkeypatch.setenv("KB_FP32_TOL", "0.001")
        load(exported, 1)
    monkeypatch.setenv("KB_FP32_TOL", "1e-4")
    with pytest.warns(UserWarning, match="tolerance of 0.001, and KB_FP32_TOL sets 1e-4"):
        load(exported, 1)


def test_a_slice_is_refused_because_members_come_one_at_a_time(exported: Path) -> None:
    configurations = load(exported, 1)
    assert same(configurations[-1], list(configurations)[5])
    with pytest.raises(TypeError, match="one at a time"):
        configurations[1:]
    with pytest.raises(IndexError):
        configurations[6]
