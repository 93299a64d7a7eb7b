"""``gpu-eval witness --sanitizer`` with a tool and a driver that do as they are told."""

import json
import os
import shutil
import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import pytest

from gpu_eval.campaign.progress import Silent
from gpu_eval.campaign.run import start
from gpu_eval.compilation.nvrtc import NvrtcCompiler, load_nvrtc
from gpu_eval.devices import sanitizer
from gpu_eval.devices.base import Binary, KernelSource
from gpu_eval.devices.sanitizer_settle import PRINT_LIMIT
from suiteopt.errors import UserError
from suiteopt.matrix.store import Matrix
from tests.command import Answer, Command
from tests.gpu_eval.campaign import tiny
from tests.gpu_eval.campaign.fake import FakeDevice
from tests.gpu_eval.devices import fake_sanitizer

ROOT = Path(__file__).parents[3]
ARCHITECTURE = "sm_90"


@dataclass(frozen=True)
class CompilingDevice(FakeDevice):
    """Runs nothing, but compiles as a GPU's campaign does."""

    def describe(self) -> dict[str, str]:
        return {"name": "cuda", "model": "none", "architecture": ARCHITECTURE}

    def compile(self, sources: Sequence[KernelSource], cache: Path, jobs: int) -> list[Binary]:
        return NvrtcCompiler(ARCHITECTURE).compile(sources, cache, jobs)


@dataclass(frozen=True)
class Measured:
    """A matrix and the corpus it is of."""

    matrix: Path
    corpus: Path

    def mutants(self, *, launch: bool = False) -> list[str]:
        """Ids of valid mutants of ``test/one`` in the order of the table."""
        table = Matrix.open(self.matrix).implementations_of("test/one")
        rows = table[(table["kind"] == "mutant") & (table["class"] == "valid")]
        ids = rows["implementation"].astype(str).tolist()
        return [name for name in ids if (":kernel.cu:" not in name) == launch]


@pytest.fixture(scope="module")
def measured(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Measured]:
    try:
        load_nvrtc()
    except UserError as error:
        pytest.skip(str(error))
    directory = tmp_path_factory.mktemp("measured")
    corpus = tiny.write_corpus(directory / "corpus")
    shutil.rmtree(corpus / "two")
    settings = tiny.settings(corpus, problems=("test/one",))
    with pytest.MonkeyPatch.context() as patch:
        # What is compiled once is compiled for all.
        patch.setenv("SUITEOPT_CACHE", str(directory))
        start(directory / "matrix", settings, CompilingDevice(), Silent())
        yield Measured(directory / "matrix", corpus)


@dataclass
class Bench:
    """Calls the command with acts of mutants."""

    command: Command
    measured: Measured
    monkeypatch: pytest.MonkeyPatch
    room: Path

    def __call__(self, acts: dict[str, str], *options: object) -> Answer:
        """Check the mutants with acts; they are numbered after the substrate, in their order."""
        names = [name for name in self.measured.mutants() if name in acts]
        numbered = {str(2 + i): acts[name] for i, name in enumerate(names)}
        if "substrate" in acts:
            numbered["1"] = acts["substrate"]
        self.monkeypatch.setenv("FAKE_ACTS", json.dumps(numbered))
        chosen = [part for name in names for part in ("--mutant", name)]
        return self.command(
            "witness",
            self.measured.matrix,
            "--sanitizer",
            "--corpus",
            self.measured.corpus,
            *chosen,
            *options,
        )


@pytest.fixture
def bench(
    gpu_eval: Command, measured: Measured, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> Iterator[Bench]:
    room = tmp_path / "room"
    (room / "pycuda").mkdir(parents=True)
    (room / "pycuda" / "__init__.py").write_text("")
    (room / "pycuda" / "driver.py").write_text("from tests.gpu_eval.devices.fake_driver import *\n")
    script = room / "compute-sanitizer"
    script.write_text(f"#!{sys.executable}\n" + Path(fake_sanitizer.__file__).read_text())
    script.chmod(0o755)
    for name in ("pycuda", "pycuda.driver"):
        monkeypatch.delitem(sys.modules, name, raising=False)
    monkeypatch.syspath_prepend(room)
    monkeypatch.setenv("PYTHONPATH", os.pathsep.join([str(room), str(ROOT)]))
    monkeypatch.setenv("PATH", str(room), prepend=os.pathsep)
    monkeypatch.setenv("FAKE_LAUNCHES", str(room / "launches"))
    yield Bench(gpu_eval, measured, monkeypatch, room)
    for name in ("pycuda", "pycuda.driver"):
        sys.modules.pop(name, None)


def told(answer: Answer) -> dict[str, dict[str, str]]:
    """Verdicts by mutant and tool."""
    return {
        row["mutant"]: {tool: found["verdict"] for tool, found in row["tools"].items()}
        for row in answer.json["mutants"]
    }


def test_each_tool_accuses_its_own(bench: Bench, tmp_path: Path) -> None:
    names = bench.measured.mutants()[:5]
    acts = dict(zip(names, ["race", "overrun", "uninitialised", "barrier", "none"], strict=True))
    before = {p: p.read_bytes() for p in bench.measured.matrix.rglob("*") if p.is_file()}
    output = tmp_path / "sanitizer.json"
    tools = [part for tool in fake_sanitizer.REPORTS for part in ("--tool", tool)]
    answer = bench(acts, "--json", "--output", output, *tools)
    assert answer.code == 0, answer.err
    guilty = ["racecheck", "memcheck", "initcheck", "synccheck", ""]
    assert told(answer) == {
        name: {tool: "accused" if tool == own else "clean" for tool in fake_sanitizer.REPORTS}
        for name, own in zip(names, guilty, strict=True)
    }
    race = answer.json["mutants"][0]["tools"]["racecheck"]
    assert race["count"] == 1
    assert race["first"].startswith("Error: Race reported between Write access at row_sum(")
    assert "[508 hazards]" in race["first"]
    assert answer.json["sanitizer"]["version"] == "2025.3.1.0"
    assert json.loads(output.read_text()) == answer.json
    # Beside the matrix, not in it.
    assert before == {p: p.read_bytes() for p in bench.measured.matrix.rglob("*") if p.is_file()}


def test_what_goes_wrong_is_attributed_and_the_rest_goes_on(bench: Bench) -> None:
    names = bench.measured.mutants()[:8]
    wrong = ["none", "crash", "flood", "hang", "nameless", "refuse", "exit", "overrun"]
    options = ("--json", "--tool", "memcheck", "--deadline", 4)
    answer = bench(dict(zip(names, wrong, strict=True)), *options)
    verdicts = [row["memcheck"] for row in told(answer).values()]
    assert verdicts == [
        "clean",
        "crash",
        "accused",
        "timeout",
        "accused",
        "launch_error",
        "failed",
        "accused",
    ]
    flood = answer.json["mutants"][2]["tools"]["memcheck"]
    assert (flood["count"], flood["at_least"]) == (PRINT_LIMIT, True)
    assert answer.code == 1  # one has no result
    assert not answer.json["complete"]


def test_a_tool_that_accuses_the_substrate_is_left_out(bench: Bench) -> None:
    name = bench.measured.mutants()[0]
    answer = bench({name: "overrun", "substrate": "race"})
    assert answer.code == 1
    assert "racecheck left out, the substrate test/one:substrate:plain is not clean" in " ".join(
        answer.out.split()
    )
    row = next(line for line in answer.out.splitlines() if line.startswith(name))
    # racecheck, initcheck, memcheck
    assert row.removeprefix(name).split()[:3] == ["-", "0", "1"]


def test_a_tool_that_sees_nothing_is_left_out(bench: Bench) -> None:
    name = bench.measured.mutants()[0]
    bench.monkeypatch.setenv("FAKE_BLIND", "initcheck")
    answer = bench({name: "race"}, "--json", "--tool", "racecheck", "--tool", "initcheck")
    assert answer.code == 1
    (problem,) = answer.json["problems"]
    assert problem["left_out"] == {"initcheck": "it did not see a planted fault (clean)"}
    assert told(answer) == {name: {"racecheck": "accused"}}
    answer = bench({name: "race"}, "--tool", "initcheck")
    assert (answer.code, answer.out) == (2, "")
    assert "compute-sanitizer is of no use here" in answer.err


def test_those_without_a_witness_are_the_default_on_the_cheapest_input(bench: Bench) -> None:
    matrix = Matrix.open(bench.measured.matrix)
    table = matrix.implementations_of("test/one")
    unseen = table[(table["kind"] == "mutant") & (table["class"] == "valid")]
    unseen = unseen[(unseen["witness"] == "none") | (unseen["witness_how"] == "race")]
    assert len(unseen) > 0
    answer = bench({}, "--json", "--tool", "racecheck")
    assert answer.code == 0, answer.err
    assert list(told(answer)) == unseen["implementation"].astype(str).tolist()
    inputs = matrix.inputs_of("test/one").set_index("input")
    cheapest = inputs.loc[answer.json["problems"][0]["input"]]
    at_scope = inputs[inputs["valid"] & inputs["scope"].isin(["contract", "profile"])]
    assert cheapest["bytes"] == at_scope["bytes"].min()


def test_other_machine_code_does_not_run(bench: Bench) -> None:
    kernel = bench.measured.corpus / "one" / "kernel.cu"
    text = kernel.read_text()
    (launch, *_) = bench.measured.mutants(launch=True)
    try:
        kernel.write_text(text.replace("sum += x", "sum += 2.0f * x"))
        answer = bench({}, "--json", "--tool", "racecheck", "--mutant", launch)
    finally:
        kernel.write_text(text)
    assert answer.code == 1
    (problem,) = answer.json["problems"]
    assert "its machine code is not the matrix's" in problem["refused"][launch]
    assert answer.json["mutants"] == []


def test_launch_faults_run_by_their_own_plan(bench: Bench) -> None:
    launches = bench.measured.mutants(launch=True)[:2]
    chosen = [part for name in launches for part in ("--mutant", name)]
    inputs = Matrix.open(bench.measured.matrix).inputs_of("test/one")
    other = str(inputs.loc[inputs["scope"] == "other", "input"].iloc[0])
    answer = bench({}, "--json", "--tool", "memcheck", "--input", other, *chosen)
    assert told(answer) == {name: {"memcheck": "clean"} for name in launches}
    assert answer.json["problems"][0]["input"] == other


@pytest.mark.parametrize(
    ("options", "expected"),
    [
        (("--tool", "memcheck"), "--tool goes with --sanitizer"),
        (("--all",), "--all goes with --sanitizer"),
        (("--sanitizer", "--tool", "leakcheck"), "has no tool 'leakcheck'; choose from racecheck"),
        (("--sanitizer", "--mutant", "x", "--all"), "not both"),
        (("--sanitizer", "--mutant", "x"), "no valid mutant 'x'"),
        (("--sanitizer", "--problem", "x"), "no problem 'x'"),
        (("--sanitizer", "--input", "x"), "'x' is not the id of a valid input"),
        (("--sanitizer", "--output", "MATRIX/sanitizer.json"), "lies in the matrix"),
    ],
)
def test_sentences(
    gpu_eval: Command, measured: Measured, options: tuple[str, ...], expected: str
) -> None:
    given: list[object] = [part.replace("MATRIX", str(measured.matrix)) for part in options]
    if "--sanitizer" in given:
        given += ["--corpus", measured.corpus]
    answer = gpu_eval("witness", measured.matrix, *given)
    assert (answer.code, answer.out) == (2, "")
    assert expected in answer.sentence


def test_no_sanitizer_here(
    gpu_eval: Command, measured: Measured, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    if Path("/usr/local/cuda/bin/compute-sanitizer").exists():
        pytest.skip("there is one")
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.setenv("CUDA_HOME", str(tmp_path))
    monkeypatch.setitem(sys.modules, "cuda.pathfinder", None)
    answer = gpu_eval("witness", measured.matrix, "--sanitizer", "--corpus", measured.corpus)
    assert (answer.code, answer.out) == (2, "")
    assert "compute-sanitizer is not installed" in answer.sentence
    # A toolkit's folder is looked into.
    (tmp_path / "bin").mkdir()
    (tmp_path / "bin" / "compute-sanitizer").write_text("#!/bin/sh\n")
    (tmp_path / "bin" / "compute-sanitizer").chmod(0o755)
    assert sanitizer.find_sanitizer() == tmp_path / "bin" / "compute-sanitizer"


def test_a_matrix_of_a_cpu(gpu_eval: Command, tmp_path: Path) -> None:
    answer = gpu_eval("witness", ROOT / "matrices" / "kernelbench-l1-6-cpu", "--sanitizer")
    assert (answer.code, answer.out) == (2, "")
    assert "was not measured on a GPU" in answer.sentence
